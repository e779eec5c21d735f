"""One redo flush for the group against one for each transaction, on the simulated machine, under the source's load.

Machine, load and protocol are fixed before the first comparison with a published number. The source names no hardware; ours is a
usual server of two sockets. Both designs run over the redo log of 5.6, as the source changed 5.6. What a simulated transaction does
besides redo and binlog is computing and waiting for its client: no row locks, no pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from engineroom.chapters.group_commit.experiments.designs import SERIES
from engineroom.simulating import settling
from engineroom.simulating.experiment import Experiment, Given, Seen
from engineroom.simulating.loads import UPDATE

MACHINE = "two_sockets_88"
MS = 1_000_000

# innodb_flush_log_at_trx_commit and sync_binlog: the source's setting, and the one that loses nothing.
RELAXED: Mapping[str, int] = {"flush_log_at_trx_commit": 2, "sync_binlog": 1000}
DURABLE: Mapping[str, int] = {"flush_log_at_trx_commit": 1, "sync_binlog": 1}

COLUMNS = {
    "threads": "clients in a closed loop",
    "transactions_per_second": "transactions per second of virtual time",
    "fsyncs_per_transaction": "fsyncs of both logs over transactions committed",
    "redo_writes_per_transaction": "writes to the redo log over transactions committed",
    "redo_fsyncs_per_transaction": "fsyncs of the redo log over transactions committed",
    "binlog_fsyncs_per_transaction": "fsyncs of the binlog over transactions committed",
    "flush_group": "transactions of a FLUSH group, mean",
    "sync_group": "transactions of a SYNC group, mean",
    "latency_ms_p50": "median of a transaction's time, ms",
    "latency_ms_p99": "99th percentile of a transaction's time, ms",
    "transactions": "transactions counted",
    "ns": "virtual time, ns",
    "happening": "what a transaction did: reached a step, leads or follows in a stage",
    "what": "which step or stage",
    "xid": "the transaction",
    **settling.COLUMNS,
}
_experiment = partial(Experiment, machine=MACHINE, columns=COLUMNS, load=UPDATE)


def _simulate(
    point: Mapping[str, Any], given: Given, commit: Mapping[str, int], **window: Any
) -> dict[str, Any]:
    from engineroom import _native

    design = SERIES[point["series"]]
    seen: dict[str, Any] = _native.group_commit.simulate(
        design=design.commit,
        redo=design.redo,
        parameters=dict(given.machine),
        load={**given.load, "clients": point["threads"]},
        commit=dict(commit),
        seed=given.seed,
        **window,
    )
    return seen


def _measure(
    point: Mapping[str, Any], given: Given, *, commit: Mapping[str, int], **window: int
) -> dict[str, Any]:
    seen = settling.settled(partial(_simulate, point, given, commit), **window)
    n = max(1, seen["transactions"])
    return {
        "transactions_per_second": seen["transactions"] / seen["window_ms"] * 1000,
        "fsyncs_per_transaction": (seen["redo_fsyncs"] + seen["binlog_fsyncs"]) / n,
        "redo_writes_per_transaction": seen["redo_writes"] / n,
        "redo_fsyncs_per_transaction": seen["redo_fsyncs"] / n,
        "binlog_fsyncs_per_transaction": seen["binlog_fsyncs"] / n,
        "flush_group": seen["transactions"] / max(1, seen["flush_groups"]),
        "sync_group": seen["transactions"] / max(1, seen["sync_groups"]),
        "latency_ms_p50": seen["latency_ns_p50"] / MS,
        "latency_ms_p99": seen["latency_ns_p99"] / MS,
        "transactions": seen["transactions"],
        **settling.window(seen),
    }


redo_flush_sim = _experiment(
    figure="tab-gc-1",
    says="one redo flush per group against one per transaction, with the source's settings: nothing waits for an fsync",
    points={"threads": (32, 64, 128, 256), "series": ("original", "modified")},
    measure=_measure,
    options={"commit": RELAXED, **settling.WINDOW},
)

durable_sim = _experiment(
    figure="own-gc-durable",
    says="the same where each commit is durable in both logs, and the serialised commit of 5.5 beside it",
    points={"threads": (1, 4, 16, 32, 64, 128, 256), "series": ("serialised", "original", "modified")},
    measure=_measure,
    options={"commit": DURABLE, **settling.WINDOW},
)


def _stages(point: Mapping[str, Any], given: Given, *, transactions: int, until_us: int) -> Seen:
    from engineroom import _native

    design = SERIES[point["series"]]
    happened = _native.group_commit.trace(
        design=design.commit,
        redo=design.redo,
        parameters=dict(given.machine),
        load={**given.load, "clients": point["threads"], "transactions": transactions},
        commit=dict(DURABLE),
        run_ns=until_us * 1000,
        seed=given.seed,
    )
    return Seen(
        [
            {"ns": ns, "happening": happening, "what": what, "xid": xid}
            for ns, happening, what, xids in happened
            for xid in xids
        ]
    )


stages_sim = _experiment(
    figure="own-gc-stages",
    says="one run of few clients, transaction by transaction and stage by stage",
    points={"threads": (8,), "series": ("modified",)},
    measure=_stages,
    options={"transactions": 3, "until_us": 3000},
)
