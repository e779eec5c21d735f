"""What the binary log's exercises are made of and checked against: statements by seed, and the bytes of their events of rows."""

from __future__ import annotations

import random
from dataclasses import dataclass

from engineroom._native import binlog as kernel

__all__ = ["COLUMNS", "Change", "changes", "event_bytes"]

COLUMNS = (
    "int not null",
    "varchar(200) character set latin1",
    "text",
    "int",
    "varchar(200) character set latin1",
)
NUMBERS = (0, 3)  # the key, and one more


@dataclass(frozen=True)
class Change:
    """A statement on a table of `COLUMNS` whose key is the first: so many equal rows, the lengths of their texts, the column written."""

    change: str
    image: str
    rows: int
    text_bytes: tuple[int, int, int]
    written: int


def changes(seed: int = 0) -> dict[str, Change]:
    """Four statements A to D, each with all of its rows in one event."""
    dice = random.Random(f"changes-{seed}")

    def lengths() -> tuple[int, int, int]:
        return dice.randint(1, 200), dice.randint(300, 900), dice.randint(1, 200)

    return {
        "A": Change("update", "full", dice.randint(1, 2), lengths(), dice.choice((1, 4))),
        "B": Change("update", "minimal", dice.randint(2, 9), lengths(), dice.choice((1, 4))),
        "C": Change("update", "noblob", dice.randint(2, 4), lengths(), 3),
        "D": Change("delete", "minimal", dice.randint(10, 99), lengths(), 3),
    }


def event_bytes(change: Change) -> int:
    """Bytes of the statement's event of rows, header and checksum included, as the kernel writes it."""
    first, text, last = ("x" * n for n in change.text_bytes)
    rows = [[i, first, text, 7, last] for i in range(change.rows)]
    writer = kernel.Writer(position=4, checksums=True)
    writer.rows(
        kernel.Statement(
            kernel.Table("d", "t", COLUMNS, key=[0]),
            change.change,
            before=rows if change.change != "insert" else None,
            after=rows if change.change != "delete" else None,
            image=change.image,
            written=[change.written],
        )
    )
    return len(writer.take())
