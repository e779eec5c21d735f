"""The low concurrency chapter's experiments: each cause in a kernel, the whole on live servers, in seconds and in instructions.

The live part is in `live`, the counts are in `counted`, the profile-guided builds in `pgo`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from engineroom.chapters.low_concurrency.experiments import complaints, counted, live, pgo
from engineroom.chapters.low_concurrency.experiments.designs import (
    CONTAINERS,
    DECODERS,
    FATAL_PATHS,
)
from engineroom.measuring.fresh import in_fresh_processes
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


def _pgo_and_source_figures() -> list[Run]:
    run = pgo.pgo_kernel()
    return [run, *pgo.source_figures_kernel(run)]


RECORD: dict[tuple[str, str], Callable[[], Run | list[Run]]] = {
    ("num-deg-1", "kernel"): row_bytes,
    ("num-deg-1", "live"): live.memory_live,
    ("fig-deg-2", "live"): live.source_figures_live,
    ("own-low-concurrency-instructions", "instructions"): counted.source_figures,
    ("own-low-concurrency-instructions-settings", "instructions"): counted.settings_counted,
    ("own-low-concurrency-misses", "instructions"): counted.misses_counted,
    ("fig-deg-4", "instructions"): pgo.join_counted,
    ("own-low-concurrency-repeated-keys", "live"): live.repeated_keys_live,
    ("own-low-concurrency-complaints", "instructions"): complaints.complaints_counted,
    ("own-low-concurrency-pgo", "kernel"): _pgo_and_source_figures,
    ("own-low-concurrency-lists", "kernel"): lists,
    ("own-low-concurrency-offsets", "kernel"): record_offsets,
    ("own-low-concurrency-fatal", "kernel"): fatal_path,
    ("own-low-concurrency-operations", "live"): live.operations_live,
    ("own-low-concurrency-insert", "live"): lambda: live.insert_live(
        columns=(1, 5, 20, 80), rows_per_statement=(1_000, 100_000), repeats=4
    ),
}
MADE_TOGETHER = {
    ("fig-deg-2", "live"): ("fig-deg-1", "num-deg-2"),
    ("own-low-concurrency-instructions", "instructions"): ("fig-deg-1", "fig-deg-2"),
    ("own-low-concurrency-pgo", "kernel"): ("fig-deg-3", "fig-deg-4", "num-deg-2"),
}
