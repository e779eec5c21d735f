"""The chapter's figures: of each its rows, its picture and its words."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from engineroom.servers.catalogue import series_of
from engineroom.show.figure import figure
from engineroom.show.parts import (
    Bar,
    Bars,
    Curves,
    Ranked,
    Rows,
    Run,
    Words,
    all_rows,
    by_release,
    each,
    ends,
    ours,
    release,
    rows_by,
    theirs,
    valued,
)
from engineroom.show.steps import Steps, states
from engineroom.show.style import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, is_narrow, note

if TYPE_CHECKING:
    from matplotlib.axes import Axes


picture = Ranked(
    series={
        "index_nested_loop": "index nested loop",
        "reversed_order_without_hash": "reversed, no hash join",
        "hash_join": "reversed, hash join",
        "hash_join_on_district": "districts hashed",
    },
    narrow={
        "index_nested_loop": "index",
        "reversed_order_without_hash": "reversed",
        "hash_join": "hash",
        "hash_join_on_district": "hash, other side",
    },
    order=release,
    label="seconds (published: the client's clock; ours: CPU time)",
    form="{:.2f} s",
    log=True,
)


def times(table: pd.DataFrame) -> pd.Series[Any]:
    """Our seconds by plan and server, the oldest server first."""
    of = ours(table)
    return of.reindex(sorted(set(of.index.get_level_values("server")), key=release), level="server")


def slopes(of: pd.Series[Any], *, log: bool = False) -> pd.Series[float]:
    """The slope of each series' line along x; with `log` that of its logarithm along the logarithm of x."""
    scaled = np.log if log else np.asarray

    def slope(line: pd.Series[Any]) -> float:
        return float(np.polyfit(scaled(line.index.get_level_values(1)), scaled(line), 1)[0])

    return of.groupby(level="series").apply(slope)


@figure("fig-7-22", rows=all_rows, picture=picture)
def fig_7_22(table: Rows) -> Words:
    """Figure 7-22: the index nested loop that the source measured on MySQL 5.7, beside the other plans of its query."""
    ours, published = (
        [each(of[plan], "{:.2f} s", named="{1} on {0}") for plan in ("index_nested_loop", "hash_join")]
        for of in (times(table), theirs(table))
    )
    least, most = times(table)["index_nested_loop"].min(), times(table)["hash_join"].max()
    return Words(
        alt=f"Dot plot of seconds by plan. Index nested loop: {ours[0]}. Hash join: {ours[1]}. Published: {published[0]} for the index "
        f"nested loop and {published[1]} for the hash join.",
        caption=f"The index nested loop takes {'longer' if least > most else 'no longer'} than the hash join: {least:.2f} s on its "
        f"fastest server against {most:.2f} s on its slowest.",
    )


@figure("fig-7-23", rows=all_rows, picture=picture)
def fig_7_23(table: Rows) -> Words:
    """Figure 7-23: the hash join that the source measured on MySQL 8.0, with the order and the algorithm told apart."""
    best = times(table).groupby(level="series").min()
    loop, hashed = best["index_nested_loop"], best["hash_join"]
    old, new = (theirs(table)[plan].iloc[0] for plan in ("index_nested_loop", "hash_join"))
    reversed_ = times(table)["reversed_order_without_hash"]
    servers = [server for server in times(table)["hash_join"].index if server in reversed_.index]
    alone = ", ".join(f"{reversed_[server]:.2f} s on {server}" for server in servers)
    return Words(
        alt=f"Dot plot of seconds by plan. The best index nested loop takes {loop:.2f} s, the best hash join {hashed:.2f} s, the same order without it {alone}. "
        f"Published: {old:.2f} s and {new:.2f} s.",
        caption=f"The hash join is {loop / hashed:.2f} times as fast as the index loop, each on its best server (published {old / new:.2f}). "
        f"The new order alone does not explain it: without a hash join it takes {alone}.",
    )


LABELS_KERNELS = {
    "nested_loop": "nested loop",
    "block_nested_loop": "block nested loop",
    "index_nested_loop": "index nested loop",
    "hybrid_256_kib": "hash join, 256 KiB",
    "hybrid_in_memory": "hash join in memory",
    "fast": "our fast one",
}


def _rows_own_hash_join_kernels(n: float) -> str:
    return f"{n / 1e6:g} M" if n >= 1e6 else f"{n / 1000:g}k"


# A flat line is a join whose cost per row does not depend on the size.
_picture_of_own_hash_join_kernels = Curves(
    labels=LABELS_KERNELS,
    x_label="rows on each side",
    y_label="CPU ns per probe row",
    tick=_rows_own_hash_join_kernels,
)


