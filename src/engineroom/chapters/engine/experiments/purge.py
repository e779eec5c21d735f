"""The whole engine with purge and without, on the transaction system of each version, with closed views kept and removed at once.

All else is one engine: the lock system and redo log of 9.7, under TPC-C with 1,000 warehouses and the demands of 8.0.15. Purge has four threads,
the default of 5.7 to 9.7 on this machine, beside redo written in one piece (an engine in the servers' order has no purge), and takes 5 us for each changed row, an estimate. In 5.6 a closed view leaves the list at once; from 5.7 on it stays, marked, and
purge walks past it. The remedy, which no server has, takes it out at once.

`CLAIMS` were written down before the first run of this experiment. Seen before was how long two runs take, and nothing of what they did. Only
autocommit reads leave a closed view, and this load has none: the designs whose views are removed at once were bound to change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engineroom.runs import Run
from engineroom.simulating.engine import Design
from engineroom.simulating.sources import designs_under_tpcc

FEW, CROWD = 50, 300
# Version -> latches over transactions, and what becomes of a closed view.
VERSIONS: Mapping[str, tuple[str, str]] = {
    "5.6": ("5.6", "removed"),
    "5.7": ("5.7", "kept"),
    "8.0": ("8.0", "kept"),
    "9.7": ("8.0, sharded", "kept"),
    "5.7, views removed": ("5.7", "removed_at_once"),
    "9.7, views removed": ("8.0, sharded", "removed_at_once"),
}
WITHOUT = ", no purge"


def _design(version: str, *, has_purge: bool) -> Design:
    latches, views = VERSIONS[version]
    return Design(
        latches=latches, trx_sys={"views": views}, engine={"has_purge": has_purge, "server_order": False}
    )


DESIGNS = {
    name: _design(version, has_purge=has_purge)
    for version in VERSIONS
    for name, has_purge in ((version, True), (version + WITHOUT, False))
    if has_purge or "," not in version
}
purge_sim = designs_under_tpcc(
    "own-engine-purge",
    "throughput, history and purge's processor time of a whole engine, by the version of its transaction system",
    DESIGNS,
    server="8.0.15",
    concurrency=(FEW, CROWD),
    window={"first_ms": 30, "longest_ms": 60, "warmup_ms": 40},
    columns={
        "purge_removed": "undo logs that purge took out of the history, per one that a commit put in, where there is purge",
        "purge_cpus": "processors that purge's threads use, mean",
        "history_length": "undo logs left at the end of the run",
    },
)


def _of(run: Run, what: str, series: str, clients: int = CROWD) -> float:
    return float(run.values("series", "concurrency", y=what)[series, clients])


def _left(run: Run, version: str, clients: int = CROWD) -> float:
    """Of the throughput without purge."""
    return _of(run, "tps", version, clients) / _of(run, "tps", version + WITHOUT, clients)


def _waited(run: Run, series: str) -> float:
    """For trx_sys_mutex with the crowd, per transaction."""
    waits = run.tables["latches"]
    mine = waits[(waits["concurrency"] == CROWD) & (waits["series"] == series)]
    return float(mine[mine["latch"] == "trx_sys_mutex"]["wait_us"].median())


_SERVERS = [version for version in VERSIONS if "," not in version]

# What was expected -> whether a run has it so.
CLAIMS: Mapping[str, Callable[[Run], bool]] = {
    "with few clients purge costs at most a tenth of the throughput in every version": lambda run: all(
        _left(run, version, FEW) >= 0.9 for version in _SERVERS
    ),
    "with the crowd purge costs 9.7 at most a tenth of the throughput": lambda run: _left(run, "9.7") >= 0.9,
    "with the crowd purge costs 5.7 a greater share of the throughput than 9.7": lambda run: (
        _left(run, "5.7") < _left(run, "9.7")
    ),
    "with few clients purge keeps up in every version: it removes at least 95 % of what comes in": lambda run: (
        all(_of(run, "purge_removed", version, FEW) >= 0.95 for version in _SERVERS)
    ),
    "with the crowd purge does not keep up in 9.7: it removes less than 95 %": lambda run: (
        _of(run, "purge_removed", "9.7") < 0.95
    ),
    "with the crowd purge's threads use at least two processors in 9.7": lambda run: (
        _of(run, "purge_cpus", "9.7") >= 2
    ),
    "with the crowd of 5.7 purge lengthens the waits for trx_sys_mutex": lambda run: (
        _waited(run, "5.7") > _waited(run, "5.7, no purge")
    ),
    "with the crowd and purge, removing closed views at once makes 5.7 faster": lambda run: (
        _of(run, "tps", "5.7, views removed") > _of(run, "tps", "5.7")
    ),
    "with the crowd and purge, removing closed views at once moves 9.7 by at most a tenth": lambda run: (
        abs(_of(run, "tps", "9.7, views removed") / _of(run, "tps", "9.7") - 1) <= 0.1
    ),
}
