"""The whole engine with the binary log of 5.5, 5.6 and 5.7.6, and without one, both logs synced at each commit (1/1).

All else is one engine: the lock system, transaction system and redo log of 9.7, under TPC-C with 1,000 warehouses and the demands of 8.0.15. An
ablation of 5.7.6 syncs nothing (sync_binlog 0, innodb_flush_log_at_trx_commit 2), and another lets each session commit in the
engine by itself (binlog_order_commits off).

`CLAIMS` were written down before the first run of this experiment. One trial was seen before, to see that the binding works: 50 clients, one seed,
100 ms, where 5.5 had 0.40 of the throughput without a binary log, 5.6 0.90 and 5.7.6 0.89.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engineroom.runs import Run
from engineroom.runs.summary import values
from engineroom.simulating.engine import Design
from engineroom.simulating.sources import designs_under_tpcc

CROWD = 500
# The server's default, binlog_order_commits = ON; the sources' server has it off.
_IN_ORDER = {"order_commits": True}
DESIGNS = {
    "off": Design(engine={"binlog": "off"}),
    **{binlog: Design(engine={"binlog": binlog}, commit=_IN_ORDER) for binlog in ("5.5", "5.6", "5.7.6")},
    "5.7.6, not synced": Design(commit={**_IN_ORDER, "sync_binlog": 0, "flush_log_at_trx_commit": 2}),
    "5.7.6, no order": Design(),
}
binlog_sim = designs_under_tpcc(
    "own-engine-binlog",
    "throughput of a whole engine with each design of the binary log's commit, both logs synced",
    DESIGNS,
    server="8.0.15",
    concurrency=(1, 50, 150, CROWD),
    window={"first_ms": 100, "longest_ms": 300, "warmup_ms": 100},
    columns={
        "binlog_fsyncs": "of the binary log, per transaction, where there is one",
        "commits_per_group": "commits over groups of the SYNC stage; those that change nothing are in none",
    },
)


def _tps(run: Run, series: str, clients: int) -> float:
    return float(run.values("series", "concurrency", y="tps")[series, clients])


def _leading(run: Run, series: str) -> str:
    """Where clients of the crowd wait most, of the latches and conditions of a commit with a binary log."""
    waits = run.tables["latches"]
    crowd = waits[(waits["concurrency"] == CROWD) & (waits["series"] == series)]
    stages = crowd[crowd["latch"].str.match("LOCK_|COND_done|prepare_commit_mutex")]
    return str(values(stages, "latch", y="wait_us", how="median").idxmax())


# What was expected -> whether a run has it so.
CLAIMS: Mapping[str, Callable[[Run], bool]] = {
    "with the crowd, 5.5 has less than a fifth of the throughput without a binary log": lambda run: (
        _tps(run, "5.5", CROWD) < 0.2 * _tps(run, "off", CROWD)
    ),
    "with the crowd, 5.7.6 has more throughput than 5.6": lambda run: (
        _tps(run, "5.7.6", CROWD) > _tps(run, "5.6", CROWD)
    ),
    "with the crowd, 5.7.6 has at least half of the throughput without a binary log": lambda run: (
        _tps(run, "5.7.6", CROWD) >= 0.5 * _tps(run, "off", CROWD)
    ),
    "of the stages' waits those for prepare_commit_mutex lead in 5.5, and those for COND_done since": lambda run: (
        [_leading(run, series) for series in ("5.5", "5.6", "5.7.6")]
        == ["prepare_commit_mutex", "COND_done", "COND_done"]
    ),
    "with the crowd, 5.7.6 that syncs nothing has more throughput than 5.7.6": lambda run: (
        _tps(run, "5.7.6, not synced", CROWD) > _tps(run, "5.7.6", CROWD)
    ),
}
