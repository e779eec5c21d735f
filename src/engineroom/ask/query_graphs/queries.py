"""The queries on which the kernels are checked against the server, and the tables that they need.

`data/join_order/queries.json` holds every query as SQL, `schema.sql` the tables; both are written by this module
(`python -m engineroom.ask.query_graphs.queries`) from the benchmarks' query graphs and from seeds. The benchmarks' tables are
synthesised from the graphs alone: names of relations, and a column for each predicate.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from engineroom import paths
from engineroom.ask.query_graphs import graphs

__all__ = [
    "Query",
    "benchmark_graphs",
    "hinted_queries",
    "queries",
    "schema",
    "shared_queries",
    "straight_queries",
]

GENERIC_TABLES = 20
GENERIC_COLUMNS = 12  # but t00 has one for each other table, so that it can be the hub of a star of all
# Different row counts, so that no two orders cost the same by accident.
GENERIC_ROWS = [3 + (7 * i * i + 11 * i) % 61 for i in range(GENERIC_TABLES)]


@dataclass(frozen=True)
class Query:
    """`family` groups the queries; `tables` counts the relations; `special` says whether a join is not inner."""

    name: str
    family: str
    tables: int
    special: bool
    sql: str


@cache
def queries() -> tuple[Query, ...]:
    """All queries, as committed."""
    listed = json.loads((_folder() / "queries.json").read_text(encoding="utf-8"))["queries"]
    return tuple(Query(**query) for query in listed)


def straight_queries() -> Iterator[Query]:
    """Random joins some of which are STRAIGHT_JOINs, with outer joins in every second one; made anew each time, in no file."""
    for number in range(80):
        n = 3 + number % 7
        joins = _Joins(f"straight{number}", n, straight_share=0.4)
        sql = _select(joins.tree(joins.tables, 0.25 * (number % 2)))
        if "STRAIGHT_JOIN" in sql:
            yield Query(f"straight-{number}", "straight joins", n, True, sql)


def hinted_queries() -> Iterator[Query]:
    """The queries of three to seven tables under a hint of join order or SELECT STRAIGHT_JOIN, drawn for each."""
    for query in queries():
        names = list(dict.fromkeys(re.findall(r"\bt\d\d\b", query.sql.partition(" WHERE ")[0])))
        if not 3 <= query.tables <= 7 or len(names) < 3:
            continue
        rng = random.Random(f"hinted {query.name}")
        hint = rng.choice(["JOIN_ORDER", "JOIN_PREFIX", "JOIN_SUFFIX", "JOIN_FIXED_ORDER", "STRAIGHT_JOIN"])
        some = "" if hint == "JOIN_FIXED_ORDER" else ", ".join(rng.sample(names, rng.choice([2, 3])))
        before = hint if hint == "STRAIGHT_JOIN" else f"/*+ {hint}({some}) */"
        sql = query.sql.replace("SELECT", f"SELECT {before}", 1)
        yield Query(f"hinted-{query.name}", "hints", query.tables, query.special, sql)


def shared_queries() -> Iterator[Query]:
    """Random joins whose outer joins share columns with each other and with WHERE; made anew each time, in no file."""
    for number in range(120):
        rng = random.Random(f"shared{number}")
        n = 3 + number % 5
        tables = [_t(table) for table in rng.sample(range(GENERIC_TABLES), n)]

        def column(table: str, rng: random.Random = rng) -> str:
            return f"{table}.{rng.choice(['c0', 'c1'])}"

        joined = tables[0]
        for i in range(1, n):
            kind = "LEFT JOIN" if rng.random() < 0.5 else "JOIN"
            conditions = [
                f"{column(tables[i])} = {column(rng.choice(tables[:i]))}"
                for _ in range(rng.choice([1, 1, 2]))
            ]
            joined += f" {kind} {tables[i]} ON {' AND '.join(conditions)}"
        some = [rng.sample(tables, 2) for _ in range(rng.choice([1, 2]))]
        where = [f"{column(a)} = {column(b)}" for a, b in some if rng.random() < 0.6]
        if "LEFT" in joined:
            yield Query(f"shared-{number}", "shared equalities", n, True, _select(joined, where))


def schema() -> list[str]:
    """The statements that make and fill the tables."""
    text = (_folder() / "schema.sql").read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    return [statement.strip() for statement in lines.split(";") if statement.strip()]


def benchmark_graphs(name: str) -> list[dict[str, Any]]:
    """The query graphs of "job", "tpch" or "tpcds", as published with the repository."""
    text = (paths.data() / "querygraphs" / f"{name}.json").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text)["queries"]
    return found


def _folder() -> Path:
    return paths.data() / "join_order"


def make_queries() -> list[Query]:
    """All queries, made again."""
    made = [*_shapes(), *_equalities(), *_outer(), *_semi(), *_hyper()]
    for benchmark in ("tpch", "tpcds", "job"):
        made += [_of_graph(benchmark, graph) for graph in benchmark_graphs(benchmark)]
    return made


def _t(i: int) -> str:
    return f"t{i:02}"


def _select(joined: str, where: Sequence[str] = ()) -> str:
    return f"SELECT COUNT(*) FROM {joined}" + (f" WHERE {' AND '.join(where)}" if where else "")


def _shapes() -> Iterator[Query]:
    """Chains, cycles, stars and cliques; every edge has columns of its own, so that no equality implies another."""
    sizes = {"chain": range(2, 21), "cycle": range(3, 15), "star": range(3, 11), "clique": range(3, 8)}
    for name, some in sizes.items():
        for n in some:
            edges = graphs.shape(name, n)["edges"]
            order = list(range(n))
            random.Random(f"{name}{n}").shuffle(order)
            where = []
            used = [0] * n
            for edge in edges:
                sides = []
                for node in (edge["left"][0], edge["right"][0]):
                    sides.append(f"{_t(order[node])}.c{used[node]}")
                    used[node] += 1
                where.append(" = ".join(sides))
            joined = ", ".join(_t(i) for i in range(n))
            yield Query(f"{name}-{n}", name, n, False, _select(joined, where))


def _equalities() -> Iterator[Query]:
    """One column equal in all tables: the server makes a clique of what is written as a chain or star."""
    for n in range(3, 8):
        for shape, pairs in (
            ("chain", [(i, i + 1) for i in range(n - 1)]),
            ("star", [(0, i) for i in range(1, n)]),
        ):
            where = [f"{_t(a)}.c0 = {_t(b)}.c0" for a, b in pairs]
            joined = ", ".join(_t(i) for i in range(n))
            yield Query(f"equal-{shape}-{n}", "equalities", n, False, _select(joined, where))


class _Joins:
    """A random tree of joins written as SQL, over some of the generic tables."""

    def __init__(self, seed: str, n: int, *, straight_share: float = 0.0) -> None:
        self.straight_share = straight_share
        self.rng = random.Random(seed)
        self.tables = self.rng.sample(range(GENERIC_TABLES), n)
        self.columns = dict.fromkeys(self.tables, 0)

    def column(self, table: int) -> str:
        """A column that no other condition uses."""
        self.columns[table] += 1
        return f"{_t(table)}.c{self.columns[table] - 1}"

    def condition(self, left: Sequence[int], right: Sequence[int]) -> str:
        return f"{self.column(self.rng.choice(left))} = {self.column(self.rng.choice(right))}"

    def tree(self, tables: Sequence[int], left_share: float) -> str:
        if len(tables) == 1:
            return _t(tables[0])
        # Mostly left-deep, as people write; sometimes a bushy part in parentheses.
        cut = len(tables) - 1 if self.rng.random() < 0.65 else self.rng.randint(1, len(tables) - 1)
        left = self.tree(tables[:cut], left_share)
        right = self.tree(tables[cut:], left_share)
        kind = "LEFT JOIN" if self.rng.random() < left_share else "JOIN"
        if self.straight_share and self.rng.random() < self.straight_share:
            kind = "STRAIGHT_JOIN"
        right = right if len(tables) - cut == 1 else f"({right})"
        return f"{left} {kind} {right} ON {self.condition(tables[:cut], tables[cut:])}"


def _outer() -> Iterator[Query]:
    for number in range(60):
        n = 3 + number % 9
        joins = _Joins(f"outer{number}", n)
        sql = _select(joins.tree(joins.tables, 0.2 + 0.1 * (number % 7)))
        if "LEFT" in sql:
            yield Query(f"outer-{number}", "outer joins", n, True, sql)


def _semi() -> Iterator[Query]:
    for number in range(40):
        n = 4 + number % 7
        joins = _Joins(f"semi{number}", n)
        n_inside = 1 + number % 2
        outside, rest = joins.tables[: n - n_inside], joins.tables[n - n_inside :]
        body = joins.tree(outside, 0.25)
        # One subquery of one or two tables, or two subqueries of one table.
        groups = [rest] if number % 4 != 1 else [[table] for table in rest]
        where = []
        for group in groups:
            inner = joins.tree(group, 0.0)
            link = joins.condition(group, outside[:1])
            where.append(
                f"{'NOT ' if joins.rng.random() < 0.5 else ''}EXISTS (SELECT 1 FROM {inner} WHERE {link})"
            )
        yield Query(f"semi-{number}", "semi and anti joins", n, True, _select(body, where))


def _hyper() -> Iterator[Query]:
    """Conditions on three tables and more make complex edges."""
    for number in range(24):
        n = 4 + number % 6
        joins = _Joins(f"hyper{number}", n)
        tables = joins.tables
        where = []
        for i in range(1, n):
            others = joins.rng.sample(tables[:i], min(i, joins.rng.choice([1, 1, 2, 3])))
            total = " + ".join(joins.column(table) for table in others)
            where.append(f"{joins.column(tables[i])} = {total}")
        for _ in range(number % 3):
            some = joins.rng.sample(tables, 2)
            where.append(joins.condition(some[:1], some[1:]))
        joined = ", ".join(_t(table) for table in tables)
        yield Query(f"hyper-{number}", "complex conditions", n, False, _select(joined, where))


def _of_graph(benchmark: str, graph: Mapping[str, Any]) -> Query:
    """A benchmark's query from its graph: the first relation, then one join or subquery a relation."""
    names = [f"{relation['alias']}" for relation in graph["relations"]]
    tables = [f"{benchmark}_{_plain(relation['table'])}" for relation in graph["relations"]]
    kinds = graph.get("kinds") or ["inner"] * len(graph["edges"])
    conditions = []
    for number, (a, b) in enumerate(graph["edges"]):
        if "predicates" in graph:
            found = [
                " = ".join(f"{side.split('.')[0]}.{side.split('.')[1]}" for side in predicate)
                for predicate in graph["predicates"]
                if {side.split(".")[0] for side in predicate} == {names[a], names[b]}
            ]
            conditions.append(" AND ".join(found))
        else:
            conditions.append(f"{names[a]}.c{number} = {names[b]}.c{number}")
    special = [number for number, kind in enumerate(kinds) if kind != "inner"]
    outer_sides = graph.get("outer_sides", [])
    # A relation that only one edge touches, and that edge is no inner join, hangs on it.
    hangs: dict[int, int] = {}
    if outer_sides and not special:
        # The graphs say how many outer joins there are, not where: the last relations that hang on one edge take them.
        touching = [[n for n, edge in enumerate(graph["edges"]) if i in edge] for i in range(len(names))]
        ends = [i for i in range(1, len(names)) if len(touching[i]) == 1]
        kinds = list(kinds)
        for relation in ends[-len(outer_sides) :]:
            hangs[relation] = touching[relation][0]
            kinds[touching[relation][0]] = "left"
        special = list(hangs.values())
    for number in special:
        if number not in hangs.values():
            hangs[max(graph["edges"][number])] = number
    inner = [i for i in range(len(names)) if i not in hangs]
    joined = ", ".join(f"{tables[i]} AS {names[i]}" for i in inner)
    where = [condition for number, condition in enumerate(conditions) if kinds[number] == "inner"]
    outer = [relation for relation, number in hangs.items() if kinds[number] == "left"]
    if outer:
        # A comma binds more loosely than JOIN, so the inner part is put in parentheses.
        joined = f"({joined})" if len(inner) > 1 else joined
        for relation in outer:
            joined += f" LEFT JOIN {tables[relation]} AS {names[relation]} ON {conditions[hangs[relation]]}"

    def subquery(relation: int) -> str:
        """The relation in an EXISTS, with the subqueries that hang on it inside."""
        number = hangs[relation]
        inside = [
            subquery(other)
            for other, edge in hangs.items()
            if edge != number and relation in graph["edges"][edge]
        ]
        where = " AND ".join([conditions[number], *inside])
        negation = "NOT " if kinds[number] == "anti" else ""
        return f"{negation}EXISTS (SELECT 1 FROM {tables[relation]} AS {names[relation]} WHERE {where})"

    where += [
        subquery(relation)
        for relation, number in hangs.items()
        if kinds[number] in ("semi", "anti") and any(end in inner for end in graph["edges"][number])
    ]
    name = f"{benchmark}-{graph['name']}"
    return Query(name, benchmark, len(names), bool(hangs), _select(joined, where))


