"""Steps: states from left to right, one change between two of them, and by how much each changes the value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engineroom.show.style import BLUE, GREEN, ORANGE, PURPLE, VERMILION, note, plain_log_ticks

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Steps", "states"]

# Text to the side on which the steep middle steps leave room.
_STEPS = (
    (BLUE, "-", "center", 0),
    (VERMILION, "--", "right", -6),
    (GREEN, "-.", "left", 6),
    (PURPLE, ":", "left", 6),
)


@dataclass(frozen=True, kw_only=True)
class Steps:
    """A row per change: `change`, the states `before` and `after`, and their values in the columns `values`, of a lower-is-better kind."""

    label: str
    values: tuple[str, str]
    form: str = "{:.2f}"

    def __call__(self, table: pd.DataFrame, ax: Axes) -> None:
        """Draw the rows."""
        names, measured = states(table, self.values)
        for i, (change, (colour, dash, side, dx)) in enumerate(zip(table["change"], _STEPS, strict=False)):
            ax.plot([i, i + 1], measured[i : i + 2], dash, color=colour, linewidth=2)
            ratio = measured[i] / measured[i + 1]
            said = f"{ratio:.1f}x faster" if ratio >= 1 else f"{1 / ratio:.0f}x slower"
            middle = (i + 0.5, (measured[i] * measured[i + 1]) ** 0.5)
            note(ax, f"{change}\n{said}", middle, (dx, 6), ha=side, va="bottom", color=colour)
        ax.plot(range(len(names)), measured, "o", color=ORANGE, markersize=7)
        for i, value in enumerate(measured):
            note(ax, self.form.format(value), (i, value), (0, 7 if value == max(measured) else -14))
        ax.set_xticks(range(len(names)), [name.replace(", ", ",\n") for name in names], fontsize=9)
        ax.set_yscale("log")
        plain_log_ticks(ax.yaxis, at=(1.0, 3.0))
        ax.margins(x=0.12, y=0.2)
        ax.set_ylabel(f"{self.label}, log scale")


def states(table: pd.DataFrame, values: tuple[str, str]) -> tuple[list[str], list[float]]:
    """The states in their order, and the value of each."""
    before, after = values
    return [table["before"].iloc[0], *table["after"]], [table[before].iloc[0], *table[after]]
