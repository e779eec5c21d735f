"""SysBench's `oltp_read_write` as requests: the statements of its script in its order, on its table.

SysBench itself is the load wherever the number of transactions counts. Here is the same for one client of the book, which can look at
the server between two statements. A test compares the statements with those that SysBench sends.
"""

from __future__ import annotations

import math
import random

from engineroom.workloads.requests import Load, Program, Request

__all__ = ["DISTRIBUTIONS", "KIND", "POINT_SELECTS", "RANGE_ROWS", "rows_drawn", "transactions"]

KIND = "read_write"
POINT_SELECTS = 10
RANGE_ROWS = 100
DISTRIBUTIONS = ("uniform", "pareto")
# SysBench's --rand-pareto-h: the share of the rows that gets all but this share of the draws.
_PARETO_H = 0.2
_RANGES = {
    "select_range": "SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?",
    "select_sum": "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN ? AND ?",
    "select_ordered": "SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c",
    "select_distinct": "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c",
}


def transactions(*, table_rows: int, distribution: str = "uniform", seed: int = 0) -> Load:
    """Transactions without end. ValueError for a table too small for a range, or a distribution that is none of `DISTRIBUTIONS`."""
    if table_rows < RANGE_ROWS:
        raise ValueError(f"table_rows is {table_rows}: a range alone has {RANGE_ROWS}")
    if distribution not in DISTRIBUTIONS:
        raise ValueError(f"distribution is {distribution!r}, not {' or '.join(DISTRIBUTIONS)}")
    rng = random.Random(seed)
    while True:
        yield KIND, _transaction(rng, table_rows, distribution)


def rows_drawn(rng: random.Random, table_rows: int, distribution: str) -> int:
    """The id of one row, from 1 to `table_rows`, by SysBench's formula."""
    if distribution == "uniform":
        return rng.randint(1, table_rows)
    power = math.log(_PARETO_H) / math.log(1 - _PARETO_H)
    return 1 + min(table_rows - 1, int(table_rows * rng.random() ** power))


def _transaction(rng: random.Random, table_rows: int, distribution: str) -> Program:
    def row() -> int:
        return rows_drawn(rng, table_rows, distribution)

    yield Request("begin", "BEGIN")
    for _ in range(POINT_SELECTS):
        yield Request("select_point", "SELECT c FROM sbtest1 WHERE id=?", (row(),))
    for name, sql in _RANGES.items():
        first = row()
        yield Request(name, sql, (first, first + RANGE_ROWS - 1))
    yield Request("update_index", "UPDATE sbtest1 SET k=k+1 WHERE id=?", (row(),))
    yield Request("update_non_index", "UPDATE sbtest1 SET c=? WHERE id=?", (_groups(rng, 10), row()))
    again, k = row(), row()
    yield Request("delete", "DELETE FROM sbtest1 WHERE id=?", (again,))
    yield Request(
        "insert",
        "INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)",
        (again, k, _groups(rng, 10), _groups(rng, 5)),
    )
    yield Request("commit", "COMMIT")


def _groups(rng: random.Random, n: int) -> str:
    """Groups of eleven digits, as the texts of SysBench's rows."""
    return "-".join(f"{rng.randrange(10**11):011}" for _ in range(n))
