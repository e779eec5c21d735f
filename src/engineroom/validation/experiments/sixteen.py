"""Engines on twelve simulated processors beside the live servers of `own-crowd`, among up to 256 clients.

An engine is given what one client's statements compute on that computer (`own-crowd-demands`), what a client of SysBench computes between two
of them there, the redo of `own-demands`, and what servers compute inside their latches. The machine's numbers are the cited ones of the sources' machine, with the scheduler
of that computer's kernel; its own cache lines and wake-ups were not measured. What more clients do is the prediction. Nothing that is computed grows with the
crowd.

`CLAIMS` were written down before the first run of this experiment. Seen before were another engine's: without hold times and with Linux 5.19's scheduler it was
off by 1.34 times in the median, with both as here by 1.22 on hot rows. The first recording has no latches of pages. They came with the second, after single
runs with them, of one seed and 64 and 256 clients, had shown fewer waits for the lock system on hot rows. The third has SysBench's ten tables, and the adaptive
hash index where servers have it on by default: with it came the claim on its latch, before any engine had run with it. There a search waited for a change of
its part of the hash index, and of 256 clients of 5.7 111 waited, on the server 17. Since the fourth a search looks first and goes from the root, as the source code of servers
has it; it agrees that 5.7's crowd takes the latch less often than one client does. In the third, parts had tables by chance, too, and not in turn. Up to the fourth an intention lock looked at all others on its table; since
the fifth as on its server (`own-table-locks`). Single runs of one seed with 64 and 256 clients had shown before that nobody waits for tables then.

`hash_index_sim` switches the hash index off. Servers were measured so, too, each point once (`HASH_INDEX_CLAIMS`, written before its run). Its engines compute
as much as with it, where a server without it computes more on its way from the root. Its first recording has the third's searches; in that and in the second both claims came out. The first claim was said to
hold 'as servers do', which its check never had: those words are gone. How long the latch is held is known from above only, so half of it is shown, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from engineroom.runs import Run, newest, recorded
from engineroom.runs.summary import values
from engineroom.simulating.engine import (
    COLUMNS,
    COUNTS,
    EACH,
    LATER,
    LINES,
    Design,
    demand,
    hash_index_of,
    holds,
    observed,
    statements_of,
    with_searches,
    without_time_inside,
)
from engineroom.simulating.experiment import Experiment, Given, Seen
from engineroom.validation.sixteen import factors, left_by_most, live, tps, waiting, waiting_on_both
from engineroom.validation.sixteen import run as crowd_of_servers

UNIFORM, HOT = "uniform", "hot rows"
LOADS = (UNIFORM, HOT)
CROWDS = (64, 256)
# SysBench's tables. Rows are drawn from all of them.
TABLES: Mapping[str, int] = {UNIFORM: 10, HOT: 1}
HASH_INDEX = ("5.7.22", "8.0.31")  # the servers that have it on by default
_NO_BINLOG = {"durable_first": False}
DESIGNS: Mapping[str, Design] = {
    "5.7.22": Design(lock_design="5.7", latches="5.7", redo="5.7", locks=EACH, engine=_NO_BINLOG),
    "8.0.31": Design(locks=COUNTS, engine=_NO_BINLOG),
    "9.7.4": Design(locks=COUNTS, engine=_NO_BINLOG),
}
_READ_WRITE, _UPDATE = "sysbench_read_write", "read_write.update_non_index"


def loads(*, held: float | None = 1) -> dict[str, Any]:
    """Load -> server -> what its engine is given, without the number of clients.

    The hash index is there where its server has it; its latch is held for that part of the most that it can be. None: without.
    """
    measured = newest("own-crowd-demands", "live").table
    table = recorded("own-demands", "live")[LATER - 1].table
    before: Any = table[table["load"] == _READ_WRITE].set_index(["server", "statement"]).loc
    client = _client_us()
    given: dict[str, Any] = {load: {} for load in LOADS}
    common = {**LINES, "holds": holds()}
    for server in DESIGNS:
        mine = measured[measured["series"] == server]
        cpu_us: Any = mine.set_index(["load", "statement"])["cpu_us"]
        asked = {}
        for name in statements_of(_READ_WRITE):
            statement = name.partition(".")[2]
            asked[name] = demand({**before[server, statement], "cpu_us": cpu_us[UNIFORM, statement]})
        each = before[server]["per_transaction"]
        index = {}
        if held is not None and server in HASH_INDEX:
            index = hash_index_of(server, held * sum(each * cpu_us[UNIFORM]))
        engine = {
            load: {"has_page_latches": True, "partitions": tables, **index} for load, tables in TABLES.items()
        }
        given[UNIFORM][server] = {
            **common,
            "engine": engine[UNIFORM],
            "kind": _READ_WRITE,
            "rows": 1_000_000,
            "distribution": "uniform",
            "away_ns": round(1000 * client[UNIFORM, server] / before[server, "per_transaction"].sum()),
            "demands": _searching(asked, server, index),
        }
        update = {
            _UPDATE: demand({**before[server, "update_non_index"], "cpu_us": cpu_us[HOT, "update_non_index"]})
        }
        given[HOT][server] = {
            **common,
            "engine": engine[HOT],
            "away_ns": round(1000 * client[HOT, server]),
            "mix": [
                {
                    "weight": 1,
                    "sends_commit": False,
                    # Its CPU time is in the update's.
                    "commit": demand({**before[server, "commit"], "cpu_us": 0.0}),
                    "draws": [{"rows": 100_000, "distribution": "pareto", "pareto_percent": 20}],
                    "statements": [
                        {
                            **_searching(update, server, index)[_UPDATE],
                            "access": "changes",
                            "shared": False,
                            "table": 0,
                            "draw": 0,
                            "rows": 1,
                        }
                    ],
                }
            ],
        }
    return given


def _searching(
    demands: Mapping[str, Mapping[str, Any]], server: str, index: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """How the statements come to their rows. What they compute in the hash index is done there."""
    found = with_searches(demands, server, _READ_WRITE, hash_index=bool(index))
    return {name: without_time_inside(each, index) for name, each in found.items()} if index else found


def _client_us() -> pd.Series[float]:
    """What SysBench computes per transaction with one client, by load and server."""
    table = live().table
    alone = table[table["clients"] == 1]
    alone = alone.assign(client_us=1e6 * alone["client_cpus"] / alone["tps"])
    return values(alone, "load", "series", y="client_us", how="median")


def _measure(point: Mapping[str, Any], given: Given, **window: int) -> Seen:
    load = given.load[point["load"]][point["series"]]
    row, waits = observed(
        DESIGNS[point["series"]],
        Given(machine=given.machine, load=load, seed=given.seed),
        clients=point["clients"],
        **window,
    )
    waiting = [{**wait, "clients_waiting": wait["wait_us"] * row["tps"] / 1e6} for wait in waits]
    return Seen([row], {"latches": waiting})


crowd_sim = Experiment(
    figure="own-engine-crowd",
    says="throughput and waits of engines beside live servers with up to 256 clients",
    points={
        "load": LOADS,
        "clients": (1, 8, 16, 32, *CROWDS[:1], 128, *CROWDS[1:]),
        "series": tuple(DESIGNS),
    },
    measure=_measure,
    options={"first_ms": 200, "longest_ms": 600, "warmup_ms": 200},
    load=loads,
    machine="twelve_processors",
    columns={
        **{name: said for name, said in COLUMNS.items() if name not in ("concurrency", "tpmC")},
        "clients": "in a closed loop, on other processors",
        "load": "uniform: SysBench's read-write transactions; hot rows: an update of one of 100,000 rows, Pareto",
        "clients_waiting": "that wait for it, in the mean",
    },
)


# The adaptive hash index -> for which part of the most that it can be its latch is held.
_HASH: Mapping[str, float | None] = {"on": 1.0, "on, held half as long": 0.5, "off": None}


def _measure_hash_index(point: Mapping[str, Any], given: Given, **window: int) -> Seen:
    return _measure(point, Given(given.machine, given.load[point["hash_index"]], given.seed), **window)


hash_index_sim = replace(
    crowd_sim,
    figure="own-engine-hash-index",
    says="throughput and waits of engines with the adaptive hash index on and off",
    points={"load": LOADS, "clients": (16, *CROWDS), "series": HASH_INDEX, "hash_index": tuple(_HASH)},
    measure=_measure_hash_index,
    load=lambda: {name: loads(held=held) for name, held in _HASH.items()},
    columns={**crowd_sim.columns, "hash_index": "the adaptive hash index, and how long its latch is held"},
)


def _off(ratios: pd.Series[float]) -> pd.Series[float]:
    return ratios.map(lambda ratio: math.exp(abs(math.log(ratio))))


def _ratio(both: pd.DataFrame) -> pd.Series[float]:
    return (both["engine"] / both["server"]).clip(0.001)


def without_hash_index(run: Run) -> pd.DataFrame:
    """Throughput where the hash index is off over where it is on, of servers and engines, by load, series and clients."""
    table = crowd_of_servers.table
    keys = ["load", "series", "clients"]
    by_setting = table.groupby(["setting", *keys])["tps"].median()
    engines = run.values("hash_index", *keys, y="tps")
    return pd.DataFrame(
        {
            "server": by_setting["adaptive hash index off"] / by_setting["usual"],
            "engine": engines["off"] / engines["on"],
        }
    ).dropna()


def _waiting_for_hash_index(run: Run) -> pd.Series[float]:
    """Of the read-write load, by server and clients: how many of the engine's wait for the hash index over its server's, at least a thousandth."""
    of_both: Any = waiting_on_both(run)
    mine = of_both[of_both.index.get_level_values("latch") == "btr_search_latch"]
    place: Any = (UNIFORM, "btr_search_latch")
    server = waiting.xs(place, level=("load", "latch"))
    engine = mine["engine"].droplevel("latch").reindex([(UNIFORM, *at) for at in server.index])
    return pd.Series(engine.fillna(0).to_numpy() / server, server.index).clip(0.001)


def _first(of: pd.Series[float]) -> pd.Series[Any]:
    """The latch that most wait for, by load, series and clients."""
    longest = of.groupby(level=["load", "series", "clients"]).idxmax()
    return longest.map(lambda place: place[-1])


# What was expected -> whether a run has it so.
CLAIMS: Mapping[str, Callable[[Run], bool]] = {
    "throughput is off by at most 1.25 times in the median": lambda run: _off(factors(run)).median() <= 1.25,
    "it is off by at most 2 times at every point": lambda run: bool((_off(factors(run)) <= 2).all()),
    "of the latches that both name, most wait for the same one at two points of three": lambda run: (
        (_first(waiting_on_both(run)["server"]) == _first(waiting_on_both(run)["engine"])).mean() >= 2 / 3
    ),
    "where at least one of a server's clients waits for such a latch, its engine's are between half and twice as many, in the median": lambda run: (
        _off(
            (waiting_on_both(run)["engine"] / waiting_on_both(run)["server"])[
                waiting_on_both(run)["server"] >= 1
            ].clip(0.001)
        ).median()
        <= 2
    ),
    "what 256 clients leave of the best throughput on hot rows is off by at most 1.5 times on each server": lambda run: (
        max(
            _off(left_by_most(run.values("load", "series", "clients", y="tps")) / left_by_most(tps)).loc[
                [HOT]
            ]
        )
        <= 1.5
    ),
    f"of {' and '.join(HASH_INDEX)} between half and twice as many wait for btr_search_latch as on the server at each crowd of the read-write load": lambda run: (
        _off(_waiting_for_hash_index(run)).max() <= 2
    ),
}
# The same of an engine over which the hash index is switched off, beside servers.
HASH_INDEX_CLAIMS: Mapping[str, Callable[[Run], bool]] = {
    "with 256 clients in the read-write load both engines gain where it is off": lambda run: bool(
        (without_hash_index(run)["engine"].loc[UNIFORM].xs(256, level="clients") > 1).all()
    ),
    "what switching it off gains is off by less than 10 % in the median": lambda run: (
        _off(_ratio(without_hash_index(run))).median() < 1.1
    ),
}
