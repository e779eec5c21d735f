"""The source's advice to use both: minimal images and compression, each alone and together, over minimal images alone."""

from __future__ import annotations

from engineroom.figures.binlog.bytes_of_log import picture_of, rows_of
from engineroom.figures.parts import Rows, Words, ours

LABELS = {"minimal": "minimal images", "compressed": "zstd, level 3", "minimal_compressed": "both"}
rows = rows_of("minimal")
picture = picture_of(LABELS, "minimal images")


def words(table: Rows) -> Words:
    """All three."""
    alone, both = ours(table)["binlog_size"][["compressed", "minimal_compressed"]]
    return Words(
        alt=f"Dots of the size of the binary log over the one with minimal images: compressed {alone:.2f}, both {both:.2f}.",
        caption=f"Minimal images and compression together leave {both:.2f} of the bytes of minimal images alone; compression alone "
        f"leaves {alone:.2f}.",
    )
