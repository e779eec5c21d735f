"""Our own figure: CPU time to convert a field, with the fatal path in four places, in kernels."""

from __future__ import annotations

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.dots import Dots
from engineroom.figures.wording import Words
from engineroom.runs import Run
from engineroom.side_by_side import ours

__all__ = ["picture", "rows", "words"]

VARIANTS = {
    "none": "5.7: no check",
    "inline_stream": "8.0: message in place",
    "expect": "the same, marked unlikely",
    "cold_call": "moved to a cold function",
}
picture = Dots(
    rows=VARIANTS,
    narrow={"none": "no check", "inline_stream": "in place", "expect": "unlikely", "cold_call": "cold"},
    series={"integers": "rows of integers", "mixed": "integers and texts"},
    label="CPU ns per field",
)


def rows(run: Run) -> pd.DataFrame:
    """Each repeat, with the machine code of its variant."""
    table = side_by_side.rows(run, by=("series", "fields"), y="field_ns")
    code = run.tables["code"].set_index("series")
    sizes = {name: table["series"].map(code[name]) for name in ("hot_bytes", "cold_bytes")}
    return table.assign(**sizes).rename(columns={"series": "variant", "fields": "series"})


def words(table: pd.DataFrame) -> Words:
    """The step from no check to the message in place, and what the cold function gives back."""
    of = ours(table)
    code = table.groupby("variant")["hot_bytes"].first()
    said = "; ".join(
        f"{label}: {of['integers', name]:.1f} ns (integers), {of['mixed', name]:.1f} ns (mixed), {code[name]} bytes of code"
        for name, label in VARIANTS.items()
    )
    times = of["integers"] / of["integers", "none"]
    return Words(
        alt=f"Dot plot of CPU nanoseconds per converted field by place of the fatal path. {said}.",
        caption=f"With the message built in place the hot code has {code['inline_stream']} bytes instead of {code['none']}, and a field "
        f"of a row of integers takes {times['inline_stream']:.2f} times as long as without a check; in a cold function, "
        f"{times['cold_call']:.2f} times.",
    )
