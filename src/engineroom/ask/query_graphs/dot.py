"""A hypergraph and a plan as text for Graphviz."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["SIDES", "dot"]

SIDES = (("left", "solid"), ("right", "dashed"))  # how an edge between sets is drawn to each


def dot(explained: Mapping[str, Any]) -> str:
    """The hypergraph and our plan of every block of `explain` as one Graphviz file; an edge between sets goes through a point, as the server draws it."""
    lines = ["graph query {"]
    for n, block in enumerate(explained["blocks"]):
        if "refused" not in block:
            lines += _block(block, f"b{n}_", f" of SELECT #{block['select']}")
    return "\n".join([*lines, "}"])


def _block(block: Mapping[str, Any], prefix: str, of_select: str) -> list[str]:
    """Two boxes; `prefix` keeps the names of blocks apart."""
    lines = [f"  subgraph cluster_{prefix}graph {{", f'    label = "Hypergraph{of_select}"']
    lines += [f"    {prefix}t{i} [label={_quoted(table['name'])}]" for i, table in enumerate(block["tables"])]
    for k, edge in enumerate(block["edges"]):
        label = _quoted(edge["condition"])
        if len(edge["left"]) == len(edge["right"]) == 1:
            lines.append(f"    {prefix}t{edge['left'][0]} -- {prefix}t{edge['right'][0]} [label={label}]")
            continue
        lines.append(f"    {prefix}e{k} [shape=point, xlabel={label}]")
        lines += [
            f"    {prefix}t{i} -- {prefix}e{k} [style={style}]" for side, style in SIDES for i in edge[side]
        ]
    lines.append("  }")
    if "refused" in block["our_plan"]:
        return lines
    lines += [f"  subgraph cluster_{prefix}plan {{", f'    label = "Our plan{of_select}"']
    n = 0

    def visit(tree: Mapping[str, Any]) -> int:
        nonlocal n
        mine, n = n, n + 1
        text = tree.get("table", "join")
        shape = "box" if "table" in tree else "oval"
        lines.append(f"    {prefix}p{mine} [shape={shape}, label={_quoted(text)}]")
        for each in tree.get("inputs", ()):
            lines.append(f"    {prefix}p{mine} -- {prefix}p{visit(each)}")
        return mine

    visit(block["our_plan"]["tree"])
    return [*lines, "  }"]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
