"""Degradation article, figure 2: rate of bulk insert, newer over older."""

from __future__ import annotations

from functools import partial

from engineroom.figures.low_concurrency.builds import picture_of, rows_of, words_of

WHAT = "rate of bulk insert per CPU second, newer over older"
rows = partial(rows_of, series="bulk_insert")
picture = picture_of("rate over that of the older")
words = partial(words_of, what=WHAT, over="newer", under="older")
