"""Our own figure: what the sources changed at once, one change at a time, from the run of figure 7-22."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pandas as pd

from engineroom.figures.parts import Rows, Run, Words, each, release
from engineroom.figures.steps import Steps, states
from engineroom.servers.catalogue import series_of

SECONDS = ("before_cpu_s", "after_cpu_s")
picture = Steps(values=SECONDS, label="server CPU s", form="{:.2f} s")
# In the other order no index fits, so the order cannot be changed alone.
CHANGES = ("version", "order and index", "algorithm")
STATES = {
    "index loop": "index_nested_loop",
    "reversed, no hash": "reversed_order_without_hash",
    "reversed, hash join": "hash_join",
}


def three_changes(cpu_s: pd.Series[Any], *, old: str, new: str) -> pd.DataFrame:
    """Split the step from `old`'s index nested loop to `new`'s hash join into version, order with index, and algorithm.

    `cpu_s` has the seconds by server and plan. Each row is one change with the seconds before and after it and their ratio; the product
    of the three ratios is the whole step, by construction.
    """
    seconds = [cpu_s[old, "index_nested_loop"], *(cpu_s[new, plan] for plan in STATES.values())]
    steps = pd.DataFrame(pairwise(seconds), index=CHANGES, columns=SECONDS)
    return steps.assign(before_per_after=steps[SECONDS[0]] / steps[SECONDS[1]]).reset_index(names="change")


def rows(run: Run) -> Rows:
    """A row per change from the oldest server to the newest: state and seconds before and after, and their ratio."""
    old, *_, new = sorted(set(run.table["server"]), key=release)
    named = [f"{series_of(old)}, index loop", *(f"{series_of(new)}, {state}" for state in STATES)]
    steps = three_changes(run.values("server", "series", y="server_cpu_s"), old=old, new=new)
    return steps.assign(before=named[:-1], after=named[1:])


def words(table: Rows) -> Words:
    """Say each step's factor."""
    version, order, algorithm = table["before_per_after"]
    return Words(
        alt=f"Step chart of server CPU seconds over four states: {each(dict(zip(*states(table, SECONDS), strict=True)), '{:.2f} s')}.",
        caption=f"One change at a time: the version divides the time by {version:.2f}, changing the "
        f"{table['change'].iloc[1]} multiplies it by {1 / order:.1f}, the hash join divides that by {algorithm:.1f}.",
    )
