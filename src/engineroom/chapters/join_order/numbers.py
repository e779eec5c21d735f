"""What `book/join_order.md` tells: planning by shape, what cheaper searches lose, and traces of the server beside our kernels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from engineroom import paths
from engineroom.ask.query_graphs import graphs, trace
from engineroom.ask.query_graphs.trees import Tree, joined_sets, tree_of
from engineroom.bench.recording import planning as planning_of_others  # noqa: F401 the page shows it
from engineroom.chapters.join_order import figures
from engineroom.runs import newest, published
from engineroom.show.drawing import Drawing, origin_of
from engineroom.show.table import Table

# CPU time of the server for an EXPLAIN, the least of the repeats.
_planning = newest("own-join-order-planning", "live")
planning_ms = _planning.values("shape", "tables", "series", y="planning_cpu_ms")
most_tables = _planning.table.groupby("shape")["tables"].max()  # the most that were planned
limited = "on, at most 1000 pairs"

_quality = newest("own-join-order-quality", "kernel")
draws = _quality.table["draw"].nunique()
_of_search = dict(iter(_quality.table.groupby("series")))
_above = _of_search["at most 1000 pairs"].query("pairs > 1000")["cost_per_best"]
above_limit = len(_above)
still_best_percent = 100 * (_above < 1 + figures.SAME).mean()
worst = _of_search["at most 100 pairs"].nlargest(1, "cost_per_best").iloc[0]
unpruned = _quality.tables["unpruned"]
pruned_cost_per_best = _of_search["left-deep"].query(f"tables <= {unpruned['tables'].max()}")["cost_per_best"]

_trace = newest("own-join-order-trace", "live")
traced = _trace.table.query("series == 'graph built by us'")
simplified_is_equal = _trace.tables["simplified"]["our_graph_equal"]

sampled_percent = figures.shares(
    figures.own_join_order_kernel_flame.rows(newest("own-join-order-kernel-flame", "kernel"))
)
clocked_percent = newest("fig-7-25", "kernel").values("phase", y="share_percent")

_statements = newest("fig-7-24", "live")
statement_ms = 1000 * _statements.values("series", y="statement_s", where="query == 'source_query'")
published_s = published.rows("fig-7-24").set_index("series")["statement_s"]


def duration(ms: float) -> str:
    """In ms below a second, in seconds from there on."""
    return f"{ms:.1f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


def planned(shape: str, series: str) -> str:
    """How long the most tables of a shape take."""
    return duration(planning_ms[shape, most_tables[shape], series])


def faster_from(shape: str, series: str, other: str) -> int | None:
    """The fewest tables from which a shape plans faster with one switch than with the other."""
    return figures.faster_from(figures.own_join_order_planning.rows(_planning), shape, series, other)


def chain_pairs(n: int) -> int:
    """By formula, as for a star."""
    return (n**3 - n) // 6


def star_pairs(n: int) -> int:
    return (n - 1) << (n - 2)


def outcomes() -> Table:
    """What the two tools made of others' statements, by set."""
    rows = pd.read_csv(paths.data() / "statements" / "outcomes.csv")
    counted = pd.crosstab([rows["set"], rows["tool"]], rows["outcome"])
    counted = counted.reindex(pd.MultiIndex.from_frame(rows[["set", "tool"]].drop_duplicates()))
    shown = counted[["equal", "refused", "differ", "wrong"]].reset_index(names=["statements of", "tool"])
    return Table(
        shown,
        "Statements by what came of them.",
        "Recorded in data/statements/outcomes.csv, with each reason.",
    )


def smallest_queries() -> Table:
    """The smallest traced query of each family."""
    smallest = traced.sort_values("tables", kind="stable").groupby("family", sort=False).head(1)
    caption = "Which table is which node, for the smallest query of each family."
    return Table(smallest[["family", "query", "nodes", "events"]], caption, origin_of(_trace))


def sample() -> tuple[Mapping[str, Any], trace.Planned]:
    """A recorded trace of a query over four tables."""
    recorded = json.loads((paths.data() / "join_order" / "sample_trace.json").read_text(encoding="utf-8"))
    return recorded, next(iter(trace.plannings(recorded)))


def events_beside() -> Table:
    """What the sample trace says it found, and faithful's events on its graph, which the kernel finds while the page is made."""
    from engineroom._native import join_order as kernel

    recorded, planned = sample()

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


def sample_plans() -> tuple[Tree, Tree]:
    """Our cheapest plan of the sample by the server's rows and selectivities, and the server's; no recording has ours."""
    from engineroom._native import join_order as kernel
    from engineroom.ask.query_graphs.explain import tree

    _, planned = sample()
    priced = kernel.best_plan(
        graphs.from_json(planned.graph()),
        [planned.rows[node] for node in range(len(planned.tables))],
        [edge.selectivity for edge in planned.graphs[-1]],
        cost="hash_join",
        kinds=[edge.kind for edge in planned.graphs[-1]],
    )
    assert planned.join_order, "the trace keeps a plan for all tables"
    return tree(priced.nodes, planned.tables), tree_of(planned.join_order)


def sample_plans_make_same_sets() -> bool:
    """Whether both plans join the same sets of tables, in whatever order of their sides."""
    ours, theirs = sample_plans()
    return joined_sets(ours) == joined_sets(theirs)


def plans_beside() -> Drawing:
    """The sample's graph with both plans."""
    recorded, planned = sample()
    ours, theirs = sample_plans()
    server = recorded["server"]
    return figures.show(
        "join-order-two-plans",
        planned.tables,
        planned.graph()["edges"],
        {"our plan": ours, f"plan of MySQL {server}": theirs},
        caption="The traced query's graph, our cheapest plan of hash joins, and the cheapest plan that the server keeps for all tables: "
        "both make the same sets.",
        origin=f"MySQL {server}, recorded; our C++ kernels with the server's rows and selectivities.",
    )


def hyperedge() -> Drawing:
    """An outer join of a join as a hypergraph with its cheapest plan, which the kernel finds while the page is made."""
    from engineroom._native import join_order as kernel
    from engineroom.ask.query_graphs.build import build
    from engineroom.ask.query_graphs.explain import tree

    rows = {"a": 1000, "b": 10, "c": 100}
    built = build("SELECT 1 FROM a LEFT JOIN (b JOIN c ON b.y = c.y) ON a.x = b.x")
    best = kernel.best_plan(
        graphs.from_json(built.graph), [rows[name] for name in built.tables], [0.01] * 2, kinds=built.kinds
    )
    return figures.show(
        "join-order-hyperedge",
        built.tables,
        built.graph["edges"],
        {"the cheapest plan": tree(best.nodes, built.tables)},
        caption="a LEFT JOIN (b JOIN c) as a hypergraph, and its plan.",
        origin="Computed by our C++ kernels while this page was made.",
    )
