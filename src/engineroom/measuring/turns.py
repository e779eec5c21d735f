"""Turns: what is compared is measured one after the other, again and again, so that a slow minute slows all of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import pandas as pd
from tqdm.auto import tqdm

from engineroom.progress import bar

__all__ = ["DEALT_TO", "best_of_turns", "in_turns"]

# So many repeats are made of many measurements, each the best of its own: others' load only adds CPU time, and of a rate a run's
# `summary` knows no largest. Turns are dealt in order, so that each repeat has some of every minute.
DEALT_TO = 3


def in_turns(repeats: int, *compared: Iterable[Any], desc: str, unit: str = "run") -> tqdm[tuple[Any, ...]]:
    """(repeat, one of each of `compared`), repeat by repeat, the last of `compared` fastest; with a progress bar."""
    return bar(list(itertools.product(range(repeats), *compared)), desc=desc, unit=unit)


def best_of_turns(table: pd.DataFrame, y: str) -> pd.DataFrame:
    """Deal the repeats of each thing to `DEALT_TO` repeats and keep the least `y` of each."""
    keys = [name for name in table.columns if name not in (y, "repeat")]
    grouped = table.assign(repeat=table["repeat"] % DEALT_TO).groupby([*keys, "repeat"], sort=False)[y]
    return grouped.min().reset_index()
