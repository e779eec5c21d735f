"""A hypergraph and a plan as pictures: text for Graphviz, and a drawing of our own where a page must not need it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["dot", "hypergraph", "plan"]


def dot(explained: Mapping[str, Any]) -> str:
    """The hypergraph and our plan of `explain` as one Graphviz file; an edge between sets goes through a point, as the server draws it."""
    names = [table["name"] for table in explained["tables"]]
    lines = ["graph query {", "  subgraph cluster_graph {", '    label = "Hypergraph"']
    lines += [f"    t{i} [label={_quoted(name)}]" for i, name in enumerate(names)]
    for k, edge in enumerate(explained["edges"]):
        label = _quoted(edge["condition"])
        if len(edge["left"]) == len(edge["right"]) == 1:
            lines.append(f"    t{edge['left'][0]} -- t{edge['right'][0]} [label={label}]")
            continue
        lines.append(f"    e{k} [shape=point, xlabel={label}]")
        lines += [f"    t{i} -- e{k} [style={style}]" for side, style in _SIDES for i in edge[side]]
    lines += ["  }", "  subgraph cluster_plan {", '    label = "Our plan"']
    n = 0

    def visit(tree: Mapping[str, Any]) -> int:
        nonlocal n
        mine, n = n, n + 1
        text = tree.get("table", "join")
        lines.append(f"    p{mine} [shape={'box' if 'table' in tree else 'oval'}, label={_quoted(text)}]")
        for each in tree.get("inputs", ()):
            lines.append(f"    p{mine} -- p{visit(each)}")
        return mine

    visit(explained["our_plan"]["tree"])
    return "\n".join([*lines, "  }", "}"])


_SIDES = (("left", "solid"), ("right", "dashed"))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def hypergraph(ax: Axes, tables: Sequence[str], edges: Sequence[Mapping[str, Sequence[int]]]) -> None:
    """Tables on a circle; an edge between sets goes through a square, solid to its left and dashed to its right side."""
    at = [_on_circle(i, len(tables)) for i in range(len(tables))]
    for edge in edges:
        if len(edge["left"]) == len(edge["right"]) == 1:
            (x0, y0), (x1, y1) = at[edge["left"][0]], at[edge["right"][0]]
            ax.plot([x0, x1], [y0, y1], color="#111111", zorder=1)
            continue
        nodes = [*edge["left"], *edge["right"]]
        x, y = (sum(at[i][axis] for i in nodes) / len(nodes) for axis in (0, 1))
        ax.plot([x], [y], "s", color="#D55E00", markersize=9, zorder=2)
        for side, style in _SIDES:
            for i in edge[side]:
                ax.plot([x, at[i][0]], [y, at[i][1]], color="#D55E00", linestyle=style, zorder=1)
    for name, (x, y) in zip(tables, at, strict=True):
        _node(ax, x, y, name)
    ax.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), aspect="equal")
    ax.axis("off")


def plan(ax: Axes, tables: Sequence[str], nodes: Any) -> None:
    """A plan of the kernel as a tree: tables at the ends, the last join on top."""
    column = 0

    def visit(i: int, depth: int) -> tuple[float, float]:
        nonlocal column
        node = nodes[i]
        if node["left"] < 0:
            column += 1
            _node(ax, column, -depth, tables[int(node["tables"]).bit_length() - 1])
            return column, -depth
        ends = [visit(int(node[side]), depth + 1) for side in ("left", "right")]
        x = sum(end[0] for end in ends) / 2
        for end in ends:
            ax.plot([x, end[0]], [-depth, end[1]], color="#111111", zorder=1)
        ax.plot([x], [-depth], "o", color="#111111", zorder=2)
        return x, -depth

    visit(len(nodes) - 1, 0)
    ax.margins(0.25)
    ax.axis("off")


def _on_circle(i: int, n: int) -> tuple[float, float]:
    angle = math.pi / 2 - 2 * math.pi * i / n
    return math.cos(angle), math.sin(angle)


def _node(ax: Axes, x: float, y: float, name: str) -> None:
    box = {"boxstyle": "circle,pad=0.4", "facecolor": "white", "edgecolor": "#111111"}
    ax.text(x, y, name, ha="center", va="center", fontsize=11, bbox=box, zorder=3)
