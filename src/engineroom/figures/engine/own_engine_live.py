"""Our own figure: throughput of the simulated engine over that of the live server that it models, from one client up."""

from __future__ import annotations

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words, at
from engineroom.runs import Run
from engineroom.side_by_side import ours

__all__ = ["picture", "rows", "words"]


def rows(run: Run) -> pd.DataFrame:
    """The engine's throughput over the server's median; a series is a server with the distribution of the rows that are drawn."""
    table = side_by_side.rows(run, by=("clients", "server", "distribution", "series"), y="tps", keep=())
    compared = side_by_side.over(
        table, "engine_over_server", "series == 'server'", "clients", "server", "distribution"
    )
    engine = compared[compared["series"] == "engine"]
    named = engine.assign(series=engine["server"] + ", " + engine["distribution"])
    return named.drop(columns=["server", "distribution"]).reset_index(drop=True)


def _labels(table: pd.DataFrame) -> dict[str, str]:
    return {name: name for name in table["series"].unique()}


picture = Curves(labels=_labels, x_label="clients", y_label="throughput, engine over server", y_log=False)


def words(table: pd.DataFrame) -> Words:
    """Each line, and how far the engine is off with one client and with more."""
    of = ours(table)
    said = "; ".join(f"{name}: {at(of[name], '{:.2f}')}" for name in _labels(table))
    alone = of.xs(1, level="clients")
    more = of[of.index.get_level_values("clients") > 1]
    return Words(
        alt=f"Line chart of the simulated engine's throughput over the live server's against clients. {said}.",
        caption=f"With one client the engine is {alone.min():.2f} to {alone.max():.2f} times as fast as the server: the way of a message between "
        f"the two processes is left out. From two clients on it lies between {more.min():.2f} and {more.max():.2f}, half of the points within "
        f"{100 * (more - 1).abs().median():.0f} %.",
    )
