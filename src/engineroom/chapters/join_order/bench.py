"""Our enumerator's CPU time per pair, by shape of the query graph, and what costs add to it."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from engineroom._native import join_order as kernel
from engineroom.ask.query_graphs import graphs
from engineroom.bench import Row, Sitting, row

__all__ = ["bench"]

REPEATS = 15
LEAST_CPU_S = 0.02  # of one measurement; short enumerations are repeated within it
# Shape, sizes, CPU nanoseconds per pair.
GOALS = (("star", (8, 12, 17), 17), ("clique", (10, 12, 14), 25), ("chain", (8, 14, 20), 25))
HYPEREDGES = 30
# Dynamic programming with costs against the enumeration alone. A pair costs it one or two looks at the cost of a set and
# one improvement of another: two cache lines to read, one to write, found by a multiplication each where sets are few.
# Not all pairs are grown for it: right sides that grew as left sides before are read from the list of those, which the
# enumeration alone does not keep: 1,311 of the 1,330 pairs of a chain of 20, 2,433 of the 3,610 of a cycle. Of a chain
# numbered at random (NUMBERED_AT_RANDOM) it would be 28, so the planner numbers such tables along the joins first. At eight
# tables, with 84 pairs, what is done once per graph weighs as much as the pairs.
COSTS = 1.3
NUMBERED_AT_RANDOM = (20, 1)  # tables and seed
OTHERS = (("chain", 10), ("chain", 14), ("star", 10), ("star", 12), ("clique", 7), ("clique", 9))
TRIES = 3
# Of trees and cliques dynamic programming knows more than an enumerator: pairs of a tree come by removing an edge, of a
# clique as plain subsets. Nanoseconds per pair with costs, at most. The largest take seconds and have fewer repeats.
DIRECT = 2
TREES = (
    "star 12",
    "star 17",
    "star 20",
    "chain 14",
    "chain 20",
    "chain 60",
    "snowflake 8 x 2",
    "random tree 20",
)
CLIQUES = ("clique 10", "clique 12", "clique 14")
LARGE = (("clique", 17), ("clique", 20))
FLAT = 1.5  # the cost a pair of the largest size against that of the smallest

Key = tuple[str, str]  # the graph's name, and "fast", "faithful" or "plan"
Run = Callable[[int], dict[str, int]]


def bench(sitting: Sitting) -> list[Row]:
    """All goals of the chapter. The best of the repeats counts: others' load only adds."""
    shapes = {f"{name} {n}": (shape(name, n), goal) for name, sizes, goal in GOALS for n in sizes}
    hyper = {
        **{f"cycle 16 with hyperedge, {k} splits": hyper_cycle(16, k) for k in range(4)},
        **{f"star 17 with hyperedge, {k} splits": hyper_star(16, k) for k in (0, 1, 3, 7)},
    }
    flat = (("star", 8, 20), ("chain", 8, 20), ("chain", 20, 60))
    more = {f"{name} {n}": shape(name, n) for name, *sizes in flat for n in sizes} | {
        "cycle 20": shape("cycle", 20),
        "snowflake 8 x 2": snowflake(8, 2),
        "random tree 20": random_tree(20, 1),
        "grid 2 x 8": grid(2, 8),
        "cycle 20 with hyperedge": hyper_cycle(20, 0),
        f"chain {NUMBERED_AT_RANDOM[0]} numbered at random": shuffled_chain(*NUMBERED_AT_RANDOM),
    }
    goals = {name: goal for name, (_, goal) in shapes.items()} | dict.fromkeys(hyper, HYPEREDGES)
    every = {name: graph for name, (graph, _) in shapes.items()} | more | hyper
    # Each case is measured once, whatever it is compared with, and all take turns: rows agree with each other.
    cases = {(name, what): (graph, what) for name, graph in every.items() for what in ("fast", "plan")}
    cases |= {(name, "faithful"): (shapes[name][0], "faithful") for name in shapes if "clique" not in name}
    beside_others = {f"{name} {n}": shape(name, n) for name, n in OTHERS}
    cases |= {(name, "plan"): (graph, "plan") for name, graph in beside_others.items()}
    ns = ns_a_pair(cases, sitting.says)

    rows = [
        row(
            f"{name}, a pair",
            ours=ns[name, "fast"],
            unit="CPU ns",
            ratio=ns[name, "fast"],
            side="<=",
            goal=goal,
        )
        for name, goal in goals.items()
    ]
    # The enumeration alone hands on the edges of each pair, too; costs need rows, which are found once a set.
    rows += [
        row(
            f"{name}, with costs",
            ours=ns[name, "plan"],
            unit="CPU ns",
            peer="the enumeration alone",
            peer_value=ns[name, "fast"],
            ratio=ns[name, "plan"] / ns[name, "fast"],
            side="<=",
            goal=COSTS,
        )
        for name in every
    ]
    large = {f"{name} {n}": _large(sitting, name, n) for name, n in LARGE}
    direct = {name: ns[name, "plan"] for name in (*TREES, *CLIQUES) if name in every} | large
    rows += [
        row(f"{name}, a pair with costs", ours=each, unit="CPU ns", ratio=each, side="<=", goal=DIRECT)
        for name, each in direct.items()
    ]
    rows += [
        row(
            f"{name} {m}, {said}, against {name} {n}",
            ours=ns[f"{name} {m}", what],
            unit="CPU ns",
            peer=f"{name} {n}",
            peer_value=ns[f"{name} {n}", what],
            ratio=ns[f"{name} {m}", what] / ns[f"{name} {n}", what],
            side="<=",
            goal=FLAT,
        )
        for name, n, m in flat
        for what, said in (("fast", "a pair"), ("plan", "with costs"))
    ]
    sitting.notes["faithful, CPU ns per pair"] = {
        name: round(value, 2) for (name, what), value in ns.items() if what == "faithful"
    }
    sitting.says("the same shapes planned by DuckDB and PostgreSQL")
    sitting.notes["planning of others, ms"] = others()
    sitting.notes["enumeration with costs, CPU ms"] = {
        name: round(ns[name, "plan"] * _runner(graph, "plan")(1)["csg_cmp_pairs"] / 1e6, 4)
        for name, graph in beside_others.items()
    }
    return rows


