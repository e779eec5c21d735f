"""A small evaluator for the claims of the ledger: an expression over `y`, never Python's `eval`.

An expression may use `y` (`{series: {x: value}}`), names bound by its own comprehensions, the functions `sorted min max all
any abs len range`, constants, subscripts, slices, tuples and lists, comprehensions, arithmetic, comparisons and `and or
not`. Everything else is refused before anything is computed.

What the evaluator adds to Python's meaning: it knows whether a value of `y` was read, so that a claim which is true only
because there were no rows to contradict it is told apart from one that holds.
"""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias, cast

from engineroom.errors import EngineRoomError

__all__ = [
    "COMPARE",
    "MISSING",
    "Evaluator",
    "ExpressionError",
    "MissingRowsError",
    "Rows",
    "Series",
    "check",
    "evaluate",
    "reads",
]

Key: TypeAlias = float | int | str
Rows: TypeAlias = Mapping[str, Mapping[Key, float]]

# What a claim may cost: a step is a node that is evaluated, or an item of a list, text or range that is made.
_STEPS = 1_000_000
_LONGEST = 10_000  # characters
_WIDEST_BITS = 1024  # of a whole number: as far as a float reaches
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function for function in (sorted, min, max, all, any, abs, len, range)
}
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda item, container: item in container,
    ast.NotIn: lambda item, container: item not in container,
}


_SIZED = (str, list, range)


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


class Series(dict[Key, Any]):
    """The values of one series; a type of its own, so that the evaluator knows a value of `y` when it reads one."""


