"""The join order chapter's experiments: the trace's events, planning times, the search space and the quality of plans.

Server times are CPU seconds of the whole server; planning is what `EXPLAIN` costs, so it includes parsing and preparing. What
these two cost alone is measured by `PREPARE` where a figure compares planning with running.
"""

from __future__ import annotations

import contextlib
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from engineroom.ask.query_graphs import compare, graphs, queries
from engineroom.ask.query_graphs.trace import SWITCH
from engineroom.errors import EngineRoomError
from engineroom.measuring.probes import INLINED, sampled_program
from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.statement import measure
from engineroom.progress import bar
from engineroom.runs import Run
from engineroom.runs.sitting import Sitting

if TYPE_CHECKING:
    from engineroom.servers import Server

OFF = SWITCH.replace("=on", "=off")
# The legible part of the source's statement is a count over a derived table of the stock of warehouse 5 with a quantity under a
# threshold that begins with 12. The rest is the TPC-C stock-level transaction as drivers write it.
SOURCE_QUERY = (
    "SELECT COUNT(*) FROM (SELECT s_w_id, s_i_id, s_quantity FROM stock WHERE s_w_id = 5 AND s_quantity < 12 "
    "AND s_i_id IN (SELECT ol_i_id FROM district JOIN order_line ON ol_w_id = d_w_id AND ol_d_id = d_id "
    "AND ol_o_id >= d_next_o_id - 20 AND ol_o_id < d_next_o_id WHERE d_w_id = 5 AND d_id = 1)) AS low_stock"
)
REPORT_QUERY = (
    "SELECT COUNT(*) FROM item JOIN stock ON s_i_id = i_id JOIN order_line ON ol_i_id = i_id "
    "WHERE i_price < 5 AND s_quantity < 12"
)


def trace_equality(*, most_pairs: int = 2000) -> Run:
    """Compare our events with the optimizer trace of 9.7 on every query; one row per query and comparison."""
    rows: list[dict[str, Any]] = []
    steps: list[dict[str, Any]] = []
    some = queries.queries()
    with LiveSitting() as sitting, sitting.server("9.7") as server:
        for each in bar(
            compare.compare_all(server, some, most_pairs=most_pairs), total=len(some), unit="query"
        ):
            where = {
                "query": each.query,
                "family": each.family,
                "tables": each.tables,
                "nodes": " ".join(f"{node}={table}" for node, table in enumerate(each.nodes)),
                "is_special": each.is_special,
            }
            for series, is_equal in (
                ("graph from the trace", each.enumeration_equal),
                ("graph built by us", each.whole_equal),
            ):
                rows.append(
                    {**where, "series": series, "repeat": 0, "events": each.events, "is_equal": is_equal}
                )
            if each.server_steps is not None:
                steps.append(
                    {
                        "query": each.query,
                        "pairs_equal": bool(each.simplified_pairs_equal),
                        "events_equal": bool(each.simplified_events_equal),
                        "server_steps": each.server_steps,
                        "our_steps": each.our_steps,
                        "our_graph_equal": bool(each.our_graph_equal),
                    }
                )
    return sitting.run(
        "own-join-order-trace",
        rows,
        tables={"simplified": steps},
        counts="lines of a trace, and pairs and steps of our own, which depend on no other work on the machine",
        most_pairs=most_pairs,
        columns={
            "query": "the query's name in data/join_order/queries.json",
            "family": "the group of queries",
            "tables": "how many tables it joins",
            "nodes": "the server's number of each table in the hypergraph, which is ours",
            "is_special": "whether it has an outer, semi or anti join",
            "events": "lines of the trace that name a node or a pair of sets",
            "is_equal": "whether all events are equal, in their order; for our own graph also its nodes and edges",
            "pairs_equal": "whether the simplified graph has as many pairs for us as the server says",
            "events_equal": "whether the simplified graph's events are equal as a set",
            "server_steps": "simplification steps of the server",
            "our_steps": "steps that our simplifier needs for the same limit, fed with the trace's rows and selectivities",
            "our_graph_equal": "whether our simplified graph is the server's",
        },
    )


