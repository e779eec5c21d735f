"""Our enumerator's CPU time a pair, by shape of the query graph, and what costs add to it."""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import time
from typing import Any

from engineroom._native import join_order as kernel
from engineroom.bench import Row, Sitting, row
from engineroom.join_order import graphs

__all__ = ["bench"]

REPEATS = 9
LEAST_CPU_S = 0.02  # of one measurement; short enumerations are repeated within it
# Shape, sizes, CPU nanoseconds a pair.
GOALS = (("star", (8, 12, 17), 17), ("clique", (10, 12, 14), 25), ("chain", (8, 14, 20), 25))
HYPEREDGES = 30
COSTS = 1.3  # DP with costs against the enumeration alone
FLAT = 1.5  # the cost a pair of the largest size against that of the smallest


def bench(sitting: Sitting) -> list[Row]:
    """All goals of the chapter. The best of the repeats counts: others' load only adds."""
    rows: list[Row] = []
    shapes = {f"{name} {n}": (shape(name, n), goal) for name, sizes, goal in GOALS for n in sizes}
    hyper = {
        **{f"cycle 16 with hyperedge, {k} splits": hyper_cycle(16, k) for k in range(4)},
        **{f"star 17 with hyperedge, {k} splits": hyper_star(16, k) for k in (0, 1, 3, 7)},
    }
    sitting.bar.reset(total=2 * len(shapes) + len(hyper) + 9)
    alone: dict[str, float] = {}
    for name, (graph, goal) in shapes.items():
        alone[name] = ns_a_pair(graph, "fast")
        sitting.bar.update()
        rows.append(
            row(f"{name}, a pair", ours=alone[name], unit="CPU ns", ratio=alone[name], side="<=", goal=goal)
        )
    for name, graph in hyper.items():
        ours = ns_a_pair(graph, "fast")
        sitting.bar.update()
        rows.append(row(f"{name}, a pair", ours=ours, unit="CPU ns", ratio=ours, side="<=", goal=HYPEREDGES))
    for name, (graph, _) in shapes.items():
        with_costs = ns_a_pair(graph, "plan")
        sitting.bar.update()
        rows.append(
            row(
                f"{name}, with costs",
                ours=with_costs,
                unit="CPU ns",
                peer="the enumeration alone",
                peer_value=alone[name],
                ratio=with_costs / alone[name],
                side="<=",
                goal=COSTS,
            )
        )
    for name, n, m in (("star", 8, 20), ("chain", 8, 20), ("chain", 20, 60)):
        small, large = ns_a_pair(shape(name, n), "fast"), ns_a_pair(shape(name, m), "fast")
        sitting.bar.update(2)
        rows.append(
            row(
                f"{name} {m}, a pair against {name} {n}",
                ours=large,
                unit="CPU ns",
                peer=f"{name} {n}",
                peer_value=small,
                ratio=large / small,
                side="<=",
                goal=FLAT,
            )
        )
    faithful = {
        name: ns_a_pair(graph, "faithful") for name, (graph, _) in shapes.items() if "clique" not in name
    }
    sitting.notes["faithful, CPU ns a pair"] = {name: round(ns, 2) for name, ns in faithful.items()}
    sitting.notes["planning of others, ms"] = others()
    sitting.bar.update(3)
    return rows


def ns_a_pair(graph: kernel.Graph, what: str) -> float:
    """The best CPU nanoseconds a pair of "fast" or "faithful" alone, or of "plan", dynamic programming with C_out."""
    statistics = ([1000.0] * graph.n_nodes, [0.001] * len(graph.edges))

    def run(times: int) -> dict[str, int]:
        if what == "plan":
            return kernel.best_plan(graph, *statistics, times=times).counters
        return kernel.enumerate(graph, algorithm=what, events=False, times=times).counters

    pairs = run(1)["csg_cmp_pairs"]
    times, best = 1, float("inf")
    measured = 0
    while measured < REPEATS:
        start = time.process_time()
        run(times)
        spent = time.process_time() - start
        if spent < LEAST_CPU_S:
            times *= 2 if spent > LEAST_CPU_S / 8 else 8
            continue
        measured += 1
        best = min(best, spent / times / pairs * 1e9)
    return best


def shape(name: str, n: int) -> kernel.Graph:
    """A chain, star or clique."""
    return graphs.from_json(graphs.shape(name, n))


def hyper_cycle(n: int, splits: int) -> kernel.Graph:
    """A cycle and one hyperedge between its halves, split so often."""
    half = n // 2
    return _with_splits(
        n, [([i], [(i + 1) % n]) for i in range(n)], (list(range(half)), list(range(half, n))), splits
    )


def hyper_star(satellites: int, splits: int) -> kernel.Graph:
    """A star and one hyperedge between the halves of its satellites, split so often."""
    half = satellites // 2 + 1
    edge = (list(range(1, half)), list(range(half, satellites + 1)))
    return _with_splits(satellites + 1, [([0], [i]) for i in range(1, satellites + 1)], edge, splits)


def _with_splits(n: int, simple: list[Any], edge: tuple[list[int], list[int]], splits: int) -> kernel.Graph:
    """A split replaces the first complex edge by two with halved sides, crossed."""
    edges = [edge]
    for _ in range(splits):
        left, right = edges.pop(0)
        a, b = len(left) // 2, len(right) // 2
        edges += [(left[:a], right[b:]), (left[a:], right[:b])]
    return kernel.Graph(n, simple + edges)


def others() -> dict[str, Any]:
    """Planning times of DuckDB (EXPLAIN, the best of five) for the same shapes; context, not a goal."""
    found: dict[str, Any] = {}
    if importlib.util.find_spec("duckdb") is None:
        found["duckdb"] = "not installed"
    else:
        import duckdb

        with contextlib.closing(duckdb.connect()) as connection:
            for i in range(17):
                columns = ", ".join(f"c{k} INT" for k in range(17))
                connection.execute(f"CREATE TABLE t{i} ({columns})")
            for name, n in (("chain", 10), ("star", 10), ("clique", 10)):
                edges = graphs.shape(name, n)["edges"]
                where = " AND ".join(
                    f"t{e['left'][0]}.c{e['right'][0]} = t{e['right'][0]}.c{e['left'][0]}" for e in edges
                )
                sql = f"EXPLAIN SELECT count(*) FROM {', '.join(f't{i}' for i in range(n))} WHERE {where}"
                spent = []
                for _ in range(5):
                    start = time.process_time()
                    connection.execute(sql).fetchall()
                    spent.append(time.process_time() - start)
                found[f"duckdb {duckdb.__version__}, {name} {n}"] = round(min(spent) * 1000, 3)
    found["postgresql"] = "not measured" if shutil.which("postgres") else "not installed"
    return found
