"""Figure 7-25: how the time of the plan search divides into growing sets and connecting pairs."""

from __future__ import annotations

from engineroom.figures.parts import Bar, Bars, Rows, Words, all_rows, ours, theirs

NAMES = ("plan search", "connecting pairs", "growing subgraphs")
PHASES = {name.replace(" ", "_"): Bar(name.replace("subgraphs", "sets")) for name in NAMES}
rows = all_rows
picture = Bars(bars=PHASES, label="CPU time")


def words(table: Rows) -> Words:
    """Name the three shares beside the published ones."""
    share, published = (of["statement"] for of in (ours(table), theirs(table)))
    planner = "MySQL" if "live" in set(table["method"]) else "our kernel"
    pairs, sets = share["connecting_pairs"], share["growing_subgraphs"]
    said, told = (picture.said(of, "{:.0f} percent") for of in (share, published))
    return Words(
        alt=f"Bars of shares of CPU time. Planned by {planner}: {said}. Published: {told}.",
        caption=f"Connecting and pricing pairs takes {'more' if pairs > sets else 'less'} than growing the sets: {pairs:.0f} against "
        f"{sets:.0f} percent of planning by {planner}.",
    )
