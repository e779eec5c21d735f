"""The chapter's figures: of each its rows, its picture and its words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from engineroom.ask.query_graphs.dot import SIDES
from engineroom.ask.query_graphs.trees import Tree, joins, leaves, order
from engineroom.show.curves import End, label_ends, lines
from engineroom.show.drawing import draw
from engineroom.show.figure import figure
from engineroom.show.flame import Flame, sampled
from engineroom.show.panels import panels
from engineroom.show.parts import (
    Bar,
    Bars,
    Curves,
    Dots,
    Rows,
    Run,
    all_rows,
    as_found,
    each,
    ours,
    ratios,
    rows_by,
    theirs,
    values,
)
from engineroom.show.style import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    STYLES,
    VERMILION,
    is_narrow,
    label_axes,
    legend_above,
    plain_log_ticks,
)
from engineroom.show.wording import Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.show.drawing import Drawing


_ON_DISC = "#111111"


def show(
    figure: str,
    tables: Sequence[str],
    edges: Sequence[Mapping[str, Any]],
    plans: Mapping[str, Tree],
    *,
    caption: str,
    origin: str,
) -> Drawing:
    """The query graph and beside it each plan under its name, for a page; the alternative text says edges and plans in full."""
    rows = [
        {
            "drawing": "query graph",
            "left": _named(tables, edge["left"]),
            "right": _named(tables, edge["right"]),
        }
        for edge in edges
    ]
    rows += [
        {"drawing": name, "left": " ".join(leaves(left)), "right": " ".join(leaves(right))}
        for name, tree in plans.items()
        for left, right in joins(tree)
    ]
    said = "; ".join(
        f"{row['left'].replace(' ', ' and ')} with {row['right'].replace(' ', ' and ')}"
        for row in rows
        if row["drawing"] == "query graph"
    )
    orders = "".join(f" {name[0].upper()}{name[1:]}: {order(tree)}." for name, tree in plans.items())

    def picture(_: pd.DataFrame, ax: Axes) -> None:
        for panel, name in zip(_panels(ax, 1 + len(plans)), ("query graph", *plans), strict=True):
            panel.set_title(name, fontsize=10)
            if name in plans:
                plan(panel, plans[name])
            else:
                hypergraph(panel, tables, edges)

    words = Words(f"Query graph of {', '.join(tables)}, with edges of {said}.{orders}", caption)
    ratios = (0.36, 0.6 if len(plans) == 1 else 1.1)
    return draw(figure, pd.DataFrame(rows), picture, words, origin=origin, ratios=ratios)


def _named(tables: Sequence[str], nodes: Sequence[int]) -> str:
    return " ".join(tables[node] for node in nodes)


def _panels(ax: Axes, n: int) -> list[Axes]:
    """`n` panels in a row; on a narrow drawing more than two have the first in a row of its own."""
    drawing = ax.get_figure(root=True)
    place = ax.get_subplotspec()
    assert drawing is not None
    assert place is not None
    ax.set_axis_off()
    if is_narrow(ax) and n > 2:
        grid = place.subgridspec(2, n - 1)
        return [drawing.add_subplot(spot) for spot in (grid[0, :], *(grid[1, i] for i in range(n - 1)))]
    row = place.subgridspec(1, n)
    return [drawing.add_subplot(row[0, i]) for i in range(n)]


def hypergraph(ax: Axes, tables: Sequence[str], edges: Sequence[Mapping[str, Any]]) -> None:
    """Tables on a circle; an edge between sets goes through a square, solid to its left and dashed to its right side."""
    at = [_on_circle(i, len(tables)) for i in range(len(tables))]
    for edge in edges:
        if len(edge["left"]) == len(edge["right"]) == 1:
            (x0, y0), (x1, y1) = at[edge["left"][0]], at[edge["right"][0]]
            ax.plot([x0, x1], [y0, y1], color=INK, zorder=1)
            continue
        nodes = [*edge["left"], *edge["right"]]
        x, y = (sum(at[i][axis] for i in nodes) / len(nodes) for axis in (0, 1))
        ax.plot([x], [y], "s", color=VERMILION, markersize=9, zorder=2)
        for side, style in SIDES:
            for i in edge[side]:
                ax.plot([x, at[i][0]], [y, at[i][1]], color=VERMILION, linestyle=style, zorder=1)
    for name, (x, y) in zip(tables, at, strict=True):
        _node(ax, x, y, name)
    ax.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), aspect="equal", anchor="N")
    ax.axis("off")


def plan(ax: Axes, tree: Tree) -> None:
    """A plan as a tree: tables at the ends, the last join on top."""
    column = 0

    def visit(tree: Tree, depth: int) -> tuple[float, float]:
        nonlocal column
        if "table" in tree:
            column += 1
            _node(ax, column, -depth, tree["table"])
            return column, -depth
        ends = [visit(each, depth + 1) for each in tree["inputs"]]
        x = sum(end[0] for end in ends) / 2
        for end in ends:
            ax.plot([x, end[0]], [-depth, end[1]], color=INK, zorder=1)
        ax.plot([x], [-depth], "o", color=INK, zorder=2)
        return x, -depth

    visit(tree, 0)
    ax.margins(0.25)
    ax.axis("off")


def _on_circle(i: int, n: int) -> tuple[float, float]:
    angle = math.pi / 2 - 2 * math.pi * i / n
    return math.cos(angle), math.sin(angle)


def _node(ax: Axes, x: float, y: float, name: str) -> None:
    # The disc stays white and its text dark on every page; its rim and all lines take the page's ink.
    box = {"boxstyle": "circle,pad=0.35", "facecolor": "#ffffff", "edgecolor": INK}
    ax.text(x, y, name, ha="center", va="center", fontsize=10, color=_ON_DISC, bbox=box, zorder=3)


KINDS = {"hypergraph": "run", "planning": "EXPLAIN", "prepare": "PREPARE"}

SERIES_FIG_7_24 = {f"{key}_{how}": f"{how}, {kind}" for key, kind in KINDS.items() for how in ("on", "off")}

LABEL = "seconds (ours: server CPU)"


@figure(
    "fig-7-24",
    rows=all_rows,
    picture=Dots(rows=as_found("query", ("_", " ")), series=SERIES_FIG_7_24, label=LABEL, log=True),
)
def fig_7_24(table: Rows) -> Words:
    """Figure 7-24: a stock-level query with the hypergraph optimizer on and off: run, explained and prepared."""
    ms = 1000 * ours(table)[:, "source_query"]
    on, off = ms["hypergraph_on"], ms["hypergraph_off"]
    planning = ms["planning_on"] - ms["planning_off"]
    prepared = f" (PREPARE alone takes {ms['prepare_on']:.1f} ms)" if "prepare_on" in ms else ""
    of, (published,) = ratios(table, "hypergraph_on", "hypergraph_off")
    return Words(
        alt=f"Dot plot of seconds per query, with the switch on and off. On over off: {each(of)}. Published: {published:.1f}.",
        caption=f"The rebuilt query takes {on / off:.2f} times as long with the switch on ({on:.1f} ms against {off:.1f} ms); planning is "
        f"{planning:.1f} ms of the difference{prepared}. Of our queries {str(of.idxmax()).replace('_', ' ')} pays most: {of.max():.1f} times.",
    )


# What the enumerator asks of the planner, and what that calls, is pricing; all else below its entry is growing sets.
PRICING = ("node", "first", "grown", "subgraph", "pair", "price", "has_seen")

ENTRY = "run"

# Growing sets is hatched.
ROLES = {"pricing pairs": (VERMILION, ""), "growing sets": (BLUE, "//"), "setting up": (ORANGE, "")}


def role(path: tuple[str, ...]) -> str:
    """What a call path does."""
    if ENTRY not in path:
        return "setting up"
    return "pricing pairs" if set(PRICING) & set(path[path.index(ENTRY) :]) else "growing sets"


def _roles(path: tuple[str, ...]) -> dict[str, object]:
    return {"role": role(path), "begins_role": len(path) == 1 or role(path) != role(path[:-1])}


def _rows_of_own_join_order_kernel_flame(run: Run) -> Rows:
    """A row per frame that is wide enough to see; `begins_role` when what calls it does something else."""
    return sampled(run, deepest=10, more=_roles)


def shares(table: Rows) -> dict[str, float]:
    """Percent of the samples in each role, which is what its outermost frames have without those of other roles in them."""
    whole = table[table["begins_role"]].groupby("role")["share_percent"].sum()
    within = {"setting up": "growing sets", "growing sets": "pricing pairs"}
    return {name: float(whole[name] - whole.get(within.get(name, ""), 0.0)) for name in ROLES}


@figure(
    "own-join-order-kernel-flame",
    rows=_rows_of_own_join_order_kernel_flame,
    picture=Flame(of="the samples of planning", by="role", style=ROLES.__getitem__),
)
def own_join_order_kernel_flame(table: Rows) -> Words:
    """Our own figure: a flame graph of our planner while it plans."""
    share = shares(table)
    widest = table.groupby("frame")["share_percent"].max().sort_values(ascending=False).head(7)
    named = ", ".join(f"{name} {percent:.0f} percent" for name, percent in widest.items())
    return Words(
        alt=f"Flame graph of our planner by source function. {each(share, '{:.0f} percent')}. With what they call: {named}.",
        caption=f"Our planner, callers below what they call: pricing pairs takes {share['pricing pairs']:.0f} percent of the samples, growing "
        f"sets (hatched) {share['growing sets']:.0f}.",
    )


NAMES = ("plan search", "connecting pairs", "growing subgraphs")

PHASES = {name.replace(" ", "_"): Bar(name.replace("subgraphs", "sets")) for name in NAMES}

_picture_of_fig_7_25 = Bars(bars=PHASES, label="CPU time")


@figure("fig-7-25", rows=all_rows, picture=_picture_of_fig_7_25)
def fig_7_25(table: Rows) -> Words:
    """Figure 7-25: how the time of the plan search divides into growing sets and connecting pairs."""
    share, published = (of["statement"] for of in (ours(table), theirs(table)))
    planner = "MySQL" if "live" in set(table["method"]) else "our kernel"
    pairs, sets = share["connecting_pairs"], share["growing_subgraphs"]
    said, told = (_picture_of_fig_7_25.said(of, "{:.0f} percent") for of in (share, published))
    return Words(
        alt=f"Bars of shares of CPU time. Planned by {planner}: {said}. Published: {told}.",
        caption=f"Connecting and pricing pairs takes {'more' if pairs > sets else 'less'} than growing the sets: {pairs:.0f} against "
        f"{sets:.0f} percent of planning by {planner}.",
    )


GROWING = ["ExpandSubgraph", "EnumerateComplementsTo", "ExpandComplement"]

UNNAMED = "no exported name"

# The enumerator is hatched.
FLAME_STYLES = {UNNAMED: (VERMILION, "")} | dict.fromkeys(GROWING, (BLUE, "//"))


def _rows_of_own_join_order_flame(run: Run) -> Rows:
    """A row per frame that is wide enough to see, percent of all samples."""
    table = sampled(run, deepest=12)
    return table.assign(frame=table["frame"].where(~table["frame"].str.contains("+", regex=False), UNNAMED))


@figure(
    "own-join-order-flame",
    rows=_rows_of_own_join_order_flame,
    picture=Flame(of="the samples of planning", style=lambda frame: FLAME_STYLES.get(frame, (ORANGE, ""))),
)
def own_join_order_flame(table: Rows) -> Words:
    """Our own figure: a flame graph of the server while it plans."""
    named = each(table.groupby("frame")["share_percent"].max().reindex(GROWING).dropna(), "{:.0f} percent")
    return Words(
        alt=f"Flame graph of planning. Below FindBestQueryPlan: {named}.",
        caption=f"The server's planning, callers below what they call. Each with all that it calls: {named}.",
    )


SHAPES = ("chain", "star", "clique")

LABELS_PLANNING = {"on": "on", "off": "off", "on, at most 1000 pairs": "1000 pairs"}

Y_PLANNING = "planning_cpu_ms"


def faster_from(table: Rows, shape: str, series: str, other: str) -> int | None:
    """The number of tables from which on `series` is faster than `other` at every larger size; None when it is not at the largest."""
    ms = values(table[table["shape"] == shape], "series", "tables", y=Y_PLANNING)
    is_faster = (ms[series] < ms[other])[::-1].cummin()
    return int(is_faster[is_faster].index[-1]) if is_faster.any() else None


def _picture_of_own_join_order_planning(table: Rows, ax: Axes) -> None:
    """Three panels with the same axes, a line per setting."""
    narrow, most = is_narrow(ax), int(table["tables"].max())
    left, middle, right = all_panels = panels(ax, wide=(1, 3), narrow=(3, 1), space=(0.02, 0.02), sharex=True)
    ends = []
    for panel, shape in zip(all_panels, SHAPES, strict=True):
        ends.append(
            lines(
                table[table["shape"] == shape],
                panel,
                x="tables",
                y=Y_PLANNING,
                labels=LABELS_PLANNING,
            )
        )
        panel.set_title(shape, fontsize=10, loc="left", pad=2)
    left.set_yscale("log")
    plain_log_ticks(left.yaxis, at=(1.0,))
    left.set_xlim(3, most * (1.45 if narrow else 1.75))
    left.set_xticks(range(4, most + 1, 4))
    for panel, of_panel in zip(all_panels, ends, strict=True):
        label_ends(panel, of_panel, apart_px=12)
    (middle if narrow else left).set_ylabel(f"EXPLAIN, {'' if narrow else 'server '}CPU ms, log")
    (right if narrow else middle).set_xlabel("tables")


@figure(
    "own-join-order-planning",
    rows=rows_by("shape", "tables", y=Y_PLANNING),
    picture=_picture_of_own_join_order_planning,
)
def own_join_order_planning(table: Rows) -> Words:
    """Our own figure: planning time by the number of tables, a panel per shape of the query graph, with the switch on and off."""
    of = values(table, "shape", "series", "tables", y=Y_PLANNING)
    last = {(shape, series): of[shape, series].iloc[[-1]] for shape in SHAPES for series in LABELS_PLANNING}
    said = "; ".join(
        f"{shape}, {LABELS_PLANNING[series]} {ms:.1f} ms at {tables} tables"
        for (shape, series), line in last.items()
        for tables, ms in line.items()
    )
    clique = last["clique", "on, at most 1000 pairs"].iloc[0] / last["clique", "off"].iloc[0]
    against = []
    for shape in SHAPES:
        times = last[shape, "on"].iloc[0] / last[shape, "off"].iloc[0]
        how = f"{times:.0f} times as long" if times >= 1 else f"1/{1 / times:.0f} of the time"
        against.append(f"{how} for a {shape} of {last[shape, 'on'].index[0]} tables")
    return Words(
        alt=f"Three line charts of planning time against tables, for chains, stars and cliques. {said}.",
        caption=f"With the switch on, planning takes {', '.join(against)}, and {clique:.1f} times with at most 1000 pairs.",
    )


SAME = 1e-9  # sums in another order differ in the last digits


def _rows_of_own_join_order_quality(run: Run) -> Rows:
    """One row per query, draw of its filters and search, ranked within its search."""
    rank = 100 * run.table.groupby("series")["cost_per_best"].rank(method="first", pct=True)
    return run.table.assign(rank_percent=rank).sort_values(["series", "rank_percent"], ignore_index=True)


def _picture_of_own_join_order_quality(table: Rows, ax: Axes) -> None:
    """Sorted costs: how many percent of the cases, a query with a draw each, are at most so far from the best plan."""
    ends = []
    for style, (name, mine) in zip(STYLES, table.groupby("series"), strict=False):
        line = mine[["rank_percent", "cost_per_best"]].to_numpy()
        ax.plot(*line.T, style.dash, color=style.colour, linewidth=1.7)
        ends.append(End(float(line[-1, 0]), float(line[-1, 1]), str(name), style.colour))
    ax.axhline(1, color=GREY, linewidth=0.8)
    ax.set_yscale("log")
    plain_log_ticks(ax.yaxis)
    ax.set_xlim(0, 101)
    ax.set_xticks([0, 50, 100])
    label_axes(ax, x="percent of the cases", y="C_out over the best plan's, log")
    label_ends(ax, ends)


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.2f}"


@figure(
    "own-join-order-quality", rows=_rows_of_own_join_order_quality, picture=_picture_of_own_join_order_quality
)
def own_join_order_quality(table: Rows) -> Words:
    """Our own figure: what cheaper searches lose against the best plan, on the Join Order Benchmark's graphs."""
    costs = table.groupby("series")["cost_per_best"]
    median, worst, n = costs.median(), costs.max().map(_times), int(costs.size().max())
    found = (table["cost_per_best"] < 1 + SAME).groupby(table["series"]).sum()
    said = "; ".join(
        f"{name} {found[name]} of {n} best, median {median[name]:.2f}, worst {worst[name]}"
        for name in found.index
    )
    share = (100 * found / n).map("{:.0f} %".format)
    limits = ", ".join(
        f"{share[name]} with {name.lower()}" for name in share.index if name.startswith("at most")
    )
    return Words(
        alt=f"Sorted lines of a plan's cost over the best plan's, one a search. {said}.",
        caption=f"Greedy finds the best plan in {share['greedy']} of the cases, and costs {worst['greedy']} times as much at worst; "
        f"left-deep in {share['left-deep']}, and {worst['left-deep']} times. The simplified graph still has the best plan in {limits}.",
    )


