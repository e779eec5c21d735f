"""The chapter's figures: of each its rows, its picture and its words."""

from __future__ import annotations

from engineroom.show.figure import figure
from engineroom.show.parts import Curves, Rows, Words, compared, with_width

LABELS_FIG_7_08 = {"before": "one mutex", "after": "two mutexes"}


@figure(
    "fig-7-08",
    rows=with_width,
    picture=Curves(labels=LABELS_FIG_7_08, x_label="clients", y_label="New-Orders per minute"),
)
def fig_7_08(table: Rows) -> Words:
    """Figure 7-8: throughput of TPC-C with one mutex of the transaction system and with two."""
    return compared(
        table,
        LABELS_FIG_7_08,
        "New-Orders per minute",
        over="after",
        under="before",
        where="In our model",
        in_one_unit=True,
    )


LABELS_FIG_7_09 = {"before": "one set", "after": "shards"}


@figure(
    "fig-7-09",
    rows=with_width,
    picture=Curves(labels=LABELS_FIG_7_09, x_label="clients", y_label="New-Orders per minute"),
)
def fig_7_09(table: Rows) -> Words:
    """Figure 7-9: throughput of TPC-C with one set of active transactions and with shards of it."""
    return compared(
        table,
        LABELS_FIG_7_09,
        "New-Orders per minute",
        over="after",
        under="before",
        where="In our model",
        in_one_unit=True,
    )
