"""What the sources' figures of the binary log's size share: a row per setting, the published sizes scaled to ours.

The source's runs had other lengths, so that only ratios compare: each value is shown over the first setting's of its own source.
"""

from __future__ import annotations

import pandas as pd

from engineroom.figures.dots import Dots
from engineroom.runs import Run
from engineroom.side_by_side import over
from engineroom.side_by_side import rows as all_rows

__all__ = ["picture", "relative"]


def relative(run: Run, base: str) -> pd.DataFrame:
    """All rows, with the size over that of the setting `base`."""
    return over(all_rows(run), "size_over_base", f"setting == '{base}'")


def picture(rows: dict[str, str], base: str) -> Dots:
    """A row per setting."""
    return Dots(rows=rows, label=f"bytes of binary log over those of {base}", form="{:.2f}", line_at=1.0)
