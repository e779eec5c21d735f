"""Figure 7-24: a stock-level query with the hypergraph optimizer on and off: run, explained and prepared."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.dots import Dots
from engineroom.figures.wording import Words, each
from engineroom.side_by_side import ours, rows, theirs

__all__ = ["picture", "rows", "words"]

SERIES = {
    "hypergraph_on": "on, run",
    "hypergraph_off": "off, run",
    "planning_on": "on, EXPLAIN",
    "planning_off": "off, EXPLAIN",
    "prepare_on": "on, PREPARE",
    "prepare_off": "off, PREPARE",
}
picture = Dots(
    rows=lambda table: {name: name.replace("_", " ") for name in dict.fromkeys(table["query"])},
    series=SERIES,
    label="seconds (ours: server CPU)",
    log=True,
)


def words(table: pd.DataFrame) -> Words:
    """Compare on and off for the published query, then name the query where planning costs most."""
    of, published = ours(table), theirs(table)
    ms = 1000 * of[:, "source_query"]
    on, off = ms["hypergraph_on"], ms["hypergraph_off"]
    planning = ms["planning_on"] - ms["planning_off"]
    prepared = f" (PREPARE alone takes {ms['prepare_on']:.1f} ms)" if "prepare_on" in ms else ""
    ratios = of["hypergraph_on"] / of["hypergraph_off"]
    (theirs_ratio,) = published["hypergraph_on"] / published["hypergraph_off"]
    slowest = ratios.idxmax()
    return Words(
        alt=f"Dot plot of seconds per query, with the switch on and off. On over off: {each(ratios)}. Published: {theirs_ratio:.1f}.",
        caption=f"The rebuilt query takes {on / off:.2f} times as long with the switch on ({on:.1f} ms against {off:.1f} ms); planning is "
        f"{planning:.1f} ms of the difference{prepared}. Of our queries {slowest.replace('_', ' ')} pays most: "
        f"{ratios[slowest]:.1f} times.",
    )
