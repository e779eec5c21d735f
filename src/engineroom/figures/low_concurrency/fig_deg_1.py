"""Degradation article, figure 1: time of a join, newer over older."""

from __future__ import annotations

from functools import partial

from engineroom.figures.low_concurrency.builds import picture_of, rows_of, words_of

rows = partial(rows_of, series="join_time")
picture = picture_of("time over that of the older")
words = partial(words_of, what="time of a join by index, newer over older", over="newer", under="older")
