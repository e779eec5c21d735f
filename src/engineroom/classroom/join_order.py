"""What the join order exercises are checked against: how far a search looks around, and traces to read."""

from __future__ import annotations

import random
from collections.abc import Sequence

from engineroom._native import join_order as kernel
from engineroom.query_graphs.build import build

__all__ = ["outer_edge", "statements", "tests_per_pair", "trace_lines"]


def tests_per_pair(edges: Sequence[tuple[int, int]], algorithm: str) -> float:
    """How many candidates a search looks at, per pair that it has to report."""
    n = 1 + max(max(pair) for pair in edges)
    graph = kernel.Graph(n, [([a], [b]) for a, b in edges])
    counters = kernel.enumerate(graph, algorithm=algorithm, events=False).counters
    return float(counters["inner_tests"] / counters["csg_cmp_pairs"])


def trace_lines(draw: random.Random) -> list[str]:
    """Lines of an optimizer trace: pairs, some of them once per condition, and other lines between them."""
    lines = []
    for _ in range(draw.randint(1, 12)):
        tables = draw.sample(["a", "b", "c", "d1", "e_2"], draw.randint(2, 4))
        cut = draw.randint(1, len(tables) - 1)
        left, right = (",".join(sorted(side)) for side in (tables[:cut], tables[cut:]))
        kind = draw.choice(("", "[left] "))
        lines += [
            f"Found sets {{{left}}} and {{{right}}}, connected by condition {kind}({tables[0]}.x = {tables[-1]}.{column})"
            for column in draw.choice(("x", "xy", "xyz"))
        ]
        lines.append(
            draw.choice(
                (
                    f"Found node {tables[0]} [rows=3]",
                    " - current access paths",
                    f" - {{{left}}} is cheaper",
                    "",
                )
            )
        )
    return lines


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
