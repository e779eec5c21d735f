"""Our own figure: what sharded row locks are worth if latches are held as long as a server's at most (figure 7-7's engines)."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from engineroom import published
from engineroom.figures.compared import WIDTH, known_ratios
from engineroom.figures.parts import Curves, Rows, Run, Words, all_rows, at
from engineroom.runs import newest
from engineroom.side_by_side import PUBLISHED

OF = "fig-7-07"
LABELS = {"recorded": "as recorded", "half": "half the difference", "as sampled": "as sampled"}
WHAT = "shards over one mutex"
picture = Curves(labels={**LABELS, OF: "figure 7-7"}, x_label="clients", y_label=WHAT, y_log=False)


def rows(run: Run) -> Rows:
    """The ratio by ways of holding latches and clients, of each repeat; and the published one."""
    simulated = pd.concat([newest(OF, "sim").table.assign(held="recorded"), run.tables[OF]])
    of_ways = simulated[simulated["held"].isin(list(LABELS))]
    by = of_ways.pivot(index=["held", "concurrency", "repeat"], columns="series", values=["tpmC", WIDTH])
    gains = pd.DataFrame(
        {
            "gain": by["tpmC"]["after"] / by["tpmC"]["before"],
            WIDTH: by[WIDTH]["after"].combine(by[WIDTH]["before"], max),
        }
    )
    gains = gains.reset_index().rename(columns={"held": "series"})
    made = all_rows(
        replace(run, table=gains, tables={}), by=("concurrency", "series"), y="gain", keep=(WIDTH,)
    )
    theirs = published.in_our_columns(OF).pivot(index="concurrency", columns="series", values="tpmC")
    gain = (theirs["after"] / theirs["before"]).rename("gain").reset_index()
    there = gain.assign(series=OF, repeat=0, source=PUBLISHED, method="")
    return pd.concat([made, there], ignore_index=True)


def words(table: Rows) -> Words:
    """Each way, where they begin to differ, and what the source has there."""
    of = picture.values(table)
    theirs = table[table["source"] == PUBLISHED].set_index("concurrency")["gain"]
    recorded, sampled = of["recorded"], of["as sampled"]
    first = next(int(n) for n in sampled.index if sampled[n] > 1.2)
    known, beyond = known_ratios(table, sampled)
    last = int(known.index[-1])
    said = "; ".join(f"{label}: {at(of[way])}" for way, label in LABELS.items())
    return Words(
        alt=f"Curves of throughput with shards over that with one mutex, by clients. {said}. Published: {at(theirs)}.",
        caption=f"With {first} clients shards are worth a factor of {recorded[first]:.2f} as recorded, and {sampled[first]:.2f} if latches are held as "
        f"long as a server's at most; published is {theirs[first]:.2f}. With {last}, {recorded[last]:.2f}, {sampled[last]:.2f} and {theirs[last]:.2f}.{beyond}",
    )
