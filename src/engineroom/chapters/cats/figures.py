"""The chapter's figures: one quantity each, under FIFO and under CATS, or under all policies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from engineroom.chapters.cats.standings import CLIENTS, Leads, Standing
from engineroom.listing import listed
from engineroom.show.figure import figure
from engineroom.show.panels import panels
from engineroom.show.parts import (
    Curves,
    Rows,
    Run,
    Words,
    all_rows,
    at,
    compared,
    ratios,
    rows_by,
    valued,
    with_width,
)
from engineroom.show.style import GREY, INK, STYLES, Style, drawing_of, is_narrow

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LABELS = {"fifo": "FIFO", "cats": "CATS"}

POLICIES = {
    "fifo": "FIFO",
    "fcfs_5_7": "FIFO of 5.7",
    "cats_8_0_3": "CATS of 8.0.3",
    "cats": "CATS",
    "vats": "VATS",
    "ldsf": "LDSF",
    "bldsf": "bLDSF",
    "random": "chance",
}

LOADS = {
    "pareto": "SysBench, Pareto",
    "special": "SysBench, special",
    "uniform": "SysBench, uniform",
    "tpcc_1": "TPC-C, 1 warehouse",
    "tpcc_32": "TPC-C, 32 warehouses",
}


def named(policies: Sequence[str]) -> str:
    """The policies in words; where most are meant, by those that are not: "all but FIFO of 5.7"."""
    others = [label for key, label in POLICIES.items() if key not in policies]
    if not others:
        return f"all {len(POLICIES)}"
    if len(others) < len(POLICIES) / 2:
        return f"all but {listed(others)}"
    return listed([label for key, label in POLICIES.items() if key in policies])


def _picture(what: str) -> Curves:
    return Curves(labels=LABELS, x_label="clients", y_label=what)


def _words(what: str, over: str = "cats", under: str = "fifo") -> Callable[[Rows], Words]:
    """Both schedulers, and their ratio beside the published one."""
    return partial(compared, labels=LABELS, what=what, over=over, under=under, in_one_unit=what in (TPS, TPM))


TPS, TPM, MS, DEADLOCKS = (
    "transactions per second",
    "New-Orders per minute",
    "milliseconds per transaction",
    "deadlocks per minute",
)


# Figure 7-10: throughput of SysBench's Pareto load, with every deadlock printed, FIFO against CATS.
fig_7_10 = figure("fig-7-10", rows=with_width, picture=_picture(TPS))(_words(TPS))

# Figure 7-11: response time of SysBench's Pareto load, with every deadlock printed, FIFO against CATS.
fig_7_11 = figure("fig-7-11", rows=all_rows, picture=_picture(MS))(_words(MS, "fifo", "cats"))

# Figure 7-12: deadlocks of SysBench's Pareto load, with every deadlock printed, FIFO against CATS.
fig_7_12 = figure("fig-7-12", rows=all_rows, picture=_picture(DEADLOCKS))(_words(DEADLOCKS, "fifo", "cats"))

# The rows have the mean response times, too, which are not drawn.
LABELS_FIG_7_13 = {"fifo_tps": "FIFO", "cats_tps": "CATS"}

DRAWN = f"series in {tuple(LABELS_FIG_7_13)}"


@figure(
    "fig-7-13",
    rows=with_width,
    picture=Curves(labels=LABELS_FIG_7_13, x_label="clients", y_label="transactions per second", where=DRAWN),
)
def fig_7_13(table: Rows) -> Words:
    """Figure 7-13: the vendor's chart of FIFO and CATS, whose machine and load are not told, beside SysBench's Pareto load."""
    return compared(table, LABELS_FIG_7_13, "transactions per second", over="cats_tps", under="fifo_tps")


# Figure 7-17: throughput of SysBench's Pareto load, with no deadlock printed, FIFO against CATS.
fig_7_17 = figure("fig-7-17", rows=with_width, picture=_picture(TPS))(_words(TPS))

PRINTING = {f"{series}_logging": f"{label}, printing" for series, label in LABELS.items()}


@figure(
    "fig-7-18",
    rows=all_rows,
    picture=Curves(labels=LABELS | PRINTING, x_label="clients", y_label="transactions per second"),
)
def fig_7_18(table: Rows) -> Words:
    """Figure 7-18: throughput of SysBench's Pareto load with deadlocks printed and not, FIFO against CATS."""
    silent, told = ratios(table, "cats", "fifo")
    printed, told_printed = ratios(table, "cats_logging", "fifo_logging")
    last = silent.index[-1]
    return Words(
        alt=f"Log-log line chart of transactions per second against clients. CATS over FIFO without printing: {at(silent)}; with "
        f"printing: {at(printed)}. Published without: {at(told)}; with: {at(told_printed)}.",
        caption=f"With {last:g} clients the source's CATS has {told_printed.iloc[-1]:.2f} times the throughput of its FIFO when each deadlock "
        f"is printed, and {told.iloc[-1]:.2f} times when none is. In our model it has {printed[last]:.2f} and {silent[last]:.2f} times.",
    )


