"""Figure 7-24: a stock-level query with the hypergraph optimizer on and off: run, explained and prepared."""

from __future__ import annotations

from engineroom.figures.parts import Dots, Rows, Words, all_rows, as_found, each, ours, ratios

KINDS = {"hypergraph": "run", "planning": "EXPLAIN", "prepare": "PREPARE"}
SERIES = {f"{key}_{how}": f"{how}, {kind}" for key, kind in KINDS.items() for how in ("on", "off")}
LABEL = "seconds (ours: server CPU)"
rows = all_rows
picture = Dots(rows=as_found("query", ("_", " ")), series=SERIES, label=LABEL, log=True)


def words(table: Rows) -> Words:
    """Compare on and off for the published query, then name the query where planning costs most."""
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
