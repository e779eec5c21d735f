"""Figure 7-27: bytes of binary log of TPC-C's transactions, without and with compression."""

from __future__ import annotations

from functools import partial

import pandas as pd

from engineroom.figures.binlog import bytes_of_log
from engineroom.figures.wording import Words
from engineroom.side_by_side import ours, theirs

__all__ = ["picture", "rows", "words"]

rows = partial(bytes_of_log.relative, base="uncompressed")
picture = bytes_of_log.picture(
    {"uncompressed": "uncompressed", "compressed": "zstd, level 3"}, "uncompressed"
)


def words(table: pd.DataFrame) -> Words:
    """Both ratios."""
    of, published = (each(table)["binlog_size", "compressed"] for each in (ours, theirs))
    return Words(
        alt=f"Dots of the size of the binary log over the uncompressed one. Compressed at level 3 it is {of:.2f}, published {published:.2f}.",
        caption=f"Compressed transaction by transaction at level 3, TPC-C's binary log has {of:.2f} of its bytes (published: {published:.2f}).",
    )
