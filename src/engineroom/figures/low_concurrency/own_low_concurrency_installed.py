"""Our own figure: the newest server over 5.7, operation by operation, with equal settings and with each version's own.

Made of the run of `own-low-concurrency-operations`.
"""

from __future__ import annotations

import math

import pandas as pd

from engineroom import side_by_side
from engineroom.experiments.low_concurrency.settings import (
    EQUAL,
    INSTALLED,
    NO_HASH_INDEX,
    OPTIONS,
    with_settings,
)
from engineroom.figures.dots import Dots
from engineroom.figures.low_concurrency.own_low_concurrency_operations import SHORT
from engineroom.figures.wording import Words, each
from engineroom.runs import Run
from engineroom.servers.catalogue import release
from engineroom.side_by_side import ours

__all__ = ["picture", "rows", "words"]


def rows(run: Run) -> pd.DataFrame:
    """CPU time of the newest server over 5.7 with the same settings, for each repeat; the series are the settings."""
    servers = sorted(set(run.table["series"]), key=release)
    old = next((server for server in servers if server.startswith("5.7")), servers[0])
    named = with_settings(run.table).rename(columns={"series": "server", "settings": "series"})
    table = side_by_side.rows(
        run.with_table(named), by=("operation", "series", "server"), y="server_cpu_us", keep=["unit"]
    )
    over = side_by_side.over(table, "times_old", f"server == '{old}'", "operation", "series")
    newest: pd.DataFrame = over[over["server"] == servers[-1]].assign(over=old).reset_index(drop=True)
    return newest


def _settings(table: pd.DataFrame) -> dict[str, str]:
    return {name: name for name in OPTIONS if name in set(table["series"])}


picture = Dots(
    rows=lambda table: {name: name for name in dict.fromkeys(table["operation"])},
    narrow=SHORT,
    series=_settings,
    by="operation",
    label="CPU time of the newest over that of 5.7",
    log=True,
    line_at=1,
    # A hash join since 8.0.18: its ratio, a fiftieth, would press all others together.
    where="operation != 'join without index'",
)


def words(table: pd.DataFrame) -> Words:
    """How many operations are dearer with each of the settings, and which operation the settings move most."""
    of = ours(table).droplevel("server").unstack("series")
    times = of.loc[list(dict.fromkeys(table["operation"])), list(_settings(table))]
    new, old = table["server"].iloc[0], table["over"].iloc[0]
    said = "; ".join(f"{name}: {each(line)}" for name, line in times.iterrows())
    caption = f"{'; '.join(f'{name}: {(times[name] > 1).sum()} of {len(times)}' for name in times)} operations cost {new} more CPU time than {old}."
    if INSTALLED in times:
        apart = max(times.index, key=lambda name: abs(math.log(times[INSTALLED][name] / times[EQUAL][name])))
        caption += f" The settings move '{apart}' most: {times[EQUAL][apart]:.2f} times with equal ones, {times[INSTALLED][apart]:.2f} times as installed"
        caption += (
            f", {times[NO_HASH_INDEX][apart]:.2f} times as installed but with the adaptive hash index off in both."
            if NO_HASH_INDEX in times
            else "."
        )
    else:
        caption += " What they cost as installed is not in this recording."
    return Words(
        alt=f"Dot plot, without the join that has no index, of server CPU time of {new} over that of {old}, by operation and settings. {said}.",
        caption=caption[0].upper() + caption[1:],
    )
