"""The queries on which the kernels are checked against the server, and the tables that they need: `data/join_order`.

The benchmarks' queries are SQL for their graphs, on tables that have the relations' names and a column for each predicate; the others
are on generic tables, t00 to t19.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from engineroom import paths, sql_text

__all__ = ["GENERIC_COLUMNS", "GENERIC_TABLES", "Query", "benchmark_graphs", "queries", "schema"]

GENERIC_TABLES = 20
GENERIC_COLUMNS = 12  # but t00 has one for each other table, so that it can be the hub of a star of all


@dataclass(frozen=True)
class Query:
    """`family` groups the queries; `tables` counts the relations; `special` says whether a join is not inner."""

    name: str
    family: str
    tables: int
    special: bool
    sql: str


@cache
def queries(which: str = "queries") -> tuple[Query, ...]:
    """The queries of the comparison, or further ones for what it leaves out: "straight", "shared", "hinted"."""
    listed = json.loads((paths.data() / "join_order" / "queries.json").read_text(encoding="utf-8"))[which]
    return tuple(Query(**query) for query in listed)


def schema() -> list[str]:
    """The statements that make and fill the tables."""
    return sql_text.statements((paths.data() / "join_order" / "schema.sql").read_text(encoding="utf-8"))


def benchmark_graphs(name: str) -> list[dict[str, Any]]:
    """The query graphs of "job", "tpch" or "tpcds", as published with the repository."""
    text = (paths.data() / "querygraphs" / f"{name}.json").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text)["queries"]
    return found
