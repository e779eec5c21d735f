"""What `explain` found as one HTML page that loads nothing: graphs drawn, plans beside each other, the limit, the hint."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engineroom import files
from engineroom.ask.query_graphs.explain import (
    hint_line,
    is_order_of,
    pairs_counted,
    planning_line,
    select_line,
    shared_line,
    tree_lines,
    tried_line,
)

__all__ = ["page"]

WIDTH, HEIGHT = 640, 420
LONGEST_NAME = 22

STYLE = """
:root { color-scheme: light dark; --line: #777; --soft: #eee; --back: #fff; --ink: #111; }
@media (prefers-color-scheme: dark) { :root { --line: #999; --soft: #2b2b2b; --back: #161616; --ink: #eee; } }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1rem; max-width: 60rem; background: var(--back); color: var(--ink); }
h1 { font-size: 1.4rem; } h2 { font-size: 1.2rem; margin-top: 2rem; } h3 { font-size: 1rem; }
pre, .wide { overflow-x: auto; } pre { background: var(--soft); padding: .6rem; font-size: .85rem; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { border: 1px solid var(--line); padding: .2rem .5rem; text-align: left; vertical-align: top; }
td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.step { white-space: pre-wrap; overflow-wrap: anywhere; min-width: 11rem; font-family: ui-monospace, monospace; font-size: .8rem; }
pre.statement { white-space: pre-wrap; overflow-wrap: anywhere; } .wide { margin: .8rem 0; }
svg { width: 100%; height: auto; max-width: 40rem; } svg line { stroke: currentColor; stroke-width: 1.5; }
svg text { fill: currentColor; font-size: 15px; stroke: var(--back); stroke-width: 5px; stroke-linejoin: round; paint-order: stroke; }
svg circle { fill: var(--back); stroke: currentColor; stroke-width: 1.5; }
svg .of-sets { stroke-dasharray: 5 4; } svg .point { fill: currentColor; }
@media print {
  :root { color-scheme: light; --line: #777; --soft: #f4f4f4; --back: #fff; --ink: #000; }
  body { max-width: none; font-size: .85rem; } pre { white-space: pre-wrap; } pre, .wide { overflow: visible; }
  svg, tr { break-inside: avoid; } h2, h3 { break-after: avoid; }
}
"""
OFF_BY = 10  # from so many times on, more or fewer rows than estimated are worth a look


def page(explained: Mapping[str, Any]) -> str:
    """The whole page. All text of the statement and of the server is escaped."""
    server = f"MySQL {explained['server']}" if explained["server"] else "a trace of MySQL 9.7"
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Join order by {_escaped(server)}</title><style>{STYLE}</style></head><body><main>",
        f"<h1>Join order by {_escaped(server)}</h1>",
    ]
    if explained.get("statement"):
        parts.append(f"<pre class='statement'>{_escaped(explained['statement'])}</pre>")
    parts += _summary(explained)
    for block in explained["blocks"]:
        parts += [f"<h2>{_escaped(select_line(block))}</h2>", *_block(block, explained["pair_limit"])]
    if "hypergraph_plan" in explained:
        parts += _plans(explained)
    return "\n".join([*parts, "</main></body></html>"]) + "\n"


def _summary(explained: Mapping[str, Any]) -> Iterator[str]:
    """What a reader asks first."""
    shown = [block for block in explained["blocks"] if "refused" not in block]
    bites = [block for block in shown if block["simplification_steps"]]
    lines = [
        f"The limit of pairs bites in {', '.join(map(select_line, bites))}: some orders were not looked at."
        if bites
        else "The limit of pairs does not bite."
    ]
    for block in shown:
        order, ours = block["server_join_order"], block["our_plan"]
        if order and "refused" not in ours and (same := is_order_of(ours["tree"], order)) is not None:
            lines.append(
                f"{select_line(block)}: the server joins the {'same' if same else 'tables by other'} sets {'as our plan' if same else 'than our plan'}."
            )
    if tried := explained.get("hint_tried"):
        lines.append(tried_line(tried))
    for key, name in (("hypergraph_plan", "hypergraph"), ("usual_plan", "old")):
        if found := _first_step(explained.get(key, "")):
            lines.append(f"The plan of the {name} optimizer: {found}.")
        if worst := _worst(explained.get(key, "")):
            lines.append(f"Its estimate that is off most: {worst}.")
    yield "<h2>In short</h2><ul>" + "".join(f"<li>{_escaped(line)}</li>" for line in lines) + "</ul>"


def _steps_of(plan: str) -> Iterator[re.Match[str]]:
    return (step for line in plan.splitlines() if (step := _STEP.match(line)))


def _first_step(plan: str) -> str:
    """Cost, and time where it ran, of a plan's top step that has a cost."""
    top = next((step for step in _steps_of(plan) if step["cost"]), None)
    if top is None:
        return ""
    until = top["time"].rpartition("..")[2] if top["time"] else None
    return f"cost {top['cost'].rpartition('..')[2]}" + (f", {until} ms until its last row" if until else "")


def _times_off(step: re.Match[str]) -> float | None:
    """How many times as many rows came as were estimated, at least one of each; None where that is not known."""
    try:
        return max(1.0, float(step["actual"])) / max(1.0, float(step["rows"]))
    except (TypeError, ValueError):
        return None


def _worst(plan: str) -> str:
    known = [(off, step) for step in _steps_of(plan) if (off := _times_off(step)) is not None]
    off, step = max(known, key=lambda each: max(each[0], 1 / each[0]), default=(1.0, None))
    if step is None or max(off, 1 / off) < OFF_BY:
        return ""
    return f"{step['step'].strip().removeprefix('-> ')}, {_shown(step['rows'])} rows estimated and {_shown(step['actual'])} found"


def _escaped(value: object) -> str:
    """Text for elements and quoted attributes; what would steer a terminal or turn the text is made visible."""
    return html.escape(files.visible(str(value)), quote=True)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _block(block: Mapping[str, Any], pair_limit: int | None) -> Iterator[str]:
    if "refused" in block:
        yield f"<p>Not shown: {_escaped(block['refused'])}.</p>"
        if "remedy" in block:
            yield f"<p>What to do: {_escaped(block['remedy'])}.</p>"
        return
    yield _drawn(block)
    yield "<p>An edge between sets of tables goes through a point: drawn to its left side as a line, dashed to its right one.</p>"
    names = [table["name"] for table in block["tables"]]
    yield _table(
        ["table", "rows that its conditions leave", "rows"],
        [
            [name, table["filtered_rows"], table["rows"]]
            for name, table in zip(names, block["tables"], strict=True)
        ],
    )
    yield _table(
        ["edge", "between", "condition", "selectivity"],
        [
            [
                k,
                " and ".join(_set(names, edge[side]) for side in ("left", "right")),
                edge["condition"],
                edge["selectivity"],
            ]
            for k, edge in enumerate(block["edges"])
        ],
    )
    yield f"<h3>The limit of pairs</h3><p>{_escaped(_limit(block, pair_limit))}</p>"
    ours = block["our_plan"]
    yield "<h3>Our plan, of hash joins only, with estimated rows</h3><p>Its costs leave out how the tables are read.</p>"
    if "refused" in ours:
        yield f"<p>None: {_escaped(ours['refused'])}.</p>"
    else:
        yield f"<pre {_scrolls('Our plan')}>{_escaped(chr(10).join(tree_lines(ours['tree'])))}</pre>"
        yield from (f"<p>{_escaped(line)}</p>" for line in (hint_line(ours), shared_line(ours)) if line)
    order, cost = (
        block[key] if block[key] is not None else "unknown" for key in ("server_join_order", "server_cost")
    )
    yield f"<p>The server's order: {_escaped(order)}, cost {_escaped(cost)}.</p>"


def _set(names: Sequence[str], nodes: Sequence[int]) -> str:
    return "{" + ", ".join(names[node] for node in nodes) + "}"


def _limit(block: Mapping[str, Any], pair_limit: int | None) -> str:
    pairs = pairs_counted(block["counters"]["csg_cmp_pairs"])
    if block["simplification_steps"]:
        limit = f" of {pair_limit:,}" if pair_limit is not None else ""
        return (
            f"The limit{limit} bites: {block['simplification_steps']} steps of simplification left {pairs}, and orders that "
            "they forbid were not looked at. Raise optimizer_max_subgraph_pairs for this session, and compare."
        )
    if pair_limit is None:
        return f"The limit did not bite: {pairs}, and no simplification."
    return f"The limit does not bite: {pairs} of the {pair_limit:,} that optimizer_max_subgraph_pairs allows."


def _plans(explained: Mapping[str, Any]) -> Iterator[str]:
    yield "<h2>The server's plans</h2>"
    if not explained.get("is_run"):
        yield "<p>The statement was explained and not run: rows are estimates. With --run SECONDS they stand beside the actual ones.</p>"
    if "planning_ms" in explained:
        yield f"<p>{_escaped(planning_line(explained['planning_ms']))}</p>"
    yield "<h3>By the hypergraph optimizer</h3>" + _steps(explained["hypergraph_plan"])
    tried = explained.get("hint_tried")
    if tried:
        yield f"<h3>With our order as a hint</h3><p>{_escaped(tried_line(tried))}</p>" + _steps(tried["plan"])
    yield "<h3>By the old optimizer, which is the default</h3>" + _steps(explained["usual_plan"])


_STEP = re.compile(
    r"(?P<step>\s*->.*?)(?:  \(cost=(?P<cost>[^ )]+)(?: rows=(?P<rows>[^ )]+))?\))?"
    r"(?:(?:  | )\((?:actual time=(?P<time>\S+) rows=(?P<actual>\S+) loops=(?P<loops>\d+)|(?P<never>never executed))\))?$"
)


def _steps(plan: str) -> str:
    """A plan as a table, one line per step: the server's estimate, and what came per loop where it ran."""
    found = [(line, _STEP.match(line)) for line in plan.splitlines()]
    is_run = any(step and (step["actual"] or step["never"]) for _, step in found)
    rows: list[list[Any]] = []
    for line, step in found:
        if step is None:
            rows.append([line, "", "", *(["", "", ""] if is_run else [])])
            continue
        depth = (len(line) - len(line.lstrip())) // 4
        cells: list[Any] = ["  " * depth + step["step"].lstrip(), step["cost"] or "", _shown(step["rows"])]
        if is_run:
            off = _times_off(step)
            cells += [
                step["never"] or _shown(step["actual"]),
                "" if off is None else f"{off:.2g}",
                _shown(step["loops"]),
            ]
        rows.append(cells)
    head = [
        "step",
        "cost",
        "estimated rows",
        *(["actual rows per loop", "times the estimate", "loops"] if is_run else []),
    ]
    return _table(head, rows, first="step")


def _scrolls(label: str) -> str:
    """What lets the keyboard scroll a region that may be wider than the screen."""
    return f'tabindex="0" role="group" aria-label="{_escaped(label)}"'


def _shown(text: str | None) -> str:
    try:
        return _number(float(text)) if text else ""
    except ValueError:
        return str(text)


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]], *, first: str = "") -> str:
    def cell(i: int, value: Any) -> str:
        is_number = isinstance(value, int | float) or (
            i > 0 and bool(re.fullmatch(r"[\d.,e+-]+", str(value)))
        )
        kind = first if i == 0 and first else "n" if is_number else ""
        text = f"{value:g}" if isinstance(value, float) else str(value)
        return f"<td{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{_escaped(text)}</td>"

    body = "".join(f"<tr>{''.join(cell(i, value) for i, value in enumerate(row))}</tr>" for row in rows)
    titles = "".join(f'<th scope="col">{_escaped(title)}</th>' for title in head)
    return f'<div class="wide" {_scrolls(", ".join(head[:2]))}><table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div>'


def _drawn(block: Mapping[str, Any]) -> str:
    """The hypergraph on a circle, with its tables and edges as alt text."""
    names = [table["name"] for table in block["tables"]]
    n = len(names)
    height = HEIGHT if n > 2 else 100
    at = [
        (WIDTH / 2 - 230 * math.cos(2 * math.pi * i / n), height / 2 - 160 * math.sin(2 * math.pi * i / n))
        for i in range(n)
    ]
    alt = f"Hypergraph of {n} tables. " + " ".join(
        f"Edge {k} joins {_set(names, edge['left'])} and {_set(names, edge['right'])}."
        for k, edge in enumerate(block["edges"])
    )
    lines, labels = [], []
    for k, edge in enumerate(block["edges"]):
        ends = [at[node] for node in (*edge["left"], *edge["right"])]
        # Off the middle, so that labels of edges that cross there do not cover each other.
        share = 0.42 + 0.16 * (k % 2)
        if len(ends) == 2:
            (x1, y1), (x2, y2) = ends
            middle = (x1 + share * (x2 - x1), y1 + share * (y2 - y1))
            lines.append(_line(ends[0], ends[1], ""))
        else:
            middle = (sum(x for x, _ in ends) / len(ends), sum(y for _, y in ends) / len(ends))
            for side, kind in (("left", ""), ("right", ' class="of-sets"')):
                lines += [_line(at[node], middle, kind) for node in edge[side]]
            lines.append(f'<circle class="point" cx="{middle[0]:.0f}" cy="{middle[1]:.0f}" r="4"/>')
        labels.append(f'<text x="{middle[0] + 7:.0f}" y="{middle[1] - 6:.0f}">{k}</text>')
    for (x, y), name in zip(at, names, strict=True):
        lines.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="9"><title>{_escaped(name)}</title></circle>')
        labels.append(
            f'<text x="{x:.0f}" y="{y + (28 if y >= height / 2 else -16):.0f}" text-anchor="middle">{_escaped(_short(name, n))}</text>'
        )
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{_escaped(alt)}"><title>{_escaped(alt)}</title>'
        + "".join([*lines, *labels])
        + "</svg>"
    )


def _short(name: str, n_tables: int) -> str:
    """A name for a label: of a long one both ends, since an application's tables often begin alike."""
    longest = LONGEST_NAME if n_tables <= 8 else LONGEST_NAME // 2
    head = longest // 3
    return name if len(name) <= longest else f"{name[:head]}…{name[head + 1 - longest :]}"


def _line(a: tuple[float, float], b: tuple[float, float], kind: str) -> str:
    return f'<line{kind} x1="{a[0]:.0f}" y1="{a[1]:.0f}" x2="{b[0]:.0f}" y2="{b[1]:.0f}"/>'