def ns_a_pair(cases: Mapping[Key, tuple[kernel.Graph, str]], says: Callable[[str], None]) -> dict[Key, float]:
    """The best CPU nanoseconds per pair of each graph by "fast" or "faithful" alone, or by "plan", dynamic programming with C_out."""
    runs = {key: _runner(graph, what) for key, (graph, what) in cases.items()}
    pairs = {key: run(1)["csg_cmp_pairs"] for key, run in runs.items()}
    times = {key: _enough(run) for key, run in runs.items()}
    best = dict.fromkeys(cases, float("inf"))
    for turn in range(REPEATS):
        says(f"{len(runs)} enumerations and plans, turn {turn + 1} of {REPEATS}")
        for key, run in runs.items():
            best[key] = min(best[key], _cpu_s(run, times[key]) / times[key] / pairs[key] * 1e9)
    return best


def _runner(graph: kernel.Graph, what: str) -> Run:
    statistics = ([1000.0] * graph.n_nodes, [0.001] * len(graph.edges))

    def run(times: int) -> dict[str, int]:
        if what == "plan":
            return kernel.best_plan(graph, *statistics, times=times).counters
        return kernel.enumerate(graph, algorithm=what, events=False, times=times).counters

    return run


def _large(sitting: Sitting, name: str, n: int) -> float:
    """The best CPU nanoseconds per pair of dynamic programming, each repeat planning once."""
    sitting.says(f"{name} {n} planned, {TRIES} times")
    run = _runner(shape(name, n), "plan")
    best = float("inf")
    for _ in range(TRIES):
        start = time.process_time()
        pairs = run(1)["csg_cmp_pairs"]
        best = min(best, (time.process_time() - start) / pairs * 1e9)
    return best


def _cpu_s(run: Run, times: int) -> float:
    start = time.process_time()
    run(times)
    return time.process_time() - start


def _enough(run: Run) -> int:
    """How often to run within one measurement, for it to last."""
    times = 1
    while (spent := _cpu_s(run, times)) < LEAST_CPU_S:
        times *= 2 if spent > LEAST_CPU_S / 8 else 8
    return times


def shape(name: str, n: int) -> kernel.Graph:
    """A chain, star or clique."""
    return graphs.from_json(graphs.shape(name, n))


def snowflake(arms: int, length: int) -> kernel.Graph:
    """A star whose satellites are chains."""
    edges = []
    for arm in range(arms):
        first = 1 + arm * length
        nodes = [0, *range(first, first + length)]
        edges += [([a], [b]) for a, b in itertools.pairwise(nodes)]
    return kernel.Graph(1 + arms * length, edges)


def random_tree(n: int, seed: int) -> kernel.Graph:
    """Each table is joined with one of those before it, at random."""
    rng = random.Random(seed)
    return kernel.Graph(n, [([rng.randrange(i)], [i]) for i in range(1, n)])