def shape_sql(name: str, n: int) -> str:
    """A query of a shape over the generic tables; every edge has columns of its own."""
    used = [0] * n
    where = []
    for edge in graphs.shape(name, n)["edges"]:
        sides = []
        for node in (edge["left"][0], edge["right"][0]):
            sides.append(f"t{node:02}.c{used[node]}")
            used[node] += 1
        where.append(" = ".join(sides))
    if n > queries.GENERIC_TABLES or max(used[1:], default=0) > queries.GENERIC_COLUMNS:
        raise EngineRoomError(f"a {name} of {n} tables is too large", remedy="take fewer tables")
    return f"SELECT COUNT(*) FROM {', '.join(f't{i:02}' for i in range(n))} WHERE {' AND '.join(where)}"


def planning(
    *,
    sizes: Mapping[str, Sequence[int]] | None = None,
    limits: Sequence[int] = (100_000, 1000),
    repeats: int = 3,
) -> Run:
    """Server CPU time of EXPLAIN by shape and size, with the switch off, on, and on with a low limit of pairs."""
    sizes = sizes or {
        "chain": (4, 6, 8, 10, 12, 14, 15, 16),
        "star": (4, 6, 8, 10, 12, 14, 15, 16),
        "clique": (4, 5, 6, 7, 8, 9),
    }
    settings = {"off": [f"SET optimizer_switch = '{OFF}'"]}
    for limit in limits:
        name = "on" if limit == limits[0] else f"on, at most {limit} pairs"
        settings[name] = [f"SET optimizer_switch = '{SWITCH}'", f"SET optimizer_max_subgraph_pairs = {limit}"]
    rows: list[dict[str, Any]] = []
    with LiveSitting() as sitting, sitting.server("9.7") as server:
        compare.load(server)
        with contextlib.closing(server.connect(compare.DATABASE)) as connection:
            turns = [
                (shape, n, s, r)
                for shape, some in sizes.items()
                for n in some
                for r in range(repeats)
                for s in settings
            ]
            for shape, n, series, repeat in bar(turns, desc=f"MySQL {server.version}", unit="EXPLAIN"):
                seen = measure(
                    server,
                    connection,
                    f"EXPLAIN FORMAT=TREE {shape_sql(shape, n)}",
                    settings=settings[series],
                )
                rows.append(
                    {
                        "shape": shape,
                        "tables": n,
                        "series": series,
                        "repeat": repeat,
                        "planning_cpu_ms": seen.cpu_s * 1000,
                    }
                )
    return sitting.run(
        "own-join-order-planning",
        rows,
        summary="min",
        columns={
            "shape": "the shape of the query graph",
            "tables": "how many tables are joined",
            "planning_cpu_ms": "CPU time of the whole server during EXPLAIN, milliseconds",
        },
    )


def source_query(
    *,
    scales: Sequence[float] = (0.1, 1.0),
    shapes: Sequence[tuple[str, int]] = (("chain", 12), ("star", 10), ("clique", 8)),
    repeats: int = 5,
    seed: int = 1,
) -> Run:
    """Run, EXPLAIN and PREPARE the rebuilt query of figure 7-24 with the switch on and off, at several scales, and other queries."""
    from engineroom.workloads import tpcc

    rows: list[dict[str, Any]] = []
    with LiveSitting(seed=seed) as sitting:
        for scale in scales:
            options = {"innodb_buffer_pool_size": "1G"}
            with sitting.server("9.7", options=options, label=f"scale {scale}") as server:
                tables = ("stock", "order_line", "district", "item")
                tpcc.load(server, warehouses=5, scale=scale, seed=seed, tables=tables)
                server.execute(f"ANALYZE TABLE {', '.join(tables)}", database="tpcc")
                suffix = "" if scale == max(scales) else f"_scale_{scale:g}"
                asked = {f"source_query{suffix}": SOURCE_QUERY, f"item_report{suffix}": REPORT_QUERY}
                rows += _on_and_off(server, "tpcc", asked, scale, repeats)
                if scale == max(scales) and shapes:
                    compare.load(server)
                    asked = {f"{name}_{n}": shape_sql(name, n) for name, n in shapes}
                    rows += _on_and_off(server, compare.DATABASE, asked, scale, repeats)
    return sitting.run(
        "fig-7-24",
        rows,
        queries={"source_query": SOURCE_QUERY, "item_report": REPORT_QUERY},
        summary="min",
        columns={
            "query": "source_query is the published query, rebuilt; the others are ours",
            "scale": "share of TPC-C's rows a warehouse; five warehouses",
            "statement_s": "CPU time of the whole server during the statement, its EXPLAIN (planning) or its PREPARE, seconds",
            "answer": "the number that the statement counted, -1 for planning and preparing",
        },
    )


