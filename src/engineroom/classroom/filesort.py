"""What the exercises on sorting are made of and checked against: sorts by seed, and what the kernel counts."""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass

from engineroom._native import filesort as kernel

__all__ = ["Sort", "runs_and_merges", "sorts"]

LOB_BYTES = 100


@dataclass(frozen=True)
class Sort:
    """A sort of all rows of a table: the bytes of a record in the buffer without its pointer, and the buffer."""

    rows: int
    attach: str
    record_bytes: int
    sort_buffer_bytes: int


def sorts(seed: int = 0) -> dict[str, Sort]:
    """Four sorts A to D: one in memory, one with few runs, one with so many that they are merged twice, one by row ids."""
    dice = random.Random(f"sorts-{seed}")
    rows = dice.sample(range(600, 1400), 4)
    wide = counted(10, "additional_fields", 262_144)["record_bytes"]
    narrow = counted(10, "rowid", 262_144)["record_bytes"]
    made = [
        Sort(rows[0], "additional_fields", wide, (wide + 8) * (rows[0] + dice.randint(20, 90))),
        Sort(rows[1], "additional_fields", wide, (wide + 8) * dice.randint(110, 190)),
        Sort(rows[2], "additional_fields", wide, (wide + 8) * dice.randint(9, 20) + dice.randint(0, wide)),
        Sort(rows[3], "rowid", narrow, (narrow + 8) * dice.randint(30, 80)),
    ]
    dice.shuffle(made)
    return dict(zip("ABCD", made, strict=True))


@functools.cache
def counted(rows: int, attach: str, sort_buffer_bytes: int) -> dict[str, int]:
    """The kernel's counters for such a sort."""
    table = kernel.article_table(rows=rows, lob_bytes=LOB_BYTES, declared_bytes=2 * LOB_BYTES)
    return kernel.sort(
        table, selected=range(5), attach=attach, sort_buffer_bytes=sort_buffer_bytes, output="count"
    ).counters


def runs_and_merges(sort: Sort) -> tuple[int, int]:
    """How many sorted runs are written to the file, and Sort_merge_passes."""
    counters = counted(sort.rows, sort.attach, sort.sort_buffer_bytes)
    return counters["runs"], counters["merge_passes"]
