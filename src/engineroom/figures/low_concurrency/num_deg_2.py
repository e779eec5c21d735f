"""The degradation article's statement on joins: calls of the hot function per CPU second of the stock build."""

from __future__ import annotations

from engineroom.figures.parts import Dots, Rows, Run, Words, all_rows, ours, theirs, valued


def _needed(table: Rows) -> float:
    """The claim's limit: half of the smallest number that "tens of millions" could mean, which is the published row."""
    return float(theirs(table).iloc[0]) / 2


picture = Dots(rows={"stock": "stock"}, label="million calls per CPU second", line_at=_needed, form="{:.1f}")


def rows(run: Run) -> Rows:
    """Calls of the stock build, ours and as published, in millions."""
    table = all_rows(run, keep=["server"], where="series == 'hot_calls_per_second'")
    return valued(table, "million_calls", table["value"] / 1e6)


def words(table: Rows) -> Words:
    """The rate, and whether it passes the claim's limit."""
    rate, published = (of["hot_calls_per_second", "stock"] for of in (ours(table), theirs(table)))
    name, needed = table["server"].iloc[0] or "our kernel", _needed(table)
    return Words(
        alt=f"Dot plot of million calls per second of the conversion of a field. {name}: {rate:.1f}. Published: {published:.0f} or "
        f"more. Line: the claim's {needed:g}.",
        caption=f"During a join by index {name} converts {rate:.1f} million fields per CPU second, "
        f"{'more' if rate > needed else 'fewer'} than the {needed:g} million that the statement needs.",
    )