def _on_and_off(
    server: Server, database: str, asked: Mapping[str, str], scale: float, repeats: int
) -> list[dict[str, Any]]:
    rows = []
    with contextlib.closing(server.connect(database)) as connection:
        for query, sql in bar(asked.items(), desc=f"scale {scale:g}", unit="query"):
            for repeat in range(repeats + 1):
                for switch, setting in (("on", SWITCH), ("off", OFF)):
                    settings = [f"SET optimizer_switch = '{setting}'"]
                    run = measure(server, connection, sql, settings=settings)
                    plan = measure(server, connection, f"EXPLAIN FORMAT=TREE {sql}", settings=settings)
                    quoted = sql.replace("\\", "\\\\").replace("'", "''")
                    prepare = measure(server, connection, f"PREPARE asked FROM '{quoted}'", settings=settings)
                    if repeat == 0:
                        continue  # reads the pages once
                    where = {"query": query, "repeat": repeat - 1, "scale": scale}
                    rows.append(
                        {
                            **where,
                            "series": f"hypergraph_{switch}",
                            "statement_s": run.cpu_s,
                            "answer": int(run.answer[0][0]),
                        }
                    )
                    rows += [
                        {**where, "series": f"{step}_{switch}", "statement_s": seen.cpu_s, "answer": -1}
                        for step, seen in (("planning", plan), ("prepare", prepare))
                    ]
    return rows


