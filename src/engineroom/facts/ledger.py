"""The facts of `book/ledger.md`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from engineroom.facts import Facts, fact
from engineroom.ledger import Row, page, rows

__all__ = ["LedgerFacts", "facts"]


@dataclass(frozen=True, kw_only=True)
class LedgerFacts(Facts):
    """How many figures and statements there are, and how many of them have a run."""

    figures: int = fact()
    decided: int = fact()
    undecided_rows: str = fact()

    @classmethod
    def of(cls, summary: Mapping[str, int], found: Iterable[Row]) -> LedgerFacts:
        undecided = [f"{row.figure} by {row.method}" for row in found if row.verdict == "undecided"]
        return cls(
            figures=summary["figures"],
            decided=summary["decided"],
            undecided_rows=f"{len(undecided)} rows: {', '.join(undecided)}" if undecided else "no row",
        )


def facts() -> LedgerFacts:
    """From the ledger as it stands."""
    return LedgerFacts.of(page.summary(), rows())
