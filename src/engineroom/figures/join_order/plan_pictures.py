"""A hypergraph and plans beside each other, drawn for a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from engineroom.figures.drawing import draw
from engineroom.figures.style import INK, VERMILION, is_narrow
from engineroom.figures.wording import Words
from engineroom.query_graphs.dot import SIDES
from engineroom.query_graphs.trees import Tree, joins, leaves, order

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.figures.drawing import Drawing

__all__ = ["hypergraph", "plan", "show"]

_ON_DISC = "#111111"


def show(
    figure: str,
    tables: Sequence[str],
    edges: Sequence[Mapping[str, Any]],
    plans: Mapping[str, Tree],
    *,
    caption: str,
    origin: str,
) -> Drawing:
    """The query graph and beside it each plan under its name, for a page; the alternative text says edges and plans in full."""
    rows = [
        {
            "drawing": "query graph",
            "left": _named(tables, edge["left"]),
            "right": _named(tables, edge["right"]),
        }
        for edge in edges
    ]
    rows += [
        {"drawing": name, "left": " ".join(leaves(left)), "right": " ".join(leaves(right))}
        for name, tree in plans.items()
        for left, right in joins(tree)
    ]
    said = "; ".join(
        f"{row['left'].replace(' ', ' and ')} with {row['right'].replace(' ', ' and ')}"
        for row in rows
        if row["drawing"] == "query graph"
    )
    orders = "".join(f" {name[0].upper()}{name[1:]}: {order(tree)}." for name, tree in plans.items())

    def picture(_: pd.DataFrame, ax: Axes) -> None:
        for panel, name in zip(_panels(ax, 1 + len(plans)), ("query graph", *plans), strict=True):
            panel.set_title(name, fontsize=10)
            if name in plans:
                plan(panel, plans[name])
            else:
                hypergraph(panel, tables, edges)

    words = Words(f"Query graph of {', '.join(tables)}, with edges of {said}.{orders}", caption)
    ratios = (0.36, 0.6 if len(plans) == 1 else 1.1)
    return draw(figure, pd.DataFrame(rows), picture, words, origin=origin, ratios=ratios)


def _named(tables: Sequence[str], nodes: Sequence[int]) -> str:
    return " ".join(tables[node] for node in nodes)


def _panels(ax: Axes, n: int) -> list[Axes]:
    """`n` panels in a row; on a narrow drawing more than two have the first in a row of its own."""
    drawing = ax.get_figure(root=True)
    place = ax.get_subplotspec()
    assert drawing is not None
    assert place is not None
    ax.set_axis_off()
    if is_narrow(ax) and n > 2:
        grid = place.subgridspec(2, n - 1)
        return [drawing.add_subplot(spot) for spot in (grid[0, :], *(grid[1, i] for i in range(n - 1)))]
    row = place.subgridspec(1, n)
    return [drawing.add_subplot(row[0, i]) for i in range(n)]


def hypergraph(ax: Axes, tables: Sequence[str], edges: Sequence[Mapping[str, Any]]) -> None:
    """Tables on a circle; an edge between sets goes through a square, solid to its left and dashed to its right side."""
    at = [_on_circle(i, len(tables)) for i in range(len(tables))]
    for edge in edges:
        if len(edge["left"]) == len(edge["right"]) == 1:
            (x0, y0), (x1, y1) = at[edge["left"][0]], at[edge["right"][0]]
            ax.plot([x0, x1], [y0, y1], color=INK, zorder=1)
            continue
        nodes = [*edge["left"], *edge["right"]]
        x, y = (sum(at[i][axis] for i in nodes) / len(nodes) for axis in (0, 1))
        ax.plot([x], [y], "s", color=VERMILION, markersize=9, zorder=2)
        for side, style in SIDES:
            for i in edge[side]:
                ax.plot([x, at[i][0]], [y, at[i][1]], color=VERMILION, linestyle=style, zorder=1)
    for name, (x, y) in zip(tables, at, strict=True):
        _node(ax, x, y, name)
    ax.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), aspect="equal", anchor="N")
    ax.axis("off")


def plan(ax: Axes, tree: Tree) -> None:
    """A plan as a tree: tables at the ends, the last join on top."""
    column = 0

    def visit(tree: Tree, depth: int) -> tuple[float, float]:
        nonlocal column
        if "table" in tree:
            column += 1
            _node(ax, column, -depth, tree["table"])
            return column, -depth
        ends = [visit(each, depth + 1) for each in tree["inputs"]]
        x = sum(end[0] for end in ends) / 2
        for end in ends:
            ax.plot([x, end[0]], [-depth, end[1]], color=INK, zorder=1)
        ax.plot([x], [-depth], "o", color=INK, zorder=2)
        return x, -depth

    visit(tree, 0)
    ax.margins(0.25)
    ax.axis("off")


def _on_circle(i: int, n: int) -> tuple[float, float]:
    angle = math.pi / 2 - 2 * math.pi * i / n
    return math.cos(angle), math.sin(angle)


def _node(ax: Axes, x: float, y: float, name: str) -> None:
    # The disc stays white and its text dark on every page; its rim and all lines take the page's ink.
    box = {"boxstyle": "circle,pad=0.35", "facecolor": "#ffffff", "edgecolor": INK}
    ax.text(x, y, name, ha="center", va="center", fontsize=10, color=_ON_DISC, bbox=box, zorder=3)
