"""The source's advice to use both: minimal images and compression, each alone and together, over minimal images alone."""

from __future__ import annotations

from functools import partial

import pandas as pd

from engineroom.figures.binlog import bytes_of_log
from engineroom.figures.wording import Words
from engineroom.side_by_side import ours

__all__ = ["picture", "rows", "words"]

rows = partial(bytes_of_log.relative, base="minimal")
picture = bytes_of_log.picture(
    {"minimal": "minimal images", "compressed": "zstd, level 3", "minimal_compressed": "both"},
    "minimal images",
)


def words(table: pd.DataFrame) -> Words:
    """All three."""
    of = ours(table)["binlog_size"]
    return Words(
        alt=f"Dots of the size of the binary log over the one with minimal images: compressed {of['compressed']:.2f}, both {of['minimal_compressed']:.2f}.",
        caption=f"Minimal images and compression together leave {of['minimal_compressed']:.2f} of the bytes of minimal images alone; "
        f"compression alone leaves {of['compressed']:.2f}.",
    )
