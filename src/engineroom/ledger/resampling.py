"""How stable a verdict is: the share of resamples of the raw repeats that give the same one.

A resample draws, for each series and x, as many of its repeats as there are, with replacement, and is judged by the whole rule of
`engineroom.ledger.verdicts`. Cells draw apart from each other, so that nothing rests on two of them having been measured in the same
minute. All resamples are evaluated at once: a value of `y` is an array.
"""

from __future__ import annotations

import ast
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engineroom.ledger import expressions
from engineroom.runs.summary import SUMMARIES

__all__ = ["DRAWS", "draw", "evaluate_many"]

DRAWS = 2000

Array = NDArray[Any]
_SUMMARISE: Mapping[str, Callable[..., Array]] = {"median": np.median, "least": np.min, "most": np.max}
Many = dict[str, dict[expressions.Key, Array]]


def draw(table: pd.DataFrame, *by: str, y: str, how: str, name: str, draws: int = DRAWS) -> pd.DataFrame:
    """One row per cell with `y` an array of (1 + most repeats) * draws values: the summaries of all resamples, then each repeat of all.

    A cell of fewer repeats gives its own in turn, as in `engineroom.runs.summary.summary_and_repeats`. `name` seeds the draws, so that they are the
    same everywhere.
    """
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    known = table.dropna(subset=[y]).sort_values("repeat", kind="stable")
    cells = [(place, mine[y].to_numpy(dtype=float)) for place, mine in known.groupby(list(by), sort=True)]
    most = max((len(values) for _, values in cells), default=0)
    summarise = _SUMMARISE[SUMMARIES[how]]
    rows = []
    for place, values in cells:
        drawn = values[rng.integers(len(values), size=(len(values), draws))]
        each = drawn[np.arange(most) % len(values)]
        rows.append((*place, np.concatenate([summarise(drawn, axis=0)[None], each]).ravel()))
    return pd.DataFrame(rows, columns=[*by, y])


def evaluate_many(expression: str, y: Many, size: int) -> Array:
    """The value of `expression` for each of `size` rows `y` at once; nan where a row alone would be missing something."""
    tree = expressions.check(expression)
    try:
        with np.errstate(divide="raise", invalid="raise"):
            value = _Many().value(
                tree, {"y": {series: expressions.Series(cells) for series, cells in y.items()}}
            )
        return np.broadcast_to(np.asarray(value), (size,))
    except (_DependsOnValuesError, FloatingPointError, *expressions.MISSING):
        return np.array([_one(expression, y, i) for i in range(size)])


def _one(expression: str, y: Many, i: int) -> float:
    try:
        return float(
            expressions.evaluate(
                expression, {s: {x: float(many[i]) for x, many in cells.items()} for s, cells in y.items()}
            )
        )
    except expressions.MissingRowsError:
        return float("nan")


class _DependsOnValuesError(Exception):
    """Which rows an expression reads depends on their values, so that all resamples cannot go the same way."""


_MANY: Mapping[str, Callable[[Any], Any]] = {
    "min": np.minimum.reduce,
    "max": np.maximum.reduce,
    "all": np.logical_and.reduce,
    "any": np.logical_or.reduce,
    "sorted": lambda parts: list(np.sort(np.stack(parts), axis=0)),
}


class _Many(expressions.Evaluator):
    """The evaluator of claims with arrays for values."""

    def value(self, node: ast.expr, names: Mapping[str, Any]) -> Any:
        match node:
            case ast.BoolOp(op=op, values=values):
                return self._in_order(op, values, names)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return np.logical_not(self.value(operand, names))
            case ast.Call(func=ast.Name(id="len"), args=[ast.ListComp(generators=[only])]):
                return self._how_many(only, names)
            case ast.Call(
                func=ast.Name(id="min" | "max" as name),
                args=[
                    ast.ListComp(
                        elt=ast.Name(id=elt), generators=[ast.comprehension(target=ast.Name(id=item)) as only]
                    )
                ],
            ) if elt == item:
                return self._outermost(name, only, names)
            case _:
                return super().value(node, names)

    def _in_order(self, op: ast.boolop, values: list[ast.expr], names: Mapping[str, Any]) -> Any:
        """As Python does, but that what was not decided for all rows at once goes on for all."""
        is_and = isinstance(op, ast.And)
        answer: Any = is_and
        for part in values:
            value = self.value(part, names)
            answer = np.logical_and(answer, value) if is_and else np.logical_or(answer, value)
            if np.ndim(answer) == 0 and bool(answer) != is_and:
                return bool(answer)
        return answer

    def _how_many(self, rows: ast.comprehension, names: Mapping[str, Any]) -> Any:
        """Which rows meet a condition may differ; how many do is a number for each."""
        return sum(met for _, met in self._met(rows, names))

    def _outermost(self, name: str, rows: ast.comprehension, names: Mapping[str, Any]) -> Any:
        """The smallest or largest of the items that meet a condition, which may be others for each."""
        never = np.inf if name == "min" else -np.inf
        found: Any = never
        for item, met in self._met(rows, names):
            if isinstance(item, str):
                raise _DependsOnValuesError
            found = _MANY[name](np.broadcast_arrays(found, np.where(met, item, never)))
        if np.any(found == never):  # of none there is none
            raise _DependsOnValuesError
        return found if np.ndim(found) else found.item()

    def _met(self, rows: ast.comprehension, names: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
        """Each item, and for which rows it meets the conditions."""
        assert isinstance(rows.target, ast.Name)
        for item in self.value(rows.iter, names):
            bound = {**names, rows.target.id: item}
            met = np.broadcast_arrays(True, *(self.value(each, bound) for each in rows.ifs))
            yield item, np.logical_and.reduce(met)

    def _call(self, name: str, arguments: list[Any]) -> Any:
        if name in _MANY:
            parts = list(arguments[0]) if len(arguments) == 1 else arguments
            if any(map(np.ndim, parts)):
                return _MANY[name](np.broadcast_arrays(*parts))
            arguments = [parts]
        return super()._call(name, arguments)

    def _compare(
        self, left: ast.expr, ops: list[ast.cmpop], rest: list[ast.expr], names: Mapping[str, Any]
    ) -> Any:
        low, answer = self.value(left, names), True
        for op, part in zip(ops, rest, strict=True):
            high = self.value(part, names)
            answer = np.logical_and(answer, expressions.COMPARE[type(op)](low, high))
            low = high
        return answer if np.ndim(answer) else bool(answer)

    def _is_true(self, condition: Any) -> bool:
        if np.ndim(condition):
            raise _DependsOnValuesError
        return bool(condition)
