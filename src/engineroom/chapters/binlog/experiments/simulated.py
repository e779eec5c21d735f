"""Throughput of many clients with compression and with minimal images, on the simulated machine.

What a transaction takes of its session before it queues (encoding, compressing) and of the leader under LOCK_log (checksums, copies) is
what the recording own-binlog-demands measured on the book's machine; the load is TPC-C's, the machine the sources', both fixed with the
redo log's figures. The commit is the one since 5.7.6 over the redo log of 8.0, durable in both logs. Left out is what the sources' cluster
does besides: replicas, certification, the network between them; and row locks, pages, and transactions that only read.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from engineroom.chapters.binlog.experiments.measured import FULL, MINIMAL, PACKED, Setting
from engineroom.runs import newest
from engineroom.simulating import settling
from engineroom.simulating.experiment import Experiment, Given
from engineroom.simulating.loads import TPCC

MACHINE = "four_sockets_176"
MS = 1_000_000
# Per transaction, besides what depends on its bytes: the GTID event and the way into the file's cache.
WRITE_NS = 2_000
# The kernel's transactions update rows of SysBench's table: what one adds with full images, and the rest of such a transaction.
ROW_BYTES, FIXED_BYTES = 376, 290

# Each transaction commits through the stages: what a commit is made of is not the load's.
CLIENTS = {name: value for name, value in TPCC.items() if name not in {"commit_mtrs", "flush_every"}}
COMPARED: Mapping[str, Mapping[str, Setting]] = {
    "fig-7-26": {"uncompressed": FULL, "compressed": PACKED},
    "fig-7-28": {"full": FULL, "minimal": MINIMAL},
}
# Where the CPU time of compressing is spent. "nowhere" is the ablation: fewer bytes, and nothing paid for them.
PLACES = ("uncompressed", "session", "leader", "nowhere")

COLUMNS = {
    "concurrency": "clients in a closed loop",
    "tpmC": "transactions per minute of virtual time",
    "binlog_bytes_per_transaction": "bytes written to the binary log over transactions committed",
    "fsyncs_per_transaction": "fsyncs of both logs over transactions committed",
    "sync_group": "transactions of a SYNC group, mean",
    "latency_ms_p50": "median of a transaction's time, ms",
    "latency_ms_p99": "99th percentile of a transaction's time, ms",
    "transactions": "transactions counted",
    **settling.COLUMNS,
}
_experiment = partial(Experiment, machine=MACHINE, columns=COLUMNS, options=settling.WINDOW)


def load_of(settings: Mapping[str, Setting]) -> dict[str, int]:
    """TPC-C, and what each setting takes and leaves of a transaction, from the newest recording of the demands: ns and bytes."""
    seen = newest("own-binlog-demands", "kernel")
    load = dict(CLIENTS)
    for name, setting in settings.items():
        of = {
            column: float(seen.values("setting", y=column)[setting.name])
            for column in ("encode_us", "compress_us", "checksum_us", "bytes_per_txn")
        }
        load |= {
            f"{name}_encode_ns": round(1000 * of["encode_us"]),
            f"{name}_compress_ns": round(1000 * of["compress_us"]),
            f"{name}_checksum_ns": round(1000 * of["checksum_us"]),
            f"{name}_bytes": round(of["bytes_per_txn"]),
        }
    return load


def _commit(given: Given, name: str, *, place: str = "session") -> dict[str, int]:
    """The parts of a commit under the setting that the load calls `name`, with compression in its place."""
    encode_ns, compress_ns, checksum_ns, n_bytes = (
        given.load[f"{name}_{part}"] for part in ("encode_ns", "compress_ns", "checksum_ns", "bytes")
    )
    copy_ns = given.machine["copy_ps_per_kib"] * n_bytes // 1024 // 1000
    return {
        "encode_ns": encode_ns + (compress_ns if place == "session" else 0),
        "write_ns": WRITE_NS + checksum_ns + copy_ns + (compress_ns if place == "leader" else 0),
        "changed_rows": max(1, round((n_bytes - FIXED_BYTES) / ROW_BYTES)),
    }


def _simulate(given: Given, commit: Mapping[str, int], clients: int, **window: Any) -> dict[str, Any]:
    from engineroom import _native

    seen: dict[str, Any] = _native.group_commit.simulate(
        design="5.7.6",
        redo="8.0",
        parameters=dict(given.machine),
        load={**{name: given.load[name] for name in CLIENTS}, "clients": clients},
        commit=dict(commit),
        seed=given.seed,
        **window,
    )
    return seen


def _throughput(given: Given, commit: Mapping[str, int], clients: int, **window: int) -> dict[str, Any]:
    seen = settling.settled(partial(_simulate, given, commit, clients), **window)
    n = max(1, seen["transactions"])
    return {
        "tpmC": seen["transactions"] / seen["window_ms"] * 60_000,
        "binlog_bytes_per_transaction": seen["binlog_bytes"] / n,
        "fsyncs_per_transaction": (seen["redo_fsyncs"] + seen["binlog_fsyncs"]) / n,
        "sync_group": seen["transactions"] / max(1, seen["sync_groups"]),
        "latency_ms_p50": seen["latency_ns_p50"] / MS,
        "latency_ms_p99": seen["latency_ns_p99"] / MS,
        "transactions": seen["transactions"],
        **settling.window(seen),
    }


def _by_setting(point: Mapping[str, Any], given: Given, **window: int) -> dict[str, Any]:
    return _throughput(given, _commit(given, point["series"]), point["concurrency"], **window)


def _by_place(point: Mapping[str, Any], given: Given, **window: int) -> dict[str, Any]:
    place = point["series"]
    name = "uncompressed" if place == "uncompressed" else "compressed"
    return _throughput(given, _commit(given, name, place=place), point["concurrency"], **window)


compression_sim = _experiment(
    figure="fig-7-26",
    says="the same transactions uncompressed, and compressed at level 3 in the session before it queues",
    points={"concurrency": (50, 100, 200, 400, 1000, 2000), "series": tuple(COMPARED["fig-7-26"])},
    measure=_by_setting,
    load=partial(load_of, COMPARED["fig-7-26"]),
)

images_sim = _experiment(
    figure="fig-7-28",
    says="the same transactions with full and with minimal row images",
    points={"concurrency": (50, 250, 500, 2000), "series": tuple(COMPARED["fig-7-28"])},
    measure=_by_setting,
    load=partial(load_of, COMPARED["fig-7-28"]),
)

places_sim = _experiment(
    figure="own-binlog-places",
    says="where compressing is paid: in the session, by the leader under LOCK_log, nowhere",
    points={"concurrency": (50, 100, 200, 400), "series": PLACES},
    measure=_by_place,
    load=partial(load_of, COMPARED["fig-7-26"]),
)
