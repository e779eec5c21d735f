"""Public complaints about statements that an upgrade made slower, counted as `engineroom compare --instructions` counts a reader's own.

Tables and rows are made after what each complaint says of its own, some thousand times fewer. Written down before they were counted: in each
the last version takes more instructions than the first, and one function, or one step of the plan, has most of what was added.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engineroom.ask.compare import instructions
from engineroom.measuring.sitting import LiveSitting
from engineroom.progress import bar
from engineroom.runs import Run

_KEPT = 5  # functions that grew most


@dataclass(frozen=True)
class Complaint:
    """What was said where, and a statement of that kind over tables of ours; versions from before the upgrade to behind it."""

    said: str
    link: str
    versions: Sequence[str]
    schema: str
    data: str
    statement: str


def _rows(table: str, n: int, values: str) -> str:
    """INSERT statements of n rows; {i} is the row's number from 0."""
    tuples = ["(" + values.format(i=i, tenth=i // 10, mixed=i * 7919 % n) + ")" for i in range(n)]
    return "".join(
        f"INSERT INTO {table} VALUES {', '.join(tuples[at : at + 500])};\n" for at in range(0, n, 500)
    )


COMPLAINTS: Mapping[str, Complaint] = {
    "sort": Complaint(
        said="ORDER BY ... LIMIT 1 over rows of 8 KB: 8 times the time in 8.0.38 of that in 5.6.51",
        link="besthub.dev/articles/why-mysql-8-0-queries-run-ten-times-slower-than-5-6-a-deep-dive-c923fa507b28",
        versions=("5.6", "8.0.15", "8.0.31", "9.7"),
        schema="CREATE TABLE t1 (id INT PRIMARY KEY, col2 INT, col3 CHAR(255), col4 VARCHAR(8192), paytime INT UNSIGNED) ENGINE=InnoDB;",
        data=_rows("t1", 2000, "{i}, {i}, REPEAT('a', 255), REPEAT('a', 8192), {mixed}"),
        statement="SELECT * FROM t1 ORDER BY paytime LIMIT 1",
    ),
    "join": Complaint(
        said="joins by a unique key up to 23 times slower in 8.0.29 than in 8.0.28",
        link="bugs.mysql.com/bug.php?id=109361",
        versions=("8.0.15", "8.0.31", "9.7"),
        schema="CREATE TABLE o (id INT PRIMARY KEY, ref INT) ENGINE=InnoDB; CREATE TABLE i (id INT PRIMARY KEY, v INT) ENGINE=InnoDB;",
        data=_rows("o", 5000, "{i}, {tenth}") + _rows("i", 500, "{i}, {i}"),
        statement="SELECT SUM(i.v) FROM o STRAIGHT_JOIN i ON i.id = o.ref",
    ),
    "list of values": Complaint(
        said="a query with a long IN list of bound strings 50 times slower in 8.0 than in 5.7, until 8.0.31",
        link="openillumi.com/en/en-mysql-80-bind-parameter-performance-bug-fix",
        versions=("5.7", "8.0.15", "8.0.31", "9.7"),
        schema="CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20), KEY (s)) ENGINE=InnoDB;",
        data=_rows("t", 5000, "{i}, 'name {i:06d}'"),
        statement=f"SELECT COUNT(*) FROM t WHERE s IN ({', '.join(repr(f'name {3 * i:06d}') for i in range(1000))})",
    ),
    "subquery": Complaint(
        said="EXISTS with ORDER BY ... LIMIT 5: a sort and a temporary table in 8.0.25, none in 5.7",
        link="bugs.mysql.com/bug.php?id=114996",
        versions=("5.7", "8.0.15", "8.0.31", "9.7"),
        schema="CREATE TABLE t1 (id BIGINT UNSIGNED PRIMARY KEY, x VARCHAR(15), a1 VARCHAR(20), KEY (x)) ENGINE=InnoDB;"
        "CREATE TABLE t2 (id BIGINT UNSIGNED PRIMARY KEY, x VARCHAR(15), b1 VARCHAR(20), UNIQUE KEY (x)) ENGINE=InnoDB;",
        data=_rows("t1", 18_000, "{i} + 1, LPAD({i} % 500 + 1, 15, '0'), LPAD('0', 20, '0')")
        + _rows("t2", 500, "{i} + 1, LPAD({i} + 1, 15, '0'), LPAD('0', 20, '0')"),
        statement="SELECT * FROM t1 WHERE EXISTS (SELECT 1 FROM t2 WHERE t2.x = t1.x) AND id > 11000 ORDER BY id ASC LIMIT 5",
    ),
    "bulk insert": Complaint(
        said="INSERT of many rows far slower in 8.0 than in 5.7",
        link="github.com/enhancedformysql/enhancedformysql/issues/3",
        versions=("5.7", "8.0.15", "8.0.31", "9.7"),
        schema="CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT) ENGINE=InnoDB;",
        data="",
        statement=_rows("t", 500, "{i}, {i}, {mixed}").removesuffix(";\n"),
    ),
}
COLUMNS = {
    "complaint": "kind of statement",
    "series": "version of the server",
    "instructions": "of the connection's thread; the two repeats are two runs that agree to 1 %",
    "rows": "that the statement read or changed, by the server's counters",
    "function": "one of those that grew most from the first version to the one with the most instructions, by its short name",
    "more": "net instructions that it has more there",
    "of_all": "over what all functions that grew have more",
}


def complaints_counted(*, only: Sequence[str] = tuple(COMPLAINTS)) -> Run:
    """Instructions of each complaint's statement on its versions, and the functions that grew most."""
    rows: list[dict[str, Any]] = []
    functions: list[dict[str, Any]] = []
    with (
        LiveSitting("instructions", seed=0) as sitting,
        tempfile.TemporaryDirectory(prefix="er-complaints-") as name,
    ):
        folder = Path(name)
        for kind in bar(only, desc="complaints", unit="statement"):
            complaint = COMPLAINTS[kind]
            schema, data = folder / "schema.sql", folder / "data.sql"
            schema.write_text(complaint.schema)
            data.write_text(complaint.data)
            counts = instructions.count(
                complaint.statement,
                versions=complaint.versions,
                schema=schema,
                data=data if complaint.data else None,
            )
            sitting.servers |= {
                side.version: {"server_version": side.version, "variables_differing": dict(side.variables)}
                for side in counts.comparison.sides
            }
            rows += [
                {
                    "complaint": kind,
                    "series": profile.version,
                    "repeat": repeat,
                    "instructions": total,
                    "rows": profile.rows,
                }
                for profile in counts.profiles
                for repeat, total in enumerate(profile.repeats[-2:])
            ]
            worst = max(counts.profiles, key=lambda profile: profile.instructions)
            grown = [each for each in instructions.changes(counts.first, worst) if each.more > 0]
            whole = sum(each.more for each in grown)
            functions += [
                {"complaint": kind, "function": each.name, "more": each.more, "of_all": each.more / whole}
                for each in grown[:_KEPT]
            ]
    return sitting.run(
        "own-low-concurrency-complaints",
        rows,
        tables={"functions": functions},
        columns=COLUMNS,
        complaints={
            kind: {"said": of.said, "link": of.link, "schema": of.schema, "statement": of.statement[:200]}
            for kind, of in COMPLAINTS.items()
        },
    )
