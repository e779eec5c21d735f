"""What the filesort article's figures share: like 5.6 beside like 8.0, the published values hollow."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from engineroom.figures.dots import Dots

__all__ = ["CPU_SHARE", "both", "pairs"]

CPU_SHARE = "percent of the server's CPU time"


def pairs(rows: Mapping[str, str], label: str, *, log: bool) -> Dots:
    """A row per value of x, a mark per design."""
    series = {"like_5_6": "like 5.6", "like_8_0": "like 8.0", "rows_scanned": "rows scanned"}
    return Dots(rows=rows, series=series, label=label, log=log, limits=(0, 100))


def both(of: pd.Series[float], x: str, form: str = "{:.0f}") -> str:
    """The values of the two designs at `x`: "80 and 63"."""
    return " and ".join(form.format(of[series, x]) for series in ("like_5_6", "like_8_0"))
