"""The facts of `book/lock_sys.md`."""

from __future__ import annotations

from dataclasses import dataclass

from engineroom.facts import Facts

__all__ = ["LockSysFacts", "facts"]


@dataclass(frozen=True, kw_only=True)
class LockSysFacts(Facts):
    """All numbers of the page, a group for each recording."""


def facts() -> LockSysFacts:
    """The facts of the page."""
    return LockSysFacts()
