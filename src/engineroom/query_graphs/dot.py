"""A hypergraph and a plan as text for Graphviz."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["SIDES", "dot"]

SIDES = (("left", "solid"), ("right", "dashed"))  # how an edge between sets is drawn to each


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
        lines += [f"    t{i} -- e{k} [style={style}]" for side, style in SIDES for i in edge[side]]
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


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