def spilling(table: Rows) -> pd.Series[float]:
    """By rows, how many times the join in memory costs the one that spills, where it does spill."""
    spilled = table[(table["series"] == "hybrid_256_kib") & (table["bytes_written"] > 0)]["rows"].unique()
    costs: pd.Series[float] = ours(table)["hybrid_256_kib"] / ours(table)["hybrid_in_memory"]
    return costs.loc[sorted(spilled)]


@figure(
    "own-hash-join-kernels",
    rows=rows_by("rows", y="cpu_ns_per_probe_row"),
    picture=_picture_of_own_hash_join_kernels,
)
def own_hash_join_kernels(table: Rows) -> Words:
    """Our own figure: CPU time per probe row of each join kernel, as both inputs grow."""
    of, spill = ours(table), spilling(table).rename(_rows_own_hash_join_kernels)
    most = table["rows"].max()
    costs = " and ".join(f"{spill[n]:.2g} times at {n} rows" for n in spill.index[[0, -1]])
    return Words(
        alt=_picture_of_own_hash_join_kernels.alt(
            table, "{:.0f} ns", told=lambda line, form: ends(line.rename(_rows_own_hash_join_kernels), form)
        ),
        caption=f"A hash join that spills costs {costs} what it costs in memory; our fast kernel takes "
        f"1/{of['hybrid_in_memory', most] / of['fast', most]:.0f} of that at {_rows_own_hash_join_kernels(most)} rows.",
    )


LABELS_BUFFER = {
    "block_nested_loop": "block nested loop",
    "refill": "hash join, refill",
    "spill": "hash join, spill",
}

curves = Curves(
    labels=LABELS_BUFFER,
    x_label="join_buffer_size in KiB",
    y_label="rows read",
    tick=lambda size: f"{size / 1024:g}",
)


def _picture_of_own_hash_join_buffer(table: Rows, ax: Axes) -> None:
    """Rows read against the buffer; the number of temporary files stands under the spilling points."""
    curves(table, ax)
    ax.set_ylim(bottom=ax.get_ylim()[0] / 1.6)
    spilled = table[(table["series"] == "spill") & (table["temporary_files"] > 0)]
    files = spilled.groupby("join_buffer_bytes")[["temporary_files", "rows_read"]].first()
    shown = files[files.index.isin(ax.get_xticks())]
    for size, n, read in shown.itertuples():
        # The unit stands where there is room to the right.
        note(ax, str(n), (size, read), (0, -14))
        if size == shown.index.max():
            note(ax, "files", (size, read), (6, -14), ha="left")


def _bytes(size: int) -> str:
    return f"{size // 1048576} MiB" if size >= 1048576 else f"{size // 1024} KiB"


@figure(
    "own-hash-join-buffer",
    rows=rows_by("join_buffer_bytes", y="rows_read"),
    picture=_picture_of_own_hash_join_buffer,
)
def own_hash_join_buffer(table: Rows) -> Words:
    """Our own figure: what `join_buffer_size` changes. A spilling hash join reads each row once whatever the buffer."""
    read = curves.values(table)
    small, large = table["join_buffer_bytes"].min(), table["join_buffer_bytes"].max()
    files = table[table["series"] == "spill"].groupby("join_buffer_bytes")["temporary_files"].first()
    return Words(
        alt=curves.alt(table, "{:g}", told=lambda line, form: ends(line.rename(_bytes), form)),
        caption=f"The spilling hash join reads {read['spill', small]:g} rows at every buffer and pays in files: "
        f"{files[small]} at {_bytes(small)}, {files[large]} at {_bytes(large)}. Under LIMIT it may not spill and reads "
        f"{read['refill', small] / read['refill', large]:.1f} times as many rows with the smallest buffer.",
    )


def _labels(table: Rows) -> dict[str, str]:
    algorithm = dict(zip(table["series"], table["algorithm"], strict=True))
    return {server: f"{server}, {algorithm[server]}" for server in by_release(table)}


def growth(table: Rows) -> pd.Series[float]:
    """Slope of log(CPU) over log(rows) by version: 2 is quadratic, 1 linear."""
    return slopes(ours(table), log=True)


# A slope of 2 is quadratic, of 1 linear.
@figure(
    "own-hash-join-no-index",
    rows=rows_by("rows_per_table", y="server_cpu_s"),
    picture=Curves(labels=_labels, x_label="rows in each table", y_label="CPU s of the server"),
)
def own_hash_join_no_index(table: Rows) -> Words:
    """Our own figure: a join without an index, by version. The block nested loop's work is quadratic, the hash join's linear."""
    largest = table["rows_per_table"].max()
    of, slope = ours(table)[:, largest], growth(table)
    slow, fast = str(of.idxmax()), str(of.idxmin())
    said = "; ".join(
        f"{server} {of[server]:.3g} s, slope {slope[server]:.1f}" for server in by_release(table)
    )
    return Words(
        alt=f"Log-log line chart of server CPU time against rows in each table. At {largest} rows: {said}.",
        caption=f"At {largest} rows {slow} takes {of[slow] / of[fast]:.0f} times the CPU time of {fast}. "
        f"Doubling the tables costs {2 ** slope[slow]:.1f} times as much on {slow} and {2 ** slope[fast]:.1f} times on {fast}.",
    )


