"""What the join order exercises are checked against: how far a search looks around, and traces to read."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence

from engineroom._native import join_order as kernel
from engineroom.ask.query_graphs.build import build

__all__ = [
    "drawn_pairs",
    "is_graph_behind",
    "outer_edge",
    "pairs",
    "statements",
    "tests_per_pair",
    "trace",
]

Pair = tuple[tuple[str, ...], tuple[str, ...]]
Edges = Iterable[tuple[Iterable[str], Iterable[str]]]


def tests_per_pair(edges: Sequence[tuple[int, int]], algorithm: str) -> float:
    """How many candidates a search looks at, per pair that it has to report."""
    n = 1 + max(max(pair) for pair in edges)
    graph = kernel.Graph(n, [([a], [b]) for a, b in edges])
    counters = kernel.enumerate(graph, algorithm=algorithm, events=False).counters
    return float(counters["inner_tests"] / counters["csg_cmp_pairs"])


def pairs(edges: Edges) -> list[Pair]:
    """The pairs of sets that the search reports for a connected graph, in its order. A side may be a name alone."""
    sides = [(_names(left), _names(right)) for left, right in edges]
    tables = sorted({name for edge in sides for side in edge for name in side})
    number = {name: i for i, name in enumerate(tables)}
    numbered = [([number[name] for name in left], [number[name] for name in right]) for left, right in sides]
    graph = kernel.Graph(len(tables), numbered)

    def held(mask: int) -> tuple[str, ...]:
        return tuple(name for i, name in enumerate(tables) if mask >> i & 1)

    events = kernel.enumerate(graph).events.tolist()
    return list(dict.fromkeys((held(left), held(right)) for left, right, _ in events if right))


def _names(side: Iterable[str]) -> tuple[str, ...]:
    return (side,) if isinstance(side, str) else tuple(dict.fromkeys(side))


def is_graph_behind(edges: Edges, reported: Iterable[Pair]) -> bool:
    """Whether the search reports just these pairs for the graph, and for no graph with an edge less."""
    wanted = _unordered(reported)
    edges = [(left, right) for left, right in edges]

    def reports_them(graph: Edges) -> bool:
        try:
            return _unordered(pairs(graph)) == wanted
        except ValueError:  # in parts, or with an empty side, or with a table on both
            return False

    return reports_them(edges) and not any(
        reports_them(edges[:i] + edges[i + 1 :]) for i in range(len(edges))
    )


def _unordered(reported: Iterable[Pair]) -> set[frozenset[frozenset[str]]]:
    return {frozenset(map(frozenset, pair)) for pair in reported}


def drawn_pairs(draw: random.Random) -> list[Pair]:
    """The pairs of a drawn graph of three to six tables, the sides of each in any order. Mostly, some edge has two or three tables on a side."""
    tables = draw.sample(["orders", "lines", "parts", "makers", "towns", "d1", "e_2"], draw.randint(3, 6))
    while True:
        edges = []
        for i, table in enumerate(tables[1:], start=1):
            most = 1 if draw.random() < 0.2 else min(i, 3)
            edges.append((tuple(draw.sample(tables[:i], draw.randint(1, most))), (table,)))
        wide = [edge for edge in edges if len(edge[0]) > 1]
        if wide and draw.random() < 0.6:  # one more, whose sides overlap with those of another
            left, right = draw.choice(wide)
            free = [table for table in tables if table not in left + right]
            edges += [((draw.choice(left), other), right) for other in free[:1]]
        elif draw.random() < 0.5:
            one, other = draw.sample(tables, 2)
            edges.append(((one,), (other,)))
        found = pairs(edges)
        # A set without a way to connect it leaves the graph in parts.
        if any(len(left) + len(right) == len(tables) for left, right in found):
            turned = [(right, left) if draw.random() < 0.5 else (left, right) for left, right in found]
            draw.shuffle(turned)
            return turned


def trace(seed: int = 0) -> list[Pair]:
    """The pairs of a trace to read, of four tables that edges between two of them do not connect."""
    tries = (drawn_pairs(random.Random(f"trace-{seed}-{n}")) for n in itertools.count())
    return next(found for found in tries if 6 <= len(found) < 12 and _needs_sets(found))


def _needs_sets(found: list[Pair]) -> bool:
    """Whether there are four tables, and not all are reached by edges between two."""
    tables = {name for pair in found for side in pair for name in side}
    edges = [set(left + right) for left, right in found if len(left + right) == 2]
    reached = {min(tables)}
    while more := {name for edge in edges if edge & reached for name in edge} - reached:
        reached |= more
    return len(tables) == 4 and reached != tables


def statements(seed: int = 0) -> dict[str, str]:
    """The FROM clauses of three statements P, Q and R over tables of drawn names, which stand in the order of the text."""
    dice = random.Random(f"statements-{seed}")
    forms = {
        "P": "{0} LEFT JOIN ({1} JOIN {2} ON {1}.y = {2}.y) ON {0}.x = {1}.x",
        "Q": "{0} JOIN {1} ON {0}.x = {1}.x LEFT JOIN {2} ON {1}.y = {2}.y",
        "R": "{0} LEFT JOIN {1} ON {0}.x = {1}.x LEFT JOIN {2} ON {1}.y = {2}.y",
    }
    return {name: form.format(*dice.sample("abcdefghkmpq", 3)) for name, form in forms.items()}


def outer_edge(clause: str) -> tuple[str, str]:
    """The tables that the last LEFT JOIN of a FROM clause needs on each of its sides, by the server's rules."""
    built = build(f"SELECT 1 FROM {clause}")
    last = built.graph["edges"][max(k for k, kind in enumerate(built.kinds) if kind == "left")]
    left, right = ("".join(sorted(built.tables[node] for node in last[side])) for side in ("left", "right"))
    return left, right
