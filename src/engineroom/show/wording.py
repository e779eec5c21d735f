"""What a figure says about its rows: alt text, caption, and the phrases that both are made of."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

__all__ = ["Words", "at", "each", "each_line", "ends"]


@dataclass(frozen=True)
class Words:
    """What a figure says: `alt` describes the picture for readers who do not see it, `caption` states the finding."""

    alt: str
    caption: str


def at(line: pd.Series[float], form: str = "{:.2f}") -> str:
    """The values along x: "0.97 at 1, 0.07 at 64"."""
    return ", ".join(f"{form.format(value)} at {_place(x)}" for x, value in line.items())


def each(
    values: Mapping[str, float] | pd.Series[float], form: str = "{:.2f}", *, named: str = "{} {}"
) -> str:
    """Each value after its name: "before 4.81, after 1.00"."""
    return ", ".join(named.format(_plain(name), form.format(value)) for name, value in values.items())


def ends(line: pd.Series[float], form: str = "{:.2f}") -> str:
    """The first and the last value along x, as `at`."""
    return at(line.iloc[[0, -1]], form)


def each_line(
    of: pd.Series[Any],
    labels: Mapping[str, str],
    form: str = "{:.2f}",
    *,
    told: Callable[[pd.Series[Any], str], str] = at,
) -> str:
    """The values along x of every line that there is, after its label: "5.7: 0.97 at 1, 0.07 at 64; 8.0: 1.20 at 1"."""
    there = set(of.index.get_level_values(0))
    lines = {label: told(of[series], form) for series, label in labels.items() if series in there}
    return "; ".join(f"{label}: {said}" for label, said in lines.items())


def _place(x: Hashable) -> str:
    return f"{x:,.10g}" if isinstance(x, int | float) else str(x)


def _plain(name: Hashable) -> str:
    return str(name).replace("_", " ")