PHASES = {
    "build": Bar("build", BLUE),
    "probe": Bar("probe", GREEN, "//"),
    "spill_write": Bar("write chunks", VERMILION, "xx"),
    "spill_read": Bar("read chunks", ORANGE, ".."),
    "chunk_join": Bar("join chunks", PURPLE, "\\\\"),
}

_picture_of_own_hash_join_panel = Bars(bars=PHASES, label="share of counted work")

_rows_own_hash_join_panel = rows_by("phase", y="work")


def _rows_of_own_hash_join_panel(run: Run) -> Rows:
    """A row a phase with its share of the counted work."""
    table = _rows_own_hash_join_panel(run)
    return valued(table, "share_percent", 100 * table["work"] / table["work"].sum())


@figure("own-hash-join-panel", rows=_rows_of_own_hash_join_panel, picture=_picture_of_own_hash_join_panel)
def own_hash_join_panel(table: Rows) -> Words:
    """Our own figure: counted work by phase of one hash join, for the lab's control panel."""
    share, first = ours(table).droplevel("series"), table.iloc[0]
    return Words(
        alt=f"Bar chart of counted work by phase: {_picture_of_own_hash_join_panel.said(share)}.",
        caption=f"{first['chunk_files']} chunk files, {first['bytes_written']:,} bytes written, {first['bytes_read']:,} read, "
        f"{first['passes']} passes. Work is counted, not timed.",
    )


# The second name is a phone's.
LANES = {
    "build_stored": ("build row into memory", "memory", BLUE, "s"),
    "build_to_chunk": ("build row to chunk", "build → file", VERMILION, "v"),
    "probe_lookup": ("probe row looked up", "look-up", GREEN, "o"),
    "probe_to_chunk": ("probe row to chunk", "probe → file", VERMILION, "^"),
    "build_stored_from_chunk": ("build row from chunk", "file → memory", SKY, "s"),
    "probe_lookup_from_chunk": ("probe row from chunk", "file → look-up", PURPLE, "o"),
    "output": ("result row", "result", ORANGE, "D"),
}

ALONG = "steps", " of the join (dotted: the buffer is full; a pair of chunks is loaded)"


def _rows_of_own_hash_join_phases(run: Run) -> Rows:
    """The steps in their order."""
    return run.table


def _picture_of_own_hash_join_phases(table: Rows, ax: Axes) -> None:
    """Time runs to the right, one lane a kind of step; dotted lines mark a full buffer and a loaded pair of chunks."""
    narrow, at = is_narrow(ax), table.groupby("step")["order"].apply(list).get
    for lane, (step, (_, _, colour, marker)) in enumerate(LANES.items()):
        places = at(step, [])
        ax.plot(places, [lane] * len(places), marker, color=colour, markersize=4 if narrow else 6)
    for place in at("buffer_full", []):
        ax.axvline(place, linestyle=":", color=VERMILION, linewidth=1)
        note(ax, "full", (place, -0.7), (3, 0), ha="left", color=VERMILION)
    for place in at("chunk_loading", []):
        ax.axvline(place, linestyle=":", color=SKY, linewidth=1)
    ax.set_yticks(range(len(LANES)), [short if narrow else long for long, short, _, _ in LANES.values()])
    ax.set_ylim(len(LANES) - 0.5, -1.1)
    ax.set_xlabel("".join(ALONG[:1] if narrow else ALONG))


@figure("own-hash-join-phases", rows=_rows_of_own_hash_join_phases, picture=_picture_of_own_hash_join_phases)
def own_hash_join_phases(table: Rows) -> Words:
    """Our own figure: a small hash join step by step, from the kernel's trace. Build, probe, then the chunk pairs."""
    n = table["step"].value_counts().reindex(list(LANES), fill_value=0)
    pairs = table.loc[table["step"] == "build_to_chunk", "chunk"].nunique()
    said = ", ".join(f"{long} {n[step]} times" for step, (long, *_) in LANES.items())
    return Words(
        alt=f"Timeline of the steps of one hash join that spills, one lane a kind of step: {said}.",
        caption=f"{n['build_stored']} build rows fit into memory and {n['build_to_chunk']} go to {pairs} chunk files. So do all "
        f"{n['probe_lookup']} probe rows, once they are looked up; then the pairs of chunks are joined one by one.",
    )


SECONDS = ("before_cpu_s", "after_cpu_s")

