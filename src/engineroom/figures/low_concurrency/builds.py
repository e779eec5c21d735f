"""What the degradation article's figures share: two builds, ours and the published, each over its own older or stock one."""

from __future__ import annotations

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.dots import Dots
from engineroom.figures.wording import Words
from engineroom.runs import Run
from engineroom.side_by_side import ours, theirs

__all__ = ["picture_of", "rows_of", "words_of"]

LABELS = {
    "older": "older",
    "newer": "newer",
    "newer_optimized": "newer, optimized",
    "stock": "stock",
    "optimized": "optimized",
}


def rows_of(run: Run, *, series: str) -> pd.DataFrame:
    """Each build's value as a multiple of its own first one's (`relative`): machines differ, ratios may agree."""
    table = side_by_side.rows(run, keep=("server", "version"), where=f"series == '{series}'")
    table["server"] = table["server"].where(table["server"] != "", table.pop("version"))
    first = next(name for name in LABELS if name in set(table["build"]))
    return side_by_side.over(table, "relative", f"build == '{first}'")


def _rows(table: pd.DataFrame) -> dict[str, str]:
    """Builds that the claim does not name stand above those that it does."""
    builds = [str(name) for name in dict.fromkeys(table["build"])]
    return {name: name for name in builds if name not in LABELS} | {
        name: label for name, label in LABELS.items() if name in builds
    }


def picture_of(label: str) -> Dots:
    """A row a build; the published value is hollow."""
    return Dots(rows=_rows, label=label, line_at=1, form="{:.2f}")


def words_of(table: pd.DataFrame, *, what: str, over: str, under: str) -> Words:
    """The claim's ratio, ours and published; `what` names the value and the two builds."""
    ratio, published = (
        float(of[over] / of[under]) for of in (source(table).droplevel("series") for source in (ours, theirs))
    )
    who = table[(table["source"] == "ours") & (table["server"] != "")]
    servers = dict(zip(who["build"], who["server"], strict=True))
    named = (
        f"{servers[over]} against {servers[under]}" if servers else "the isolated causes alone, in kernels"
    )
    return Words(
        alt=f"Dot plot of the {what}. Ours ({named}): {ratio:.3f}. Published: {published:.3f}.",
        caption=f"The {what}: {ratio:.2f} ({named}); the source measured {published:.2f}.",
    )
