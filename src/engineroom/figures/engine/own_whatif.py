"""Our own figure: throughput that `engineroom whatif` predicts over that of live servers, for three loads of our own."""

from __future__ import annotations

from dataclasses import replace

from engineroom.experiments.engine.whatif_beside import compared
from engineroom.figures.engine import own_engine_live
from engineroom.figures.engine.own_engine_live import picture
from engineroom.figures.parts import Curves, Rows, Run, Words, as_found

__all__ = ["picture", "rows", "words"]

_said = Curves(
    labels=as_found("series"), x_label="clients", y_label="throughput, predicted over measured", y_log=False
)


def rows(run: Run) -> Rows:
    """The prediction over the server's median; a series is a server with a load, and `is_in_range` says whether the range that is told has the server."""
    named = run.table.rename(columns={"load": "distribution"}).replace({"series": {"predicted": "engine"}})
    of = own_engine_live.rows(replace(run, table=named))
    in_range = compared(run)["is_in_range"]
    keys = [(*series.split(", ", 1), n) for series, n in zip(of["series"], of["clients"], strict=True)]
    return of.assign(is_in_range=[bool(in_range[key]) for key in keys])


def words(table: Rows) -> Words:
    """Each line, and how far the predictions are off."""
    of = _said.values(table)
    return Words(
        alt=_said.alt(table, more="A panel per load."),
        caption=f"The what-if beside live servers on two processors: it predicts {of.min():.2f} to {of.max():.2f} times the measured throughput, half of the "
        f"points within {100 * (of - 1).abs().median():.0f} %. The range that it tells has {int(table['is_in_range'].sum())} of {len(table)} measured throughputs.",
    )
