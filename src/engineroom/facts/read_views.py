"""The facts of `book/read_views.md`."""

from __future__ import annotations

from dataclasses import dataclass

from engineroom.facts import Facts

__all__ = ["ReadViewsFacts", "facts"]


@dataclass(frozen=True, kw_only=True)
class ReadViewsFacts(Facts):
    """All numbers of the page, a group for each recording."""


def facts() -> ReadViewsFacts:
    """The facts of the page."""
    return ReadViewsFacts()
