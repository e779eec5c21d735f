"""The facts of `book/trx_sys.md`."""

from __future__ import annotations

from dataclasses import dataclass

from engineroom.facts import Facts

__all__ = ["TrxSysFacts", "facts"]


@dataclass(frozen=True, kw_only=True)
class TrxSysFacts(Facts):
    """All numbers of the page, a group for each recording."""


def facts() -> TrxSysFacts:
    """The facts of the page."""
    return TrxSysFacts()
