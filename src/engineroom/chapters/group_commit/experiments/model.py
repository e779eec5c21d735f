"""The simulated two processors against the live servers: the same settings, with demands measured at one client only.

What a transaction computes and how long its client is away come from one client under 0/0, where nothing waits for a disk: CPU time
of server and client, which share the two processors, and the rest of the latency. The disk is the live one's: a sleep, which does not
queue. Nothing is taken from a run of several clients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any

from engineroom.chapters.group_commit.experiments.designs import SERVERS
from engineroom.chapters.group_commit.experiments.live import SETTINGS
from engineroom.machine.presets import parameters
from engineroom.runs import Run, newest
from engineroom.runs.sitting import Sitting
from engineroom.simulating.sweep import sweep

MACHINE = "laptop"
ALONE = "0/0"
MS = 1_000_000
RUN_NS, WARMUP_NS = 1500 * MS, 300 * MS


def demands(live: Run, series: str) -> dict[str, int]:
    """What one transaction takes besides its commit, ns, from one client's median run."""
    table = live.table
    alone = table[(table["series"] == series) & (table["setting"] == ALONE) & (table["clients"] == 1)]
    cpu_us = (alone["cpu_us_per_commit"] + alone["client_cpu_us_per_commit"]).median()
    latency_us = 1e6 / alone["transactions_per_second"].median()
    own_us = _own_us(series)
    return {
        "statement_ns": round(1000 * max(1.0, cpu_us - own_us)),
        "away_ns": round(1000 * max(0.0, latency_us - cpu_us)),
    }


def groups_sim(
    *, executor: Executor | None = None, seeds: Sequence[int] = (1, 2, 3), live: Run | None = None
) -> Run:
    """The points of the newest live recording on the simulated machine, of the servers whose design the kernel has."""
    live = newest("own-gc-groups", "live") if live is None else live
    live = live.with_table(live.table[live.table["series"].isin(list(SERVERS))])
    fsync_us = int(live.provenance["fsync_us"])
    places = live.table[["clients", "series", "setting"]].drop_duplicates().to_dict("records")
    load = {series: demands(live, series) for series in sorted(set(live.table["series"]))}
    points = [
        {**{str(name): value for name, value in place.items()}, "repeat": repeat, "seed": seed}
        for place in places
        for repeat, seed in enumerate(seeds)
    ]
    with Sitting("sim", seed=seeds[0]) as sitting:
        rows = sweep(
            partial(_row, fsync_us=fsync_us, load=load), points, executor=executor, desc="own-gc-groups"
        )
    return sitting.run(
        "own-gc-groups", rows, machine=parameters(MACHINE), machine_name=MACHINE, load=load, columns=COLUMNS
    )


COLUMNS = {
    "clients": "clients in a closed loop",
    "series": "the live server that the designs stand for",
    "setting": "innodb_flush_log_at_trx_commit/sync_binlog, and the delay where there is one",
    "redo_fsyncs_per_commit": "fsyncs of the redo log over transactions",
    "binlog_fsyncs_per_commit": "fsyncs of the binlog over transactions",
    "flush_groups_per_commit": "FLUSH groups over transactions",
    "sync_groups_per_commit": "SYNC groups over transactions",
    "latency_ms_p50": "median of a transaction's time, ms",
    "transactions_per_second": "transactions per second of virtual time",
}


def _row(
    *,
    clients: int,
    series: str,
    setting: str,
    repeat: int,
    seed: int,
    fsync_us: int,
    load: Mapping[str, Mapping[str, int]],
) -> dict[str, Any]:
    seen = _simulate(series, setting, clients, fsync_us=fsync_us, demand=load[series], seed=seed)
    n = max(1, seen["transactions"])
    return {
        "clients": clients,
        "series": series,
        "setting": setting,
        "repeat": repeat,
        "redo_fsyncs_per_commit": seen["redo_fsyncs"] / n,
        "binlog_fsyncs_per_commit": seen["binlog_fsyncs"] / n,
        "flush_groups_per_commit": seen["flush_groups"] / n,
        "sync_groups_per_commit": seen["sync_groups"] / n,
        "latency_ms_p50": seen["latency_ns_p50"] / MS,
        "transactions_per_second": n / (RUN_NS / 1e9),
    }


def _simulate(
    series: str, setting: str, clients: int, *, fsync_us: int, demand: Mapping[str, int], seed: int
) -> dict[str, Any]:
    from engineroom import _native

    design = SERVERS[series]
    of = SETTINGS[setting]
    seen: dict[str, Any] = _native.group_commit.simulate(
        design=design.commit,
        redo=design.redo,
        parameters={
            **parameters(MACHINE),
            "disk_fsync_quantiles_ps": [fsync_us * 1_000_000],
            "disk_ps_per_kib": 0,
            "disk_is_timer": True,
            "disk_queue_depth": 64,
        },
        load={"clients": clients, "mtrs_per_statement": 3, "mtr_bytes": 150, **demand},
        commit={
            "flush_log_at_trx_commit": of["innodb_flush_log_at_trx_commit"],
            "sync_binlog": of["sync_binlog"],
            "delay_us": of.get("binlog_group_commit_sync_delay", 0),
        },
        run_ns=RUN_NS,
        warmup_ns=WARMUP_NS,
        seed=seed,
    )
    return seen


def _own_us(series: str) -> float:
    """CPU time of a simulated transaction that computes nothing: its commit."""
    seen = _simulate(series, ALONE, 1, fsync_us=0, demand={"statement_ns": 0, "away_ns": 100_000}, seed=1)
    own_us: float = seen["cpu_ns"] / max(1, seen["transactions"]) / 1000
    return own_us
