"""The browser's two sessions are the native ones: each example, and statements that are refused."""

from __future__ import annotations

import re
from typing import Any

import pytest

from engineroom import paths
from engineroom._native import lock_sys as kernel
from engineroom.show import headless

pytestmark = pytest.mark.usefixtures("node")
INDEXES = ("PRIMARY", "k")


def examples() -> dict[str, list[tuple[int, str]]]:
    """The examples as the module has them, by name."""
    module = (paths.root() / "book/web/explorables/lock_sys.js").read_text(encoding="utf-8")
    block = module[module.index("const EXAMPLES") : module.index("const scripted")]
    found = {}
    for name, lines in re.findall(r'"([^"]+)": \[(.*?)\],?\n(?=  "|\})', block, re.DOTALL):
        found[name] = [("AB".index(who), sql) for who, sql in re.findall(r'"([AB]): ([^"]+)"', lines)]
    return found


def native(design: str, *, reads_committed: bool = False) -> kernel.Playground:
    return kernel.Playground(
        design=design,
        reads_committed=[reads_committed] * 2,
        columns=3,
        secondary=[(1, False)],
        rows=[[10, 1, 0], [20, 1, 0], [30, 5, 0]],
    )


def run(table: kernel.Playground, session: int, sql: str) -> str:
    """The few statements of the examples, as Python calls them."""
    point = re.search(r"WHERE (id|k) = (\d+)", sql)
    between = re.search(r"WHERE (id|k) BETWEEN (\d+) AND (\d+)", sql)
    where: dict[str, Any] = {}
    if point:
        where = {"index": int(point[1] == "k"), "low": int(point[2]), "high": int(point[2])}
    elif between:
        where = {"index": int(between[1] == "k"), "low": int(between[2]), "high": int(between[3])}
    if sql.startswith("SELECT"):
        return table.read(session, **where)
    if sql.startswith("UPDATE"):
        return table.update(session, 2, 1, **where)
    row = re.search(r"VALUES \((\d+), (\d+), (\d+)\)", sql)
    assert row, sql
    return table.insert(session, [int(value) for value in row.groups()])


@pytest.fixture(scope="module")
def compared() -> list[tuple[str, str, dict[str, Any], kernel.Playground]]:
    grid = [
        (name, design, committed, script)
        for name, script in examples().items()
        for design in kernel.designs()
        for committed in (False, True)
    ]
    inputs = [
        {"script": script, "design": design, "reads_committed": int(committed)}
        for _, design, committed, script in grid
    ]
    seen = headless.evaluate("lock_sys", inputs)["results"]
    found = []
    for (name, design, committed, script), result in zip(grid, seen, strict=True):
        table = native(design, reads_committed=committed)
        for session, sql in script:
            if table.result(session) != "waits":
                run(table, session, sql)
        found.append((name, design, result, table))
    return found


def test_every_example_ends_in_webassembly_as_natively(compared):
    assert len(compared) == 6 * 3 * 2
    for name, design, result, table in compared:
        assert result["results"] == [table.result(0), table.result(1)], (name, design)
        assert [tuple(pair) for pair in result["waits"]] == table.waits()
        assert [
            (lock["session"], lock["index"], lock["mode"], lock["data"], lock["is_waiting"])
            for lock in result["locks"]
        ] == table.locks()
        for index, records in enumerate(result["records"]):
            assert [(each["key"], each["is_deleted"]) for each in records] == [
                (", ".join(map(str, key)), is_deleted) for key, is_deleted in table.records(index)
            ]


def test_the_examples_show_what_their_names_say(compared):
    of = {(name, design): result for name, design, result, _ in compared[::2]}  # REPEATABLE READ
    assert of["A gap", "9.7"]["results"] == ["ok", "waits"]
    assert of["The end of a range", "5.7"]["results"] == ["ok", "waits"]
    assert of["The end of a range", "9.7"]["results"] == ["ok", "ok"]
    assert of["Opposite orders", "9.7"]["results"] == ["ok", "deadlock"]
    made = of["A lock that no session asked for", "9.7"]["locks"]
    assert [lock["mode"] for lock in made if lock["session"] == 0] == ["IX", "X,REC_NOT_GAP"]
    committed = {name: result for name, _, result, _ in compared[1::2]}
    assert committed["A gap"]["results"] == ["ok", "ok"], "READ COMMITTED leaves the gap open"


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT * FROM t", "locks nothing"),
        ("DROP TABLE t", "not understood"),
        ("DELETE FROM t WHERE v = 1", "no index"),
        ("DELETE FROM t WHERE id = 1 AND k = 2", "one column only"),
        ("UPDATE t SET id = id + 1", "cannot be changed"),
        ("UPDATE t SET k = k + 1 WHERE k = 1", "find the rows by id"),
        ("INSERT INTO t VALUES (99999999, 0, 0)", "too large"),
        ("DELETE FROM t WHERE id = (SELECT 1)", "compare id or k"),
    ],
)
def test_what_is_not_understood_is_said_and_changes_nothing(sql, says):
    (seen,) = headless.evaluate("lock_sys", [{"script": [[0, sql]]}])["results"]
    assert says in seen["steps"][0]["said"]
    assert seen["locks"] == []


def test_a_session_that_waits_runs_nothing_and_rows_end_where_the_picture_does():
    script = [[0, "DELETE FROM t WHERE id = 10"], [1, "DELETE FROM t WHERE id = 10"], [1, "COMMIT"]]
    (seen,) = headless.evaluate("lock_sys", [{"script": script}])["results"]
    assert seen["steps"][2]["said"] == "left out: the session waits"
    many = [[0, f"insert into t values ({40 + i}, 9, 0);"] for i in range(7)]
    (seen,) = headless.evaluate("lock_sys", [{"script": many}])["results"]
    assert [step["said"] for step in seen["steps"][:5]] == ["ok"] * 5
    assert "no room" in seen["steps"][5]["said"]
    assert len(seen["records"][0]) == 8
