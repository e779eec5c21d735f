"""The read-view article's load on the simulated machine: thousands of sessions, autocommit reads mixed with writes, and purge.

Machine, load and the article's claims are fixed before the first comparison with a published number. The article names the load (over
ten thousand active sessions, autocommit reads mixed with single-statement writes) and neither its machine nor its rates. Ours: two
sockets of the sources' machine; each session sends ten statements per second, one in five a write, so that ten thousand sessions ask for
less than a tenth of the machine's processor time. What slows them down then is no lack of processors.

What a statement computes, what a view takes to make and what purge takes to pass a closed one are those of a live 5.7. Passing one is a few
instructions and a wait for memory, of which the simulated machine has only the lines that another processor has changed. What purge takes
for an undo log is 9.7.4's, whose one thread does all of it; the rest of a batch on 5.7 is waking and awaiting three more threads. Here
one thread spends the time of all, so that purge leaves the mutex to others for as long as it can.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd

from engineroom.chapters.read_views.experiments import live
from engineroom.chapters.read_views.experiments.histories import DESIGNS
from engineroom.runs import newest
from engineroom.simulating import settling
from engineroom.simulating.activities import time_by
from engineroom.simulating.engine import LINES, demands, holds
from engineroom.simulating.experiment import Experiment, Given

MACHINE = "sources_88"
SERVER = "5.7.22"
LATCHES: Mapping[str, str] = {SERVER: "5.7", "8.0.31": "8.0, sharded"}
LOAD: Mapping[str, int] = {
    "away_ns": 100_000_000,
    "write_percent": 20,
    "purge_batch": 300,
}


def measured_load(server: str = SERVER, **more: int) -> dict[str, int]:
    """The load, with what a live server took: ns of processor time for a read, a write, a view made, a closed one passed, a batch of purge."""
    asked = demands(server, "sysbench_read_write")
    of = "read_write."
    write = asked[f"{of}update_non_index"]["computing_ns"] + asked[f"{of}commit"]["computing_ns"]
    batch_us, most = _purged(server, "purge_us_per_batch"), max(live.IDLE)
    purge_us = float(_purged("9.7.4", "purge_us_per_transaction")[0])
    logs = float(_purged(server, "transactions")[0] / _purged(server, "batches")[0])
    return {
        **LOAD,
        "read_ns": asked[f"{of}select_point"]["computing_ns"],
        "write_ns": write,
        "prepare_ns": holds()["trx_sys"][LATCHES[server]]["prepare_ns"],
        "walk_ns": round(1000 * float(batch_us[most] - batch_us[0]) / most),
        "purge_ns": round(1000 * purge_us),
        "purge_batch_ns": round(1000 * (float(batch_us[0]) - logs * purge_us)),
        **more,
    }


def _purged(server: str, column: str) -> pd.Series[float]:
    """Of `own-read-views-idle`, by the number of idle sessions."""
    table = newest("own-read-views-idle", "live").table
    return table[table["server"] == server].groupby("idle_sessions")[column].median()


# In a closed loop over a network of 200 us, more sessions than the machine has threads: what is compared is how much they get done.
BUSY_SESSIONS = 256
LOADS: Mapping[str, Mapping[str, int]] = {
    "read_only": {"write_percent": 0},
    "mixed": {"write_percent": 20},
    "read_write": {"write_percent": 100, "writes_read": True},
}
SERIES: Mapping[str, str] = {"before_5_7": "5.6", "kept": "5.7", "removed_at_once": "5.7, remedied"}
SESSIONS = 10_000
US = 1_000
# The window: ten statements per second and session, so that each has sent some.
WINDOW = {"first_ms": 200, "longest_ms": 400, "warmup_ms": 200}
BUSY_WINDOW = {"first_ms": 10, "longest_ms": 40, "warmup_ms": 10}

COLUMNS = {
    "sessions": "in a closed loop, away between statements",
    "walk_ns": "what purge takes to pass a closed view, besides lines that have changed",
    "build": "kept: the list of 5.7; removed_at_once: the view leaves it when its read ends",
    "load": "read_only: autocommit reads; mixed: one statement of five is a write; read_write: transactions of a read and a write",
    "views": "in the list at the end of the window; of the series closed, those marked so",
    "views_in_list": "at the end of the window",
    "mean_response_us": "of a statement, without the time away",
    "p99_response_us": "99th percentile of it",
    "relative_throughput": "statements per second of virtual time",
    "walked_per_batch": "views that purge looked at, per batch",
    "purge_batches": "in the window",
    "purge_share_percent": "processor time of purge's thread, over the window",
    "history_length": "undo logs left at the end of the window",
    "mutex_per_statement": "acquisitions of trx_sys_mutex",
    "statements": "counted",
    "idle_sessions": "sessions that have read once in autocommit mode and wait",
    "batch_percent": "of what a batch of purge takes on the server besides undo logs and views, in one thread",
    "mutex_us_per_transaction": "time that all threads waited for trx_sys_mutex",
    "batches_per_transaction": "of purge",
    "window_ms": "virtual time measured, longer until settled",
    "half_width_percent": "half of the throughput's interval of 95 %, over it",
    "is_settled": "1: that is at most 2 %, and each session has had five statements; 0: the window's cap came first",
}


def _experiment(**what: Any) -> Experiment:
    return Experiment(**{"machine": MACHINE, "columns": COLUMNS, "options": WINDOW, **what})


def _simulate(
    design: Mapping[str, str], given: Given, *, load: Mapping[str, Any], **window: Any
) -> dict[str, Any]:
    from engineroom import _native

    load = {**given.load, **load}
    walk_ns, prepare_ns = load.pop("walk_ns"), load.pop("prepare_ns")
    # 5.6 walks over no views, but over transactions: that is left as it is.
    passes = {} if design["latches"] == "5.6" else {"walk_ns": walk_ns}
    seen: dict[str, Any] = _native.read_views.simulate(
        parameters=dict(given.machine),
        load=load,
        trx_sys={**design, **LINES["trx_sys"], "prepare_ns": prepare_ns, **passes},
        seed=given.seed,
        **window,
    )
    return seen


def _seen(series: str, given: Given, load: Mapping[str, Any], **window: int) -> dict[str, Any]:
    design = DESIGNS[SERIES[series]]
    options = {"latches": design.latches, "views": design.views}
    seen = settling.settled(partial(_simulate, options, given, load=load), **window)
    statements = max(1, seen["transactions"])
    purge_ps = sum(time_by(seen["activities"], lambda path: path[0] if path[0] == "purge" else None).values())
    return {
        "views_in_list": seen["views_in_list"],
        "views_closed": seen["views_closed"],
        "mean_response_us": seen["response_ns"] / statements / US,
        "p99_response_us": seen["latency_ns_p99"] / US,
        "relative_throughput": seen["transactions"] / seen["window_ns"] * 1e9,
        "walked_per_batch": seen["views_walked"] / max(1, seen["clones"]),
        "purge_batches": seen["clones"],
        "purge_share_percent": purge_ps / 10 / seen["window_ns"],
        "history_length": seen["history_length"],
        "mutex_per_statement": seen["mutex"] / statements,
        "statements": seen["transactions"],
        **settling.window(seen),
    }


def _list_length(point: Mapping[str, Any], given: Given, **window: int) -> dict[str, Any]:
    build = "kept" if point["series"] == "closed" else point["series"]
    seen = _seen(build, given, {"clients": point["sessions"]}, **window)
    length = seen["views_closed"] if point["series"] == "closed" else seen["views_in_list"]
    return {"views": length, "statements": seen["statements"], "window_ms": seen["window_ms"]}


list_length_sim = _experiment(
    figure="num-rv-1",
    says="views in the list, with closed ones kept and removed at once",
    points={"sessions": (1_000, 4_000, SESSIONS), "series": ("kept", "removed_at_once", "closed")},
    measure=_list_length,
    load=measured_load,
)


def _response(point: Mapping[str, Any], given: Given, **window: int) -> dict[str, Any]:
    seen = _seen(point["build"], given, {"clients": SESSIONS}, **window)
    return {"series": "response", **_without(seen, "relative_throughput", "views_closed")}


response_sim = _experiment(
    figure="num-rv-2",
    says="mean response time of ten thousand sessions, with closed views kept and removed at once",
    points={"build": ("kept", "removed_at_once")},
    measure=_response,
    load=measured_load,
)


def _read_only(point: Mapping[str, Any], given: Given, **window: int) -> dict[str, Any]:
    load = {"clients": BUSY_SESSIONS, **LOADS[point["load"]]}
    return _without(_seen(point["series"], given, load, **window), "views_closed")


read_only_sim = _experiment(
    figure="num-rv-3",
    says="what the remedy costs where nobody writes, and what it brings where some do",
    points={"load": tuple(LOADS), "series": tuple(SERIES)},
    measure=_read_only,
    options=BUSY_WINDOW,
    load=partial(measured_load, away_ns=200_000),
)


def _walk(point: Mapping[str, Any], given: Given, **window: int) -> dict[str, Any]:
    load = {"clients": point["sessions"], "walk_ns": point["walk_ns"]}
    return _without(_seen(point["series"], given, load, **window), "relative_throughput", "views_closed")


# Expected before the first run, in which purge slept 10 ms behind an empty batch and a batch took no time of its own: where a view costs nothing
# to pass, the two differ by less than a tenth; with ten thousand sessions and 20 ns, a statement takes at least twice as long where views
# are kept; no cost up to 150 ns makes it 40 times as long.
walk_sim = _experiment(
    figure="own-read-views-walk",
    says="response time by what purge takes to pass a closed view",
    points={
        "walk_ns": (0, 10, 20, 50, 100, 150),
        "sessions": (4_000, SESSIONS),
        "series": ("kept", "removed_at_once"),
    },
    measure=_walk,
    load=measured_load,
)


def _idle(point: Mapping[str, Any], given: Given, *, run_ms: int) -> dict[str, Any]:
    server = point["series"]
    load = measured_load(server, away_ns=0, write_percent=100, clients=1, idle_clients=point["idle_sessions"])
    load["purge_batch_ns"] = load["purge_batch_ns"] * point["batch_percent"] // 100
    seen = _simulate(
        {"latches": LATCHES[server], "views": "kept"},
        given,
        load=load,
        run_ns=run_ms * 1000 * US,
        warmup_ns=100 * 1000 * US,
    )
    waits = sum(each["total_ns"] for each in seen["waits"] if each["name"] == "trx_sys_mutex")
    return {
        "mutex_us_per_transaction": waits / seen["transactions"] / US,
        "batches_per_transaction": seen["clones"] / seen["transactions"],
        "statements": seen["transactions"],
    }


# The servers of `own-read-views-idle`, whose purge and statements the model has, on two simulated processors: whether waits for the mutex and
# batches of purge are theirs. That one thread spends all of a batch's time was chosen here, of nothing, half and all of it.
idle_sim = _experiment(
    figure="own-read-views-idle-model",
    says="waits for trx_sys_mutex and batches of purge beside idle sessions, on a machine like that of the live servers",
    machine="laptop",
    points={"batch_percent": (0, 50, 100), "idle_sessions": live.IDLE, "series": tuple(LATCHES)},
    measure=_idle,
    options={"run_ms": 500},
    load={},
)


def _without(seen: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in seen.items() if name not in names}
