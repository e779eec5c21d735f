"""How stable a verdict is: the share of resamples of the raw repeats that give the same one.

A resample draws, for each series and x, as many of its repeats as there are, with replacement, and is judged by the whole rule of
`engineroom.ledger.verdicts`. Cells draw apart from each other, so that nothing rests on two of them having been measured in the same
minute. All resamples are evaluated at once: a value of `y` is an array.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engineroom.ledger import expressions
from engineroom.runs.summary import Cells

__all__ = ["DRAWS", "draw", "evaluate_many"]

DRAWS = 2000

Array = NDArray[Any]
_SUMMARISE: Mapping[str, Callable[..., Array]] = {"median": np.median, "min": np.min, "max": np.max}
Many = Mapping[str, Mapping[expressions.Key, Array]]


def draw(cells: Cells, *, how: str, name: str, draws: int = DRAWS) -> dict[tuple[Any, ...], Array]:
    """For each cell an array of (1 + most repeats) * draws values: the summaries of all resamples, then each repeat of all.

    A cell of fewer repeats gives its own in turn, as in `engineroom.runs.summary.summary_and_repeats`. `name` seeds the draws, so that they are the
    same everywhere.
    """
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    most = max(map(len, cells.values()), default=0)
    drawn = {}
    for place in sorted(cells):
        values = np.array(cells[place])
        sample = values[rng.integers(len(values), size=(len(values), draws))]
        each = sample[np.arange(most) % len(values)]
        drawn[place] = np.concatenate([_SUMMARISE[how](sample, axis=0)[None], each]).ravel()
    return drawn


def evaluate_many(expression: str, y: Many, size: int) -> Array:
    """The value of `expression` for each of `size` rows `y` at once; nan where a row alone would be missing something."""
    try:
        with np.errstate(divide="raise", invalid="raise"):
            value = expressions.value(expression, y, _MANY)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        value = None  # which way it goes depends on the values, so that they cannot all go together
    if np.ndim(value) == 0:
        return np.array([_one(expression, y, i) for i in range(size)])
    return np.asarray(value)


def _one(expression: str, y: Many, i: int) -> float:
    try:
        return float(
            expressions.evaluate(
                expression, {s: {x: float(many[i]) for x, many in cells.items()} for s, cells in y.items()}
            )
        )
    except expressions.MissingRowsError:
        return float("nan")


def _together(of_arrays: Callable[[Any], Any], usual: Callable[..., Any]) -> Callable[..., Any]:
    """A function of several items that are arrays, or what it usually is."""

    def function(*items: Any) -> Any:
        every = list(items[0] if len(items) == 1 else items)
        return of_arrays(np.broadcast_arrays(*every)) if any(map(np.ndim, every)) else usual(every)

    return function


_OF_ARRAYS: Mapping[str, Callable[[Any], Any]] = {
    "min": np.minimum.reduce,
    "max": np.maximum.reduce,
    "all": np.logical_and.reduce,
    "any": np.logical_or.reduce,
    "sorted": lambda parts: list(np.sort(np.stack(parts), axis=0)),
}
_MANY = {
    name: _together(_OF_ARRAYS[name], usual) if name in _OF_ARRAYS else usual
    for name, usual in expressions.FUNCTIONS.items()
}
