"""What the optimizer trace of MySQL 9.7 says when the hypergraph optimizer plans a join.

The trace is one array of lines per query block: the tree of joins, the hypergraph as Graphviz, then each node and each pair of
sets as the enumeration found them, with all plans that were proposed. Tables are named, not numbered: their numbers follow the
order of the tables in the printed tree.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from engineroom import forms
from engineroom.ask.query_graphs.graphs import nodes_of
from engineroom.ask.query_graphs.trees import names_in
from engineroom.errors import EngineRoomError

__all__ = [
    "Edge",
    "Planned",
    "TraceError",
    "TraceHiddenError",
    "TraceTooLongError",
    "blocks",
    "plannings",
    "read_trace",
    "settings",
    "trace_of",
    "traced",
]

SWITCH = "hypergraph_optimizer=on"
_MOST_TABLES, _LONGEST_ALIAS = 64, 256  # more than a query block can have
_TOO_LARGE = "the trace of this block has more tables, or longer names, than MySQL takes"
# How the lines begin that are read; most of a long trace tells of plans that were given up.
_READ = (
    "After ",
    "Constructed ",
    "Simplified ",
    "Enumerat",
    "Restarting ",
    "Found ",
    " - current access paths",
    "Final cost ",
)


class TraceError(EngineRoomError):
    """A trace that does not look as this reader expects."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            problem, remedy="compare with a trace of MySQL 9.7.4, which this reader was written for"
        )


class TraceTooLongError(EngineRoomError):
    """A trace that has more bytes than it may have."""


class TraceHiddenError(EngineRoomError):
    """A trace that the account may not see."""


@dataclass(frozen=True)
class Edge:
    """One edge of the printed hypergraph. `condition` is the text by which pairs name it."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    condition: str
    selectivity: float
    rules: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = ()

    @property
    def kind(self) -> str:
        """The kind of the join: "inner", "left", "semi", "anti" or "straight"."""
        found = re.match(r"\[(\w+)", self.condition)
        return found[1] if found else "inner"


# ("node", number, rows) or ("pair", left, right, condition)
Event = tuple[Any, ...]


@dataclass
class Planned:
    """One query block's planning. The second and further lists belong to the plannings after a simplification.

    `join_order` is that of the cheapest plan that was kept for all tables, before what follows the joins is added to it.

    `tables` are told apart (`b`, `b#2`) where the trace writes one alias for several, as `written` has it. A pair of such a block does
    not say which of them it means: its nodes are the first of each alias.
    """

    tables: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    tree: list[str] = field(default_factory=list)
    graphs: list[list[Edge]] = field(default_factory=list)
    events: list[list[Event]] = field(default_factory=list)
    subplans: int | None = None
    access_paths: int | None = None
    steps: int | None = None
    pairs_after_steps: int | None = None
    join_order: str | None = None
    cost: float | None = None
    select: int | None = None
    _kept_rows: dict[int, float] = field(default_factory=dict)

    @property
    def forced_edges(self) -> frozenset[int]:
        """The numbers of the edges whose sides STRAIGHT_JOIN or a hint of join order holds where they are; the first edges are the tree's joins from below, left to right."""
        depth = [len(row) - len(row.lstrip()) for row in self.tree]
        joins = [mine < below for mine, below in zip(depth, [*depth[1:], 0], strict=True)]
        done: list[int] = []  # the joins' rows, each after those under it
        waiting: list[tuple[int, int]] = []  # a join's row, and how many of its inputs are complete
        for row, is_join in enumerate(joins):
            if is_join:
                waiting.append((row, 0))
                continue
            while waiting:
                top, inputs = waiting.pop()
                if inputs == 0:
                    waiting.append((top, 1))
                    break
                done.append(top)
        return frozenset(k for k, row in enumerate(done) if "[forced noncommutative]" in self.tree[row])

    @property
    def filtered_rows(self) -> dict[int, float]:
        """The estimated rows of each table that its own conditions leave; those of the table where the trace does not say."""
        return self.rows | self._kept_rows

    @property
    def rows(self) -> dict[int, float]:
        """The estimated rows of each table, where the trace has them."""
        return {event[1]: event[2] for events in self.events for event in events if event[0] == "node"}

    def graph(self, which: int = -1) -> dict[str, Any]:
        """A hypergraph in the form of a graph file; the last one by default."""
        edges = []
        for edge in self.graphs[which]:
            value: dict[str, Any] = {"left": list(edge.left), "right": list(edge.right)}
            if edge.rules:
                value["rules"] = [{"if": list(some), "then": list(needed)} for some, needed in edge.rules]
            edges.append(value)
        return {"nodes": len(self.tables), "edges": edges}

    @property
    def repeats_an_alias(self) -> bool:
        """Whether two tables are written alike."""
        return len(set(self.written)) < len(self.written)

    def events_as_written(
        self, events: Iterable[tuple[int, int, int]] | None = None, which: int = -1
    ) -> list[tuple[list[str], list[str], str]]:
        """Events by aliases and conditions: those of a kernel, or the trace's own."""
        if events is None:
            return [
                ([self.written[event[1]]], [], "")
                if event[0] == "node"
                else (*(sorted(self.written[node] for node in side) for side in event[1:3]), event[3])
                for event in self.events[which]
            ]
        return [
            (
                *(sorted(self.written[node] for node in nodes_of(side)) for side in (left, right)),  # type: ignore[misc]
                self.graphs[which][edge].condition if edge >= 0 else "",
            )
            for left, right, edge in events
        ]

    def named_events(self, which: int = -1) -> list[tuple[Any, ...]]:
        """The events of a planning as bit sets and an edge's number, as the kernels report them."""
        edges = self.graphs[which]
        found: list[tuple[Any, ...]] = []
        used: dict[tuple[int, int, str], int] = {}
        # The server may put a cast into a condition after it has printed the graph.
        said = {event[3] for event in self.events[which] if event[0] == "pair"}
        rewritten = [k for k, edge in enumerate(edges) if edge.condition not in said]
        printed: dict[str, list[int]] = {}
        for k, edge in enumerate(edges):
            printed.setdefault(edge.condition, []).append(k)
        for event in self.events[which]:
            if event[0] == "node":
                found.append((1 << event[1], 0, -1))
                continue
            _, left, right, condition = event
            a, b = _bits(left), _bits(right)
            fits = [k for k in printed.get(condition, rewritten) if _joins(edges[k], a, b)]
            if condition not in printed and len(fits) > 1:
                raise TraceError(f"two edges of the printed hypergraph may be the one of {condition}")
            # Edges with the same condition come one after the other.
            turn = used.get((a, b, condition), 0)
            used[a, b, condition] = turn + 1
            if turn >= len(fits):
                raise TraceError(f"no edge of the printed hypergraph joins {left} and {right} by {condition}")
            found.append((a, b, fits[turn]))
        return found