def grid(rows: int, columns: int) -> kernel.Graph:
    """Each table is joined with those beside it and below it."""
    at = {(r, c): c * rows + r for r in range(rows) for c in range(columns)}
    steps = ((0, 1), (1, 0))
    edges = [([i], [at[r + y, c + x]]) for (r, c), i in at.items() for y, x in steps if (r + y, c + x) in at]
    return kernel.Graph(rows * columns, edges)


def shuffled_chain(n: int, seed: int) -> kernel.Graph:
    """A chain whose tables are numbered at random."""
    order = list(range(n))
    random.Random(seed).shuffle(order)
    return kernel.Graph(n, [([a], [b]) for a, b in itertools.pairwise(order)])


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
    """Planning times of DuckDB and PostgreSQL for the same shapes; context, not a goal."""
    found: dict[str, Any] = {}
    for name, measure in (("duckdb", _duckdb), ("postgresql", _postgresql)):
        try:
            found |= measure()
        except (ImportError, OSError, subprocess.SubprocessError) as problem:
            found[name] = f"not measured: {str(problem).strip().splitlines()[0]}"
    return found


def _tables_sql() -> list[str]:
    columns = ", ".join(f"c{k} INT" for k in range(16))
    return [f"CREATE TABLE t{i} ({columns})" for i in range(16)]


def _explain_sql(name: str, n: int) -> str:
    where = " AND ".join(
        f"t{e['left'][0]}.c{e['right'][0]} = t{e['right'][0]}.c{e['left'][0]}"
        for e in graphs.shape(name, n)["edges"]
    )
    return f"EXPLAIN SELECT count(*) FROM {', '.join(f't{i}' for i in range(n))} WHERE {where}"


def _duckdb() -> dict[str, float]:
    """CPU milliseconds of EXPLAIN, the best of three."""
    import duckdb

    found = {}
    with contextlib.closing(duckdb.connect()) as connection:
        for statement in _tables_sql():
            connection.execute(statement)
        for name, n in OTHERS:
            spent = []
            for _ in range(TRIES):
                start = time.process_time()
                connection.execute(_explain_sql(name, n)).fetchall()
                spent.append(time.process_time() - start)
            found[f"duckdb {duckdb.__version__}, {name} {n}, CPU"] = round(min(spent) * 1000, 3)
    return found


def _postgresql() -> dict[str, float]:
    """Its own "Planning Time", the best of three, with dynamic programming and with the genetic search that it takes
    from 12 tables on by default. A server of our own in a temporary folder."""
    initdb, postgres = (_postgresql_program(name) for name in ("initdb", "postgres"))
    with tempfile.TemporaryDirectory() as folder:
        # Its programs refuse to run as root.
        quiet: dict[str, Any] = {"capture_output": True, "text": True, "cwd": folder}
        if os.geteuid() == 0:
            shutil.chown(folder, user="nobody")
            quiet["user"] = "nobody"
        data = f"{folder}/data"
        subprocess.run([initdb, "--auth=trust", "--username=bench", "--no-sync", data], check=True, **quiet)
        found = {}
        for geqo in ("off", "on"):
            lines = [*_tables_sql()] if geqo == "off" else []
            lines += [f"SET geqo = {geqo}", "SET join_collapse_limit = 20", "SET from_collapse_limit = 20"]
            asked = [(name, n) for name, n in OTHERS for _ in range(TRIES)]
            lines += [_explain_sql(*each).replace("EXPLAIN ", "EXPLAIN (SUMMARY) ") for each in asked]
            # A server without connections: statements come one per line from its input.
            done = subprocess.run(
                [postgres, "--single", "-D", data, "postgres"], check=True, input="\n".join(lines), **quiet
            )
            times = [float(ms) for ms in re.findall(r"Planning Time: ([0-9.]+) ms", done.stdout)]
            if len(times) != len(asked):
                raise OSError(f"{len(asked)} planning times were expected, got {len(times)}")
            for (name, n), best in zip(
                OTHERS, (min(times[i : i + TRIES]) for i in range(0, len(times), TRIES)), strict=True
            ):
                found[f"postgresql, geqo {geqo}, {name} {n}"] = best
        return found


def _postgresql_program(name: str) -> str:
    """On PATH, or where Debian puts a server's programs."""
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    found = shutil.which(name) or (str(installed[-1]) if installed else None)
    if found is None:
        raise OSError(f"{name} is not installed")
    return found
