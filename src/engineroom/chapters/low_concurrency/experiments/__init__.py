"""The low concurrency chapter's experiments: each cause in a kernel, the whole on live servers, and how much of it they explain.

The live part is in `live`, the profile-guided builds in `pgo`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from engineroom.chapters.low_concurrency.experiments import counted, live, pgo
from engineroom.chapters.low_concurrency.experiments.designs import (
    CONTAINERS,
    DECODERS,
    FATAL_PATHS,
    GENERATIONS,
)
from engineroom.chapters.low_concurrency.settings import EQUAL, INSTALLED
from engineroom.measuring.fresh import in_fresh_processes
from engineroom.progress import bar
from engineroom.runs import Run
from engineroom.runs.sitting import Sitting

# Runs of a parser before it is measured, and turns of which a process keeps the best: within it, others' load only adds.
_WARM_PARSES, _TURNS_PER_PROCESS = 2, 3


def row_bytes(*, columns: Sequence[int] = (1, 2, 4, 5, 10, 20, 40, 64, 65, 80, 128, 192, 193)) -> Run:
    """The article's kilobyte: bytes of the containers of one row, counted by the kernel over 1000 rows."""
    from engineroom._native import low_concurrency as kernel

    names = ("deque_8_0", "list_5_7")
    with Sitting("kernel", seed=1) as sitting:
        rows = [
            {
                "columns": width,
                "series": series,
                "repeat": 0,
                "bytes_per_row": kernel.parse_insert(series, rows=1000, columns=width)["container_bytes"]
                / 1000,
            }
            for width in columns
            for series in names
        ]
    return sitting.run(
        "num-deg-1",
        rows,
        summary="min",
        columns={"bytes_per_row": "bytes of the containers over rows, items excluded"},
    )


def lists(
    *, columns: Sequence[int] = (1, 2, 5, 10, 20, 40, 64, 65, 80), values: int = 200_000, repeats: int = 12
) -> Run:
    """Bytes and nanoseconds per row of building and walking the value lists, with items and a virtual call each.

    Each repeat is a process of its own, which parses once before it is measured: a server's memory is warm, and page faults of the
    first run would be counted by chance.
    """
    with Sitting("kernel", seed=1) as sitting:
        rows = in_fresh_processes(repeats, _lists_once, tuple(columns), values, desc="value lists")
    return sitting.run(
        "own-low-concurrency-lists",
        rows,
        summary="median",
        columns={
            "rows": "rows of the INSERT",
            "build_ns": "CPU time of reading a row and building its list and items, nanoseconds",
            "walk_ns": "CPU time of walking over it with a virtual call for each item, nanoseconds",
            "row_ns": "both",
            "container_bytes": "bytes of the containers, a row",
            "item_bytes": "bytes of the items, a row: the same for all",
        },
    )