@contextlib.contextmanager
def settings(connection: Any, **chosen: str | int | None) -> Iterator[Any]:
    """A cursor whose session has these settings, None for its own; they are put back."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT " + ", ".join(f"@@{name}" for name in chosen))
        before = dict(zip(chosen, cursor.fetchone(), strict=True))
        try:
            for name, value in chosen.items():
                if value is not None:
                    cursor.execute(f"SET {name} = {value!r}")
            yield cursor
        finally:
            for name, value in before.items():
                cursor.execute(f"SET {name} = {value!r}")


@contextlib.contextmanager
def traced(
    connection: Any, *, most_pairs: int | None = None, most_bytes: int = 1_000_000_000
) -> Iterator[Any]:
    """A cursor whose statements are planned by the hypergraph optimizer and traced; the session's settings are put back.

    most_pairs: optimizer_max_subgraph_pairs; None: the session's own. most_bytes: of a trace.
    """
    with settings(
        connection,
        optimizer_switch=SWITCH,
        optimizer_trace="enabled=on",
        optimizer_trace_max_mem_size=most_bytes,
        optimizer_max_subgraph_pairs=most_pairs,
    ) as cursor:
        yield cursor


def trace_of(cursor: Any, sql: str) -> str:
    """EXPLAIN `sql` on a cursor of `traced` and return the trace, as JSON."""
    cursor.execute(f"EXPLAIN FORMAT=TREE {sql}")
    cursor.fetchall()
    cursor.execute(
        "SELECT trace, missing_bytes_beyond_max_mem_size, insufficient_privileges FROM information_schema.optimizer_trace"
    )
    text, missing, is_hidden = cursor.fetchone()
    if is_hidden:
        raise TraceHiddenError(
            "the server shows this account no trace of it, as of a view or a function with another account's rights (SQL SECURITY DEFINER)",
            remedy="explain the view's own SELECT in its place, or ask as the account that defined it",
        )
    if missing:
        raise TraceTooLongError(
            f"the trace of the optimizer's work has {(len(text) + missing) / 1e6:,.0f} MB, more than the {len(text) / 1e6:,.0f} MB that it may have",
            remedy="let the optimizer look at fewer pairs (--pairs 1000), or explain a part of the statement",
        )
    return str(text)


def read_trace(cursor: Any, sql: str) -> list[Planned]:
    """EXPLAIN `sql` on a cursor of `traced` and return what was planned, one per query block over tables."""
    return list(plannings(json.loads(trace_of(cursor, sql))))


def plannings(trace: Any) -> Iterator[Planned]:
    """What a trace's JSON says of each query block. Raises TraceError for one that cannot be read."""
    return (_planned(lines, select) for select, lines in _join_optimizer(trace))


