"""How often made rows have which value, where a reader's server tells it.

A table that gets fewer rows than it has there cannot keep both the rows per value and the number of values. It keeps the rows per value
where there are at most a hundred, as an index of customers has, and else as many values as leave a hundred rows to each: a state with four
values keeps its four.
"""

from __future__ import annotations

import bisect
import itertools
import math
from dataclasses import dataclass

from engineroom.ask.compare.server_statistics import Bucket

__all__ = ["Drawn", "Spread"]

_MOST_PER_VALUE = 100


@dataclass(frozen=True)
class Spread:
    """A column's buckets, with bounds as the column has them, and its table's rows there."""

    buckets: tuple[Bucket, ...]
    rows: int | None = None


class Drawn:
    """The values of `n` made rows: `sizes` has how many different ones each bucket gets, `starts` how many come before."""

    def __init__(self, spread: Spread, n: int, *, is_nullable: bool) -> None:
        self._ends = [each.end for each in spread.buckets]
        shares = [end - begin for begin, end in itertools.pairwise([0.0, *self._ends])]
        self.sizes = [
            _kept(each.different, spread.rows and spread.rows * share, n * share)
            for each, share in zip(spread.buckets, shares, strict=True)
        ]
        self.starts = [0, *itertools.accumulate(self.sizes)]
        if not is_nullable:
            self._ends[-1] = math.inf

    def place(self, chance: float, which: int) -> tuple[int, int] | None:
        """A row's bucket, and its value's place in that, by a chance of 0 to 1 and any number; None for NULL."""
        nth = bisect.bisect_right(self._ends, chance)
        return None if nth == len(self._ends) else (nth, which % self.sizes[nth])


def _kept(different: int, there: float | None, here: float) -> int:
    """How many different values `here` rows have when `there` rows have so many."""
    per_value = min(there / different, _MOST_PER_VALUE) if there else 1
    return max(1, min(different, round(here / max(per_value, 1))))
