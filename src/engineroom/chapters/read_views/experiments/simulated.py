"""The read-view article's load on the simulated machine: thousands of sessions, autocommit reads mixed with writes, and purge.

Machine, load and the article's claims are fixed before the first comparison with a published number. The article names the load (over
ten thousand active sessions, autocommit reads mixed with single-statement writes) and neither its machine nor its rates. Ours: two
sockets; each session sends ten statements per second, one in five a write, so that ten thousand sessions ask for less than a tenth of
the machine's processor time. What slows them down then is no lack of processors.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from engineroom.chapters.read_views.experiments.histories import DESIGNS
from engineroom.simulating import settling
from engineroom.simulating.activities import time_by
from engineroom.simulating.experiment import Experiment, Given

MACHINE = "two_sockets_88"
# A statement's processor time is an estimate: a read by primary key takes some 50 us of a server on the small computer.
LOAD: Mapping[str, int] = {
    "away_ns": 100_000_000,
    "read_ns": 50_000,
    "write_ns": 80_000,
    "write_percent": 20,
    "purge_batch": 300,
    "purge_ns": 2_000,
}
# In a closed loop over a network of 200 us, more sessions than the machine has threads: what is compared is how much they get done.
BUSY: Mapping[str, int] = {**LOAD, "away_ns": 200_000}
BUSY_SESSIONS = 256
LOADS: Mapping[str, Mapping[str, int]] = {
    "read_only": {"write_percent": 0},
    "mixed": {"write_percent": 20},
    "read_write": {"write_percent": 100, "writes_read": True},
}
SERIES: Mapping[str, str] = {"before_5_7": "5.6", "kept": "5.7", "removed_at_once": "5.7, remedied"}
SESSIONS = 10_000
US, MS = 1_000, 1_000_000
# The window: ten statements per second and session, so that each has sent some.
WINDOW = {"first_ms": 200, "longest_ms": 400, "warmup_ms": 200}
BUSY_WINDOW = {"first_ms": 10, "longest_ms": 40, "warmup_ms": 10}

COLUMNS = {
    "sessions": "in a closed loop, away between statements",
    "build": "kept: the list of 5.7; removed_at_once: the view leaves it when its read ends",
    "load": "read_only: autocommit reads; mixed: one statement of five is a write; read_write: transactions of a read and a write",
    "away_ms": "between two statements of a session, mean",
    "write_percent": "of the statements",
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
    "window_ms": "virtual time measured, longer until settled",
    "half_width_percent": "half of the throughput's interval of 95 %, over it",
    "is_settled": "1: that is at most 2 %, and each session has had five statements; 0: the window's cap came first",
}
_experiment = partial(Experiment, machine=MACHINE, columns=COLUMNS, options=WINDOW)


def _simulate(series: str, given: Given, *, load: Mapping[str, Any], **window: Any) -> dict[str, Any]:
    from engineroom import _native

    design = DESIGNS[SERIES[series]]
    seen: dict[str, Any] = _native.read_views.simulate(
        parameters=dict(given.machine),
        load={**given.load, **load},
        trx_sys={"latches": design.latches, "views": design.views},
        seed=given.seed,
        **window,
    )
    return seen


def _seen(series: str, given: Given, load: Mapping[str, Any], **window: int) -> dict[str, Any]:
    seen = settling.settled(partial(_simulate, series, given, load=load), **window)
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
    load=LOAD,
)


def _response(point: Mapping[str, Any], given: Given, **window: int) -> dict[str, Any]:
    seen = _seen(point["build"], given, {"clients": SESSIONS}, **window)
    return {"series": "response", **_without(seen, "relative_throughput", "views_closed")}


response_sim = _experiment(
    figure="num-rv-2",
    says="mean response time of ten thousand sessions, with closed views kept and removed at once",
    points={"build": ("kept", "removed_at_once")},
    measure=_response,
    load=LOAD,
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
    load=BUSY,
)


def _sessions(point: Mapping[str, Any], given: Given, **window: int) -> dict[str, Any]:
    load = {
        "clients": point["sessions"],
        "away_ns": point["away_ms"] * MS,
        "write_percent": point["write_percent"],
    }
    return _without(_seen(point["series"], given, load, **window), "relative_throughput", "views_closed")


sessions_sim = _experiment(
    figure="own-read-views-sessions",
    says="response time and purge's share against sessions, what they ask for, and the share of writes",
    points={
        "away_ms": (100, 15),
        "write_percent": (5, 20),
        "sessions": (1_000, 4_000, SESSIONS),
        "series": ("kept", "removed_at_once"),
    },
    measure=_sessions,
    options={"first_ms": 40, "longest_ms": 40, "warmup_ms": 150},
    load=LOAD,
)


def _without(seen: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in seen.items() if name not in names}
