"""The facts of `book/ledger.md`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engineroom.facts import Facts, fact
from engineroom.ledger import page

__all__ = ["LedgerFacts", "facts"]


@dataclass(frozen=True, kw_only=True)
class LedgerFacts(Facts):
    """How many figures and statements there are, and how many of them have a run."""

    figures: int = fact()
    decided: int = fact()

    @classmethod
    def of(cls, summary: Mapping[str, int]) -> LedgerFacts:
        return cls(figures=summary["figures"], decided=summary["decided"])


def facts() -> LedgerFacts:
    """From the ledger as it stands."""
    return LedgerFacts.of(page.summary())
