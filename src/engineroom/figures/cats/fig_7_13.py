"""Figure 7-13: the vendor's chart of FIFO and CATS, whose machine and load are not told, beside SysBench's Pareto load."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, compared, with_width

# The rows have the mean response times, too, which are not drawn.
LABELS = {"fifo_tps": "FIFO", "cats_tps": "CATS"}
DRAWN = f"series in {tuple(LABELS)}"
rows = with_width
picture = Curves(labels=LABELS, x_label="clients", y_label="transactions per second", where=DRAWN)


def words(table: Rows) -> Words:
    """Both schedulers, and their ratio beside the published one."""
    return compared(table, LABELS, "transactions per second", over="cats_tps", under="fifo_tps")
