"""What a server knows of a reader's tables: their rows, how many different values, and histograms, from a file of its own answers.

The file has rows of information_schema's tables, statistics and column_statistics, or of SHOW INDEX and SHOW TABLE STATUS: as `mysql --batch`
prints them, one answer behind the other, or as JSON objects, in lists or one behind the other. What else an answer tells is passed over.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engineroom import files
from engineroom.errors import EngineRoomError

__all__ = ["Bucket", "TableStatistics", "read"]

_REMEDY = "`engineroom compare --help` has the statements whose answers it takes"
# What a column of an answer tells, by its name.
_TELLS = {
    "table_schema": "database", "schema_name": "database", "table_name": "table", "table": "table", "name": "table", "column_name": "column",
    "index_name": "index", "key_name": "index", "seq_in_index": "place", "non_unique": "repeats", "cardinality": "cardinality",
    "table_rows": "rows", "rows": "rows", "histogram": "histogram",
}  # fmt: skip
_HEADS = ({"table_name"}, {"table", "key_name"}, {"name", "rows"})
_ESCAPED = {"n": "\n", "t": "\t", "0": "\0"}


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """So many `different` values from `low` to `high`, None where only their number is known; `end` is the share of rows up to the last."""

    low: Any = None
    high: Any = None
    end: float = 1.0
    different: int = 1


@dataclass
class TableStatistics:
    """A table's rows, and buckets by column in lower case; the share of rows that no bucket has is NULL."""

    rows: int | None = None
    columns: dict[str, tuple[Bucket, ...]] = field(default_factory=dict)


def read(path: Path) -> dict[tuple[str, str], TableStatistics]:
    """By database, "" where none is told, and table, both in lower case. EngineRoomError for a file that tells nothing."""
    text = files.read_text(path, "statistics", remedy=_REMEDY)
    try:
        found = _gathered(_of_json(text) if text.lstrip()[:1] in ("[", "{") else _of_batch(text))
    except (
        AttributeError,
        IndexError,
        KeyError,
        OverflowError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        said = f"{error} is missing" if isinstance(error, KeyError) else error
        raise EngineRoomError(f"{path.name} holds no statistics: {said}", remedy=_REMEDY) from error
    if not any(each.columns or each.rows is not None for each in found.values()):
        raise EngineRoomError(f"{path.name} holds no statistics of a table", remedy=_REMEDY)
    return found


def _gathered(rows: Iterable[dict[str, Any]]) -> dict[tuple[str, str], TableStatistics]:
    found: defaultdict[tuple[str, str], TableStatistics] = defaultdict(TableStatistics)
    indexes: defaultdict[tuple[tuple[str, str], str], list[tuple[int, str, int]]] = defaultdict(list)
    least: defaultdict[tuple[str, str], int] = defaultdict(int)  # rows, by unique keys
    for row in rows:
        named = ((_TELLS.get(name.casefold()), value) for name, value in row.items())
        told = {name: value for name, value in named if name and value is not None}
        if "table" not in told:
            continue
        key = str(told.get("database", "")).casefold(), str(told["table"]).casefold()
        column = str(told.get("column", "")).casefold()
        if "rows" in told:
            found[key].rows = _count(told["rows"])
        if column and "histogram" in told:
            found[key].columns[column] = _buckets(told["histogram"])
        elif column and "cardinality" in told:
            index, different = str(told.get("index", column)), _count(told["cardinality"])
            indexes[key, index].append((_count(told.get("place", 1)), column, different))
            if index.upper() == "PRIMARY" or str(told.get("repeats")) == "0":
                least[key] = max(least[key], different)
    for key, columns in _different(indexes).items():
        for column, n in columns.items():
            found[key].columns.setdefault(column, (Bucket(different=n),))
        if found[key].rows is None and least[key]:
            found[key].rows = least[key]
    return dict(found)


def _different(
    indexes: dict[tuple[tuple[str, str], str], list[tuple[int, str, int]]],
) -> dict[tuple[str, str], dict[str, int]]:
    """How many values each column has. An index tells it of its first; of a later one, how many come with one value of those before."""
    found: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for (key, _), parts in indexes.items():
        before = 1
        for _, column, cardinality in sorted(parts):
            if cardinality:  # none was counted in a table without rows
                found[key][column] = max(found[key].get(column, 1), round(cardinality / before))
                before = max(before, cardinality)
    return found


def _count(value: Any) -> int:
    number = int(value)
    if number < 0:
        raise ValueError(f"a number of rows or values is {value!r:.40}")
    return number


def _buckets(value: Any) -> tuple[Bucket, ...]:
    """Those of a histogram: a value and the share of rows up to it, or two bounds, that share, and how many values lie between."""
    histogram = json.loads(value) if isinstance(value, str) else value
    found, before = list[Bucket](), 0.0
    for each in histogram["buckets"]:
        low, high, end, different = each if len(each) == 4 else (each[0], each[0], each[1], 1)
        if not (before <= end <= 1.001 and different >= 1):
            raise ValueError(f"a bucket is {each!r:.80}")
        found.append(Bucket(low=low, high=high, end=float(end), different=int(different)))
        before = end
    return tuple(found)


def _of_batch(text: str) -> Iterator[dict[str, Any]]:
    """Rows with tabs between their values, behind a line of names."""
    head: list[str] = []
    for line in text.split("\n"):
        values = line.rstrip("\r").split("\t")
        if any(names <= set(map(str.casefold, values)) for names in _HEADS):
            head = values
        elif len(values) == len(head):
            yield {
                name: None
                if value == "NULL"
                else re.sub(r"\\(.)", lambda found: _ESCAPED.get(found[1], found[1]), value)
                for name, value in zip(head, values, strict=True)
            }


def _of_json(text: str) -> Iterator[dict[str, Any]]:
    decoder, at = json.JSONDecoder(), 0
    while begins := re.compile(r"[^\s,]").search(text, at):
        value, at = decoder.raw_decode(text, begins.start())
        yield from _objects(value)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    rows = value.get("rows") if isinstance(value, dict) else value
    if isinstance(rows, list):
        for each in rows:
            yield from _objects(each)
    else:
        yield dict(value)
