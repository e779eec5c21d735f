"""The facts of `book/join_order.md`. Planning times are CPU time of the server, the least of the repeats."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from engineroom import paths
from engineroom._native import join_order as kernel
from engineroom.ask.compare import corpus
from engineroom.ask.query_graphs import graphs, trace
from engineroom.ask.query_graphs.build import build
from engineroom.ask.query_graphs.explain import tree
from engineroom.ask.query_graphs.trees import Tree, joined_sets, tree_of
from engineroom.chapters.join_order import experiments as join_order
from engineroom.chapters.join_order import figures as drawn
from engineroom.chapters.join_order.figures import (
    own_join_order_kernel_flame,
    own_join_order_planning,
)
from engineroom.facts import Facts, fact
from engineroom.runs import Run, newest, published
from engineroom.show.drawing import Drawing, origin_of
from engineroom.show.table import Table

__all__ = ["JoinOrderFacts", "facts"]


def duration(ms: float) -> str:
    """In ms below a second, in seconds from there on."""
    return f"{ms:.1f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


@dataclass(frozen=True, kw_only=True)
class Shape(Facts):
    """A shape of the query graph at the most tables measured, with the new optimizer on and off."""

    tables: int = fact()
    on_ms: float = fact(duration)
    off_ms: float = fact(duration)

    @classmethod
    def of(cls, run: Run, shape: str) -> Shape:
        tables = int(run.table[run.table["shape"] == shape]["tables"].max())
        ms = run.values("shape", "tables", "series", y="planning_cpu_ms")[shape, tables]
        return cls(tables=tables, on_ms=ms["on"], off_ms=ms["off"])


@dataclass(frozen=True, kw_only=True)
class Planning(Facts):
    """Planning by shape and number of tables (own-join-order-planning)."""

    chain: Shape
    clique: Shape
    star: Shape
    chain_14_on_ms: float = fact(duration)
    chain_14_off_ms: float = fact(duration)
    clique_limited_ms: float = fact(duration)  # to 1000 pairs
    star_limited_ms: float = fact(duration)
    chain_gains_from_tables: int = fact()
    star_loses_from_tables: int = fact()
    chain_pairs: int = fact("{:,}")
    star_pairs: int = fact("{:,}")

    @classmethod
    def of(cls, run: Run) -> Planning:
        ms = run.values("shape", "tables", "series", y="planning_cpu_ms")
        chain, clique, star = (Shape.of(run, shape) for shape in ("chain", "clique", "star"))
        return cls(
            chain=chain,
            clique=clique,
            star=star,
            chain_14_on_ms=ms["chain", 14, "on"],
            chain_14_off_ms=ms["chain", 14, "off"],
            clique_limited_ms=ms["clique", clique.tables, "on, at most 1000 pairs"],
            star_limited_ms=ms["star", star.tables, "on, at most 1000 pairs"],
            chain_gains_from_tables=faster_from(run, "chain", "on", "off"),
            star_loses_from_tables=faster_from(run, "star", "off", "on"),
            chain_pairs=join_order.tests_by_formula("chain", chain.tables)["pairs"],
            star_pairs=join_order.tests_by_formula("star", star.tables)["pairs"],
        )


def faster_from(run: Run, shape: str, series: str, other: str) -> int:
    """The fewest tables from which a shape plans faster with one switch than with the other; the page says that there are."""
    tables = drawn.faster_from(own_join_order_planning.rows(run), shape, series, other)
    if tables is None:
        raise ValueError(f"no {shape} plans faster with {series} than with {other}: the page says otherwise")
    return tables


@dataclass(frozen=True, kw_only=True)
class Quality(Facts):
    """A plan's cost over the best plan's, on the Join Order Benchmark with drawn filters (own-join-order-quality)."""

    draws: int = fact()
    cases_over_1000_pairs: int = fact()
    still_best_percent: float = fact("{:.0f}")  # of these, with a limit of 1000 pairs
    worst_query: str = fact()
    worst_ratio: float = fact("{:,.0f}")
    left_deep_least_ratio: float = fact("{:.2f}")
    unpruned_cases: int = fact()
    unpruned_most_tables: int = fact()
    unpruned_worst_ratio: float = fact("{:.1f}")
    pruned_worst_ratio: float = fact("{:,.0f}")

    @classmethod
    def of(cls, run: Run) -> Quality:
        table, unpruned = run.table, run.tables["unpruned"]
        simplified = table[(table["series"] == "at most 1000 pairs") & (table["pairs"] > 1000)]
        forced = table[table["series"] == "at most 100 pairs"]
        worst = forced.nlargest(1, "cost_per_best").iloc[0]
        pruned = table[(table["series"] == "left-deep") & (table["tables"] <= unpruned["tables"].max())]
        return cls(
            draws=table["draw"].nunique(),
            cases_over_1000_pairs=len(simplified),
            still_best_percent=100 * (simplified["cost_per_best"] < 1 + drawn.SAME).mean(),
            worst_query=worst["query"],
            worst_ratio=worst["cost_per_best"],
            left_deep_least_ratio=unpruned["cost_per_best"].min(),
            unpruned_cases=len(unpruned),
            unpruned_most_tables=unpruned["tables"].max(),
            unpruned_worst_ratio=unpruned["cost_per_best"].max(),
            pruned_worst_ratio=pruned["cost_per_best"].max(),
        )


@dataclass(frozen=True, kw_only=True)
class Traced(Facts):
    """The server's trace of many queries beside our events on the graphs that we build ourselves (own-join-order-trace)."""

    queries: int = fact()
    equal: int = fact()
    large: int = fact()  # six tables or more
    special: int = fact()  # with a join that is not inner
    events: int = fact("{:,}")
    simplified: int = fact()
    simplified_equal: int = fact()
    nodes: Table

    @classmethod
    def of(cls, run: Run) -> Traced:
        ours = run.table[run.table["series"] == "graph built by us"]
        simplified = run.tables["simplified"]
        smallest = ours.sort_values("tables", kind="stable").groupby("family", sort=False).head(1)
        return cls(
            queries=len(ours),
            equal=int(ours["is_equal"].sum()),
            large=(ours["tables"] >= 6).sum(),
            special=int(ours["is_special"].sum()),
            events=int(ours["events"].sum()),
            simplified=len(simplified),
            simplified_equal=int(simplified["our_graph_equal"].sum()),
            nodes=Table(
                smallest[["family", "query", "nodes", "events"]],
                "Which table is which node, for the smallest query of each family.",
                origin_of(run),
            ),
        )


