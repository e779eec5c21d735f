"""What the exercises on sorting are made of and checked against: sorts by seed, and what the kernel counts."""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from typing import Any

from engineroom._native import filesort as kernel
from engineroom.teach import fresh

__all__ = ["LimitedSort", "runs_and_merges", "sorts"]

LOB_BYTES = 100
# What a server takes for sort_buffer_size, and after how many statements it is no longer asked.
LEAST_BUFFER_BYTES, MOST_BUFFER_BYTES = 32_768, 2**32 - 1
MOST_STATEMENTS = 1000


@dataclass
class LimitedSort:
    """A server that sorts a table with a LIMIT. Its trace says whether a priority queue was used, and it counts what it ran."""

    rows: int
    record_bytes: InitVar[int]
    statements: int = field(default=0, init=False)

    def __post_init__(self, record_bytes: int) -> None:
        self._record_bytes = record_bytes  # what an answer may not read

    def is_queue(self, limit: int, sort_buffer_bytes: int) -> bool:
        """Runs a statement, and says whether its best rows were kept in a queue."""
        limit, sort_buffer_bytes = fresh.whole(limit), fresh.whole(sort_buffer_bytes)
        if not 1 <= limit <= self.rows:
            raise ValueError(f"limit={limit}: choose one from 1 to {self.rows}")
        if not LEAST_BUFFER_BYTES <= sort_buffer_bytes <= MOST_BUFFER_BYTES:
            raise ValueError(
                f"sort_buffer_bytes={sort_buffer_bytes}: choose one from {LEAST_BUFFER_BYTES} to {MOST_BUFFER_BYTES}"
            )
        self.statements += 1
        if self.statements > MOST_STATEMENTS:
            raise RuntimeError(f"after {MOST_STATEMENTS} statements the server is closed")
        return bool(
            kernel.uses_priority_queue(
                rows=self.rows,
                limit=limit,
                record_bytes=self._record_bytes,
                sort_buffer_bytes=sort_buffer_bytes,
            )
        )


def sorts(seed: int = 0) -> dict[str, dict[str, Any]]:
    """Four sorts of all rows A to D: one in memory, one with few runs, one with so many that they are merged twice, one by row ids.

    `record_bytes` are those of a record in the buffer without its pointer.
    """
    dice = random.Random(f"sorts-{seed}")
    rows = dice.sample(range(600, 1400), 4)
    wide = counted(10, "additional_fields", 262_144)["record_bytes"]
    narrow = counted(10, "rowid", 262_144)["record_bytes"]
    columns = ("rows", "attach", "record_bytes", "sort_buffer_bytes")
    made = [
        (rows[0], "additional_fields", wide, (wide + 8) * (rows[0] + dice.randint(20, 90))),
        (rows[1], "additional_fields", wide, (wide + 8) * dice.randint(110, 190)),
        (rows[2], "additional_fields", wide, (wide + 8) * dice.randint(9, 20) + dice.randint(0, wide)),
        (rows[3], "rowid", narrow, (narrow + 8) * dice.randint(30, 80)),
    ]
    dice.shuffle(made)
    return {name: dict(zip(columns, each, strict=True)) for name, each in zip("ABCD", made, strict=True)}


@functools.cache
def counted(rows: int, attach: str, sort_buffer_bytes: int) -> dict[str, int]:
    """The kernel's counters for such a sort."""
    table = kernel.article_table(rows=rows, lob_bytes=LOB_BYTES, declared_bytes=2 * LOB_BYTES)
    return kernel.sort(
        table, selected=range(5), attach=attach, sort_buffer_bytes=sort_buffer_bytes, output="count"
    ).counters


def runs_and_merges(sort: Mapping[str, Any]) -> tuple[int, int]:
    """How many sorted runs are written to the file, and Sort_merge_passes."""
    counters = counted(sort["rows"], sort["attach"], sort["sort_buffer_bytes"])
    return counters["runs"], counters["merge_passes"]
