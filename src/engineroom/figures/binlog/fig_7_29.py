"""Figure 7-29: bytes of binary log of TPC-C's transactions, with full and with minimal row images."""

from __future__ import annotations

from functools import partial

import pandas as pd

from engineroom.figures.binlog import bytes_of_log
from engineroom.figures.wording import Words
from engineroom.side_by_side import ours, theirs

__all__ = ["picture", "rows", "words"]

rows = partial(bytes_of_log.relative, base="full")
picture = bytes_of_log.picture({"full": "full images", "minimal": "minimal images"}, "full images")


def words(table: pd.DataFrame) -> Words:
    """Both ratios."""
    of, published = (each(table)["binlog_size", "minimal"] for each in (ours, theirs))
    return Words(
        alt=f"Dots of the size of the binary log over the one with full images. With minimal images it is {of:.2f}, published {published:.2f}.",
        caption=f"With minimal row images TPC-C's binary log has {of:.2f} of its bytes (published: {published:.2f}).",
    )
