"""Our own figure: what the sources changed at once, one change at a time, from the run of figure 7-22."""

from __future__ import annotations

from typing import Any

import pandas as pd

from engineroom.figures.steps import Steps, states
from engineroom.figures.wording import Words
from engineroom.runs import Run
from engineroom.servers.catalogue import release, series_of

__all__ = ["picture", "rows", "three_changes", "words"]

SECONDS = ("before_cpu_s", "after_cpu_s")
picture = Steps(values=SECONDS, label="server CPU s", form="{:.2f} s")


def three_changes(cpu_s: pd.Series[Any], *, old: str, new: str) -> pd.DataFrame:
    """Split the step from `old`'s index nested loop to `new`'s hash join into version, order with index, and algorithm.

    `cpu_s` has the seconds by server and plan. Each row is one change with the seconds before and after it and their ratio; the product
    of the three ratios is the whole step, by construction.
    """
    steps = [
        ("version", (old, "index_nested_loop"), (new, "index_nested_loop")),
        # In the other order no index fits, so the order cannot be changed alone.
        ("order and index", (new, "index_nested_loop"), (new, "reversed_order_without_hash")),
        ("algorithm", (new, "reversed_order_without_hash"), (new, "hash_join")),
    ]
    return pd.DataFrame(
        [
            {
                "change": name,
                "before_cpu_s": cpu_s[before],
                "after_cpu_s": cpu_s[after],
                "before_per_after": cpu_s[before] / cpu_s[after],
            }
            for name, before, after in steps
        ]
    )


def rows(run: Run) -> pd.DataFrame:
    """A row per change from the oldest server to the newest: state and seconds before and after, and their ratio."""
    servers = sorted(set(run.table["server"]), key=release)
    cpu_s = run.values("server", "series", y="server_cpu_s")
    steps = three_changes(cpu_s, old=servers[0], new=servers[-1])
    old, new = series_of(servers[0]), series_of(servers[-1])
    named = [
        f"{old}, index loop",
        f"{new}, index loop",
        f"{new}, reversed, no hash",
        f"{new}, reversed, hash join",
    ]
    return steps.assign(before=named[:-1], after=named[1:])


def words(table: pd.DataFrame) -> Words:
    """Say each step's factor."""
    version, order, algorithm = table["before_per_after"]
    said = ", ".join(f"{state} {value:.2f} s" for state, value in zip(*states(table, SECONDS), strict=True))
    return Words(
        alt=f"Step chart of server CPU seconds over four states: {said}.",
        caption=f"One change at a time: the version divides the time by {version:.2f}, changing the "
        f"{table['change'].iloc[1]} multiplies it by {1 / order:.1f}, the hash join divides that by {algorithm:.1f}.",
    )
