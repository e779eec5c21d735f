"""The degradation article's statement on joins: calls of the hot function per CPU second of the stock build."""

from __future__ import annotations

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.dots import Dots
from engineroom.figures.wording import Words
from engineroom.runs import Run
from engineroom.side_by_side import ours, theirs

__all__ = ["picture", "rows", "words"]


def _needed(table: pd.DataFrame) -> float:
    """The claim's limit: half of the smallest number that "tens of millions" could mean, which is the published row."""
    return float(theirs(table).iloc[0]) / 2


picture = Dots(rows={"stock": "stock"}, label="million calls per CPU second", line_at=_needed, form="{:.1f}")


def rows(run: Run) -> pd.DataFrame:
    """Calls of the stock build, ours and as published, in millions."""
    table = side_by_side.rows(run, keep=["server"], where="series == 'hot_calls_per_second'")
    return side_by_side.valued(table, "million_calls", table["value"] / 1e6)


def words(table: pd.DataFrame) -> Words:
    """The rate, and whether it passes the claim's limit."""
    rate, published = (of["hot_calls_per_second", "stock"] for of in (ours(table), theirs(table)))
    name = table["server"].iloc[0] or "our kernel"
    needed = _needed(table)
    return Words(
        alt=f"Dot plot of million calls per second of the conversion of a field. {name}: {rate:.1f}. Published: {published:.0f} or "
        f"more. Line: the claim's {needed:g}.",
        caption=f"During a join by index {name} converts {rate:.1f} million fields per CPU second, "
        f"{'more' if rate > needed else 'fewer'} than the {needed:g} million that the statement needs.",
    )
