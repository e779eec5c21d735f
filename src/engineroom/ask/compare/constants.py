"""The constants that conditions compare columns with: of a statement, so that made rows hold them, and of a CHECK, so that they pass it."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from engineroom.ask.compare.repeating import parsed

__all__ = ["Condition", "conditions"]

_COMPARED: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NullSafeEQ: "=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.Like: "like",
}
_TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}
_THROUGH = (
    exp.Paren,
    exp.Cast,
    exp.TsOrDsToDate,
    exp.Date,
    exp.Lower,
    exp.Upper,
    exp.Trim,
)  # what leaves a constant itself a fitting value
_DAYS = {"SECOND": 1 / 86400, "MINUTE": 1 / 1440, "HOUR": 1 / 24, "DAY": 1, "WEEK": 7, "MONTH": 30, "QUARTER": 91, "YEAR": 365}  # fmt: skip
Value = str | int | float | None


@dataclass(frozen=True)
class Condition:
    """`column` compared with `value`; `table` is None where the statement does not say whose column it is."""

    table: str | None
    column: str
    op: str  # = | > | >= | < | <= | like
    value: Value


def conditions(statement: str) -> list[Condition]:
    """Every comparison of a column with a constant, those below NOT left out. Names are in lower case."""
    tree = parsed(statement)
    if tree is None:
        return []
    tables = {each.alias_or_name.casefold(): each.name.casefold() for each in tree.find_all(exp.Table)}
    found = []
    for node in tree.walk():
        if isinstance(node.parent, exp.Not | exp.Update):
            continue
        for left, sign, right in _compared(node):
            column, value, op = _column(left), _value(right), sign
            if column is None:
                column, value, op = _column(right), _value(left), _TURNED.get(sign, sign)
            if column is None or value is _NO_CONSTANT:
                continue
            if left.find(exp.Year) and isinstance(value, int):
                value = f"{value}-07-01"
            table = tables.get(column.table.casefold()) if column.table else None
            found.append(Condition(table, column.name.casefold(), op, value))  # type: ignore[arg-type]
    return found


def _compared(node: exp.Expr) -> Iterator[tuple[exp.Expr, str, exp.Expr]]:
    if (op := _COMPARED.get(type(node))) is not None:
        yield node.this, op, node.expression
    elif isinstance(node, exp.Between):
        yield node.this, ">=", node.args["low"]
        yield node.this, "<=", node.args["high"]
    elif isinstance(node, exp.In):
        for each in node.expressions:
            yield node.this, "=", each
    elif isinstance(node, exp.MatchAgainst):
        for each in node.expressions:
            yield each, "=", node.this
    elif isinstance(node, exp.Is):
        yield node.this, "=", node.expression


def _column(node: exp.Expr) -> exp.Column | None:
    while isinstance(node, (*_THROUGH, exp.Year)):
        node = node.this
    return node if isinstance(node, exp.Column) else None


_NO_CONSTANT = object()


def _value(node: exp.Expr) -> object:
    """What an expression without columns is worth, as far as conditions have it: literals, signs, and dates counted from now."""
    while isinstance(node, (*_THROUGH, exp.Introducer)):
        node = node.expression if isinstance(node, exp.Introducer) else node.this
    match node:
        case exp.Literal():
            text = str(node.this)
            is_whole = len(text) < 400 and not re.search(
                r"[.eE]", text
            )  # as a float a longer one is infinite, and no value
            return text if node.is_string else int(text) if is_whole else float(text)
        case exp.Neg() if isinstance(found := _value(node.this), int | float):
            return -found
        case exp.Boolean():
            return int(node.this)
        case exp.Null():
            return None
        case exp.CurrentDate() | exp.CurrentTimestamp() | exp.CurrentDatetime():
            return _now()
        case exp.Anonymous() if node.name.upper() in ("NOW", "SYSDATE", "UTC_TIMESTAMP", "CURDATE"):
            return _now()
        case exp.Sub() | exp.Add() | exp.DateSub() | exp.DateAdd():
            return _moved(node)
    return _NO_CONSTANT


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M:%S")


def _moved(node: exp.Expr) -> object:
    """A date, some intervals before or behind it."""
    begin, far = _value(node.this), node.expression
    unit = node.args.get("unit")
    if isinstance(far, exp.Interval):
        far, unit = far.this, far.args.get("unit")
    days = _DAYS.get(unit.name.upper()) if unit is not None else None
    amount = _value(far) if far is not None else _NO_CONSTANT
    try:
        moved = datetime.timedelta(days=float(str(amount)) * days)  # type: ignore[operator]
        sign = -1 if isinstance(node, exp.Sub | exp.DateSub) else 1
        at = datetime.datetime.fromisoformat(str(begin)) + sign * moved
    except (TypeError, ValueError, OverflowError):
        return _NO_CONSTANT
    return at.strftime("%Y-%m-%d %H:%M:%S")
