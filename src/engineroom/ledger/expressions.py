"""A small evaluator for the claims of the ledger: an expression over `y`, of which Python computes only what is known to be harmless.

An expression may use `y` (`{series: {x: value}}`), names bound by its own comprehensions, the functions `sorted min max all
any abs len range`, constants, subscripts, slices, tuples and lists, comprehensions, arithmetic, comparisons and `and or
not`. Everything else is refused before anything is computed: there is no attribute, no other name and no other call.

What the evaluator adds to Python's meaning: it knows whether a value of `y` was read, so that a claim which is true only
because there were no rows to contradict it is told apart from one that holds.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any, TypeAlias, cast

from engineroom.errors import EngineRoomError

__all__ = [
    "FUNCTIONS",
    "ExpressionError",
    "MissingRowsError",
    "NothingError",
    "Rows",
    "check",
    "evaluate",
    "reads",
    "value",
]

Key: TypeAlias = float | int | str
Rows: TypeAlias = Mapping[str, Mapping[Key, float]]

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
_SIGNS = (ast.UAdd, ast.USub, ast.Not)
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.In, ast.NotIn)


class NothingError(LookupError):
    """There is nothing to take the smallest or largest of."""


def _outermost(of: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    def outermost(*items: Any) -> Any:
        every = list(items[0] if len(items) == 1 else items)
        if not every:
            raise NothingError
        return of(every)

    return outermost


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{function.__name__: function for function in (sorted, all, any, abs, len, range)},
    "min": _outermost(min),
    "max": _outermost(max),
}


class ExpressionError(EngineRoomError):
    """The expression uses something that a claim may not use, costs too much, or has no value on these rows."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            problem, remedy="write the claim with y and what engineroom/ledger/expressions.py lists"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problem,)


class MissingRowsError(Exception):
    """The claim asks for rows that are not there: it is neither true nor false."""


class _Series(dict[Key, Any]):
    """The values of one series, which know whether one of them was read."""

    is_read = False

    def __getitem__(self, x: Key) -> Any:
        found = super().__getitem__(x)
        self.is_read = True
        return found


@functools.cache
def check(expression: str) -> ast.expr:
    """Parse an expression and refuse what a claim may not use, or that never mentions `y`."""
    try:
        tree = ast.parse(expression, mode="eval").body
        _check(tree, frozenset({"y"}))
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:  # a NUL; nested too deep
        raise ExpressionError(f"not an expression: {expression[:200]}") from error
    if not any(isinstance(node, ast.Name) and node.id == "y" for node in ast.walk(tree)):
        raise ExpressionError(f"never reads y: {expression}")
    return tree


def evaluate(expression: str, y: Rows) -> Any:
    """The value of `expression` on rows `y`.

    Raises `MissingRowsError` when the rows lack a series, an x or anything to take a maximum of, when it divides by zero,
    and when the answer is true although no value was read; `ExpressionError` when it makes no sense, as of a text and a number.
    """
    watched = {series: _Series(values) for series, values in y.items()}
    try:
        answer = value(expression, watched)
    except KeyError as error:
        raise MissingRowsError(f"no row for {error.args[0]!r}") from error
    except ZeroDivisionError as error:
        raise MissingRowsError("division by zero") from error
    except IndexError as error:
        raise MissingRowsError("too few rows") from error
    except NothingError as error:
        raise MissingRowsError("no rows to take the smallest or largest of") from error
    except (TypeError, ValueError, OverflowError) as error:
        raise ExpressionError(f"cannot be computed ({error}): {expression[:200]}") from error
    if answer is True and not any(series.is_read for series in watched.values()):
        raise MissingRowsError("true only for want of rows")
    return answer


def value(
    expression: str,
    y: Mapping[str, Mapping[Key, Any]],
    functions: Mapping[str, Callable[..., Any]] = FUNCTIONS,
) -> Any:
    """What Python makes of a checked expression, by these functions."""
    return eval(_compiled(expression), {"__builtins__": {}, **functions, "y": y})


@functools.cache
def _compiled(expression: str) -> CodeType:
    return compile(ast.Expression(check(expression)), "claim", "eval")


def reads(expression: str) -> dict[str, frozenset[Key] | None] | None:
    """What `expression` can read of `y`: the x by series, None where it may be any x; None alone where it may be any series.

    It is known for a series or an x that is a constant, or that a comprehension takes from a list of constants.
    """
    tree = check(expression)
    asked: dict[str, frozenset[Key] | None] = {}
    of_x = {id(node.value): node for node in ast.walk(tree) if isinstance(node, ast.Subscript)}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Name) and node.id == "y"):
            continue
        of_series = of_x.get(id(node))
        series = None if of_series is None else _constants(of_series.slice, tree)
        if of_series is None or series is None:
            return None
        at = of_x.get(id(of_series))
        x = None if at is None else _constants(at.slice, tree)
        for name in map(str, series):
            known = asked.get(name, frozenset())
            asked[name] = None if x is None or known is None else known | x
    return asked


def _constants(node: ast.expr, tree: ast.expr) -> frozenset[Key] | None:
    """The values that a subscript can have; None where that is not known from the text."""
    match node:
        case ast.Constant(value=value):
            return frozenset((cast(Key, value),))
        case ast.Name(id=name):
            lists = [
                bound.iter
                for bound in ast.walk(tree)
                if isinstance(bound, ast.comprehension) and isinstance(bound.target, ast.Name)
                if bound.target.id == name
            ]
            values = [_constants_of(each) for each in lists]
            return None if None in values else frozenset().union(*filter(None, values))
    return None


def _constants_of(node: ast.expr) -> frozenset[Key] | None:
    match node:
        case ast.Tuple(elts=elts) | ast.List(elts=elts) if all(isinstance(e, ast.Constant) for e in elts):
            return frozenset(cast(Key, cast(ast.Constant, each).value) for each in elts)
    return None


def _check(node: ast.AST, names: frozenset[str]) -> None:
    match node:
        case ast.Constant(value=bool() | int() | float() | str()):
            return
        case ast.Name(id=name) if name in names:
            return
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if (
            name in FUNCTIONS and name not in names
        ):
            parts: list[ast.AST] = list(args)
        case ast.Subscript(value=value, slice=ast.Slice(lower=lower, upper=upper, step=step)):
            parts = [value, *(part for part in (lower, upper, step) if part is not None)]
        case ast.Subscript(value=value, slice=key):
            parts = [value, key]
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _ARITHMETIC):
            parts = [left, right]
        case ast.UnaryOp(op=sign, operand=operand) if isinstance(sign, _SIGNS):
            parts = [operand]
        case ast.BoolOp(values=values):
            parts = list(values)
        case ast.Compare(left=left, ops=ops, comparators=rest) if all(
            isinstance(op, _COMPARISONS) for op in ops
        ):
            parts = [left, *rest]
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            parts = list(elts)
        case ast.ListComp(elt=elt, generators=generators) | ast.GeneratorExp(elt=elt, generators=generators):
            for generator in generators:
                _check(generator.iter, names)
                if not isinstance(generator.target, ast.Name) or generator.target.id in {"y", *FUNCTIONS}:
                    raise ExpressionError(f"cannot bind {ast.unparse(generator.target)}")
                names |= {generator.target.id}
                for condition in generator.ifs:
                    _check(condition, names)
            parts = [elt]
        case _:
            raise ExpressionError(f"a claim may not use {ast.unparse(node)!r}")
    for part in parts:
        _check(part, names)