def blocks(text: str) -> Iterator[tuple[int | None, Planned | TraceError]]:
    """Each query block of a trace, with the number of its SELECT: what was planned, or why it cannot be read."""
    try:
        found = list(_join_optimizer(json.loads(text)))
    except (ValueError, RecursionError) as error:
        raise TraceError(f"the trace is no JSON that can be read: {error}") from None
    for select, lines in found:
        try:
            yield select, _planned(lines, select)
        except TraceError as error:
            yield select, error
        except (KeyError, IndexError) as error:
            yield select, TraceError(f"the trace of this block names a table that it has not listed: {error}")
        except ValueError as error:
            yield select, TraceError(f"the trace of this block holds something else than a number: {error}")


def _join_optimizer(value: Any, select: int | None = None) -> Iterator[tuple[int | None, list[str]]]:
    """Every list of lines, with the number of the SELECT around it."""
    if isinstance(value, dict):
        select = value.get("select#", select)
        for key, inner in value.items():
            if key == "join_optimizer":
                try:
                    if select is not None:
                        forms.require(int, select, file="select#", remedy="")
                    yield select, forms.require(list[str], inner, file=key, remedy="")
                except forms.FormError as error:
                    raise TraceError(f"the trace is none of a join: {error.problem}") from None
            else:
                yield from _join_optimizer(inner, select)
    elif isinstance(value, list):
        for inner in value:
            yield from _join_optimizer(inner, select)


def _planned(lines: Sequence[str], select: int | None = None) -> Planned:
    planned = Planned(select=select)
    number: dict[str, int] = {}  # the first node of an alias
    waiting: dict[str, list[int]] = {}  # the nodes of an alias that this planning has not found yet
    last_found = -1
    i = 0
    while i < len(lines):
        line = lines[i]
        if not line.startswith(_READ):
            pass
        elif line.startswith("After pushdown;"):
            planned.tree = _block(lines, i + 1)
            leaves = _leaves(planned.tree)
            if len(leaves) > _MOST_TABLES or sum(map(len, leaves)) > _MOST_TABLES * _LONGEST_ALIAS:
                raise TraceError(_TOO_LARGE)
            planned.written = leaves
            planned.tables = [
                name if leaves.index(name) == k else f"{name}#{leaves[: k + 1].count(name)}"
                for k, name in enumerate(leaves)
            ]
            number = {name: leaves.index(name) for name in leaves}
        elif line in ("Constructed hypergraph:", "Simplified hypergraph:"):
            block = _block(lines, i + 1)
            planned.graphs.append(_dot(block, _in_dot(planned.written)))
            i += len(block)
        elif line.startswith(("Enumerating subplans:", "Restarting query planning")):
            planned.events.append([])
            waiting = {name: [] for name in number}
            for k, name in enumerate(planned.written):
                waiting.setdefault(name, []).append(k)
        elif node := _node(line):
            name, rows = node
            if not planned.tree:  # a block of one table has none
                number.setdefault(name, len(number))
                if len(number) > _MOST_TABLES:
                    raise TraceError(_TOO_LARGE)
                planned.tables = planned.written = list(number)
                waiting.setdefault(name, [number[name]])
            last_found = waiting[name].pop()  # the highest node first
            planned.events[-1].append(("node", last_found, float(rows)))
        elif pair := _pair(line):
            left, right = ([number[name] for name in names_in(group, number)] for group in pair[:2])
            planned.events[-1].append(("pair", left, right, pair[2]))
        elif found := re.match(r"Enumerated (\d+) subplans keeping a total of (\d+) access paths", line):
            planned.subplans, planned.access_paths = int(found[1]), int(found[2])
        elif found := re.match(
            r"After (\d+) simplification steps, the query graph contains (\d+) subgraph", line
        ):
            planned.steps, planned.pairs_after_steps = int(found[1]), int(found[2])
        elif found := re.match(r" - current access paths for \{(.*?)\}: (.*)$", line):
            if [found[1]] == planned.written[last_found : last_found + 1]:
                kept = [
                    float(rows)
                    for rows, rest in re.findall(r"\{\w+, cost=[^{}]*? rows=([\d.e+-]+)([^{}]*)", found[2])
                    if "parm=" not in rest
                ]
                if kept:
                    planned._kept_rows[last_found] = min(kept)
            if len(found[1]) == len(",".join(planned.written)):
                planned.join_order = _cheapest(found[2])
        elif found := re.match(r"Final cost is ([\d.e+]+?)\.?$", line):
            planned.cost = float(found[1])
        i += 1
    if planned.repeats_an_alias and any(edge.rules for graph in planned.graphs for edge in graph):
        raise TraceError(
            "a conflict rule of this block names tables, two have the same alias, and its trace does not tell which is meant"
        )
    return planned


