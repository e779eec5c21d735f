"""Figure 7-3: throughput of TPC-C on 5.7 as it is, with other latches, and with another redo log as well."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, compared, with_width

LABELS = {"original": "5.7", "patched": "5.7, patched", "new_redo": "with the redo log of 8.0"}
SHORT = {"patched": "patched", "new_redo": "redo of 8.0"}
rows = with_width
picture = Curves(labels=LABELS, narrow=SHORT, x_label="clients", y_label="transactions per minute")


def words(table: Rows) -> Words:
    """The patched engine over the original, beside the published ratio."""
    return compared(table, LABELS, "transactions per minute", over="patched", under="original")
