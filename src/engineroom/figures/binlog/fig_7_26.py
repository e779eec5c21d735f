"""Figure 7-26: throughput against clients without and with compression, by the stages of the commit alone."""

from __future__ import annotations

from functools import partial

from engineroom.figures.binlog.throughput import picture_of, words_of
from engineroom.figures.parts import all_rows

rows = all_rows
picture = picture_of(
    {"uncompressed": "uncompressed", "compressed": "zstd, level 3"},
    narrow={"uncompressed": "plain", "compressed": "zstd 3"},
)
words = partial(
    words_of,
    over="compressed",
    under="uncompressed",
    ratio="Compressed over uncompressed",
    caption="Compressed in the session before it queues, a transaction's throughput is {} times the uncompressed",
)
