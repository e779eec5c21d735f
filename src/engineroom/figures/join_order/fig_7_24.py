"""Figure 7-24: a stock-level query with the hypergraph optimizer on and off: run, explained and prepared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom import published
from engineroom.figures.drawing import BLUE, GREEN, INK, ORANGE, PURPLE, SKY, VERMILION, Words
from engineroom.figures.lines import is_narrow, plain_log_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["best", "picture", "rows", "words"]

SERIES = {
    "hypergraph_on": ("on, run", "o", VERMILION),
    "hypergraph_off": ("off, run", "s", BLUE),
    "planning_on": ("on, EXPLAIN", "^", ORANGE),
    "planning_off": ("off, EXPLAIN", "v", SKY),
    "prepare_on": ("on, PREPARE", "P", GREEN),
    "prepare_off": ("off, PREPARE", "X", PURPLE),
}


def rows(run: Run) -> pd.DataFrame:
    """Our repeats, then the published seconds as rows of `source` "published"."""
    ours = run.table[["query", "series", "repeat", "statement_s"]].assign(source="ours")
    theirs = published.rows("fig-7-24").assign(repeat=0, source="published")
    return pd.concat([ours, theirs], ignore_index=True)


def best(table: pd.DataFrame) -> pd.Series[float]:
    """Best of our repeats by query and series."""
    return table[table["source"] == "ours"].groupby(["query", "series"])["statement_s"].min()


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """One line a query: a dot a repeat, the best one large; hollow marks are the published seconds."""
    names = list(dict.fromkeys(table["query"]))
    for series, (text, marker, colour) in SERIES.items():
        mine = table[(table["series"] == series) & (table["source"] == "ours")]
        if mine.empty:
            continue  # runs before a series was measured
        at = [names.index(query) for query in mine["query"]]
        ax.plot(mine["statement_s"], at, marker, color=colour, alpha=0.3, markersize=4)
        least = mine.groupby("query")["statement_s"].min()
        ax.plot(
            least,
            [names.index(query) for query in least.index],
            marker,
            color=colour,
            markersize=8,
            label=text,
        )
        theirs = table[(table["series"] == series) & (table["source"] == "published")]
        ax.plot(
            theirs["statement_s"],
            [names.index(query) - 0.3 for query in theirs["query"]],
            marker,
            color=INK,
            fillstyle="none",
            markersize=8,
        )
    ax.set_yticks(range(len(names)), [name.replace("_", " ") for name in names], fontsize=9)
    ax.invert_yaxis()
    ax.set_xscale("log")
    plain_log_ticks(ax.xaxis)
    ax.grid(axis="x", alpha=0.25)
    ax.set_xlabel(
        "CPU s, log scale" if is_narrow(ax) else "seconds, log scale (ours: server CPU; hollow: published)"
    )
    drawing = ax.get_figure(root=True)
    assert drawing is not None
    drawing.legend(loc="outside upper center", ncols=2 if is_narrow(ax) else 3, fontsize=9)


def words(table: pd.DataFrame) -> Words:
    """Compare on and off for the published query, then name the query where planning costs most."""
    least = best(table)
    on, off = (least["source_query", f"hypergraph_{switch}"] for switch in ("on", "off"))
    planning = least["source_query", "planning_on"] - least["source_query", "planning_off"]
    prepared = ""
    if ("source_query", "prepare_on") in least.index:
        prepared = f" (PREPARE alone takes {1000 * least['source_query', 'prepare_on']:.1f} ms)"
    queries = sorted({str(query) for query, _ in least.index})
    ratios = {q: float(least[q, "hypergraph_on"] / least[q, "hypergraph_off"]) for q in queries}
    slowest = max(ratios, key=ratios.__getitem__)
    listed = ", ".join(f"{query.replace('_', ' ')} {ratio:.2f}" for query, ratio in ratios.items())
    return Words(
        alt=f"Dot plot of seconds a query, with the switch on and off. On over off: {listed}. Published: 29.3.",
        caption=(
            f"The rebuilt query takes {on / off:.2f} times as long with the switch on ({1000 * on:.1f} ms against "
            f"{1000 * off:.1f} ms); planning is {1000 * planning:.1f} ms of the difference{prepared}. Of our queries "
            f"{slowest.replace('_', ' ')} pays most: {ratios[slowest]:.1f} times."
        ),
    )