SERIES_SPACE = (
    "star, DPsize",
    "star, DPsub",
    "star, DPhyp",
    "chain, DPsub",
    "chain, DPsize",
    "chain, DPhyp",
)

LABELS_SPACE, Y_SPACE = (
    {name: name for name in SERIES_SPACE},
    "pairs of sets looked at",
)

# Stars and chains on one log axis.
_picture_of_own_join_order_space = Curves(labels=LABELS_SPACE, x_label="tables", y_label=Y_SPACE, x_log=False)

_rows = rows_by("tables", y="tests")


def _rows_of_own_join_order_space(run: Run) -> Rows:
    """All counts; the series names shape and algorithm."""
    named = run.table["shape"] + ", " + run.table["series"]
    return _rows(run.with_table(run.table.assign(series=named).drop(columns="shape")))


@figure("own-join-order-space", rows=_rows_of_own_join_order_space, picture=_picture_of_own_join_order_space)
def own_join_order_space(table: Rows) -> Words:
    """Our own figure: how many candidates DPsize, DPsub and DPhyp look at."""
    largest = table["tables"].max()
    of = _picture_of_own_join_order_space.values(table)[:, largest]
    star, chain = of["star, DPsize"] / of["star, DPhyp"], of["chain, DPsub"] / of["chain, DPhyp"]
    return Words(
        alt=f"Log line chart of {Y_SPACE} against tables. At {largest} tables: {each(of[list(SERIES_SPACE)], '{:.3g}')}.",
        caption=f"For a star of {largest} tables DPsize looks at {star:,.0f} times as many candidates as there are pairs; for a chain DPsub "
        f"is the worst, {chain:,.0f} times.",
    )


