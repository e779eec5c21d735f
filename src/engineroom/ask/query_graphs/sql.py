"""The part of SQL that the comparison's queries use: joins with ON, commas, parentheses, and EXISTS in WHERE.

`parse` gives the tables as they are nested and the conditions as lists of equalities. Anything else is an error that says where
the reader stopped. Refused by name are what the server would plan in another way than the text suggests: NATURAL, USING and RIGHT
joins, hints and SELECT STRAIGHT_JOIN, an EXISTS that the server does not turn into a join.

It reads what the comparison needs and is not to grow: `explain` takes graphs from the server's trace. Whoever needs more of SQL should
read it with sqlglot, which knows all that is refused here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from engineroom.errors import EngineRoomError

__all__ = ["Block", "Equality", "Joined", "Nest", "Subquery", "parse"]

Column = tuple[str, str]  # alias, column

# Words that follow a table and are no alias of it.
_NO_ALIAS = re.compile(
    "JOIN|LEFT|ON|WHERE|INNER|CROSS|STRAIGHT_JOIN|NATURAL|RIGHT|USING|FULL|GROUP|HAVING|ORDER|LIMIT|UNION|EXCEPT|INTERSECT|"
    "USE|FORCE|IGNORE|PARTITION|WINDOW|FOR|LATERAL|TABLESAMPLE|SELECT|FROM",
    re.IGNORECASE,
)
_REFUSED = {
    "NATURAL": "NATURAL JOIN compares all columns of the same name, which the text does not show; write its ON",
    "USING": "USING is not read; write ON with both columns",
    "RIGHT": "RIGHT JOIN is not read; write it as a LEFT JOIN with its sides exchanged",
    "LATERAL": "LATERAL is not read",
    "SELECT": "a subquery here is a block of its own, which our reader does not take; explain shows it from the server's trace",
    "WITH": "WITH makes blocks of their own, which our reader does not take; explain shows them from the server's trace",
    "UNION": "UNION makes a block of each arm, which our reader does not take; explain shows them from the server's trace",
    "EXCEPT": "EXCEPT makes blocks of their own, which our reader does not take; explain shows them from the server's trace",
    "INTERSECT": "INTERSECT makes blocks of their own, which our reader does not take; explain shows them from the server's trace",
    **dict.fromkeys(
        ("LIKE", "BETWEEN", "IS"), "only equalities of columns are read, not LIKE, BETWEEN and IS NULL"
    ),
    **dict.fromkeys("'\"", "only equalities of columns are read, not comparisons with a text"),
    "NOT": "NOT is not read but in NOT EXISTS",
    "FORCE": "hints of indexes are not read; leave them out, the joins are the same",
    "IN": "IN is not read; write EXISTS with an equality",
    "GROUP": "GROUP BY is not read; leave it out, the joins are the same",
    "HAVING": "HAVING is not read; leave it out, the joins are the same",
    "ORDER": "ORDER BY is not read; leave it out, the joins are the same",
    "LIMIT": "LIMIT is not read; leave it out to see the joins",
    "OR": "OR is not read: only equalities joined by AND are",
    "INSERT": "only a SELECT is read, not INSERT",
    "REPLACE": "only a SELECT is read, not REPLACE",
    "UPDATE": "only a SELECT is read, not UPDATE",
    "DELETE": "only a SELECT is read, not DELETE",
    "`": "names in backticks are not read; write them without",
}

_TOKEN = re.compile(r"\s*(?:(\w+)|(.))")


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
class Nest:
    """Tables and nests in the order of the text; one in parentheses, or one made by a JOIN."""

    items: list[Joined] = field(default_factory=list)


@dataclass
class Joined:
    """A table (its alias) or a nest, and how it joins what stands before it."""

    what: str | Nest
    kind: str = "inner"
    on: list[Equality] = field(default_factory=list)


@dataclass
class Subquery:
    """EXISTS or NOT EXISTS."""

    negated: bool
    block: Block


@dataclass
class Block:
    """SELECT ... FROM nest WHERE equalities AND subqueries."""

    nest: Nest
    where: list[Equality]
    subqueries: list[Subquery]


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [
            (found[1] or found[2], found.start(found.lastindex or 0))
            for found in _TOKEN.finditer(text.strip().rstrip(";"))
        ]
        self.at = 0

    def peek(self, ahead: int = 0) -> str:
        return self.tokens[self.at + ahead][0] if self.at + ahead < len(self.tokens) else ""

    def is_next(self, *words: str) -> bool:
        return all(self.peek(i).upper() == word for i, word in enumerate(words))

    def take(self, *words: str) -> None:
        if not self.is_next(*words):
            self.fail(" ".join(words))
        self.at += len(words)

    def name(self) -> str:
        word = self.peek()
        if not re.fullmatch(r"[A-Za-z_]\w*", word) or _NO_ALIAS.fullmatch(word):
            self.fail("a name")
        self.at += 1
        return word

    def fail(self, wanted: str) -> NoReturn:
        where = self.tokens[self.at][1] if self.at < len(self.tokens) else len(self.text)
        if self.peek().upper() in _REFUSED:
            self.refuse(_REFUSED[self.peek().upper()])
        raise EngineRoomError(
            f"the statement is more than our reader knows: expected {wanted} at character {where} of the statement, got {self.text[where : where + 30]!r}",
            remedy="write joins with ON, equalities of columns or sums, AND, and EXISTS subqueries; nothing else is read",
        )

    @staticmethod
    def refuse(problem: str) -> NoReturn:
        raise EngineRoomError(
            problem, remedy="write the statement without it, or take the graph from the server's trace"
        )

    def block(self, *, in_exists: bool = False) -> Block:
        self.take("SELECT")
        if self.is_next("STRAIGHT_JOIN"):
            self.refuse(
                "SELECT STRAIGHT_JOIN fixes the order of all tables; write STRAIGHT_JOIN between tables"
            )
        while not self.is_next("FROM"):
            if not self.peek():
                self.fail("FROM")
            if self.is_next("/", "*", "+"):
                self.refuse("hints may fix an order and are not read")
            if self.is_next("SELECT"):
                self.refuse("a subquery in the list of columns is a block of its own and not read")
            if in_exists and self.is_next("("):
                self.refuse(
                    "EXISTS over a function is not read: with an aggregate it is a block of its own; write SELECT 1"
                )
            self.at += 1
        self.take("FROM")
        nest = self.commas()
        where, subqueries = self.conditions() if self.is_next("WHERE") else ([], [])
        return Block(nest, where, subqueries)

    def commas(self) -> Nest:
        nest = Nest([self.joins()])
        while self.is_next(","):
            self.take(",")
            nest.items.append(self.joins())
        return nest

    def joins(self) -> Joined:
        left = Joined(self.factor())
        while True:
            if self.is_next("LEFT"):
                self.take("LEFT")
                if self.is_next("OUTER"):
                    self.take("OUTER")
                kind = "left"
            elif self.is_next("STRAIGHT_JOIN"):
                kind = "straight"
            elif self.is_next("INNER") or self.is_next("CROSS") or self.is_next("JOIN"):
                kind = "inner"
                if not self.is_next("JOIN"):
                    self.at += 1
            else:
                return left
            self.take("STRAIGHT_JOIN" if kind == "straight" else "JOIN")
            right = Joined(self.factor(), kind)
            if self.is_next("ON"):
                self.take("ON")
                right.on = self.equalities()
            left = Joined(Nest([left, right]))

    def factor(self) -> str | Nest:
        if self.is_next("("):
            self.take("(")
            inner = self.commas()
            self.take(")")
            return inner
        table = self.name()
        if self.is_next("AS"):
            self.take("AS")
            return self.name()
        if re.fullmatch(r"[A-Za-z_]\w*", self.peek()) and not _NO_ALIAS.fullmatch(self.peek()):
            return self.name()
        return table

    def conditions(self) -> tuple[list[Equality], list[Subquery]]:
        self.take("WHERE")
        where: list[Equality] = []
        subqueries: list[Subquery] = []
        while True:
            negated = self.is_next("NOT")
            if negated:
                self.take("NOT")
            if self.is_next("EXISTS"):
                self.take("EXISTS", "(")
                inner = self.block(in_exists=True)
                if any(each.negated for each in inner.subqueries):
                    self.refuse(
                        "NOT EXISTS inside EXISTS is not read: the server plans the outer one as a block of its own"
                    )
                subqueries.append(Subquery(negated, inner))
                self.take(")")
            else:
                where += self.equality()
            if not self.is_next("AND"):
                return where, subqueries
            self.take("AND")

    def equalities(self) -> list[Equality]:
        found = self.equality()
        while self.is_next("AND"):
            self.take("AND")
            found += self.equality()
        return found

    def equality(self) -> list[Equality]:
        if self.is_next("("):
            self.take("(")
            inner = self.equalities()
            self.take(")")
            return inner
        left = self.sum()
        self.take("=")
        return [Equality(left, self.sum())]

    def sum(self) -> tuple[Column, ...]:
        terms = [self.column()]
        while self.is_next("+"):
            self.take("+")
            terms.append(self.column())
        return tuple(terms)

    def column(self) -> Column:
        alias = self.name()
        self.take(".")
        return alias, self.name()


def parse(text: str) -> Block:
    """The tables and conditions of a SELECT."""
    reader = _Reader(text)
    block = reader.block()
    if reader.peek():
        reader.fail("the end")
    return block


def aliases(items: Sequence[Joined]) -> list[str]:
    """All tables of a list, in the order of the text."""
    found: list[str] = []
    for item in items:
        found += [item.what] if isinstance(item.what, str) else aliases(item.what.items)
    return found
