"""The facts of `book/index.md`, the front page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engineroom.facts import Facts, fact
from engineroom.ledger import page
from engineroom.runs import Run, newest

__all__ = ["IndexFacts", "facts"]


@dataclass(frozen=True, kw_only=True)
class Verdicts(Facts):
    """How many figures there are, and how many have each verdict by at least one method."""

    figures: int = fact()
    decided: int = fact()
    reproduced: int = fact()
    partly: int = fact()
    undecided: int = fact()
    contradicted: int = fact()
    not_attributable: int = fact()
    open: int = fact()

    @classmethod
    def of(cls, summary: Mapping[str, int]) -> Verdicts:
        return cls(
            figures=summary["figures"],
            decided=summary["decided"],
            reproduced=summary["reproduced"],
            partly=summary["partly"],
            undecided=summary["undecided"],
            contradicted=summary["contradicted"],
            not_attributable=summary["not_attributable"],
            open=summary["open"],
        )


def slowest_over_fastest(run: Run) -> float:
    """Of the servers that join two tables without an index, at the most rows (own-hash-join-no-index)."""
    rows = int(run.table["rows_per_table"].max())
    cpu_s = run.values("rows_per_table", "series", y="server_cpu_s")[rows]
    return float(cpu_s.max() / cpu_s.min())


@dataclass(frozen=True, kw_only=True)
class IndexFacts(Facts):
    """What the front page tells."""

    ledger: Verdicts
    no_index_ratio: float = fact("{:.0f}")


def facts() -> IndexFacts:
    """From the ledger as it stands, and the newest recording of the join that the page begins with."""
    return IndexFacts(
        ledger=Verdicts.of(page.summary()),
        no_index_ratio=slowest_over_fastest(newest("own-hash-join-no-index", "live")),
    )
