"""The facts of `book/binlog.md`."""

from __future__ import annotations

from dataclasses import dataclass

from engineroom.facts import Facts

__all__ = ["BinlogFacts", "facts"]


@dataclass(frozen=True, kw_only=True)
class BinlogFacts(Facts):
    """All numbers of the page, a group for each recording."""


def facts() -> BinlogFacts:
    """The facts of the page."""
    return BinlogFacts()
