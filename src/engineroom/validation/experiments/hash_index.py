"""How statements come to their rows, with the adaptive hash index and without: latches counted on live servers, and the time under its own.

One client runs each load. performance_schema keeps every event of its thread, as for `own-latch-order`, and each statement's are counted: a
shared `btr_search_latch` is a search in the hash index, an exclusive one a change of it, and an `index_tree_rw_lock` a search from an
index's root. The hash index is off first, and counted again when it is on and `WARM` transactions have filled it. Then SysBench's
thread is sampled as for `own-hold-times`: a search in the hash index is one function, which holds the latch for most of its time and
compares the row found behind it; changes are several. A function counts whole, so these are the most that holds can be.

`simulating.engine.with_searches` gives engines these counts, and takes the time under the latch out of what their statements compute.

Expected before it was recorded (`CLAIMS`): per read-write transaction the counts are within 15 % of those of `own-crowd`, which was
recorded with 64 clients on another computer. Seen before were counts of single statements on a small table, and one run of samples.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from engineroom.errors import EngineRoomError
from engineroom.measuring import probes
from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.turns import in_turns
from engineroom.progress import bar
from engineroom.runs import Run, newest
from engineroom.servers.catalogue import measured
from engineroom.validation.experiments.holds import LOAD as SAMPLED_LOAD
from engineroom.validation.experiments.holds import function, sampled
from engineroom.validation.experiments.latch_order import Events
from engineroom.workloads import sysbench
from engineroom.workloads.one_client import OPTIONS, Client, Key, LiveLoad, asked

if TYPE_CHECKING:
    from engineroom.servers import Server

VERSIONS = measured(since="5.7")
LOADS = ("sysbench_read_write", "tpcc_1")
TABLE_ROWS = 100_000
WARM = 3_000  # transactions
COUNTED: Mapping[str, int] = {"sysbench": 150, "tpcc": 300}
SECONDS, REPEATS = 20, 3
SETTING = "innodb_adaptive_hash_index"
_KEPT = 100_000  # events, more than a stock level's count has
SEARCHES, CHANGES, ROOTS = "hash_searches", "hash_changes", "root_searches"
TRIES = "hash_tries"
# What is done under the latch -> its functions, of which a version has some.
INSIDE: Mapping[str, re.Pattern[str]] = {
    SEARCHES: re.compile(function("btr_search_guess_on_hash")),
    CHANGES: re.compile(
        "|".join(
            function(name)
            for name in (
                "row_upd_rec_in_place",
                "btr_search_update_hash_on_insert",
                "btr_search_update_hash_node_on_insert",
                "btr_search_update_hash_on_delete",
            )
        )
    ),
}
COLUMNS = {
    "series": "version of the server",
    "server": "version of the server",
    "hash_index": "innodb_adaptive_hash_index",
    "load": f"as in own-demands; SysBench's table has {TABLE_ROWS:,} rows",
    "transaction": "kind of transaction",
    "statement": "kind of statement",
    SEARCHES: "shared btr_search_latch, asked for or tried, per execution",
    TRIES: "of them those that do not wait",
    CHANGES: "exclusive btr_search_latch per execution",
    ROOTS: "index_tree_rw_lock per execution",
    "per_transaction": "executions per transaction of this kind",
    "executions": "that were counted",
    "part": "what is done under btr_search_latch: searches or changes",
    "cpu_us": "CPU time of the session's thread in their functions per transaction, microseconds",
    "samples": "of the thread's stack that have one of them",
    "thread_cpu_us": "CPU time of the session's thread per transaction, microseconds",
    "transactions": "committed meanwhile",
}


def hash_index_live(
    *,
    versions: Sequence[str] = VERSIONS,
    loads: Sequence[str] = LOADS,
    warm: int = WARM,
    share: float = 1.0,
    scale: float = 1.0,
    seconds: int = SECONDS,
    repeats: int = REPEATS,
) -> Run:
    """Count each statement's searches with the hash index off and on, then sample a thread. `share` is of the transactions that are counted.

    EngineRoomError where nothing can be sampled.
    """
    sysbench.require()
    made = [LiveLoad(load, table_rows=TABLE_ROWS, scale=scale) for load in loads]
    options = {**OPTIONS, "performance_schema_events_waits_history_long_size": _KEPT}
    rows: list[dict[str, Any]] = []
    inside: list[dict[str, Any]] = []
    with LiveSitting(seed=1) as sitting:
        for version in bar(versions, desc="counts", unit="server"):
            with sitting.server(version, options=options) as server:
                of = {"series": server.version, "server": server.version}
                for load in made:
                    load.fill(server)
                    for setting in ("OFF", "ON"):
                        server.execute(f"SET GLOBAL {SETTING} = {setting}")
                        counted = max(1, round(share * COUNTED[load.family]))
                        seen = _seen(server, load, warm if setting == "ON" else 20, counted)
                        rows += [{**of, "hash_index": setting, "load": load.name, **row} for row in seen]
        for repeat, version in in_turns(repeats, versions, desc="samples"):
            with sitting.server(version, options={**OPTIONS, SETTING: "ON"}) as server:
                if reason := probes.why_no_samples(server, function("btr_search_guess_on_hash")):
                    raise EngineRoomError(
                        f"the stacks of MySQL {server.version} cannot be sampled: {reason}",
                        remedy="look at the recorded run",
                    )
                client = SAMPLED_LOAD.on(server, "hash_index")
                client.run(threads=1, seconds=max(1, seconds // 3), seed=99)  # fills the hash index
                of = {"series": server.version, "server": server.version, "repeat": repeat}
                inside += [
                    {**of, **row} for row in sampled(server, client, INSIDE, seconds=seconds, seed=repeat + 1)
                ]
    return sitting.run(
        "own-hash-index",
        rows,
        columns=COLUMNS,
        tables={"inside": inside},
        load=[load.described for load in made],
        sampled=SAMPLED_LOAD.described,
    )


def _seen(server: Server, load: LiveLoad, warm: int, transactions: int) -> Iterator[dict[str, Any]]:
    """A row per statement of the load's transactions, behind so many that are not counted."""
    executions: Counter[Key] = Counter()
    began: Counter[str] = Counter()
    counts: dict[Key, Counter[str]] = defaultdict(Counter)
    stream = load.transactions(seed=1)
    with Client(server, load) as client:
        for _ in asked(itertools.islice(stream, warm), client.ask):
            pass
        with Events(server, client.id) as events:
            for key, place in asked(itertools.islice(stream, transactions), client.ask):
                executions[key] += 1
                began[key[0]] += place == 1
                for event in events.taken():
                    counts[key].update(_means(*event))
    for key, n in executions.items():
        yield {
            "transaction": key[0],
            "statement": key[1],
            **{column: counts[key][column] / n for column in (SEARCHES, TRIES, CHANGES, ROOTS)},
            "per_transaction": n / began[key[0]],
            "executions": n,
        }