# Which graph is planned, its mark, and where on the family's row.
GRAPHS = {"graph from the trace": ("o", BLUE, -0.12), "graph built by us": ("D", VERMILION, 0.12)}


def _rows_of_own_join_order_trace(run: Run) -> Rows:
    """One row a family of queries and comparison: queries, those with equal events, and events."""
    grouped = run.table.groupby(["family", "series"], sort=False, as_index=False)
    return grouped.agg(queries=("is_equal", "size"), equal=("is_equal", "sum"), events=("events", "sum"))


def _picture_of_own_join_order_trace(table: Rows, ax: Axes) -> None:
    """Two marks a family: with the trace's graph and with our own; a hollow ring is the number of queries."""
    families = list(table["family"].unique())
    for series, (marker, colour, shift) in GRAPHS.items():
        mine = table[table["series"] == series]
        at = [families.index(family) + shift for family in mine["family"]]
        ax.plot(mine["queries"], at, "o", color=colour, fillstyle="none", markersize=10)
        ax.plot(mine["equal"], at, marker, color=colour, markersize=5, label=series)
    ax.set_yticks(range(len(families)), families, fontsize=9)
    ax.invert_yaxis()
    ax.set_xscale("log")
    plain_log_ticks(ax.xaxis)
    ax.set_xlabel("queries" if is_narrow(ax) else "queries, log scale (ring: all, filled: equal)")
    ax.grid(axis="x", alpha=0.25)
    legend_above(ax)


@figure("own-join-order-trace", rows=_rows_of_own_join_order_trace, picture=_picture_of_own_join_order_trace)
def own_join_order_trace(table: Rows) -> Words:
    """Our own figure: how many queries have exactly the events of the server's optimizer trace."""
    traced, built = (table[table["series"] == series].sum(numeric_only=True) for series in GRAPHS)
    return Words(
        alt=f"Dot plot of queries by family, all and those with equal events. With the trace's graph {traced['equal']} of "
        f"{traced['queries']} are equal, with our own {built['equal']} of {built['queries']}.",
        caption=f"{traced['equal']} of {traced['queries']} queries have the server's events, all {traced['events']:,} in their order, when the "
        f"graph is read from the trace; {built['equal']} when we build the graph from the SQL.",
    )
