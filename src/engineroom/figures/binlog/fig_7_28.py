"""Figure 7-28: throughput against clients with full and with minimal row images, by the stages of the commit alone."""

from __future__ import annotations

from functools import partial

from engineroom.figures.binlog.throughput import picture_of, words_of
from engineroom.figures.parts import all_rows

rows = all_rows
picture = picture_of(
    {"full": "full images", "minimal": "minimal images"}, narrow={"full": "full", "minimal": "minimal"}
)
words = partial(
    words_of,
    over="minimal",
    under="full",
    ratio="Minimal over full images",
    caption="With minimal images throughput is {} times the one with full images",
)