def _plain(table: str) -> str:
    return re.sub(r"\W", "", table) or "derived"


def make_schema(made: Sequence[Query]) -> str:
    """The tables that the queries name, with the columns that they use and no index: orders are what is compared."""
    rows = {_t(i): GENERIC_ROWS[i] for i in range(GENERIC_TABLES)}
    columns = {_t(i): {f"c{k}" for k in range(GENERIC_COLUMNS)} for i in range(GENERIC_TABLES)}
    columns[_t(0)] = {f"c{k}" for k in range(GENERIC_TABLES - 1)}
    for benchmark in ("tpch", "tpcds", "job"):
        for graph in benchmark_graphs(benchmark):
            for relation in graph["relations"]:
                table = f"{benchmark}_{_plain(relation['table'])}"
                # Their rows on a log scale: enough for different costs, small enough to load at once.
                known = relation.get("rows", 10 ** (3 + sum(map(ord, table)) % 5))
                rows[table] = max(2, round(4 * math.log2(known + 1)))
                columns.setdefault(table, set())
    for query in made:
        of_alias = {name: table for table, name in re.findall(r"(\w+) AS (\w+)", query.sql)}
        for name, column in re.findall(r"(\w+)\.(\w+)", query.sql):
            columns[of_alias.get(name, name)].add(column)
    lines = ["-- The tables of queries.json, written by engineroom.ask.query_graphs.queries.", _NUMBERS]
    for table in sorted(rows):
        names = sorted(columns[table], key=lambda name: (len(name), name)) or ["c0"]
        lines.append(f"CREATE TABLE {table} ({', '.join(f'{name} INT' for name in names)});")
        values = ", ".join(f"n * {2 * k + 1} % {rows[table] // (1 + k % 3) + 1}" for k in range(len(names)))
        lines.append(f"INSERT INTO {table} SELECT {values} FROM numbers WHERE n < {rows[table]};")
    every = ", ".join(sorted(rows))
    lines.append(f"ANALYZE TABLE {every};")
    return "\n".join(lines) + "\n"


_NUMBERS = """CREATE TABLE numbers (n INT PRIMARY KEY);
INSERT INTO numbers WITH RECURSIVE s AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM s WHERE n < 199) SELECT n FROM s;"""


def write() -> None:
    """Write both files."""
    made = make_queries()
    about = (
        "SQL on synthesised tables, for the comparison of join enumeration with the server's optimizer trace. "
        "Written by engineroom.ask.query_graphs.queries."
    )
    lines = ",\n".join(json.dumps(asdict(query), ensure_ascii=False) for query in made)
    text = f'{{"about": {json.dumps(about)}, "queries": [\n{lines}\n]}}\n'
    (_folder() / "queries.json").write_text(text, encoding="utf-8")
    (_folder() / "schema.sql").write_text(make_schema(made), encoding="utf-8")


if __name__ == "__main__":
    write()
