"""Our own figure: how much of the CPU difference between two generations the isolated causes explain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engineroom.figures.style import BLUE, GREY, is_narrow
from engineroom.figures.wording import Words

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]

SHORT = {
    "insert rows": "insert",
    "full scan": "scan",
    "join by index": "join, index",
    "join by primary key": "join, PK",
}


def rows(run: Run) -> pd.DataFrame:
    """The causes together, and each alone."""
    return run.table.copy()


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """A row an operation, its interval as a line; 0 and 100 percent are marked, nothing is cut off that lies within the picture."""
    whole = table[table["series"] == "all causes"].reset_index(drop=True)
    low, high = -1.5, 2.5
    for row, (_, each) in enumerate(whole.iterrows()):
        ax.plot(
            [100 * max(low, each["share_low"]), 100 * min(high, each["share_high"])],
            [row, row],
            "-",
            color=BLUE,
            linewidth=2,
        )
        ax.plot([100 * each["share"]], [row], "o", color=BLUE, markersize=7)
        ax.annotate(
            f"{100 * each['share']:.0f} %",
            (100 * each["share"], row),
            (0, 9),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    names = [SHORT[name] if is_narrow(ax) else name for name in whole["operation"]]
    ax.set_yticks(range(len(names)), names, fontsize=9)
    ax.set_ylim(len(names) - 0.5, -0.7)
    ax.set_xlim(100 * low, 100 * high)
    for at in (0, 100):
        ax.axvline(at, linewidth=0.8, color=GREY)
    ax.grid(axis="x", alpha=0.25)
    ax.set_xlabel(
        "explained, percent"
        if is_narrow(ax)
        else "share of the CPU difference that the causes explain, percent"
    )


def words(table: pd.DataFrame) -> Words:
    """Each operation's share with its interval."""
    whole = table[table["series"] == "all causes"]
    said = "; ".join(
        f"{each['operation']}: {100 * each['share']:.0f} percent (interval {100 * each['share_low']:.0f} to {100 * each['share_high']:.0f}) of "
        f"{each['difference_ns']:.0f} ns"
        for _, each in whole.iterrows()
    )
    known = whole[(whole["share"] >= 0) & (whole["share"] <= 1)]
    return Words(
        alt=f"Dot plot of the share of the CPU difference explained by the isolated causes. {said}.",
        caption=(
            f"The isolated causes explain {100 * known['share'].min():.0f} to {100 * known['share'].max():.0f} percent of what the new version costs more, "
            f"where the share lies between 0 and 100 ({len(known)} of {len(whole)} operations). The rest is not isolated here."
            if len(known)
            else "For no operation does the share lie between 0 and 100 percent: the difference is too small or has another sign."
        ),
    )
