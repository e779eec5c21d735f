"""Our own figure: what each level of zstd saves of three kinds of rows and what it costs, and the levels that never pay.

A level pays if, for some price of a byte kept and some price of CPU time, it is the cheapest: it lies on the lower left hull of the
points (CPU time, bytes), of which no compression is one. All others cost more than a mixture of two that pay, at any prices.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.curves import End, label_ends
from engineroom.figures.style import STYLES, is_narrow, label_axes, plain_log_ticks
from engineroom.figures.wording import Words
from engineroom.side_by_side import OURS
from engineroom.summary import summarise, values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["never_worth", "picture", "points", "rows", "words", "worth"]

KINDS = {"orders": "TPC-C's orders", "documents": "JSON documents", "digests": "digests"}

rows = partial(side_by_side.rows, by=("level", "series"), y="cpu_ns_per_byte", keep=["ratio", "unit_bytes"])


def points(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    """CPU time and bytes of each level of one kind of rows, by level; 0 is no compression."""
    mine = table[(table["source"] == OURS) & (table["series"] == kind)]
    levels = pd.DataFrame({
        "cpu_ns_per_byte": values(mine, "level", y="cpu_ns_per_byte"),
        "ratio": summarise(mine, "level", y="ratio", how="min").set_index("level")["ratio"],
    })  # fmt: skip
    none = pd.DataFrame({"cpu_ns_per_byte": [0.0], "ratio": [1.0]}, index=[0])
    return pd.concat([none, levels]).rename_axis("level").sort_index()


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
        of = points(table, kind).drop(index=0)
        pays = [level for level in worth(points(table, kind)) if level > 0]
        ax.plot(of["cpu_ns_per_byte"], of["ratio"], style.dash, color=style.colour, linewidth=1.0, alpha=0.5)
        ax.plot(
            of["cpu_ns_per_byte"],
            of["ratio"],
            style.marker,
            color=style.colour,
            fillstyle="none",
            markersize=5,
            linestyle="",
        )
        paying = of.loc[pays]
        ax.plot(
            paying["cpu_ns_per_byte"],
            paying["ratio"],
            style.marker,
            color=style.colour,
            markersize=6,
            linestyle="",
        )
        for level, cpu, ratio in paying.itertuples():
            ax.annotate(
                str(level),
                (cpu, ratio),
                (0, -14),
                textcoords="offset points",
                ha="center",
                fontsize=9,
                color=style.colour,
            )
        last = of.iloc[-1]
        ends.append(
            End(
                float(last["cpu_ns_per_byte"]),
                float(last["ratio"]),
                label if not is_narrow(ax) else kind,
                style.colour,
            )
        )
    ax.set_xscale("log")
    plain_log_ticks(ax.xaxis)
    ax.set_ylim(0, 1.02)
    ax.grid(alpha=0.25)
    label_axes(ax, x="ns of CPU per uncompressed byte", x_log=True, y="bytes left, of 1")
    label_ends(ax, ends)


def words(table: pd.DataFrame) -> Words:
    """What pays for each kind, and what for none."""
    said = {
        label: ", ".join(str(level) for level in worth(points(table, kind)) if level > 0) or "none"
        for kind, label in KINDS.items()
    }
    pays = "; ".join(f"{label}: {levels}" for label, levels in said.items())
    never = ", ".join(map(str, never_worth(table))) or "none"
    left = "; ".join(
        f"{label} {of['ratio'][1]:.2f} at level 1, {of['ratio'].iloc[-1]:.2f} at {of.index[-1]}"
        for kind, label in KINDS.items()
        for of in [points(table, kind)]
    )
    return Words(
        alt=f"Lines of bytes left against CPU time per byte, a point per level of zstd. {left}.",
        caption=f"Levels that are the cheapest at some prices of disk and CPU (filled): {pays}. Never worth it for any of the three: {never}.",
    )
