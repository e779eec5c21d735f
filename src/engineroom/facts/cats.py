"""The facts of `book/cats.md`."""

from __future__ import annotations

from dataclasses import dataclass

from engineroom.facts import Facts

__all__ = ["CatsFacts", "facts"]


@dataclass(frozen=True, kw_only=True)
class CatsFacts(Facts):
    """All numbers of the page, a group for each recording."""


def facts() -> CatsFacts:
    """The facts of the page."""
    return CatsFacts()
