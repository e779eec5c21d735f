"""The part of SQL that the comparison's queries use: joins with ON, commas, parentheses, and EXISTS in WHERE.

`parse` gives the tables as they are nested and the conditions as lists of equalities. sqlglot reads the text; anything else in it
is an error that names it. Refused by name are what the server would plan in another way than the text suggests: NATURAL, USING and
RIGHT joins, hints and SELECT STRAIGHT_JOIN, an EXISTS that the server does not turn into a join.

It reads what the comparison needs and is not to grow: `explain` takes graphs from the server's trace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from engineroom import sql_text
from engineroom.errors import EngineRoomError

__all__ = ["Block", "Equality", "Joined", "Subquery", "aliases", "parse"]

Column = tuple[str, str]  # alias, column
MOST_CHARACTERS = 20_000

_BLOCKS = (
    "makes a block of each arm, which our reader does not take; explain shows them from the server's trace"
)
# What a statement, a SELECT, a join or a condition may hold and is refused, in the words of its reader.
_STATEMENTS = {
    "WITH": "WITH makes blocks of their own, which our reader does not take; explain shows them from the server's trace",
    **{word: f"only a SELECT is read, not {word}" for word in ("INSERT", "REPLACE", "UPDATE", "DELETE")},
}
_SETS = {exp.Union: "UNION", exp.Except: "EXCEPT", exp.Intersect: "INTERSECT"}
_CLAUSES = {
    "group": "GROUP BY is not read; leave it out, the joins are the same",
    "having": "HAVING is not read; leave it out, the joins are the same",
    "order": "ORDER BY is not read; leave it out, the joins are the same",
    "limit": "LIMIT is not read; leave it out to see the joins",
}
_READ_CLAUSES = {"operation_modifiers", "distinct", "expressions", "into", "from_", "joins", "where"}
_CONDITIONS: dict[type[exp.Expr], str] = {
    **dict.fromkeys(
        (exp.Like, exp.Between, exp.Is), "only equalities of columns are read, not LIKE, BETWEEN and IS NULL"
    ),
    exp.In: "IN is not read; write EXISTS with an equality",
    exp.Or: "OR is not read: only equalities joined by AND are",
    exp.Not: "NOT is not read but in NOT EXISTS",
    exp.Query: "a subquery here is a block of its own, which our reader does not take; explain shows it from the server's trace",
}


@dataclass(frozen=True)
class Equality:
    """Two sides, each a column or a sum of columns."""

    left: tuple[Column, ...]
    right: tuple[Column, ...]

    @property
    def aliases(self) -> frozenset[str]:
        """The tables that it looks at."""
        return frozenset(alias for alias, _ in self.left + self.right)

    @property
    def is_of_columns(self) -> bool:
        """Whether both sides are single columns."""
        return len(self.left) == len(self.right) == 1


@dataclass
class Joined:
    """A table (its alias) or a nest in parentheses, and how it joins all that stands before it."""

    what: str | list[Joined]
    kind: str = "inner"
    on: list[Equality] = field(default_factory=list)


@dataclass
class Subquery:
    """EXISTS or NOT EXISTS."""

    negated: bool
    block: Block


@dataclass
class Block:
    """SELECT ... FROM items WHERE equalities AND subqueries; the items in the order of the text."""

    items: list[Joined]
    where: list[Equality]
    subqueries: list[Subquery]


def parse(text: str) -> Block:
    """The tables and conditions of a SELECT."""
    sql, *more = sql_text.statements(text) or [""]
    word = sql_text.first_word(sql)
    if word in _STATEMENTS:
        _refuse(_STATEMENTS[word])
    if word != "SELECT":
        _fail("SELECT", sql)
    if more:
        _fail("the end", more[0])
    if len(sql) > MOST_CHARACTERS:
        _refuse(
            f"a statement of more than {MOST_CHARACTERS:,} characters is not read, this one has {len(sql):,}"
        )
    # For sqlglot both begin a comment.
    if found := re.search(r"/\*!|--(?=\S)", sql_text.without_texts(sql)):
        what = "a minus behind a minus" if found[0] == "--" else "a comment that the server executes"
        _refuse(f"{what} is not read")
    try:
        return _block(sqlglot.parse_one(sql, read="mysql"))
    except ParseError as error:
        at = error.errors[0]
        _fail(f"SQL in line {at['line']}", f"{at['highlight']}{at['end_context']}")
    except SqlglotError as error:
        _fail("SQL", str(error))
    except RecursionError:
        _refuse("a statement that is nested so deep is not read")


def aliases(items: Sequence[Joined]) -> list[str]:
    """All tables of a list, in the order of the text."""
    return [
        name for item in items for name in ([item.what] if isinstance(item.what, str) else aliases(item.what))
    ]


def _fail(wanted: str, got: str) -> NoReturn:
    raise EngineRoomError(
        f"the statement is more than our reader knows: expected {wanted}, got {got[:30]!r}",
        remedy="write joins with ON, equalities of columns or sums, AND, and EXISTS subqueries; nothing else is read",
    )


def _refuse(problem: str) -> NoReturn:
    raise EngineRoomError(
        problem, remedy="write the statement without it, or take the graph from the server's trace"
    )


def _block(select: exp.Expr, *, in_exists: bool = False) -> Block:
    for kind, word in _SETS.items():
        if isinstance(select, kind):
            _refuse(f"{word} {_BLOCKS}")
    if not isinstance(select, exp.Select):
        _fail("SELECT", select.sql("mysql"))
    if select.args.get("hint"):
        _refuse("hints may fix an order and are not read")
    if any(each.name.upper() == "STRAIGHT_JOIN" for each in select.args.get("operation_modifiers") or []):
        _refuse("SELECT STRAIGHT_JOIN fixes the order of all tables; write STRAIGHT_JOIN between tables")
    for column in select.expressions:
        if column.find(exp.Query):
            _refuse("a subquery in the list of columns is a block of its own and not read")
        if in_exists and column.find(exp.Func):
            _refuse(
                "EXISTS over a function is not read: with an aggregate it is a block of its own; write SELECT 1"
            )
    if select.args.get("from_") is None:
        _fail("FROM", "")
    items = _items(select.args["from_"].this, select.args.get("joins") or [])
    where: list[Equality] = []
    subqueries: list[Subquery] = []
    for part in _parts(select.args["where"].this if select.args.get("where") else None):
        inner = part.this if isinstance(part, exp.Not) else part
        if not isinstance(inner, exp.Exists):
            where.append(_equality(part))
            continue
        block = _block(inner.this, in_exists=True)
        if any(each.negated for each in block.subqueries):
            _refuse(
                "NOT EXISTS inside EXISTS is not read: the server plans the outer one as a block of its own"
            )
        subqueries.append(Subquery(inner is not part, block))
    for name in (*_CLAUSES, *select.args):
        if name in _READ_CLAUSES or not select.args.get(name):
            continue
        if name in _CLAUSES:
            _refuse(_CLAUSES[name])
        _fail("SELECT, FROM and WHERE", name.strip("_").upper())
    return Block(items, where, subqueries)


def _items(first: exp.Expr, joins: Sequence[exp.Join]) -> list[Joined]:
    items = [Joined(_source(first))]
    for join in joins:
        if join.method:
            _refuse(
                f"{join.method} JOIN compares all columns of the same name, which the text does not show; write its ON"
            )
        if join.args.get("using"):
            _refuse("USING is not read; write ON with both columns")
        if join.side == "RIGHT":
            _refuse("RIGHT JOIN is not read; write it as a LEFT JOIN with its sides exchanged")
        if join.side not in ("", "LEFT") or join.kind not in ("", "INNER", "CROSS", "OUTER", "STRAIGHT_JOIN"):
            _fail("a join", join.sql("mysql"))
        kind = "left" if join.side else "straight" if join.kind == "STRAIGHT_JOIN" else "inner"
        items.append(
            Joined(_source(join.this), kind, [_equality(part) for part in _parts(join.args.get("on"))])
        )
    return items


def _source(source: exp.Expr) -> str | list[Joined]:
    """A table's alias, or what stands in parentheses."""
    joins = source.args.get("joins") or []
    if joins:  # of a nest; without parentheses where its ON comes after that of a further join
        bare = source.copy()
        bare.set("joins", None)
        return _items(bare, joins)
    if isinstance(source, exp.Lateral):
        _refuse("LATERAL is not read")
    if isinstance(source, exp.Subquery):
        if isinstance(source.this, exp.Query) and not isinstance(source.this, exp.Subquery):
            _refuse(_CONDITIONS[exp.Query])
        return _items(source.this, [])
    if source.args.get("hints"):
        _refuse("hints of indexes are not read; leave them out, the joins are the same")
    if any(each.quoted for each in source.find_all(exp.Identifier)):
        _refuse("names in backticks are not read; write them without")
    if not isinstance(source.this, exp.Identifier) or any(
        value for name, value in source.args.items() if name not in ("this", "alias")
    ):
        _fail("a table", source.sql("mysql"))
    return source.alias_or_name


def _parts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """What AND joins, in the order of the text."""
    waiting = [] if condition is None else [condition]
    while waiting:
        part = waiting.pop().unnest()
        if isinstance(part, exp.And):
            waiting += [part.right, part.left]
        else:
            yield part


def _equality(part: exp.Expr) -> Equality:
    if isinstance(part, exp.Not) and isinstance(part.this, exp.Is):
        part = part.this
    for kind, problem in _CONDITIONS.items():
        if isinstance(part, kind):
            _refuse(problem)
    if not isinstance(part, exp.EQ):
        _fail("an equality", part.sql("mysql"))
    return Equality(tuple(_sum(part.left)), tuple(_sum(part.right)))


def _sum(side: exp.Expr) -> Iterator[Column]:
    if isinstance(side, exp.Add):
        yield from _sum(side.left)
        yield from _sum(side.right)
        return
    if side.is_string:
        _refuse("only equalities of columns are read, not comparisons with a text")
    if not isinstance(side, exp.Column) or len(side.parts) != 2:
        _fail("a column as table.column", side.sql("mysql"))
    if any(each.args.get("quoted") for each in side.parts):
        _refuse("names in backticks are not read; write them without")
    yield side.table, side.name
