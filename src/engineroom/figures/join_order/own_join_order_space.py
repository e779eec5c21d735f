"""Our own figure: how many candidates DPsize, DPsub and DPhyp look at."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Run, Words, each, rows_by

SERIES = ("star, DPsize", "star, DPsub", "star, DPhyp", "chain, DPsub", "chain, DPsize", "chain, DPhyp")
LABELS, Y = {name: name for name in SERIES}, "pairs of sets looked at"
# Stars and chains on one log axis.
picture = Curves(labels=LABELS, x_label="tables", y_label=Y, x_log=False)
_rows = rows_by("tables", y="tests")


def rows(run: Run) -> Rows:
    """All counts; the series names shape and algorithm."""
    named = run.table["shape"] + ", " + run.table["series"]
    return _rows(run.with_table(run.table.assign(series=named).drop(columns="shape")))


def words(table: Rows) -> Words:
    """Compare the three at the largest size."""
    largest = table["tables"].max()
    of = picture.values(table)[:, largest]
    star, chain = of["star, DPsize"] / of["star, DPhyp"], of["chain, DPsub"] / of["chain, DPhyp"]
    return Words(
        alt=f"Log line chart of {Y} against tables. At {largest} tables: {each(of[list(SERIES)], '{:.3g}')}.",
        caption=f"For a star of {largest} tables DPsize looks at {star:,.0f} times as many candidates as there are pairs; for a chain DPsub "
        f"wastes most, {chain:,.0f} times.",
    )
