"""A reader's transactions from a TOML file: kinds with a weight, their statements, and what the values in these are drawn from.

    [[transaction]]
    name = "order"
    weight = 3
    statements = [
      "SELECT price FROM item WHERE id = :item",
      "UPDATE stock SET n = n - 1 WHERE item = :item",
      "INSERT INTO orders (item) VALUES (:item)",
    ]
    values.item = {rows = 100000, distribution = "pareto"}

A value is a whole number from 1 to `rows`, drawn once per transaction, so that two statements with the same name mean the same row. A
statement's row is its first value behind WHERE, or else its first one; a statement that changes rows and has no value always means
the same row.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engineroom import files, sql_text
from engineroom.errors import EngineRoomError

__all__ = ["MOST_TABLES", "Statement", "Transaction", "Value", "parsed", "read"]

MOST_TABLES = 16  # that the engine's kernel has
_LARGEST = 128 * 2**10  # characters; TOML takes a time in the square of a key's dots
_TEXT_OR_VALUE = re.compile(rf"({sql_text.TEXT}|{sql_text.NAME})|(?<!:):([A-Za-z_]\w*)", re.DOTALL)
_TABLE = r"((?:`[^`]+`|[\w$]+)(?:\.(?:`[^`]+`|[\w$]+))?)"
_MODIFIERS = r"(?:(?:LOW_PRIORITY|HIGH_PRIORITY|DELAYED|QUICK|IGNORE)\s+)*"
_TABLE_OF: Mapping[str, str] = {
    "UPDATE": rf"\bUPDATE\s+{_MODIFIERS}{_TABLE}",
    "INSERT": rf"\bINSERT\s+{_MODIFIERS}(?:INTO\s+)?{_TABLE}",
    "REPLACE": rf"\bREPLACE\s+{_MODIFIERS}(?:INTO\s+)?{_TABLE}",
    "DELETE": rf"\bFROM\s+{_TABLE}",
    "SELECT": rf"\bFROM\s+{_TABLE}",
    "WITH": rf"\bFROM\s+{_TABLE}",
}
_SHARED = re.compile(r"\b(FOR\s+SHARE|LOCK\s+IN\s+SHARE\s+MODE)\b", re.IGNORECASE)
_EXCLUSIVE = re.compile(r"\bFOR\s+UPDATE\b", re.IGNORECASE)
_DISTRIBUTIONS = ("uniform", "pareto")
_MOST_ROWS, _MOST_WEIGHT = 1_000_000_000, 1_000_000

# Of each field its default, whether a value is right, and what to give in place of a wrong one.
Fields = Mapping[str, tuple[Any, Callable[[Any], Any], str]]
_KIND: Fields = {
    "name": (None, lambda v: isinstance(v, str) and v, "a text in quotes"),
    "weight": (1, lambda v: _whole(v, 1, _MOST_WEIGHT), "a whole number from 1 on"),
    "autocommit": (False, lambda v: isinstance(v, bool), "true or false"),
    "statements": (
        None,
        lambda v: isinstance(v, list) and v and all(isinstance(each, str) for each in v),
        'a list of statements: ["SELECT ...", "UPDATE ..."]',
    ),
    "values": ({}, lambda v: isinstance(v, dict), "as in: values.id = {rows = 1000}"),
}
_VALUE: Fields = {
    "rows": (None, lambda v: _whole(v, 1, _MOST_ROWS), f"a whole number from 1 to {_MOST_ROWS:,}"),
    "distribution": ("uniform", lambda v: v in _DISTRIBUTIONS, " or ".join(_DISTRIBUTIONS)),
}


@dataclass(frozen=True)
class Value:
    """What a name stands for: a whole number from 1 to `rows`."""

    rows: int
    distribution: str = "uniform"

    def drawn(self, n: int, seed: int) -> list[int]:
        """So many of them, as the simulated clients draw theirs."""
        from engineroom._native import engine

        load = {"rows": self.rows, "distribution": self.distribution}
        return [1 + row for row in engine.drawn_rows(load, n=n, seed=seed)]


@dataclass(frozen=True)
class Statement:
    """A statement, and what of it the engine is told: `value` is the name of its row, None for one and the same row."""

    sql: str
    access: str
    shared: bool
    table: str
    value: str | None

    def text(self, values: Mapping[str, int]) -> str:
        """As it is sent."""
        return _TEXT_OR_VALUE.sub(lambda found: found[1] or str(values[found[2]]), self.sql)


@dataclass(frozen=True)
class Transaction:
    """A kind of transaction."""

    name: str
    weight: int
    autocommit: bool
    statements: tuple[Statement, ...]
    values: Mapping[str, Value]

    @property
    def places(self) -> int:
        """Statements that a client sends, with its COMMIT."""
        return len(self.statements) + (not self.autocommit)

    def texts(self, n: int, seed: int) -> Iterator[list[str]]:
        """The statements of so many of them."""
        drawn = {name: value.drawn(n, seed + at) for at, (name, value) in enumerate(self.values.items())}
        for i in range(n):
            values = {name: rows[i] for name, rows in drawn.items()}
            yield [statement.text(values) for statement in self.statements]


def read(path: Path) -> list[Transaction]:
    """The transactions of a file. EngineRoomError for one that cannot be run, with the place and what to do."""
    text = files.read_text(path, "file of transactions")
    if len(text) > _LARGEST:
        raise EngineRoomError(
            f"{path.name} has more than {_LARGEST // 2**10} thousand characters",
            remedy="leave out the transactions that come least often",
        )
    try:
        return parsed(tomllib.loads(text), path.name)
    except (ValueError, RecursionError) as error:  # a number too long, a list nested too deep
        raise EngineRoomError(
            f"{path.name} is not TOML: {error}",
            remedy='begin each kind of transaction with [[transaction]], and write name = "...", statements = ["...", "..."]',
        ) from error


def parsed(content: Mapping[str, Any], name: str) -> list[Transaction]:
    """The transactions of what a file holds, which `name` names in messages."""
    kinds = content.get("transaction")
    if set(content) - {"transaction"} or not isinstance(kinds, list) or not kinds:
        raise EngineRoomError(
            f"{name} does not consist of transactions",
            remedy="begin each kind of transaction with [[transaction]], and put nothing in front of the first",
        )
    found = [_transaction(kind, f"{name}: transaction {i}") for i, kind in enumerate(kinds, 1)]
    names = [each.name for each in found]
    if twice := sorted(each for each, n in Counter(names).items() if n > 1):
        raise EngineRoomError(
            f"{name}: two transactions are called {twice[0]!r}", remedy="rename one of them"
        )
    tables = {statement.table for each in found for statement in each.statements if statement.table}
    if len(tables) > MOST_TABLES:
        raise EngineRoomError(
            f"{name} is about {len(tables)} tables, and the engine has {MOST_TABLES}",
            remedy="leave out the transactions that come least often",
        )
    return found


def _transaction(kind: Any, where: str) -> Transaction:
    unknown = sorted(set(kind) - _KIND.keys()) if isinstance(kind, dict) else [repr(kind)]
    if unknown:
        raise EngineRoomError(
            f"{where} has {', '.join(unknown)}", remedy=f"it may have: {', '.join(sorted(_KIND))}"
        )
    named = kind.get("name")
    if isinstance(named, str) and named:
        where = f"{where} ({named})"
    name, weight, autocommit, texts, given = _fields(kind, _KIND, where)
    if autocommit and len(texts) != 1:
        raise EngineRoomError(
            f"{where}: {len(texts)} statements with autocommit",
            remedy="make each a transaction of its own, or leave autocommit out",
        )
    values = {each: _value(value, f"{where}: values.{each}") for each, value in given.items()}
    statements = tuple(_statement(text, values, f"{where}, statement {i}") for i, text in enumerate(texts, 1))
    used = {found[2] for text in texts for found in _TEXT_OR_VALUE.finditer(text)}
    if unused := sorted(set(values) - used):
        raise EngineRoomError(
            f"{where}: no statement has :{unused[0]}", remedy=f"leave values.{unused[0]} out"
        )
    return Transaction(name, weight, autocommit, statements, values)


def _value(value: Any, where: str) -> Value:
    wanted = 'as in {rows = 1000, distribution = "pareto"}'
    _checked(value, lambda v: isinstance(v, dict) and not set(v) - _VALUE.keys(), where, wanted)
    return Value(*_fields(value, _VALUE, where))


def _fields(given: Mapping[str, Any], known: Fields, where: str) -> list[Any]:
    return [
        _checked(given.get(name, default), is_right, f"{where}: {name}", wanted)
        for name, (default, is_right, wanted) in known.items()
    ]


def _statement(text: str, values: Mapping[str, Value], where: str) -> Statement:
    sql = sql_text.one_statement(text, where)
    bare, word = sql_text.without_texts(sql), sql_text.first_word(sql)
    access, shared = _access(word, bare, where)
    table = ""
    if word in _TABLE_OF and access != "computes":
        named = re.search(_TABLE_OF[word], sql, re.IGNORECASE)
        if named is None and access != "reads":
            raise EngineRoomError(
                f"{where} does not say which table it is about: {sql}",
                remedy="name one table behind its keyword",
            )
        table = named[1].replace("`", "").rpartition(".")[2] if named else ""
    names = [found[2] for found in _TEXT_OR_VALUE.finditer(sql) if found[2]]
    if unknown := [name for name in names if name not in values]:
        raise EngineRoomError(
            f"{where}: nothing says what :{unknown[0]} is drawn from",
            remedy=f"add values.{unknown[0]} = {{rows = 1000}}",
        )
    behind = re.search(r"\bWHERE\b.*", sql, re.IGNORECASE | re.DOTALL)
    in_where = [found[2] for found in _TEXT_OR_VALUE.finditer(behind[0]) if found[2]] if behind else []
    return Statement(sql, access, shared, table, next(iter(in_where + names), None))


def _access(word: str, bare: str, where: str) -> tuple[str, bool]:
    """What the engine is told of it, and whether its locks are shared."""
    if word in ("SELECT", "WITH"):
        if _SHARED.search(bare):
            return "locks", True
        if _EXCLUSIVE.search(bare):
            return "locks", False
        return ("reads" if re.search(r"\bFROM\b", bare, re.IGNORECASE) else "computes"), False
    if word in ("UPDATE", "DELETE", "REPLACE"):
        return "changes", False
    if word == "INSERT":
        is_change = re.search(r"\bON\s+DUPLICATE\s+KEY\s+UPDATE\b", bare, re.IGNORECASE)
        return ("changes" if is_change else "inserts"), False
    if word in ("SET", "DO"):
        return "computes", False
    if word in ("BEGIN", "START", "COMMIT", "ROLLBACK"):
        raise EngineRoomError(
            f"{where} is {word}", remedy="leave it out: each transaction is begun and committed for you"
        )
    raise EngineRoomError(
        f"{where} begins with {word or 'no keyword'}, which the engine does not have",
        remedy="give SELECT, WITH, INSERT, REPLACE, UPDATE, DELETE, SET or DO",
    )


def _whole(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _checked(value: Any, is_right: Callable[[Any], Any], where: str, wanted: str) -> Any:
    if not is_right(value):
        said = "is missing" if value is None else f"is {value!r}"
        raise EngineRoomError(f"{where} {said}", remedy=f"give {wanted}")
    return value
