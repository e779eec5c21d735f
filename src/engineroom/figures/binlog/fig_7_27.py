"""Figure 7-27: bytes of binary log of TPC-C's transactions, without and with compression."""

from __future__ import annotations

from functools import partial

from engineroom.figures.binlog.bytes_of_log import picture_of, rows_of, words_of

rows = rows_of("uncompressed")
picture = picture_of({"uncompressed": "uncompressed", "compressed": "zstd, level 3"}, "uncompressed")
words = partial(
    words_of,
    setting="compressed",
    how="Compressed transaction by transaction at level 3",
    base="the uncompressed one",
)
