"""When the log threads help: throughput and the time of a COMMIT on 9.7 with `innodb_log_writer_threads` ON and OFF, by clients.

One server, which is switched between runs: the two take turns, and the one that begins changes with each repeat. The load is that of figure
7-6, SysBench's read-write transactions over a million evenly drawn rows without a binary log, each fsync as long as the others. The server
itself times each COMMIT (performance_schema), from when the statement arrives until its answer is sent: SysBench sees whole transactions alone.

`CLAIMS` were written down before the first recording. Seen before were throughputs of figure 7-6 in its recording, where OFF committed more from
3 clients on. Trials of a second on a busy computer, to see that it runs, had ON ahead with one client and with eight; the claims stayed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from engineroom.chapters.redo_log.experiments.live import SERVERS, TABLE_ROWS
from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.turns import in_turns
from engineroom.runs import Run
from engineroom.workloads import sysbench
from engineroom.workloads.steady_fsync import preloaded
from engineroom.workloads.sysbench import Sysbench

if TYPE_CHECKING:
    from engineroom.servers import Server

FIGURE = "own-redo-writer-threads"
SWITCHED = ("on", "off")
# So many clients or more are a crowd.
CROWD = 64
MS_IN_PS = 1e9
_OPTIONS = {
    "max_connections": "400",
    "innodb_buffer_pool_size": "512M",
    "innodb_flush_log_at_trx_commit": "1",
    "transaction_isolation": "READ-COMMITTED",
    "performance_schema": "ON",
}
_DIGESTS = "performance_schema.events_statements_summary_by_digest"
# SysBench prepares its COMMIT.
_TIMES = (
    "SELECT BUCKET_TIMER_HIGH, COUNT_BUCKET FROM performance_schema.events_statements_histogram_by_digest "
    f"JOIN {_DIGESTS} USING (SCHEMA_NAME, DIGEST) "
    "WHERE DIGEST_TEXT = 'EXECUTE COMMIT' AND COUNT_BUCKET > 0 ORDER BY BUCKET_TIMER_HIGH"
)
COLUMNS = {
    "concurrency": "SysBench threads",
    "series": "innodb_log_writer_threads",
    "transactions_per_second": "transactions over seconds",
    "commit_ms_p50": "median of the time of a COMMIT in the server, ms: the upper end of its bucket, at most 5 % too long",
    "commit_ms_p95": "95 % of COMMITs take at most that, ms",
    "commits": "COMMITs that were timed",
    "fsyncs_per_transaction": "Innodb_os_log_fsyncs over transactions, differences during the run",
    "client_cpu_percent": "CPU time of SysBench over the time of the run; 100 is one core",
}


def writer_threads_live(
    *,
    clients: Sequence[int] = (1, 2, 4, 16, 64, 200),
    repeats: int = 5,
    seconds: int = 5,
    fsync_us: int = 100,
    table_rows: int = TABLE_ROWS,
) -> Run:
    """Throughput and times of COMMIT with the log threads on and off."""
    sysbench.require()
    rows: list[dict[str, Any]] = []
    with LiveSitting(seed=1) as sitting, ExitStack() as stack:
        variant = SERVERS["9.7_writer_threads_on"]
        with preloaded(fsync_us):
            server = stack.enter_context(
                sitting.server(variant.version, options={**variant.options, **_OPTIONS})
            )
        load = Sysbench(server, database="redo_log", table_rows=table_rows, options=["--rand-type=uniform"])
        load.prepare()
        load.run(threads=4, seconds=1)
        turns = in_turns(repeats, clients, (0, 1), desc=f"MySQL {server.version}")
        for turn, (repeat, n, second) in enumerate(turns):
            series = SWITCHED[(repeat + second) % 2]
            server.execute(
                f"SET GLOBAL innodb_log_writer_threads = {series.upper()}", f"TRUNCATE TABLE {_DIGESTS}"
            )
            ran = load.run(threads=n, seconds=seconds, seed=100 + turn)
            rows.append(
                {
                    "concurrency": n,
                    "series": series,
                    "repeat": repeat,
                    "transactions_per_second": ran.transactions / seconds,
                    **_commits(server),
                    "fsyncs_per_transaction": ran.moved["Innodb_os_log_fsyncs"] / max(1, ran.transactions),
                    "client_cpu_percent": ran.client_cpu_percent,
                }
            )
    return sitting.run(
        FIGURE,
        rows,
        fsync_us=fsync_us,
        load=f"sysbench oltp_read_write, 1 table of {table_rows} rows, uniform, READ COMMITTED, {seconds} s a run",
        columns=COLUMNS,
    )


def _commits(server: Server) -> dict[str, float]:
    buckets = [(int(high_ps), int(count)) for high_ps, count in server.query(_TIMES)]
    return {
        "commit_ms_p50": at_share(buckets, 0.5) / MS_IN_PS,
        "commit_ms_p95": at_share(buckets, 0.95) / MS_IN_PS,
        "commits": sum(count for _, count in buckets),
    }


def at_share(buckets: Sequence[tuple[int, int]], share: float) -> float:
    """The upper end of the bucket that the given share of all counted lies at or below; nan where nothing was counted.

    `buckets` are upper ends with counts, in order.
    """
    left = share * sum(count for _, count in buckets)
    for high, count in buckets:
        left -= count
        if left <= 0:
            return high
    return float("nan")


def _off_over_on(run: Run, y: str) -> Mapping[int, float]:
    of = run.values("series", "concurrency", y=y)
    return {int(n): of["off", n] / of["on", n] for n in of["on"].index}


# What was expected -> whether a run has it so. The servers of the first recording had two processors.
CLAIMS: Mapping[str, Callable[[Run], bool]] = {
    "with one client, half of the COMMITs take less time with the log threads off": lambda run: (
        _off_over_on(run, "commit_ms_p50")[1] < 1
    ),
    "with 64 clients and more, half of the COMMITs take less time with the log threads off": lambda run: all(
        ratio < 1 for n, ratio in _off_over_on(run, "commit_ms_p50").items() if n >= CROWD
    ),
    "with 64 clients and more, the 95th percentile of a COMMIT is lower with the log threads off": lambda run: (
        all(ratio < 1 for n, ratio in _off_over_on(run, "commit_ms_p95").items() if n >= CROWD)
    ),
    "with four clients and more, more transactions are committed with the log threads off": lambda run: all(
        ratio > 1 for n, ratio in _off_over_on(run, "transactions_per_second").items() if n >= 4
    ),
}
