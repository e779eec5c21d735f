"""What a client asks of a server, one statement after the other, each made from the answers before it.

A transaction is a generator: it yields a `Request`, is sent the rows of its answer, and ends with a commit or a rollback of its own. So
one definition serves whoever runs it: against a server in text or prepared, statement by statement with a measurement between, or
against nothing at all in a test.
"""

from __future__ import annotations

import datetime
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

__all__ = ["ENDS", "Load", "Program", "Request", "Rows", "in_text"]

Rows = Sequence[tuple[Any, ...]]
# The names of the requests that end a transaction.
ENDS = frozenset({"commit", "rollback"})


@dataclass(frozen=True)
class Request:
    """A statement with a `?` for each of its values. `name` is the same for all that differ in values only."""

    name: str
    sql: str
    values: tuple[Any, ...] = ()


Program = Generator[Request, Rows, None]
# Transactions without end: the kind of each, and its program.
Load = Iterator[tuple[str, Program]]


def in_text(request: Request) -> str:
    """The statement as a client sends it that puts the values in itself. ValueError when their number is wrong, TypeError for one of another type."""
    parts = request.sql.split("?")
    if len(parts) != len(request.values) + 1:
        raise ValueError(
            f"{request.name} has {len(request.values)} values for {len(parts) - 1} places: {request.sql}"
        )
    text = "".join(part + _literal(value) for part, value in zip(parts[:-1], request.values, strict=True))
    return text + parts[-1]


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str | datetime.datetime):
        raise TypeError(f"{value!r} is no integer, decimal, text or time")
    if isinstance(value, int | Decimal):
        return str(value)
    text = str(value).replace("\\", "\\\\").replace("'", "''")
    return f"'{text}'"
