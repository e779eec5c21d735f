"""Our own figure: throughput of FIFO and of CATS against the cost of printing one deadlock, with 50 clients and with 300."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engineroom.experiments.cats.print_cost import CLIENTS, Leads
from engineroom.figures.cats import LABELS
from engineroom.figures.parts import Curves, Rows, Run, Words, rows_by
from engineroom.figures.style import GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
_tps = rows_by("clients", "print_us", y="tps", keep=())


def rows(run: Run) -> Rows:
    """Throughput of every seed; a series is a schedule with a number of clients."""
    table = _tps(run)
    table["series"] += ", " + table.pop("clients").astype(str) + " clients"
    table.insert(0, "print_ms", table.pop("print_us") / 1_000)
    return table


def leads(table: Rows, clients: int) -> Leads:
    """CATS over FIFO out of the drawn rows."""
    named = table["series"].str.split(", ", expand=True)
    told = named[1].str.removesuffix(" clients").astype(int)
    return Leads.of(table.assign(series=named[0], clients=told, print_us=1_000 * table["print_ms"]), clients)


def picture(table: Rows, ax: Axes) -> None:
    """The lines; in grey from where to where printing may begin to outweigh the schedule with the most clients."""
    curves(table, ax)
    even_us = leads(table, MOST).even_us()
    ax.axvspan(even_us.low / 1_000, even_us.high / 1_000, color=GREY, alpha=0.3, linewidth=0)


def words(table: Rows) -> Words:
    """Where CATS gets ahead, and from which cost on printing is the larger part of its lead."""
    of = leads(table, MOST)
    free, even_us = of.lead(0), of.even_us()
    cross = {clients: leads(table, clients).crossing_us() for clients in CLIENTS}
    seeds = table["repeat"].nunique()
    crossing = (
        f"no cost at which the two cross: CATS is ahead from 0 ms on with {CLIENTS[0]} clients and with {MOST}"
        if all(each.high == 0 for each in cross.values())
        else "a crossing at "
        + "; ".join(
            f"{each.value / 1_000:.2f} ms ({each.low / 1_000:.2f} to {each.high / 1_000:.2f}) with {n} clients"
            for n, each in cross.items()
        )
    )
    return Words(
        alt=f"{curves.alt(table, '{:,.0f}')} A grey band with {MOST} clients: {even_us.low / 1_000:.2f} to {even_us.high / 1_000:.2f} ms.",
        caption=f"There is {crossing}. With {MOST} clients CATS has {free.times()} the throughput of FIFO without printing. From "
        f"{even_us.value / 1_000:.2f} ms per report on ({even_us.low / 1_000:.2f} to {even_us.high / 1_000:.2f}, the grey band) printing is the larger "
        f"part of its lead. Dots are {seeds} seeds; intervals have nine tenths of 2,000 draws of them.",
    )
