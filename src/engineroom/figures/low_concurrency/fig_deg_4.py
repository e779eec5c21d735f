"""Degradation article, figure 4: time of a join, stock over optimized."""

from __future__ import annotations

from functools import partial

from engineroom.figures.low_concurrency.builds import picture_of, rows_of, words_of

rows = partial(rows_of, series="join_time")
picture = picture_of("time over that of the stock build")
words = partial(words_of, what="time of a join, stock over optimized", over="stock", under="optimized")
