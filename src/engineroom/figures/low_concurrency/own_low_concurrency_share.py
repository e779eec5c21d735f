"""Our own figure: how much of the CPU difference between two generations the isolated causes explain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engineroom.figures.parts import Rows, Run, Words
from engineroom.figures.style import BLUE, GREY, is_narrow, note

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHORT = {
    "insert rows": "insert",
    "full scan": "scan",
    "join by index": "join, index",
    "join by primary key": "join, PK",
}
LOW, HIGH = -150, 250


def rows(run: Run) -> Rows:
    """The causes together, and each alone."""
    return run.table.copy()


def _whole(table: Rows) -> Rows:
    """All causes together: the share and its interval in percent, a row an operation."""
    whole = table[table["series"] == "all causes"].reset_index(drop=True)
    shares = ["share", "share_low", "share_high"]
    return whole.assign(**{name: 100 * whole[name] for name in shares})


def picture(table: Rows, ax: Axes) -> None:
    """A row an operation, its interval as a line; 0 and 100 percent are marked, nothing is cut off that lies within the picture."""
    whole, narrow = _whole(table), is_narrow(ax)
    for row, (_, each) in enumerate(whole.iterrows()):
        ends = [max(LOW, each["share_low"]), min(HIGH, each["share_high"])]
        ax.plot(ends, [row, row], "-", color=BLUE, linewidth=2)
        ax.plot([each["share"]], [row], "o", color=BLUE, markersize=7)
        note(ax, f"{each['share']:.0f} %", (each["share"], row), (0, 9))
    names = whole["operation"].replace(SHORT) if narrow else whole["operation"]
    ax.set_yticks(range(len(names)), names, fontsize=9)
    ax.set_ylim(len(names) - 0.5, -0.7)
    ax.set_xlim(LOW, HIGH)
    for at in (0, 100):
        ax.axvline(at, linewidth=0.8, color=GREY)
    ax.grid(axis="x", alpha=0.25)
    what = "explained" if narrow else "share of the CPU difference that the causes explain"
    ax.set_xlabel(f"{what}, percent")


def words(table: Rows) -> Words:
    """Each operation's share with its interval."""
    whole = _whole(table)
    said = "; ".join(
        f"{each.operation}: {each.share:.0f} percent (interval {each.share_low:.0f} to {each.share_high:.0f}) of {each.difference_ns:.0f} ns"
        for each in whole.itertuples()
    )
    known = whole.loc[whole["share"].between(0, 100), "share"]
    explained = (
        f"The isolated causes explain {known.min():.0f} to {known.max():.0f} percent of what the new version costs more, "
        f"where the share lies between 0 and 100 ({len(known)} of {len(whole)} operations). The rest is not isolated here."
    )
    none = "For no operation does the share lie between 0 and 100 percent: the difference is too small or has another sign."
    return Words(
        alt=f"Dot plot of the share of the CPU difference explained by the isolated causes. {said}.",
        caption=explained if len(known) else none,
    )