def _node(line: str) -> tuple[str, str] | None:
    """Of a line that finds a node: its table, and the rows that are expected."""
    name, _, rest = line.removeprefix("Found node ").partition(" [rows=")
    rows, is_whole, _ = rest.partition("]")
    return (name, rows) if line.startswith("Found node ") and name and rows and is_whole else None


def _pair(line: str) -> tuple[str, str, str] | None:
    """Of a line that finds a pair: both sets, and the condition that connects them."""
    left, _, rest = line.removeprefix("Found sets {").partition("} and {")
    right, is_whole, condition = rest.partition("}, connected by condition ")
    return (left, right, condition) if line.startswith("Found sets {") and is_whole else None


def _in_dot(written: Sequence[str]) -> dict[str, int]:
    """The nodes by the names that the printed graph gives them: an alias that is taken gets underscores."""
    number: dict[str, int] = {}
    for node, name in enumerate(written):
        while name in number:
            name += "_"  # noqa: PLW2901 - as the server does
        number[name] = node
    return number


def _leaves(tree: Sequence[str]) -> list[str]:
    """The names of the tables in a printed tree of joins: what stands under nothing."""
    if not tree:
        raise TraceError("the trace of this block has no tree of joins")
    depth = [len(row) - len(row.lstrip()) for row in tree]
    return [
        re.sub(r" \[companion set \w+\]$", "", row.strip()).removeprefix("* ")
        for row, mine, below in zip(tree, depth, [*depth[1:], 0], strict=True)
        if below <= mine
    ]


_COST = re.compile(r"\{\w+, cost=([\d.e+]++)[^{}]*?, join_order=(?=\()")


def _cheapest(paths: str) -> str | None:
    """The order of the joins of the cheapest of a set's paths, as the trace writes it."""
    found, at = list[tuple[float, str]](), 0
    while path := _COST.search(paths, at):
        at = paths.find(")}", path.end()) + 1
        if not at:
            break
        found.append((float(path[1]), paths[path.end() : at]))
    return min(found, key=lambda each: each[0])[1] if found else None


def _block(lines: Sequence[str], start: int) -> list[str]:
    """The lines up to the next empty one."""
    end = start
    while end < len(lines) and lines[end]:
        end += 1
    return list(lines[start:end])


_LABEL = re.compile(r'label="(.*)"')


def _dot(block: Sequence[str], number: dict[str, int]) -> list[Edge]:
    edges: list[tuple[list[int], list[int], str]] = []
    points: dict[str, int] = {}
    # An alias may hold an arrow, brackets and commas.
    listed = "|".join([*map(re.escape, sorted(number, key=len, reverse=True)), r"e\d+"])
    for line in block[1:-1]:
        if point := re.match(r'  (e\d+) \[shape=circle,width=\.001,height=\.001,label=""\]$', line):
            points[point[1]] = len(edges)
            edges.append(([], [], ""))
            continue
        if re.match(r'  .+ \[label="[^"]*"\];$', line):  # the alias of a node with underscores
            continue
        found = re.match(rf"  ({listed}) -> ({listed}) \[(.*)\]$", line)
        if not found:
            raise TraceError(f"not an edge: {line!r}")
        a, b, attributes = found.groups()
        label = _LABEL.search(attributes)
        text = label[1] if label else ""
        if b in points and b not in number:
            left, _, _ = edges[points[b]]
            left.append(number[a])
            place = points[b]
        elif a in points and a not in number:
            _, right, _ = edges[points[a]]
            right.append(number[b])
            place = points[a]
        else:
            edges.append(([number[a]], [number[b]], text))
            continue
        if text:
            edges[place] = (*edges[place][:2], text)
    return [_edge(left, right, text, number) for left, right, text in edges]


def _edge(left: list[int], right: list[int], text: str, number: dict[str, int]) -> Edge:
    text, *written = text.split(" [conflict rule: {")
    rules = []
    for rule in written:
        some, is_whole, rest = rule.partition("} -> {")
        needed, is_closed, _ = rest.partition("}]")
        if is_whole and is_closed:
            groups = (names_in(group, number) if group else () for group in (some, needed))
            rules.append(tuple(tuple(sorted(number[name] for name in group)) for group in groups))
    found = re.match(r"(.*) \(([^()]+)\)$", text)
    if not found:
        raise TraceError(f"an edge without a selectivity: {text!r}")
    return Edge(tuple(sorted(left)), tuple(sorted(right)), found[1], float(found[2]), tuple(rules))  # type: ignore[arg-type]


def _bits(nodes: Sequence[int]) -> int:
    return sum(1 << node for node in nodes)


def _joins(edge: Edge, a: int, b: int) -> bool:
    left, right = _bits(edge.left), _bits(edge.right)
    return (left & ~a == 0 and right & ~b == 0) or (left & ~b == 0 and right & ~a == 0)
