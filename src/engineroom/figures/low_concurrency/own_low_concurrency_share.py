"""Our own figure: how much of the CPU difference between two generations the isolated causes explain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engineroom.experiments.low_concurrency.settings import EQUAL, INSTALLED, with_settings
from engineroom.figures.parts import Rows, Run, Words
from engineroom.figures.style import GREY, STYLES, is_narrow, legend_above, note

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
    """The causes together, and each alone, with each of the settings."""
    return with_settings(run.table)


def _whole(table: Rows) -> Rows:
    """All causes together: the share and its interval in percent, a row an operation and setting."""
    whole = table[table["series"] == "all causes"]
    shares = ["share", "share_low", "share_high"]
    return whole.assign(**{name: 100 * whole[name] for name in shares})


def _by_settings(table: Rows) -> dict[str, Rows]:
    whole = _whole(table)
    return {
        name: whole[whole["settings"] == name].reset_index(drop=True)
        for name in (EQUAL, INSTALLED)
        if name in set(whole["settings"])
    }


def picture(table: Rows, ax: Axes) -> None:
    """A row an operation, its interval as a line; 0 and 100 percent are marked, nothing is cut off that lies within the picture."""
    parts, narrow = _by_settings(table), is_narrow(ax)
    for i, (settings, style) in enumerate(zip(parts, STYLES, strict=False)):
        for row, (_, each) in enumerate(parts[settings].iterrows()):
            place, label = row + 0.22 * i, settings if row == 0 else None
            ends = [max(LOW, each["share_low"]), min(HIGH, each["share_high"])]
            ax.plot(ends, [place, place], "-", color=style.colour, linewidth=2)
            ax.plot([each["share"]], [place], style.marker, color=style.colour, markersize=7, label=label)
            note(ax, f"{each['share']:.0f} %", (each["share"], place), (0, -16 if i else 9))
    operations = parts[EQUAL]["operation"]
    names = operations.replace(SHORT) if narrow else operations
    ax.set_yticks(range(len(names)), names, fontsize=9)
    ax.set_ylim(len(names) - 0.3, -0.7)  # the last row has a number below it
    ax.set_xlim(LOW, HIGH)
    for at in (0, 100):
        ax.axvline(at, linewidth=0.8, color=GREY)
    ax.grid(axis="x", alpha=0.25)
    what = "explained" if narrow else "share of the CPU difference that the causes explain"
    ax.set_xlabel(f"{what}, percent")
    if len(parts) > 1:
        legend_above(ax)


def words(table: Rows) -> Words:
    """Each operation's share with its interval."""
    said = "; ".join(
        f"{each.operation}, {each.settings}: {each.share:.0f} percent (interval {each.share_low:.0f} to {each.share_high:.0f}) of {each.difference_ns:.0f} ns"
        for each in _whole(table).itertuples()
    )
    return Words(
        alt=f"Dot plot of the share of the CPU difference explained by the isolated causes. {said}.",
        caption=" ".join(_finding(name, whole) for name, whole in _by_settings(table).items())
        + " The rest is not isolated here.",
    )


def _finding(settings: str, whole: Rows) -> str:
    known = whole.loc[whole["share"].between(0, 100), "share"]
    if known.empty:
        return (
            f"{settings.capitalize()}: for no operation does the share lie between 0 and 100 percent: the difference is too small or has "
            "another sign."
        )
    least, most = f"{known.min():.0f}", f"{known.max():.0f}"
    return (
        f"{settings.capitalize()}: the isolated causes explain {least if least == most else f'{least} to {most}'} percent of what the new "
        f"version costs more, where the share lies between 0 and 100 ({len(known)} of {len(whole)} operations)."
    )
