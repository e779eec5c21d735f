"""The degradation article's statement on committing a mini-transaction: nanoseconds in the instructions of 5.7 and 8.0."""

from __future__ import annotations

import pandas as pd

from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words, at
from engineroom.side_by_side import ours, rows
from engineroom.summary import how_of

__all__ = ["picture", "rows", "words"]

LABELS = {"mtr_5_7": "5.7", "mtr_8_0": "8.0", "mtr_8_0_writer_threads_off": "8.0, writer threads off"}
picture = Curves(
    labels=LABELS,
    narrow={"mtr_8_0_writer_threads_off": "8.0 off"},
    x_label="threads",
    y_label="ns per commit",
)


def words(table: pd.DataFrame) -> Words:
    """One thread, and the most; the source gives no number."""
    of = ours(table)
    old, off, new = (of[series] for series in ("mtr_5_7", "mtr_8_0_writer_threads_off", "mtr_8_0"))
    most = new.index[-1]
    at_best = "at best " if how_of(table) == "min" else ""
    said = "; ".join(f"{label}: {at(of[series], '{:.0f}')}" for series, label in LABELS.items())
    return Words(
        alt=f"Log-log line chart of nanoseconds per committed mini-transaction against threads. {said}.",
        caption=f"Alone, a commit takes {at_best}{old.iloc[0]:.0f} ns in the design of 5.7; in the design of 8.0 {off.iloc[0]:.0f} ns with the "
        f"log's threads off and {new.iloc[0]:.0f} with them on. With {most:g} threads: {old[most]:.0f}, {off[most]:.0f} and "
        f"{new[most]:.0f} ns.",
    )