@dataclass(frozen=True, kw_only=True)
class OwnPlanner(Facts):
    """Where our planner's time goes, by sampled stacks (own-join-order-kernel-flame) and by the clock (fig-7-25, kernel)."""

    pricing_percent: float = fact("{:.0f}")
    growing_percent: float = fact("{:.0f}")
    pricing_by_clock_percent: float = fact("{:.0f}")

    @classmethod
    def of(cls, sampled: Run, *, clocked: Run) -> OwnPlanner:
        shares = drawn.shares(own_join_order_kernel_flame.rows(sampled))
        return cls(
            pricing_percent=shares["pricing pairs"],
            growing_percent=shares["growing sets"],
            pricing_by_clock_percent=clocked.values("phase", y="share_percent")["connecting_pairs"],
        )


@dataclass(frozen=True, kw_only=True)
class SourceQuery(Facts):
    """The legible part of the sources' statement (fig-7-24, live)."""

    on_ms: float = fact("{:.1f} ms")
    off_ms: float = fact("{:.1f} ms")
    ratio: float = fact("{:.1f}")
    planning_ms: float = fact("{:.1f} ms")  # what planning takes longer with the switch on

    @classmethod
    def of(cls, run: Run) -> SourceQuery:
        ms = 1000 * run.values("series", y="statement_s", where="query == 'source_query'")
        return cls(
            on_ms=ms["hypergraph_on"],
            off_ms=ms["hypergraph_off"],
            ratio=ms["hypergraph_on"] / ms["hypergraph_off"],
            planning_ms=ms["planning_on"] - ms["planning_off"],
        )


@dataclass(frozen=True, kw_only=True)
class Published(Facts):
    """What the sources measured of their whole statement (figure 7-24)."""

    on_s: float = fact("{:.2f} s")
    off_s: float = fact("{:.2f} s")
    ratio: float = fact("{:.0f}")

    @classmethod
    def of(cls, rows: pd.DataFrame) -> Published:
        seconds = rows.set_index("series")["statement_s"]
        on_s, off_s = seconds["hypergraph_on"], seconds["hypergraph_off"]
        return cls(on_s=on_s, off_s=off_s, ratio=on_s / off_s)


@dataclass(frozen=True, kw_only=True)
class Sample(Facts):
    """One traced query over four tables: our events beside the trace, and our plan beside the server's."""

    events: Table
    plans: Drawing

    @classmethod
    def of(cls, recorded: Mapping[str, Any]) -> Sample:
        planned = next(iter(trace.plannings(recorded)))
        return cls(
            events=events_beside(recorded, planned),
            plans=plans_beside(recorded["server"], planned),
        )


