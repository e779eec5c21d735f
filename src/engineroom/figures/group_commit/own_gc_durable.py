"""Our own figure: fsyncs of both logs per transaction where each commit is durable, by design and clients, simulated."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, rows_by

LABELS = {"serialised": "5.5", "original": "5.6", "modified": "5.7.6"}
rows = rows_by("threads", y="fsyncs_per_transaction")
picture = Curves(labels=LABELS, x_label="clients", y_label="fsyncs of both logs per transaction")


def words(table: Rows) -> Words:
    """All points, and the last of each line."""
    last = table["threads"].max()
    serialised, original, modified = (picture.values(table)[series, last] for series in LABELS)
    return Words(
        alt=picture.alt(table),
        caption=f"With {last:g} clients a durable commit takes {serialised:.2f} fsyncs as 5.5 did it, {original:.2f} in the stages of 5.6 "
        f"and {modified:.2f} with one redo flush per group.",
    )
