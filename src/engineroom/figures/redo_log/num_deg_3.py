"""The degradation article's statement on committing a mini-transaction: nanoseconds in the instructions of 5.7 and 8.0."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, all_rows, ours
from engineroom.summary import how_of

LABELS = {"mtr_5_7": "5.7", "mtr_8_0": "8.0", "mtr_8_0_writer_threads_off": "8.0, writer threads off"}
SHORT = {"mtr_8_0_writer_threads_off": "8.0 off"}
rows = all_rows
picture = Curves(labels=LABELS, narrow=SHORT, x_label="threads", y_label="ns per commit")


def words(table: Rows) -> Words:
    """One thread, and the most; the source gives no number."""
    most = ours(table)["mtr_8_0"].index[-1]
    old, new, off = ([f"{ours(table)[series, threads]:.0f}" for threads in (1, most)] for series in LABELS)
    at_best = "at best " if how_of(table) == "min" else ""
    return Words(
        alt=picture.alt(table, "{:.0f}"),
        caption=f"Alone, a commit takes {at_best}{old[0]} ns in the design of 5.7; in the design of 8.0 {off[0]} ns with the log's threads "
        f"off and {new[0]} with them on. With {most:g} threads: {old[1]}, {off[1]} and {new[1]} ns.",
    )
