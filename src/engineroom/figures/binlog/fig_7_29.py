"""Figure 7-29: bytes of binary log of TPC-C's transactions, with full and with minimal row images."""

from __future__ import annotations

from functools import partial

from engineroom.figures.binlog.bytes_of_log import picture_of, rows_of, words_of

rows = rows_of("full")
picture = picture_of({"full": "full images", "minimal": "minimal images"}, "full images")
words = partial(words_of, setting="minimal", how="With minimal row images", base="the one with full images")