def _lists_once(columns: Sequence[int], values: int) -> list[dict[str, Any]]:
    from engineroom._native import low_concurrency as kernel

    rows = []
    for width, container in itertools.product(columns, CONTAINERS):
        n = min(10_000, values // width)
        for _ in range(_WARM_PARSES + 1):
            seen = kernel.parse_insert(container, rows=n, columns=width)
        rows.append(
            {
                "columns": width,
                "series": container,
                "rows": n,
                "build_ns": seen["build_ns"] / n,
                "walk_ns": seen["walk_ns"] / n,
                "row_ns": (seen["build_ns"] + seen["walk_ns"]) / n,
                "container_bytes": seen["container_bytes"] / n,
                "item_bytes": seen["item_bytes"] / n,
            }
        )
    return rows


def record_offsets(
    *,
    columns: Sequence[int] = (5, 10, 20, 50, 100),
    row_versions: Sequence[int] = (0, 4),
    fields: int = 2_000_000,
    repeats: int = 12,
) -> Run:
    """Nanoseconds to find the fields of a record, without INSTANT columns and with some; each repeat is a process of its own."""
    cells = [
        (width, versions, decoder)
        for width in columns
        for versions in row_versions
        for decoder in DECODERS
        if versions == 0 or decoder != "v57"
    ]
    with Sitting("kernel", seed=1) as sitting:
        rows = in_fresh_processes(repeats, _record_offsets_once, cells, fields, desc="record offsets")
    return sitting.run(
        "own-low-concurrency-offsets",
        rows,
        summary="median",
        columns={
            "row_versions": "columns added INSTANT, a version each; the records are of all versions",
            "record_ns": "CPU time of finding the end of each field of a record, nanoseconds",
        },
    )


def _record_offsets_once(cells: Sequence[tuple[int, int, str]], fields: int) -> list[dict[str, Any]]:
    from engineroom._native import low_concurrency as kernel

    best: dict[tuple[int, int, str], float] = {}
    for _, cell in itertools.product(range(_TURNS_PER_PROCESS), cells):
        width, versions, decoder = cell
        seen = kernel.measure_offsets(
            decoder, columns=width, row_versions=versions, passes=max(1, fields // (1000 * width))
        )
        spent = seen["cpu_ns"] / seen["operations"]
        best[cell] = min(best.get(cell, spent), spent)
    return [
        {"columns": width, "row_versions": versions, "series": decoder, "record_ns": ns}
        for (width, versions, decoder), ns in best.items()
    ]


def fatal_path(*, repeats: int = 12, passes: int = 200) -> Run:
    """Nanoseconds to convert a field in the four variants, on integers alone and on a mixed row; and the code's size.

    Each repeat is a process of its own: a few nanoseconds depend on where code comes to lie.
    """
    with Sitting("kernel", seed=1) as sitting:
        rows = in_fresh_processes(repeats, _fatal_path_once, passes, desc="fatal path")
    sizes = pgo.code_sizes().rename(columns={"variant": "series"})
    return sitting.run(
        "own-low-concurrency-fatal",
        rows,
        tables={"code": sizes},
        summary="median",
        columns={
            "fields": "what the rows hold",
            "field_ns": "CPU time of converting a field, nanoseconds",
            "hot_bytes": "machine code of the function and its loop, bytes",
            "cold_bytes": "machine code that the compiler or we moved out of the way, bytes",
        },
    )


def _fatal_path_once(passes: int) -> list[dict[str, Any]]:
    from engineroom._native import low_concurrency as kernel

    mixes = {
        "integers": {"integers": 8, "varying": 0, "fixed_texts": 0},
        "mixed": {"integers": 6, "varying": 2, "fixed_texts": 2},
    }
    best: dict[tuple[str, str], float] = {}
    for _, fields, path in itertools.product(range(_TURNS_PER_PROCESS), mixes, FATAL_PATHS):
        seen = kernel.measure_store(path, passes=passes, **mixes[fields])
        spent = seen["cpu_ns"] / seen["operations"]
        best[fields, path] = min(best.get((fields, path), spent), spent)
    return [{"fields": fields, "series": path, "field_ns": ns} for (fields, path), ns in best.items()]


# For each operation: which cause, how many events of it one operation has, and how that was counted. Fixed before the run.
_FIELDS_OF = {operation.name: operation.fields for operation in live.OPERATIONS}
# One thread with as much work between two commits as num-deg-3 has: back to back, a processor overlaps a commit with the next.
_COMMITS, _BETWEEN_COMMITS_NS = 50_000, 1000
SHARED = ("insert rows", "full scan", "join by index", "join by primary key")
_INSERT_COLUMNS = 5


def explained_live(*, old: str = "5.7", new: str = "9.7", repeats: int = 21) -> Run:
    """How much of the CPU difference of an operation the isolated causes explain, kernels and servers in one sitting.

    Share = sum over causes of (kernel of the new design - kernel of the old) x events per operation / (CPU of new - CPU of old).
    Events come from the servers' counters: rows parsed; Innodb_log_write_requests (commits of mini-transactions since 8.0) times
    one commit; Innodb_rows_read or _inserted, at least one record whose offsets are found for each; fields read. The interval is
    the 5th to 95th percentile over 2000 draws of the repeats, with replacement. A share below 0 or above 1 is shown as it is.
    Differences and events are measured with equal settings and as installed; the kernels are the same for both.
    """
    from engineroom import _native

    kernel, commit = _native.low_concurrency, _native.redo_log.commit_cost
    ran = live.operations_live(versions=(old, new), repeats=repeats, only=SHARED, settings=(EQUAL, INSTALLED))
    servers = sorted(set(ran.table["series"]), key=lambda version: [int(part) for part in version.split(".")])
    counters = ran.tables["counters"].set_index(["settings", "series", "operation", "counter"])[
        "per_operation"
    ]
    width = 9  # fields of a record of the table `many`, and the two that the engine adds
    ns: dict[tuple[str, str], list[float]] = {}
    for _ in bar(range(repeats), desc="kernels", unit="repeat"):
        for side, generation in GENERATIONS.items():
            parsed = kernel.parse_insert(generation.container, rows=5000, columns=_INSERT_COLUMNS)
            found = kernel.measure_offsets(
                generation.decoder, columns=width + 2, nullable_percent=0, variable_percent=0
            )
            stored = kernel.measure_store(generation.fatal_path, integers=4, varying=0, fixed_texts=0)
            # The work between two commits is the same on both sides, and only differences count.
            made = commit(generation.commit, commits_per_thread=_COMMITS, work_ns=_BETWEEN_COMMITS_NS)
            for cause, value in (
                ("value lists", (parsed["build_ns"] + parsed["walk_ns"]) / 5000),
                ("record offsets", found["cpu_ns"] / found["operations"]),
                ("fatal path", stored["cpu_ns"] / stored["operations"]),
                ("mini-transactions", made["cpu_ns"] / _COMMITS),
            ):
                ns.setdefault((cause, side), []).append(value)
    rows = []
    for settings, operation in itertools.product((EQUAL, INSTALLED), SHARED):
        count = {
            name: float(counters.get((settings, servers[-1], operation, name), 0.0))
            for name in ("Innodb_log_write_requests", "Innodb_rows_read", "Innodb_rows_inserted")
        }
        events = {
            "value lists": 1.0 if operation == "insert rows" else 0.0,
            "mini-transactions": count["Innodb_log_write_requests"],
            "record offsets": count["Innodb_rows_read"] + count["Innodb_rows_inserted"],
            "fatal path": float(_FIELDS_OF[operation]),
        }
        mine = ran.table[(ran.table["operation"] == operation) & (ran.table["settings"] == settings)]
        cpu = {
            side: mine[mine["series"] == server]["server_cpu_us"].to_numpy() * 1000
            for side, server in (("old", servers[0]), ("new", servers[-1]))
        }
        causes = {cause: (ns[cause, "old"], ns[cause, "new"], n) for cause, n in events.items()}
        event_ns = {cause: min(ns[cause, "new"]) - min(ns[cause, "old"]) for cause in events}
        for series, those in {
            **{cause: {cause: causes[cause]} for cause in causes},
            "all causes": causes,
        }.items():
            rows.append(
                {
                    "operation": operation,
                    "settings": settings,
                    "series": series,
                    "repeat": 0,
                    "events": events.get(series, float("nan")),
                    "event_ns": event_ns.get(series, float("nan")),
                    **explained(cpu, those),
                }
            )
    return Run(
        figure="own-low-concurrency-share",
        method="live",
        table=pd.DataFrame(rows),
        tables={"measured": ran.table},
        provenance=ran.provenance,
        columns={
            **ran.columns,
            "series": "the cause",
            "events": "how often it happens in one operation, by the new server's counters",
            "event_ns": "kernel of the new design less kernel of the old, best of the repeats, nanoseconds",
            "explained_ns": "events times that, nanoseconds per operation",
            "difference_ns": "server CPU time of the new version less the old, best of the repeats, nanoseconds per operation",
            "share": "explained over difference",
            "share_low": "5th percentile of the share over draws of the repeats",
            "share_high": "95th percentile",
        },
    )


def explained(
    cpu_ns: Mapping[str, Sequence[float] | np.ndarray[Any, Any]],
    causes: Mapping[str, tuple[Sequence[float], Sequence[float], float]],
    *,
    draws: int = 2000,
) -> dict[str, float]:
    """The share with its interval: `causes` holds (nanoseconds old, nanoseconds new, events) by name."""
    rng = np.random.default_rng(0)

    def least(values: Any) -> np.ndarray[Any, Any]:
        array = np.asarray(values, dtype=float)
        drawn = rng.choice(array, size=(draws, len(array)))
        return np.concatenate([[array.min()], drawn.min(axis=1)])  # the first is the measurement itself

    difference = least(cpu_ns["new"]) - least(cpu_ns["old"])
    total = sum(
        ((least(new) - least(old)) * events for old, new, events in causes.values()), np.zeros(draws + 1)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        share = total / difference
    known = share[1:][np.isfinite(share[1:])]
    low, high = np.percentile(known, (5, 95)) if len(known) else (float("nan"), float("nan"))
    return {
        "explained_ns": float(total[0]),
        "difference_ns": float(difference[0]),
        "share": float(share[0]),
        "share_low": float(low),
        "share_high": float(high),
    }


def _pgo_and_source_figures() -> list[Run]:
    run = pgo.pgo_kernel()
    return [run, *pgo.source_figures_kernel(run)]


RECORD: dict[tuple[str, str], Callable[[], Run | list[Run]]] = {
    ("num-deg-1", "kernel"): row_bytes,
    ("num-deg-1", "live"): live.memory_live,
    ("fig-deg-2", "live"): live.source_figures_live,
    ("own-low-concurrency-instructions", "instructions"): counted.source_figures,
    ("own-low-concurrency-misses", "instructions"): counted.misses_counted,
    ("own-low-concurrency-pgo", "kernel"): _pgo_and_source_figures,
    ("own-low-concurrency-lists", "kernel"): lists,
    ("own-low-concurrency-offsets", "kernel"): record_offsets,
    ("own-low-concurrency-fatal", "kernel"): fatal_path,
    ("own-low-concurrency-operations", "live"): live.operations_live,
    ("own-low-concurrency-insert", "live"): lambda: live.insert_live(
        columns=(1, 5, 20, 80), rows_per_statement=(1_000, 100_000), repeats=4
    ),
    ("own-low-concurrency-share", "live"): explained_live,
}
MADE_TOGETHER = {
    ("fig-deg-2", "live"): ("fig-deg-1", "num-deg-2"),
    ("own-low-concurrency-instructions", "instructions"): ("fig-deg-1", "fig-deg-2"),
    ("own-low-concurrency-pgo", "kernel"): ("fig-deg-3", "fig-deg-4", "num-deg-2"),
}