# Figure 7-19: TPC-C with 32 warehouses on four sockets, FIFO against CATS.
fig_7_19 = figure("fig-7-19", rows=with_width, picture=_picture(TPM))(_words(TPM))

# Figure 7-20: TPC-C with 32 warehouses on one socket, FIFO against CATS.
fig_7_20 = figure("fig-7-20", rows=with_width, picture=_picture(TPM))(_words(TPM))

# Figure 7-21: TPC-C with 1000 warehouses, FIFO against CATS.
fig_7_21 = figure("fig-7-21", rows=with_width, picture=_picture(TPM))(_words(TPM))

Y = "throughput_over_fifo"

_STYLES = (*STYLES, Style(INK, "*", "-"))

_NARROW_HEIGHT_IN = 9  # five panels, one below another

_tps_own_cats_policies = rows_by("workload", y="tps", keep=())


def _rows_of_own_cats_policies(run: Run) -> Rows:
    """Throughput of every seed over FIFO's mean on the same load."""
    table = _tps_own_cats_policies(run)
    fifo = table[table["series"] == "fifo"].groupby("workload")["tps"].mean()
    return valued(table, Y, table["tps"] / table["workload"].map(fifo))


def _picture_of_own_cats_policies(table: Rows, ax: Axes) -> None:
    """A panel per load with its own axis: every seed faint, the mean large, on its interval."""
    if is_narrow(ax):
        drawing_of(ax).set_figheight(_NARROW_HEIGHT_IN)
    for panel, load in zip_longest(panels(ax, wide=(2, 3), narrow=(5, 1), space=(0.05, 0.05)), LOADS):
        if load is None:
            panel.set_axis_off()
            continue
        of = Standing.of(table, load, Y)
        panel.axvline(1, linewidth=0.8, color=GREY)
        for place, (policy, style) in enumerate(zip(POLICIES, _STYLES, strict=True)):
            seeds = table.query("workload == @load and series == @policy")[Y]
            how: dict[str, Any] = {"marker": style.marker, "color": style.colour, "linestyle": ""}
            panel.hlines(place, of.low[policy], of.high[policy], color=style.colour, linewidth=2)
            panel.plot(seeds, [place] * len(seeds), alpha=0.3, markersize=4, **how)
            panel.plot(of.mean[policy], place, markersize=6, **how)
        panel.set_title(LOADS[load], fontsize=9, loc="left", pad=2)
        panel.set_yticks(range(len(POLICIES)), list(POLICIES.values()), fontsize=9)
        panel.set_ylim(len(POLICIES) - 0.4, -0.6)
        panel.tick_params(labelsize=9)
        panel.locator_params(axis="x", nbins=4)
        panel.grid(axis="x", alpha=0.25)
    drawing_of(ax).supxlabel("throughput over FIFO's", fontsize=10, color=INK)


