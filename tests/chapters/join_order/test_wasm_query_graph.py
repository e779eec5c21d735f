"""A drawn graph is enumerated in the browser as natively."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from engineroom.show import headless

pytestmark = pytest.mark.usefixtures("node")


def drawn(edges: list[tuple[int, int]]) -> dict[str, int]:
    """The edge between tables a < b as bit b(b-1)/2 + a of two words."""
    bits = sum(1 << (b * (b - 1) // 2 + a) for a, b in edges)
    return {"low": bits & 0xFFFFFFFF, "high": bits >> 32}


def test_a_drawn_graph_in_webassembly_counts_what_the_native_kernel_counts():
    from engineroom._native import join_order

    random = np.random.default_rng(1)
    graphs, grid = [], []
    for case in range(40):
        n = int(random.integers(2, 11))
        # A random tree, so that all is joined, and further edges; every fourth loses an edge of a leaf.
        edges = {(int(random.integers(0, b)), b) for b in range(1, n)}
        edges |= {(a, b) for a, b in itertools.combinations(range(n), 2) if random.random() < case / 60}
        if case % 4 == 3:
            edges = {edge for edge in edges if n - 1 not in edge}
        graphs.append((n, sorted(edges, key=lambda edge: edge[::-1])))
        grid.append({"tables": n, "step": case, "large": case % n, **drawn(graphs[-1][1])})
    grid[0] |= {"large": 99}
    for (n, edges), inputs, result in zip(
        graphs, grid, headless.evaluate("query_graph", grid)["results"], strict=True
    ):
        parts = [sum(1 << table for table in part) for part in components(n, edges)]
        assert sorted(result["part_sets"]) == sorted(parts)
        sub = [
            join_order.Graph(len(part), [([part.index(a)], [part.index(b)]) for a, b in edges if a in part])
            for part in components(n, edges)
        ]
        for name, of in (("sets", "connected_subgraphs"), ("pairs", "csg_cmp_pairs")):
            found = [join_order.enumerate(graph, events=False).counters[of] for graph in sub]
            assert result[name] == sum(found)
        if len(parts) > 1:
            assert result["plan"] == ""
            assert "Not all tables are joined" in result["sentence"]
            continue
        for name, algorithm in (("dpsize",) * 2, ("dpsub",) * 2, ("dpccp",) * 2, ("dphyp", "faithful")):
            counters = join_order.enumerate(sub[0], algorithm=algorithm, events=False).counters
            assert result[name] == counters["inner_tests"]
        events = [event for event in join_order.enumerate(sub[0]).events.tolist() if event[2] >= 0]
        pairs = list(dict.fromkeys((left, right) for left, right, _ in events))
        assert (result["left"], result["right"]) == pairs[min(inputs["step"], len(pairs) - 1)]
        rows = [100_000.0 if table == inputs["large"] else 100.0 for table in range(n)]
        assert result["cost"] == int(join_order.best_plan(sub[0], rows, [0.01] * len(edges)).cost)
        assert sorted(result["plan"].replace("(", " ").replace(")", " ").split()) == list("ABCDEFGHIJ"[:n])


def components(n: int, edges: list[tuple[int, int]]) -> list[list[int]]:
    """The parts of a graph, by merging."""
    parts = [[table] for table in range(n)]
    for a, b in edges:
        one, other = (next(part for part in parts if table in part) for table in (a, b))
        if one is not other:
            parts.remove(other)
            one.extend(other)
    return [sorted(part) for part in parts]


def test_the_largest_drawn_graph_is_computed_at_once():
    clique = {"tables": 10, **drawn(list(itertools.combinations(range(10), 2)))}
    answer = headless.evaluate("query_graph", [clique, clique, clique])
    assert answer["results"][0]["pairs"] == 28501
    assert answer["results"][0]["dpsize"] == 306991