def _means(latch: str, operation: str) -> Sequence[str]:
    """The columns that count such an event."""
    if latch == "index_tree_rw_lock":
        return [ROOTS]
    if latch != "btr_search_latch":
        return []
    if "exclusive" in operation:
        return [CHANGES]
    return [SEARCHES, TRIES] if operation.startswith("try") else [SEARCHES]


def beside_crowd(run: Run) -> pd.DataFrame:
    """Latches per read-write transaction as `own-crowd` counted them with 64 clients and as they are counted here, by server and latch."""
    latches = newest("own-crowd", "live").tables["latches"]
    crowd: Any = latches[(latches["load"] == "uniform") & (latches["clients"] == 64)]
    acquired = crowd.set_index(["series", "latch"])["acquisitions"]
    rows = []
    for server, setting in (("5.7.22", "ON"), ("8.0.31", "ON"), ("9.7.4", "OFF")):
        each = per_transaction(run, server, setting)
        for latch, here in (
            ("btr_search_latch", each[SEARCHES] + each[CHANGES]),
            ("index_tree_rw_lock", each[ROOTS]),
        ):
            if (server, latch) in acquired.index:
                rows.append(
                    {"server": server, "latch": latch, "crowd": acquired[server, latch], "here": here}
                )
    return pd.DataFrame(rows).set_index(["server", "latch"])


def per_transaction(run: Run, server: str, setting: str) -> pd.Series[float]:
    """Searches and changes per read-write transaction of SysBench."""
    table = run.table
    mine = table[
        (table["server"] == server)
        & (table["hash_index"] == setting)
        & (table["load"] == "sysbench_read_write")
    ]
    return mine[[SEARCHES, CHANGES, ROOTS]].mul(mine["per_transaction"], axis=0).sum()


CLAIMS: Mapping[str, Callable[[Run], bool]] = {
    "per transaction the latches are within 15 % of those of the crowd": lambda run: bool(
        (beside_crowd(run)["here"] / beside_crowd(run)["crowd"]).between(1 / 1.15, 1.15).all()
    ),
}
