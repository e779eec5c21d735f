"""How a line of a join's cost grows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

__all__ = ["slopes"]


def slopes(of: pd.Series[Any], *, log: bool = False) -> pd.Series[float]:
    """The slope of each series' line along x; with `log` that of its logarithm along the logarithm of x."""
    scaled = np.log if log else np.asarray

    def slope(line: pd.Series[Any]) -> float:
        return float(np.polyfit(scaled(line.index.get_level_values(1)), scaled(line), 1)[0])

    return of.groupby(level="series").apply(slope)