def job_statistics(graph: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    """Rows and selectivities of a benchmark's graph: a tenth of the rows for each filtered column, at most two; equalities as
    between a key and what refers to it, one over the rows of the larger table."""
    base = [float(relation["rows"]) for relation in graph["relations"]]
    rows = [
        max(1.0, n * 0.1 ** min(2, relation.get("filter_columns", 0)))
        for n, relation in zip(base, graph["relations"], strict=True)
    ]
    return rows, [1.0 / max(base[a], base[b]) for a, b in graph["edges"]]


def job_graph(graph: Mapping[str, Any]) -> Any:
    """The graph of a benchmark's query for the kernels."""
    edges = [{"left": [a], "right": [b]} for a, b in graph["edges"]]
    return graphs.from_json({"nodes": graph["nodes"], "edges": edges})


def key_joins(graph: Mapping[str, Any]) -> tuple[list[list[int]], list[float]]:
    """A benchmark's joins with every equality counted once, and their selectivities.

    Columns that a query says are equal are one group, and in these queries each group holds one key, the column `id` of a table.
    Each other column of the group refers to it: an edge between the two tables, of which one over the rows of the key's table
    is left. The edges that follow from these would count the same condition again, and a join of three tables would be estimated
    too small by the rows of a table.
    """
    nodes = {relation["alias"]: node for node, relation in enumerate(graph["relations"])}
    groups: list[set[str]] = []
    for predicate in graph["predicates"]:
        touched = [group for group in groups if group & set(predicate)]
        groups = [group for group in groups if group not in touched]
        groups.append(set(predicate).union(*touched))
    edges, selectivity = [], []
    for group in groups:
        (key,) = (column for column in group if column.endswith(".id"))
        table = nodes[key.split(".")[0]]
        for column in sorted(group - {key}):
            edges.append([table, nodes[column.split(".")[0]]])
            selectivity.append(1.0 / graph["relations"][table]["rows"])
    return edges, selectivity


def filtered_rows(graph: Mapping[str, Any], rng: np.random.Generator) -> list[float]:
    """The rows of each table after its filters: every filtered column leaves a share between a thousandth and all, each order of
    size as likely as another, but at least a row."""
    return [
        max(1.0, relation["rows"] * 10.0 ** -rng.uniform(0, 3, relation["filter_columns"]).sum())
        for relation in graph["relations"]
    ]


def quality(
    *,
    limits: Sequence[int] = (10, 100, 1000),
    fewest_tables: int = 6,
    most_unpruned: int = 8,
    draws: int = 5,
    seed: int = 1,
) -> Run:
    """C_out of greedy, left-deep and simplified plans against the optimum, on the Join Order Benchmark's joins with drawn filters.

    Up to `most_unpruned` tables the left-deep search is also made without pruning, which takes too long beyond.
    """
    from engineroom._native import join_order as kernel

    rows: list[dict[str, Any]] = []
    unpruned: list[dict[str, Any]] = []
    large = [each for each in queries.benchmark_graphs("job") if each["nodes"] >= fewest_tables]
    with Sitting("kernel", seed=seed) as sitting:
        for number, each in enumerate(bar(large, desc="job", unit="query")):
            edges, selectivity = key_joins(each)
            graph = job_graph({**each, "edges": edges})
            for draw in range(draws):
                numbers = filtered_rows(each, np.random.default_rng((seed, number, draw))), selectivity
                best = kernel.best_plan(graph, *numbers)
                costs = {
                    "greedy": kernel.greedy_plan(graph, *numbers).cost,
                    "left-deep": kernel.left_deep_plan(graph, *numbers, search_depth=7).cost,
                }
                for limit in limits:
                    simple, *_ = kernel.simplify(graph, *numbers, most_calls=limit)
                    costs[f"at most {limit} pairs"] = kernel.best_plan(simple, *numbers).cost
                where = {
                    "query": each["name"],
                    "tables": each["nodes"],
                    "draw": draw,
                    "pairs": best.counters["csg_cmp_pairs"],
                    "repeat": 0,
                }
                rows += [
                    # Estimates fall below one row, and a ratio of fractions of a row would say nothing.
                    {**where, "series": name, "cost_per_best": max(1.0, cost) / max(1.0, best.cost)}
                    for name, cost in costs.items()
                ]
                if each["nodes"] <= most_unpruned:
                    cost = kernel.left_deep_plan(graph, *numbers, prune=False).cost
                    where["series"] = "left-deep, not pruned"
                    unpruned.append({**where, "cost_per_best": max(1.0, cost) / max(1.0, best.cost)})
    return sitting.run(
        "own-join-order-quality",
        rows,
        tables={"unpruned": unpruned} if unpruned else {},
        counts="rows of intermediate results, computed from drawn shares, which depend on no other work on the machine",
        joins=key_joins.__doc__,
        filters=filtered_rows.__doc__,
        columns={
            "query": "query of the Join Order Benchmark",
            "tables": "how many tables it joins",
            "draw": "which draw of the shares that its filters leave",
            "pairs": "pairs of its graph, with every equality counted once",
            "cost_per_best": "rows of all intermediate results (C_out), at least one, over those of the best plan without a cross product",
        },
    )


def connected_by_size(shape: str, n: int) -> list[int]:
    """How many connected sets of 1, 2, ... n tables a shape has."""
    of_size: Callable[[int], int] = {
        "chain": lambda k: n - k + 1,
        "cycle": lambda k: n if k < n else 1,
        "star": lambda k: n if k == 1 else math.comb(n - 1, k - 1),
        "clique": lambda k: math.comb(n, k),
    }[shape]
    return [of_size(k) for k in range(1, n + 1)]


def tests_by_formula(shape: str, n: int) -> dict[str, int]:
    """What DPsize and DPsub look at, and the pairs, which is what DPccp and DPhyp look at."""
    c = [0, *connected_by_size(shape, n)]
    dpsize = sum(
        c[a] * c[s - a] if a < s - a else math.comb(c[a], 2)
        for s in range(2, n + 1)
        for a in range(1, s // 2 + 1)
    )
    pairs = {
        "chain": (n**3 - n) // 6,
        "cycle": n * (n - 1) ** 2 // 2,
        "star": (n - 1) * 2 ** (n - 2),
        "clique": sum(math.comb(n, k) * (2 ** (k - 1) - 1) for k in range(2, n + 1)),
    }[shape]
    return {"DPsize": dpsize, "DPsub": sum(c[k] * (2**k - 2) for k in range(1, n + 1)), "pairs": pairs}


def space(*, sizes: Sequence[int] = (5, 10, 15, 20), largest_measured: int = 15) -> Run:
    """Candidates that each algorithm looks at, by shape and size; counted to 15 tables, by formula beyond."""
    from engineroom._native import join_order as kernel

    rows: list[dict[str, Any]] = []
    with Sitting("kernel") as sitting:
        for shape in ("chain", "cycle", "star", "clique"):
            for n in sizes:
                formula = tests_by_formula(shape, n)
                graph = graphs.from_json(graphs.shape(shape, n))
                for series, algorithm in (
                    ("DPsize", "dpsize"),
                    ("DPsub", "dpsub"),
                    ("DPccp", "dpccp"),
                    ("DPhyp", "faithful"),
                ):
                    expected = formula.get(series, formula["pairs"])
                    is_counted = n <= largest_measured and not (
                        shape == "clique" and n > 12 and series == "DPhyp"
                    )
                    tests = expected
                    if is_counted:
                        counters = kernel.enumerate(graph, algorithm=algorithm, events=False).counters
                        tests = counters["csg_cmp_pairs" if series == "DPhyp" else "inner_tests"]
                        if tests != expected:
                            raise EngineRoomError(
                                f"{series} on a {shape} of {n}: counted {tests}, by formula {expected}",
                                remedy="this is a mistake in a kernel or in a formula; report it",
                            )
                    rows.append(
                        {
                            "shape": shape,
                            "tables": n,
                            "series": series,
                            "repeat": 0,
                            "tests": float(tests),
                            "is_counted": is_counted,
                        }
                    )
    return sitting.run(
        "own-join-order-space",
        rows,
        columns={
            "shape": "the shape of the query graph",
            "tables": "how many tables are joined",
            "tests": "pairs of sets that the innermost loop looks at",
            "is_counted": "whether the kernel counted them; else they are by formula",
        },
    )


def phases(*, repeats: int = 5, query: str = "29a", times: int = 20) -> Run:
    """Where our planning's CPU time goes on a large query of the Join Order Benchmark: growing sets, or pricing pairs.

    The enumeration alone is timed, then the whole search; the difference is what connecting pairs costs. The statement is the
    graph's construction and the search.
    """
    from engineroom._native import join_order as kernel

    value = next(each for each in queries.benchmark_graphs("job") if each["name"] == query)
    numbers = job_statistics(value)
    rows: list[dict[str, Any]] = []
    with Sitting("kernel") as sitting:
        for repeat in range(repeats):
            before = [time.process_time()]
            for _ in range(times):
                graph = job_graph(value)
            before.append(time.process_time())
            counters = kernel.enumerate(graph, algorithm="fast", events=False, times=times).counters
            before.append(time.process_time())
            kernel.best_plan(graph, *numbers, cost="hash_join", times=times)
            before.append(time.process_time())
            build_s, grow_s, search_s = np.diff(before) / times
            whole_s = build_s + search_s
            for phase, seconds in (
                ("plan_search", search_s),
                ("connecting_pairs", search_s - grow_s),
                ("growing_subgraphs", grow_s),
            ):
                rows.append(
                    {
                        "phase": phase,
                        "series": "statement",
                        "repeat": repeat,
                        "share_percent": 100 * seconds / whole_s,
                        "pairs": counters["csg_cmp_pairs"],
                    }
                )
    return sitting.run(
        "fig-7-25",
        rows,
        query=f"job {query}",
        columns={
            "phase": "plan_search is all of the enumeration; the other two are its parts",
            "share_percent": "share of the CPU time of building the graph and searching, percent",
            "pairs": "pairs of the query's graph",
        },
    )


def live_phases(*, repeats: int = 3, seconds: float = 8, query: str = "job-29a") -> list[Run]:
    """Where the server's time goes while it plans a large query of the Join Order Benchmark, by samples of its call stacks.

    Two runs: figure 7-25 and the flame graph of the same samples. The rule that tells growing sets from connecting pairs is
    `profile.enumerator`; when it does not hold, growing and connecting are not attributable.
    """
    from engineroom.ask.query_graphs import profile

    sql = next(each.sql for each in queries.queries() if each.name == query)
    rows: list[dict[str, Any]] = []
    stacks: list[profile.Stack] = []
    with LiveSitting() as sitting, sitting.server("9.7") as server:
        compare.load(server)
        with (
            contextlib.closing(server.connect(compare.DATABASE)) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(f"SET optimizer_switch = '{SWITCH}'")

            def explain() -> None:
                cursor.execute(f"EXPLAIN FORMAT=TREE {sql}")
                cursor.fetchall()

            known = unclear = None
            for repeat in bar(range(repeats), unit="recording"):
                seen = profile.sample(server, explain, seconds=seconds)
                stacks += seen
                known = profile.enumerator(seen)
                if known is None:
                    unclear = f"{len(seen)} samples of the server do not single out its enumerator"
                rows += [
                    {
                        "phase": phase,
                        "series": "statement",
                        "repeat": repeat,
                        "share_percent": share,
                        "samples": len(seen),
                    }
                    for phase, share in profile.shares(seen, known).items()
                ]
    paths_seen = [
        {"path": ";".join(path), "series": "planner", "repeat": 0, "samples": n}
        for path, n in sorted(profile.folded(stacks, known).items())
    ]
    return [
        sitting.run(
            "fig-7-25",
            rows,
            not_attributable=unclear,
            query=query,
            columns={
                "phase": "plan_search is all of the enumeration; the other two are its parts",
                "share_percent": "share of the samples of the statement, percent",
                "samples": "samples of the server in this repeat",
            },
        ),
        sitting.run(
            "own-join-order-flame",
            paths_seen,
            query=query,
            columns={
                "path": "functions from the planner's entry down, by exported name, or by where they begin",
                "samples": "samples of CPU time whose innermost calls are these",
            },
        ),
    ]


_PLANNING = """
from engineroom._native import join_order as kernel
from engineroom.chapters.join_order.experiments import job_graph, job_statistics
from engineroom.ask.query_graphs import queries
value = next(each for each in queries.benchmark_graphs("job") if each["name"] == {query!r})
kernel.best_plan(job_graph(value), *job_statistics(value), cost="hash_join", times={times})
"""
_PLANNER = "planned"


def source_function(name: str) -> str:
    """A function's bare name as its source has it: without where it is, template and other arguments, or how it was compiled."""
    name = name.removesuffix(INLINED).split(" [clone")[0].replace("(anonymous namespace)::", "")
    while (shorter := re.sub(r"<[^<>]*>", "", name)) != name:
        name = shorter
    return name.split("(")[0].split()[-1].split("::")[-1]


def planner_paths(stacks: Sequence[Sequence[str]]) -> dict[tuple[str, ...], int]:
    """How many samples each call path below our planner's entry has; a function that calls itself is there once."""
    found: dict[tuple[str, ...], int] = {}
    for stack in stacks:
        names = [source_function(name) for name in reversed(stack)]
        if _PLANNER not in names:
            continue
        names = names[names.index(_PLANNER) :]
        path = tuple(name for i, name in enumerate(names) if i == 0 or name != names[i - 1])
        found[path] = found.get(path, 0) + 1
    if not any("price" in path for path in found):
        raise EngineRoomError(
            f"none of {sum(found.values())} samples of our planner names what was compiled into its enumerator",
            remedy="build the module with g++ and the settings of CMakeLists.txt: pip install --no-build-isolation -e .",
        )
    return found


def planner_flame(*, repeats: int = 3, times: int = 1000, query: str = "29a") -> Run:
    """Where our planner's CPU time goes by source function, by samples of its call stacks, on the query of `phases`."""
    rows: list[dict[str, Any]] = []
    with Sitting("kernel") as sitting:
        for repeat in bar(range(repeats), unit="recording"):
            _, stacks = sampled_program(_PLANNING.format(query=query, times=times), by_source=True)
            rows += [
                {"path": ";".join(path), "series": "planner", "repeat": repeat, "samples": n}
                for path, n in sorted(planner_paths(stacks).items())
            ]
    return sitting.run(
        "own-join-order-kernel-flame",
        rows,
        query=f"job {query}",
        times=times,
        columns={
            "path": "source functions from the planner's entry down, with those that the compiler built into their callers",
            "samples": "samples of CPU time whose innermost calls are these",
        },
    )


RECORD: Mapping[tuple[str, str], Callable[[], Run | list[Run]]] = {
    ("fig-7-24", "live"): source_query,
    ("fig-7-25", "kernel"): phases,
    ("fig-7-25", "live"): live_phases,
    ("own-join-order-kernel-flame", "kernel"): planner_flame,
    ("own-join-order-trace", "live"): trace_equality,
    ("own-join-order-planning", "live"): planning,
    ("own-join-order-space", "kernel"): space,
    ("own-join-order-quality", "kernel"): quality,
}
MADE_TOGETHER = {("fig-7-25", "live"): ("own-join-order-flame",)}