@figure("own-cats-policies", rows=_rows_of_own_cats_policies, picture=_picture_of_own_cats_policies)
def own_cats_policies(table: Rows) -> Words:
    """Our own figure: throughput of eight policies on five loads, FIFO being 1, with the interval of the seeds: which differences are noise?"""
    of = {load: Standing.of(table, load, Y) for load in LOADS}
    ahead = "; ".join(f"{name}: {named(of[load].leaders())}" for load, name in LOADS.items())
    said = "; ".join(
        f"{name}: "
        + ", ".join(
            f"{label} {of[load].mean[key]:.2f} ({of[load].low[key]:.2f} to {of[load].high[key]:.2f})"
            for key, label in POLICIES.items()
        )
        for load, name in LOADS.items()
    )
    return Words(
        alt=f"Five panels of dots: throughput over FIFO's, a row per policy. {said}.",
        caption=f"The fastest policy on each load, and those from which it does not differ: {ahead}. Faint dots are the "
        f"{table['repeat'].nunique()} seeds, large ones their mean, bars its interval of 95 % by Student's t. Two policies differ where their bars "
        "do not overlap. Each panel has a scale of its own.",
    )


MOST = max(CLIENTS)

curves = Curves(
    labels={
        f"{series}, {clients} clients": f"{label}, {clients} clients"
        for clients in CLIENTS
        for series, label in LABELS.items()
    },
    narrow={
        f"{series}, {clients} clients": f"{label}, {clients}"
        for clients in CLIENTS
        for series, label in LABELS.items()
    },
    x="print_ms",
    x_label="cost of printing one deadlock, ms",
    y_label="transactions per second",
    x_log=False,
    y_log=False,
)

_tps_own_cats_print_cost = rows_by("clients", "print_us", y="tps", keep=())


def _rows_of_own_cats_print_cost(run: Run) -> Rows:
    """Throughput of every seed; a series is a schedule with a number of clients."""
    table = _tps_own_cats_print_cost(run)
    table["series"] += ", " + table.pop("clients").astype(str) + " clients"
    table.insert(0, "print_ms", table.pop("print_us") / 1_000)
    return table


def leads(table: Rows, clients: int) -> Leads:
    """CATS over FIFO out of the drawn rows."""
    named = table["series"].str.split(", ", expand=True)
    told = named[1].str.removesuffix(" clients").astype(int)
    return Leads.of(table.assign(series=named[0], clients=told, print_us=1_000 * table["print_ms"]), clients)


def _picture_of_own_cats_print_cost(table: Rows, ax: Axes) -> None:
    """The lines; in grey from where to where printing may begin to outweigh the schedule with the most clients."""
    curves(table, ax)
    even_us = leads(table, MOST).even_us()
    ax.axvspan(even_us.low / 1_000, even_us.high / 1_000, color=GREY, alpha=0.3, linewidth=0)


@figure("own-cats-print-cost", rows=_rows_of_own_cats_print_cost, picture=_picture_of_own_cats_print_cost)
def own_cats_print_cost(table: Rows) -> Words:
    """Our own figure: throughput of FIFO and of CATS against the cost of printing one deadlock, with 50 clients and with 300."""
    of = leads(table, MOST)
    free, even_us = of.lead(0), of.even_us()
    cross = {clients: leads(table, clients).crossing_us() for clients in CLIENTS}
    seeds = table["repeat"].nunique()
    crossing = (
        f"CATS is ahead at every cost, even at none, with {CLIENTS[0]} clients and with {MOST}"
        if all(each.high == 0 for each in cross.values())
        else "The two cross at "
        + "; ".join(
            f"{each.value / 1_000:.2f} ms ({each.low / 1_000:.2f} to {each.high / 1_000:.2f}) with {n} clients"
            for n, each in cross.items()
        )
    )
    return Words(
        alt=f"{curves.alt(table, '{:,.0f}')} A grey band with {MOST} clients: {even_us.low / 1_000:.2f} to {even_us.high / 1_000:.2f} ms.",
        caption=f"{crossing}. With {MOST} clients and no printing CATS has {free.times()} the throughput of FIFO. From "
        f"{even_us.value / 1_000:.2f} ms per report on ({even_us.low / 1_000:.2f} to {even_us.high / 1_000:.2f}, the grey band) printing is the larger "
        f"part of its lead. Dots are {seeds} seeds; intervals span nine tenths of 2,000 draws of them.",
    )
