"""The browser's enumeration is the native one."""

from __future__ import annotations

import itertools

import pytest

from engineroom.show import headless

pytestmark = pytest.mark.usefixtures("node")


def test_join_order_in_webassembly_counts_what_the_native_kernel_counts():
    from engineroom._native import join_order

    grid = [
        {"shape": shape, "tables": n, "chords": chords, "step": step, "large": large}
        for shape, n, chords, step, large in itertools.product(
            range(4), (2, 5, 8), (0, 3), (0, 9, 99), (1, 99)
        )
    ]
    for inputs, result in zip(grid, headless.evaluate("join_order", grid)["results"], strict=True):
        graph = join_order.Graph(inputs["tables"], [([a], [b]) for a, b in result["joins"]])
        found = join_order.enumerate(graph)
        pairs = list(dict.fromkeys((left, right) for left, right, edge in found.events.tolist() if edge >= 0))
        assert (result["left"], result["right"]) == pairs[min(inputs["step"], len(pairs) - 1)]
        assert result["closed"] & (result["left"] | result["right"]) == 0
        counted = (result["sets"], result["pairs"], result["calls"])
        counters = found.counters
        assert counted == (counters["connected_subgraphs"], counters["csg_cmp_pairs"], counters["calls"])
        for name in ("dpsize", "dpsub"):
            tests = join_order.enumerate(graph, algorithm=name, events=False).counters["inner_tests"]
            assert result[name] == tests
        rows = [100_000.0 if table == inputs["large"] else 100.0 for table in range(inputs["tables"])]
        best = join_order.best_plan(graph, rows, [0.01] * len(result["joins"]))
        assert result["cost"] == int(best.cost)
        assert sorted(result["plan"].strip("()").replace("(", "").replace(")", "").split()) == list(
            "ABCDEFGH"[: inputs["tables"]]
        )