def events_beside(recorded: Mapping[str, Any], planned: trace.Planned) -> Table:
    """What the trace says it found, and faithful's events, line by line."""

    def named(bits: int) -> str:
        return "{" + ",".join(planned.tables[node] for node in graphs.nodes_of(bits)) + "}"

    ours = kernel.enumerate(graphs.from_json(planned.graph())).events.tolist()
    said = [line.split(", connected")[0] for line in recorded["join_optimizer"] if line.startswith("Found")]
    events = [f"pair {named(a)} {named(b)} by edge {k}" if b else f"node {named(a)}" for a, b, k in ours]
    return Table(
        pd.DataFrame({"the trace": said, "our events": events}),
        "The trace of a query over four tables, and faithful's events.",
        f"MySQL {recorded['server']}, recorded; our C++ kernels.",
    )


def plans_beside(server: str, planned: trace.Planned) -> Drawing:
    """The traced query's graph, with our cheapest plan by the server's rows and selectivities and with its own."""
    edges = planned.graphs[-1]
    priced = kernel.best_plan(
        graphs.from_json(planned.graph()),
        [planned.rows[node] for node in range(len(planned.tables))],
        [edge.selectivity for edge in edges],
        cost="hash_join",
        kinds=[edge.kind for edge in edges],
    )
    assert planned.join_order, "the trace keeps a plan for all tables"
    ours, theirs = tree(priced.nodes, planned.tables), tree_of(planned.join_order)
    return drawn.show(
        "join-order-two-plans",
        planned.tables,
        planned.graph()["edges"],
        {"our plan": ours, f"plan of MySQL {server}": theirs},
        caption="The traced query's graph, our cheapest plan of hash joins, and the cheapest plan that the server keeps for all tables: "
        + same_sets_said(ours, theirs),
        origin=f"MySQL {server}, recorded; our C++ kernels with the server's rows and selectivities.",
    )


def same_sets_said(ours: Tree, theirs: Tree) -> str:
    """Whether two plans join the same sets of tables, in whatever order of their sides."""
    same = joined_sets(ours) == joined_sets(theirs)
    return "both make the same sets." if same else "they do not make the same sets."


def hyperedge() -> Drawing:
    """An outer join of a join as a hypergraph with its cheapest plan."""
    rows = {"a": 1000, "b": 10, "c": 100}
    built = build("SELECT 1 FROM a LEFT JOIN (b JOIN c ON b.y = c.y) ON a.x = b.x")
    best = kernel.best_plan(
        graphs.from_json(built.graph), [rows[name] for name in built.tables], [0.01] * 2, kinds=built.kinds
    )
    return drawn.show(
        "join-order-hyperedge",
        built.tables,
        built.graph["edges"],
        {"the cheapest plan": tree(best.nodes, built.tables)},
        caption="a LEFT JOIN (b JOIN c) as a hypergraph, and its plan.",
        origin="Computed by our C++ kernels while this page was made.",
    )


@dataclass(frozen=True, kw_only=True)
class JoinOrderFacts(Facts):
    """All that the page tells, by recording."""

    planning: Planning
    quality: Quality
    traced: Traced
    own: OwnPlanner
    source: SourceQuery
    published: Published
    sample: Sample
    hyperedge: Drawing
    outcomes: Table


def outcomes() -> Table:
    """What the two tools made of others' statements, by set."""
    columns = ["statements of", "tool", "equal", "refused", "differ", "wrong"]
    rows = pd.DataFrame(corpus.table(corpus.read()), columns=columns)
    return Table(
        rows,
        "Statements by what came of them.",
        "Recorded in data/statements/outcomes.csv, with each reason.",
    )


def facts() -> JoinOrderFacts:
    """From the newest recordings, and from kernels that run now on a recorded trace."""
    recorded = json.loads((paths.data() / "join_order" / "sample_trace.json").read_text(encoding="utf-8"))
    return JoinOrderFacts(
        planning=Planning.of(newest("own-join-order-planning", "live")),
        quality=Quality.of(newest("own-join-order-quality", "kernel")),
        traced=Traced.of(newest("own-join-order-trace", "live")),
        own=OwnPlanner.of(
            newest("own-join-order-kernel-flame", "kernel"), clocked=newest("fig-7-25", "kernel")
        ),
        source=SourceQuery.of(newest("fig-7-24", "live")),
        published=Published.of(published.rows("fig-7-24")),
        sample=Sample.of(recorded),
        hyperedge=hyperedge(),
        outcomes=outcomes(),
    )
