"""Our own figure: what each level of zstd saves of three kinds of rows and what it costs, and the levels that never pay.

A level pays if, for some price of a byte kept and some price of CPU time, it is the cheapest: it lies on the lower left hull of the
points (CPU time, bytes), of which no compression is one. All others cost more than a mixture of two that pay, at any prices.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.curves import End, label_ends
from engineroom.figures.parts import Words, rows_by, values
from engineroom.figures.style import STYLES, is_narrow, label_axes, note, plain_log_ticks
from engineroom.side_by_side import OURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = {"orders": "TPC-C's orders", "documents": "JSON documents", "digests": "digests"}
rows = rows_by("level", y="cpu_ns_per_byte", keep=["ratio", "unit_bytes"])


def points(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    """CPU time and bytes of each level of one kind of rows, by level; 0 is no compression."""
    mine = table[(table["source"] == OURS) & (table["series"] == kind)]
    cpu, ratio = (
        values(mine, "level", y=y, how=how) for y, how in (("cpu_ns_per_byte", None), ("ratio", "min"))
    )
    none = pd.DataFrame({"cpu_ns_per_byte": [0.0], "ratio": [1.0]}, index=[0])
    return (
        pd.concat([none, pd.DataFrame({"cpu_ns_per_byte": cpu, "ratio": ratio})])
        .rename_axis("level")
        .sort_index()
    )


def worth(of: pd.DataFrame) -> list[int]:
    """The levels of the hull, no compression (0) first."""
    hull: list[tuple[float, float, int]] = []
    for level, cpu, ratio in sorted(of.itertuples(), key=lambda point: (point[1], point[2])):
        if hull and ratio >= hull[-1][1]:
            continue
        # The last point goes while it is not below the straight line from the one before it to this one.
        while len(hull) > 1:
            (x0, y0, _), (x1, y1, _) = hull[-2:]
            if (y1 - y0) * (cpu - x0) < (ratio - y0) * (x1 - x0):
                break
            hull.pop()
        hull.append((cpu, ratio, level))
    return [level for _, _, level in hull]


def never_worth(table: pd.DataFrame) -> list[int]:
    """The levels that pay for none of the kinds of rows."""
    pays = {level for kind in table["series"].unique() for level in worth(points(table, kind))}
    return sorted(set(table["level"]) - pays)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Bytes against CPU time, a line per kind of rows; what pays is filled and has its number."""
    ends = []
    for style, (kind, label) in zip(STYLES, KINDS.items(), strict=False):
        of, colour = points(table, kind), style.colour
        paying = of.loc[[level for level in worth(of) if level > 0]]
        of = of.drop(index=0)
        ax.plot(*of.to_numpy().T, style.dash, color=colour, linewidth=1.0, alpha=0.5)
        ax.plot(*of.to_numpy().T, style.marker, color=colour, fillstyle="none", markersize=5, linestyle="")
        ax.plot(*paying.to_numpy().T, style.marker, color=colour, markersize=6, linestyle="")
        for level, cpu, ratio in paying.itertuples():
            note(ax, str(level), (cpu, ratio), (0, -14), color=colour)
        x, y = map(float, of.iloc[-1])
        ends.append(End(x, y, kind if is_narrow(ax) else label, colour))
    ax.set_xscale("log")
    plain_log_ticks(ax.xaxis)
    ax.set_ylim(0, 1.02)
    ax.grid(alpha=0.25)
    label_axes(ax, x="ns of CPU per uncompressed byte", x_log=True, y="bytes left, of 1")
    label_ends(ax, ends)


def words(table: pd.DataFrame) -> Words:
    """What pays for each kind, and what for none."""
    of = {label: points(table, kind) for kind, label in KINDS.items()}
    pays = "; ".join(f"{label}: {_listed(level for level in worth(of[label]) if level)}" for label in of)
    left = "; ".join(
        f"{label} {each['ratio'][1]:.2f} at level 1, {each['ratio'].iloc[-1]:.2f} at {each.index[-1]}"
        for label, each in of.items()
    )
    return Words(
        alt=f"Lines of bytes left against CPU time per byte, a point per level of zstd. {left}.",
        caption=f"Levels that are the cheapest at some prices of disk and CPU (filled): {pays}. Never worth it for any of the three: "
        f"{_listed(never_worth(table))}.",
    )


def _listed(levels: Iterable[int]) -> str:
    return ", ".join(map(str, levels)) or "none"
