"""The facts of `book/engine.md`."""

from __future__ import annotations

from dataclasses import dataclass

from engineroom.facts import Facts

__all__ = ["EngineFacts", "facts"]


@dataclass(frozen=True, kw_only=True)
class EngineFacts(Facts):
    """All numbers of the page, a group for each recording."""


def facts() -> EngineFacts:
    """The facts of the page."""
    return EngineFacts()