@functools.cache
def check(expression: str) -> ast.expr:
    """Parse an expression and refuse what a claim may not use, or that never mentions `y`."""
    if len(expression) > _LONGEST:
        raise ExpressionError(f"longer than {_LONGEST} characters: {expression[:40]}…")
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
    and when the answer is true although no value was read; `ExpressionError` when it costs too much, or adds a text to a number.
    """
    tree = check(expression)
    evaluator = Evaluator()
    try:
        value = evaluator.value(tree, {"y": {series: Series(values) for series, values in y.items()}})
    except KeyError as error:
        raise MissingRowsError(f"no row for {error.args[0]!r}") from error
    except ZeroDivisionError as error:
        raise MissingRowsError("division by zero") from error
    except IndexError as error:
        raise MissingRowsError("too few rows") from error
    except _EmptyError as error:
        raise MissingRowsError("no rows to take the smallest or largest of") from error
    except (TypeError, ValueError, OverflowError, RecursionError, AttributeError) as error:
        raise ExpressionError(f"cannot be computed ({error}): {expression[:200]}") from error
    if value is True and not evaluator.has_read:
        raise MissingRowsError("true only for want of rows")
    return value


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


class _EmptyError(Exception):
    pass


# By what an evaluation ends where rows are missing.
MISSING = (KeyError, ZeroDivisionError, IndexError, _EmptyError)


def _check(node: ast.AST, names: frozenset[str]) -> None:
    match node:
        case ast.Constant(value=bool() | int() | float() | str()):
            return
        case ast.Name(id=name) if name in names:
            return
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if (
            name in _FUNCTIONS and name not in names
        ):
            parts: list[ast.AST] = list(args)
        case ast.Subscript(value=value, slice=ast.Slice(lower=lower, upper=upper, step=step)):
            parts = [value, *(part for part in (lower, upper, step) if part is not None)]
        case ast.Subscript(value=value, slice=key):
            parts = [value, key]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            parts = [left, right]
        case ast.UnaryOp(op=op1, operand=operand) if type(op1) in _UNARY:
            parts = [operand]
        case ast.BoolOp(values=values):
            parts = list(values)
        case ast.Compare(left=left, ops=ops, comparators=rest) if all(type(op) in COMPARE for op in ops):
            parts = [left, *rest]
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            parts = list(elts)
        case ast.ListComp(elt=elt, generators=generators) | ast.GeneratorExp(elt=elt, generators=generators):
            for generator in generators:
                _check(generator.iter, names)
                if not isinstance(generator.target, ast.Name) or generator.target.id in {"y", *_FUNCTIONS}:
                    raise ExpressionError(f"cannot bind {ast.unparse(generator.target)}")
                names |= {generator.target.id}
                for condition in generator.ifs:
                    _check(condition, names)
            parts = [elt]
        case _:
            raise ExpressionError(f"a claim may not use {ast.unparse(node)!r}")
    for part in parts:
        _check(part, names)


class Evaluator:
    """Walks a checked tree; `has_read` says whether a value of `y` was read on the way, which is a `Series`' own type to tell."""

    def __init__(self) -> None:
        self.has_read = False
        self._steps = 0

    def _pay(self, steps: int) -> None:
        self._steps += steps
        if self._steps > _STEPS:
            raise ExpressionError(f"more than {_STEPS} steps")

    def value(self, node: ast.expr, names: Mapping[str, Any]) -> Any:
        self._pay(1)
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return names[name]
            case ast.Call(func=ast.Name(id=name), args=args):
                return self._call(name, [self.value(argument, names) for argument in args])
            case ast.Subscript(value=container, slice=ast.Slice(lower=lower, upper=upper, step=step)):
                bounds = [part and self.value(part, names) for part in (lower, upper, step)]
                whole = self.value(container, names)
                self._pay(len(whole))
                return whole[slice(*bounds)]
            case ast.Subscript(value=container, slice=key):
                held = self.value(container, names)
                found = held[self.value(key, names)]
                self.has_read |= isinstance(held, Series)
                return found
            case ast.BinOp(left=left, op=binary, right=right):
                return self._combine(binary, self.value(left, names), self.value(right, names))
            case ast.UnaryOp(op=unary, operand=operand):
                return _UNARY[type(unary)](self.value(operand, names))
            case ast.BoolOp(op=ast.And(), values=values):
                return all(self.value(part, names) for part in values)
            case ast.BoolOp(values=values):
                return any(self.value(part, names) for part in values)
            case ast.Compare(left=left, ops=ops, comparators=rest):
                return self._compare(left, ops, rest, names)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return [self.value(part, names) for part in elts]
            case ast.ListComp(elt=elt, generators=generators):
                return list(self._comprehend(elt, generators, names))
            case ast.GeneratorExp(elt=elt, generators=generators):
                return self._comprehend(elt, generators, names)
            case _:  # `check` has refused everything else
                raise AssertionError(ast.dump(node))

    def _call(self, name: str, arguments: list[Any]) -> Any:
        if name in ("min", "max") and len(arguments) == 1:
            arguments = [list(arguments[0])]
            if not arguments[0]:
                raise _EmptyError
        if name == "range":
            made = range(*arguments)
            self._pay(len(made))  # whoever gets it may walk through it
            return made
        self._pay(sum(len(part) for part in arguments if isinstance(part, _SIZED)))
        return _FUNCTIONS[name](*arguments)

    def _combine(self, operation: ast.operator, left: Any, right: Any) -> Any:
        """`left operation right`. What it makes is paid for before it is made."""
        sizes = [len(part) for part in (left, right) if isinstance(part, _SIZED)]
        if sizes and isinstance(operation, ast.Mod):
            raise ExpressionError("a claim may not write into a text with %")
        if sizes and isinstance(operation, ast.Mult):
            times = [part for part in (left, right) if isinstance(part, int)]
            self._pay(sizes[0] * max([0, *times]))
        else:
            self._pay(sum(sizes))
        for part in (left, right):
            if isinstance(part, int) and part.bit_length() > _WIDEST_BITS:
                raise ExpressionError(f"a whole number of more than {_WIDEST_BITS} bits")
        return _BINARY[type(operation)](left, right)

    def _compare(
        self, left: ast.expr, ops: list[ast.cmpop], rest: list[ast.expr], names: Mapping[str, Any]
    ) -> bool:
        low = self.value(left, names)
        for op, part in zip(ops, rest, strict=True):
            high = self.value(part, names)
            self._pay(sum(len(each) for each in (low, high) if isinstance(each, _SIZED)))
            if not COMPARE[type(op)](low, high):
                return False
            low = high
        return True

    def _comprehend(
        self, elt: ast.expr, generators: list[ast.comprehension], names: Mapping[str, Any]
    ) -> Iterator[Any]:
        if not generators:
            yield self.value(elt, names)
            return
        first, *rest = generators
        assert isinstance(first.target, ast.Name)
        for item in self.value(first.iter, names):
            bound = {**names, first.target.id: item}
            if all(self._is_true(self.value(condition, bound)) for condition in first.ifs):
                yield from self._comprehend(elt, rest, bound)

    def _is_true(self, condition: Any) -> bool:
        return bool(condition)
