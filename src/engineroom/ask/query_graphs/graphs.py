"""Query graphs as files: `{"nodes": n, "edges": [{"left": [..], "right": [..]}, ...]}`, and events as lines of JSON.

A file may also hold many under names, as those of data/querygraphs do: `{"queries": [{"name": .., "nodes": n, "edges": [..]}, ...]}`;
FILE#NAME is one of them. An edge between two single nodes may be written as a pair: `[left, right]`.

An edge's number is its place in the list. An edge may have `"rules": [{"if": [..], "then": [..]}]`, conflict rules that its
sides do not express.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engineroom import files
from engineroom.errors import EngineRoomError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engineroom._native.join_order import Graph

__all__ = [
    "ALGORITHMS",
    "as_json",
    "as_reported",
    "event_lines",
    "exists",
    "from_json",
    "nodes_of",
    "read",
    "shape",
]

_LISTED_AT_ONCE = 100_000
ALGORITHMS = ("faithful", "fast", "dpccp", "dpsize", "dpsub")
REMEDY = 'write it as {"nodes": 3, "edges": [{"left": [0], "right": [1]}, {"left": [1], "right": [2]}]}'


def read(path: str) -> Graph:
    """The graph in a file, or from standard input for `-`; `FILE#NAME` is one of a file's named graphs."""
    file, _, name = (path, "", "") if path == "-" or exists(path) else path.partition("#")
    value = files.read_json(
        None if file == "-" else Path(file), "graph", remedy=f"name a file, or - for standard input; {REMEDY}"
    )
    return from_json(_one_of(value, file, name))


def exists(path: str) -> bool:
    """Whether a file has this name, also where the text can be no name."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # too long, a loop of links, a NUL
        return False


def _one_of(value: Any, file: str, name: str) -> Any:
    """The graph called `name` where a file holds many, else what it holds."""
    many = value.get("queries") if isinstance(value, Mapping) else None
    if not isinstance(many, list) or not all(isinstance(each, Mapping) and "name" in each for each in many):
        if name:
            raise EngineRoomError(
                f"{file} holds no named graphs, so none is called {name!r}", remedy=f"say {file}"
            )
        return value
    named = {str(each["name"]): each for each in many}
    if name not in named:
        raise EngineRoomError(
            f"{file} holds {len(named)} graphs, {f'none is called {name!r}' if name else 'and none was chosen'}",
            remedy=f"say {file}#NAME, where NAME is one of {', '.join(named)}",
        )
    return named[name]


def from_json(value: Any) -> Graph:
    """The graph of a parsed file; EngineRoomError says what is wrong with it."""
    from engineroom._native import join_order

    if not isinstance(value, Mapping) or not {"nodes", "edges"} <= value.keys():
        raise _wrong("a graph is an object with nodes and edges", value)
    if not _is_int(value["nodes"]):
        raise _wrong("nodes is a whole number", value["nodes"])
    if not isinstance(value["edges"], list):
        raise _wrong("edges is a list", value["edges"])
    edges, rules = [], []
    for number, written in enumerate(value["edges"]):
        where = f"edge {number}"
        is_pair = isinstance(written, list) and len(written) == 2
        edge = {"left": written[:1], "right": written[1:]} if is_pair else written
        if not isinstance(edge, Mapping):
            raise _wrong(f"{where} is an object with left and right", edge)
        edges.append((_nodes(edge, "left", where), _nodes(edge, "right", where)))
        found = edge.get("rules", [])
        if not isinstance(found, list) or not all(isinstance(rule, Mapping) for rule in found):
            raise EngineRoomError(
                f"the rules of {where} are a list of objects with if and then", remedy=REMEDY
            )
        rules.append([(_nodes(rule, "if", where), _nodes(rule, "then", where)) for rule in found])
    try:
        return join_order.Graph(min(value["nodes"], 2**62), edges, rules)
    except ValueError as error:
        raise EngineRoomError(str(error), remedy="mend the graph; nodes are numbered from 0") from None


def as_json(graph: Graph) -> dict[str, Any]:
    """The file's form of a graph."""
    edges: list[dict[str, Any]] = []
    for (left, right), rules in zip(graph.edges, graph.rules, strict=True):
        edge: dict[str, Any] = {"left": left, "right": right}
        if rules:
            edge["rules"] = [{"if": some, "then": needed} for some, needed in rules]
        edges.append(edge)
    return {"nodes": graph.n_nodes, "edges": edges}


def event_lines(found_events: NDArray[np.void], *, one_line_a_pair: bool) -> Iterator[str]:
    """The events as JSON: `["node", i]`, then `["pair", [left], [right], edge]`, or a list of edges for one line per pair."""
    texts: dict[int, str] = {}

    def text(nodes: int) -> str:
        if nodes not in texts:
            texts[nodes] = json.dumps(nodes_of(nodes))
        return texts[nodes]

    # A list of all would take ten times the memory of the array.
    events = (
        event
        for start in range(0, len(found_events), _LISTED_AT_ONCE)
        for event in found_events[start : start + _LISTED_AT_ONCE].tolist()
    )
    for (left, right), group in itertools.groupby(events, key=lambda event: event[:2]):
        edges = [event[2] for event in group]
        if right == 0:
            yield f'["node", {left.bit_length() - 1}]'
        elif one_line_a_pair:
            yield f'["pair", {text(left)}, {text(right)}, {json.dumps(sorted(edges))}]'
        else:
            yield from (f'["pair", {text(left)}, {text(right)}, {edge}]' for edge in edges)


def as_reported(
    events: Iterable[tuple[int, int, int]], forced: Collection[int]
) -> list[tuple[int, int, int]]:
    """The events as MySQL 9.7.4 reports them: of the edges in `forced`, whose join's order is fixed, with the sides exchanged."""
    return [(right, left, edge) if edge in forced else (left, right, edge) for left, right, edge in events]


def nodes_of(bits: int) -> list[int]:
    """The nodes of a bit set, lowest first."""
    return [node for node in range(bits.bit_length()) if bits >> node & 1]


def shape(name: str, n: int) -> dict[str, Any]:
    """A graph of n nodes in the file's form: "chain", "cycle", "star" (its hub is node 0) or "clique"."""
    pairs: Sequence[tuple[int, int]]
    if name == "chain":
        pairs = [(i, i + 1) for i in range(n - 1)]
    elif name == "cycle":
        pairs = [(i, (i + 1) % n) for i in range(n)]
    elif name == "star":
        pairs = [(0, i) for i in range(1, n)]
    elif name == "clique":
        pairs = list(itertools.combinations(range(n), 2))
    else:
        raise EngineRoomError(f"no shape {name!r}", remedy="take chain, cycle, star or clique")
    return {"nodes": n, "edges": [{"left": [a], "right": [b]} for a, b in pairs]}


def _wrong(wanted: str, got: Any) -> EngineRoomError:
    return EngineRoomError(f"{wanted}, got {json.dumps(got)[:80]}", remedy=REMEDY)


def _nodes(owner: Mapping[str, Any], side: str, where: str) -> list[int]:
    nodes = owner.get(side)
    if not isinstance(nodes, list) or not all(_is_int(node) for node in nodes):
        raise _wrong(f"{side} of {where} is a list of node numbers", nodes)
    return [max(min(node, 2**62), -1) for node in nodes]


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
