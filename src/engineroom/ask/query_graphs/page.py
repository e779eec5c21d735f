"""What `explain` found as one HTML page that loads nothing: graphs drawn, plans beside each other, the limit, the hint.

`page.html.jinja` has the page; here is what it asks for.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from engineroom.ask.pages import templates
from engineroom.ask.query_graphs import explain as say
from engineroom.ask.query_graphs.plan import OFF_BY, STEP, times_off

__all__ = ["page"]

WIDTH, HEIGHT = 640, 420
LONGEST_NAME = 22


def page(explained: Mapping[str, Any]) -> str:
    """The whole page. All text of the statement and of the server is escaped."""
    return _template().render(found=explained)


@functools.cache
def _template() -> jinja2.Template:
    environment = templates(Path(__file__).parent)
    environment.tests["numeric"] = _is_number
    environment.globals |= {
        "say": say,
        "summary": _summary,
        "rows_of_tables": _rows_of_tables,
        "rows_of_edges": _rows_of_edges,
        "limit": _limit,
        "drawn": _drawn,
        "steps": _steps,
    }
    return environment.get_template("page.html.jinja")


def _is_number(value: Any, is_first: bool) -> bool:
    return isinstance(value, int | float) or (not is_first and bool(re.fullmatch(r"[\d.,e+-]+", str(value))))


def _summary(explained: Mapping[str, Any]) -> Iterator[str]:
    """What a reader asks first."""
    shown = [block for block in explained["blocks"] if "refused" not in block]
    bites = [block for block in shown if block["simplification_steps"]]
    if not explained["blocks"]:
        yield say.NO_JOIN
    elif bites:
        yield f"The limit of pairs bites in {', '.join(map(say.select_line, bites))}: some orders were not looked at."
    else:
        yield "The limit of pairs does not bite."
    for block in shown:
        ours = block["our_plan"]
        same = None if "refused" in ours else say.is_order_of(ours["tree"], block["server_join_order"])
        if same is not None:
            how = "same sets as our plan" if same else "tables by other sets than our plan"
            yield f"{say.select_line(block)}: the server joins the {how}."
    if tried := explained.get("hint_tried"):
        yield say.tried_line(tried)
    for key, name in (("hypergraph_plan", "hypergraph"), ("usual_plan", "old")):
        if found := _first_step(explained.get(key, "")):
            yield f"The plan of the {name} optimizer: {found}."
        if worst := _worst(explained.get(key, "")):
            yield f"Its estimate that is off most: {worst}."


def _steps_of(plan: str) -> Iterator[re.Match[str]]:
    return (step for line in plan.splitlines() if (step := STEP.match(line)))


def _first_step(plan: str) -> str:
    """Cost, and time where it ran, of a plan's top step that has a cost."""
    top = next((step for step in _steps_of(plan) if step["cost"]), None)
    if top is None:
        return ""
    until = top["time"].rpartition("..")[2] if top["time"] else None
    return f"cost {top['cost'].rpartition('..')[2]}" + (f", {until} ms until its last row" if until else "")


def _worst(plan: str) -> str:
    known = [
        (off, step)
        for step in _steps_of(plan)
        if (off := times_off(step["actual"], step["rows"])) is not None
    ]
    off, step = max(known, key=lambda each: max(each[0], 1 / each[0]), default=(1.0, None))
    if step is None or max(off, 1 / off) < OFF_BY:
        return ""
    return f"{step['step'].strip().removeprefix('-> ')}, {_shown(step['rows'])} rows estimated and {_shown(step['actual'])} found"


def _steps(plan: str) -> tuple[list[str], list[list[str]]]:
    """A plan as a table's head and rows, one row per step: the server's estimate, and what came per loop where it ran."""
    found = [(line, STEP.match(line)) for line in plan.splitlines()]
    is_run = any(step and (step["actual"] or step["never"]) for _, step in found)
    head = ["step", "cost", "estimated rows", "actual rows per loop", "times the estimate", "loops"]
    n_columns = len(head) if is_run else 3
    rows = []
    for line, step in found:
        cells = [line, *[""] * 5]
        if step is not None:
            depth = (len(line) - len(line.lstrip())) // 4
            off = times_off(step["actual"], step["rows"])
            cells = [
                "  " * depth + step["step"].lstrip(),
                step["cost"] or "",
                _shown(step["rows"]),
                step["never"] or _shown(step["actual"]),
                "" if off is None else f"{off:.2g}",
                _shown(step["loops"]),
            ]
        rows.append(cells[:n_columns])
    return head[:n_columns], rows


