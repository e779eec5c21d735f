"""Our own figure: CPU time to convert a field, with the fatal path in four places, in kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engineroom.figures.dots import dots
from engineroom.figures.drawing import Words

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

LABELS = {
    "none": "5.7: no check",
    "inline_stream": "8.0: message in place",
    "expect": "the same, marked unlikely",
    "cold_call": "moved to a cold function",
}
SHORT = ("no check", "in place", "unlikely", "cold")


def rows(run: Run) -> pd.DataFrame:
    """Each repeat, with the machine code of its variant."""
    code = run.tables["code"].set_index("series")
    return run.table.assign(
        variant=run.table["series"],
        series=run.table["fields"],
        hot_bytes=run.table["series"].map(code["hot_bytes"]),
        cold_bytes=run.table["series"].map(code["cold_bytes"]),
    )


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """A row a variant."""
    dots(
        table,
        ax,
        y="field_ns",
        by="variant",
        order=LABELS,
        series={"integers": "rows of integers", "mixed": "integers and texts"},
        x_label="CPU ns a field",
        narrow_names=SHORT,
    )


def words(table: pd.DataFrame) -> Words:
    """The step from no check to the message in place, and what the cold function gives back."""
    best = table.groupby(["series", "variant"])["field_ns"].min()
    code = table.groupby("variant")["hot_bytes"].first()
    said = "; ".join(
        f"{label}: {best['integers', name]:.1f} ns (integers), {best['mixed', name]:.1f} ns (mixed), {code[name]} bytes of code"
        for name, label in LABELS.items()
    )
    return Words(
        alt=f"Dot plot of CPU nanoseconds a converted field by place of the fatal path. {said}.",
        caption=(
            f"With the message built in place the hot code has {code['inline_stream']} bytes instead of {code['none']}, and a field of a row of integers "
            f"takes {best['integers', 'inline_stream'] / best['integers', 'none']:.2f} times as long as without a check; in a cold function, "
            f"{best['integers', 'cold_call'] / best['integers', 'none']:.2f} times."
        ),
    )