# In the other order no index fits, so the order cannot be changed alone.
CHANGES = ("version", "order and index", "algorithm")

STATES = {
    "index loop": "index_nested_loop",
    "reversed, no hash": "reversed_order_without_hash",
    "reversed, hash join": "hash_join",
}


def three_changes(cpu_s: pd.Series[Any], *, old: str, new: str) -> pd.DataFrame:
    """Split the step from `old`'s index nested loop to `new`'s hash join into version, order with index, and algorithm.

    `cpu_s` has the seconds by server and plan. Each row is one change with the seconds before and after it and their ratio; the product
    of the three ratios is the whole step, by construction.
    """
    seconds = [cpu_s[old, "index_nested_loop"], *(cpu_s[new, plan] for plan in STATES.values())]
    steps = pd.DataFrame(pairwise(seconds), index=CHANGES, columns=SECONDS)
    return steps.assign(before_per_after=steps[SECONDS[0]] / steps[SECONDS[1]]).reset_index(names="change")


def _rows_of_own_hash_join_three_changes(run: Run) -> Rows:
    """A row per change from the oldest server to the newest: state and seconds before and after, and their ratio."""
    old, *_, new = sorted(set(run.table["server"]), key=release)
    named = [f"{series_of(old)}, index loop", *(f"{series_of(new)}, {state}" for state in STATES)]
    steps = three_changes(run.values("server", "series", y="server_cpu_s"), old=old, new=new)
    return steps.assign(before=named[:-1], after=named[1:])


@figure(
    "own-hash-join-three-changes",
    rows=_rows_of_own_hash_join_three_changes,
    picture=Steps(values=SECONDS, label="server CPU s", form="{:.2f} s"),
)
def own_hash_join_three_changes(table: Rows) -> Words:
    """Our own figure: what the sources changed at once, one change at a time, from the run of figure 7-22."""
    version, order, algorithm = table["before_per_after"]
    return Words(
        alt=f"Step chart of server CPU seconds over four states: {each(dict(zip(*states(table, SECONDS), strict=True)), '{:.2f} s')}.",
        caption=f"One change at a time: the new version divides the time by {version:.2f}, the new "
        f"{table['change'].iloc[1]} multiplies it by {1 / order:.1f}, and the hash join divides it by {algorithm:.1f}.",
    )


LABELS_WAREHOUSES = {
    "index_nested_loop": "index loop",
    "hash_join": "hash on order lines",
    "hash_join_on_district": "hash on districts",
}

X, Y = "warehouses = partners of each order line", "CPU µs per order line"

# A plan whose cost per row is constant is a flat line.
_picture_of_own_hash_join_warehouses = Curves(
    labels=LABELS_WAREHOUSES, x_label=X, y_label=Y, x_log=False, y_log=False
)

_rows_own_hash_join_warehouses = rows_by("warehouses", y="server_cpu_s")


def _rows_of_own_hash_join_warehouses(run: Run) -> Rows:
    """CPU microseconds per order line, for each repeat."""
    table = _rows_own_hash_join_warehouses(run)
    reads_once = run.values("warehouses", y="rows_read", where="series == 'hash_join'")
    cost = 1e6 * table["server_cpu_s"] / table["warehouses"].map(reads_once)
    return valued(table, "cpu_us_per_order_line", cost)


def crossing(table: Rows) -> int | None:
    """The fewest warehouses from which the index loop is the slowest of the three plans, or None."""
    slowest = ours(table).unstack("series").idxmax(axis=1) == "index_nested_loop"
    return next((int(count) for count in slowest.index if slowest.loc[count:].all()), None)


def partner_cost_us(table: Rows) -> pd.Series[float]:
    """CPU microseconds that one more partner of an order line costs in each plan: the slope of its line."""
    return slopes(ours(table))


@figure(
    "own-hash-join-warehouses",
    rows=_rows_of_own_hash_join_warehouses,
    picture=_picture_of_own_hash_join_warehouses,
)
def own_hash_join_warehouses(table: Rows) -> Words:
    """Our own figure: the sources' query as warehouses grow. The index loop reads each order line once per warehouse."""
    of, place = ours(table), crossing(table)
    few, many = table["warehouses"].min(), table["warehouses"].max()
    loop, hashed = (of[series, many] / of[series, few] for series in ("index_nested_loop", "hash_join"))
    crosses = (
        f"From {place} warehouses on the index loop is the slowest plan."
        if place
        else "It is never the slowest here."
    )
    return Words(
        alt=_picture_of_own_hash_join_warehouses.alt(table, "{:.2f} µs", told=ends),
        caption=f"From {few} to {many} warehouses the index loop's cost per row grows {loop:.0f}-fold, the hash join's "
        f"{hashed:.1f}-fold. {crosses}",
    )