def _shown(text: str | None) -> str:
    try:
        value = float(text) if text else None
    except ValueError:
        return str(text)
    return "" if value is None else f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _rows_of_tables(block: Mapping[str, Any]) -> list[list[Any]]:
    return [[table["name"], table["filtered_rows"], table["rows"]] for table in block["tables"]]


def _rows_of_edges(block: Mapping[str, Any]) -> list[list[Any]]:
    return [
        [k, " and ".join(_sides(block, edge)), edge["condition"], edge["selectivity"]]
        for k, edge in enumerate(block["edges"])
    ]


def _sides(block: Mapping[str, Any], edge: Mapping[str, Any]) -> list[str]:
    """Both sides of an edge as sets of names."""
    return [
        "{" + ", ".join(block["tables"][node]["name"] for node in edge[side]) + "}"
        for side in ("left", "right")
    ]


def _limit(block: Mapping[str, Any], pair_limit: int | None) -> str:
    pairs = say.pairs_counted(block["counters"]["csg_cmp_pairs"])
    if block["simplification_steps"]:
        limit = f" of {pair_limit:,}" if pair_limit is not None else ""
        return (
            f"The limit{limit} bites: {block['simplification_steps']} steps of simplification left {pairs}, and orders that "
            "they forbid were not looked at. Raise optimizer_max_subgraph_pairs for this session, and compare."
        )
    if pair_limit is None:
        return f"The limit did not bite: {pairs}, and no simplification."
    return f"The limit does not bite: {pairs} of the {pair_limit:,} that optimizer_max_subgraph_pairs allows."


def _drawn(block: Mapping[str, Any]) -> dict[str, Any]:
    """The places of tables, on a circle, and of edges, with both as alt text."""
    names = [table["name"] for table in block["tables"]]
    n = len(names)
    height = HEIGHT if n > 2 else 100
    at = [
        (WIDTH / 2 - 230 * math.cos(2 * math.pi * i / n), height / 2 - 160 * math.sin(2 * math.pi * i / n))
        for i in range(n)
    ]
    edges = []
    for k, edge in enumerate(block["edges"]):
        ends = [at[node] for node in (*edge["left"], *edge["right"])]
        has_point = len(ends) > 2
        if has_point:
            x, y = (sum(coordinates) / len(ends) for coordinates in zip(*ends, strict=True))
            lines = [(at[node], (x, y), side == "right") for side in ("left", "right") for node in edge[side]]
        else:
            # Off the middle, so that labels of edges that cross there do not cover each other.
            share = 0.42 + 0.16 * (k % 2)
            (x1, y1), (x2, y2) = ends
            x, y = x1 + share * (x2 - x1), y1 + share * (y2 - y1)
            lines = [(ends[0], ends[1], False)]
        edges.append(
            {
                "lines": [(_rounded(a), _rounded(b), of_sets) for a, b, of_sets in lines],
                "has_point": has_point,
                "middle": _rounded((x, y)),
                "label": _rounded((x + 7, y - 6)),
            }
        )
    joins = (f"Edge {k} joins {' and '.join(_sides(block, edge))}." for k, edge in enumerate(block["edges"]))
    return {
        "width": WIDTH,
        "height": height,
        "alt": f"Hypergraph of {n} tables. {' '.join(joins)}",
        "edges": edges,
        "tables": [
            {
                "name": name,
                "short": _short(name, n),
                "x": round(x),
                "y": round(y),
                "label_y": round(y + (28 if y >= height / 2 else -16)),
            }
            for (x, y), name in zip(at, names, strict=True)
        ],
    }


def _rounded(place: Sequence[float]) -> tuple[int, ...]:
    return tuple(map(round, place))


def _short(name: str, n_tables: int) -> str:
    """A name for a label: of a long one both ends, since an application's tables often begin alike."""
    longest = LONGEST_NAME if n_tables <= 8 else LONGEST_NAME // 2
    head = longest // 3
    return name if len(name) <= longest else f"{name[:head]}…{name[head + 1 - longest :]}"
