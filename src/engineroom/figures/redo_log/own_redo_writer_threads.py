"""Our own figure: throughput and the time of a COMMIT on 9.7 with its log threads on and off, by clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.panels import panels
from engineroom.figures.parts import Curves, Rows, Run, Words, all_rows
from engineroom.figures.style import drawing_of, is_narrow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TPS, MEDIAN, MOST = "transactions per second", "commit, median", "commit, 95 %"
QUANTITIES = {TPS: "transactions_per_second", MEDIAN: "commit_ms_p50", MOST: "commit_ms_p95"}
_THROUGHPUT = Curves(
    labels={"on": "threads on", "off": "threads off"},
    narrow={"on": "on", "off": "off"},
    x="concurrency",
    x_label="clients",
    y_label=TPS,
    where=f"quantity == '{TPS}'",
)
_COMMIT = Curves(
    labels={
        "on, median": "on, 50 %",
        "off, median": "off, 50 %",
        "on, 95 %": "on, 95 %",
        "off, 95 %": "off, 95 %",
    },
    x="concurrency",
    x_label="clients",
    y_label="ms per COMMIT",
    where=f"quantity != '{TPS}'",
)


def rows(run: Run) -> Rows:
    """One row per clients, quantity, setting and repeat; the series of a COMMIT says of which quantile it is."""
    by = ("concurrency", "series")
    parts = []
    for quantity, column in QUANTITIES.items():
        part = all_rows(run, by=by, y=column, keep=()).rename(columns={column: "value"})
        part.insert(1, "quantity", quantity)
        _, _, quantile = quantity.partition(", ")
        parts.append(part.assign(series=part["series"] + (f", {quantile}" if quantile else "")))
    return pd.concat(parts, ignore_index=True)


def picture(table: Rows, ax: Axes) -> None:
    """Throughput in one panel, the median and the 95th percentile of a COMMIT in the other."""
    if is_narrow(ax):
        drawing_of(ax).set_figheight(6.4)
    left, right = panels(ax, wide=(1, 2), narrow=(2, 1), space=(0.08, 0.08), sharey=False)
    _THROUGHPUT(table, left)
    _COMMIT(table, right)


def words(table: Rows) -> Words:
    """Both quantities along the clients, and one client and the most of them."""
    tps = _THROUGHPUT.values(table)
    commit = _COMMIT.values(table)
    most = max(table["concurrency"])
    one, all_ = (
        f"{commit['on, median', n]:.2f} ms with the log threads on and {commit['off, median', n]:.2f} ms with them off"
        for n in (1, most)
    )
    return Words(
        alt=f"Two panels. {_THROUGHPUT.alt(table, '{:.0f}')} {_COMMIT.alt(table)}",
        caption=f"With one client half of the COMMITs take at most {one}; with {most:g}, {all_}. There the server commits "
        f"{tps['off', most] / tps['on', most]:.2f} times as many transactions with them off.",
    )
