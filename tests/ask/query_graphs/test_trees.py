"""Plans as trees, the hint of join order for one, and what each hint does on the server."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any

import pytest

from engineroom import paths, servers
from engineroom.ask.query_graphs import trace, trees
from engineroom.ask.query_graphs.trees import hashes_others, hint_of, hinted


def test_the_order_of_a_trace_is_a_tree():
    tree = trees.tree_of("((t03,t04),(t02,t01))")
    assert trees.order(tree) == "((t03, t04), (t02, t01))"
    assert trees.leaves(tree) == ["t03", "t04", "t02", "t01"]
    assert trees.joined_sets(tree) == trees.joined_sets(trees.tree_of("((t01,t02),(t03,t04))"))
    assert trees.joined_sets(tree) != trees.joined_sets(trees.tree_of("(((t01,t02),t03),t04)"))


@pytest.mark.parametrize(
    "names",
    [
        ("a,b", "{c}", "x -> y"),
        ("a", "a,b", "c"),
        ("(p", "q)", "r, s"),
        ("a b", "*", "[x]"),
        ("t", "tt", "ttt"),
    ],
)
def test_names_of_any_signs_are_told_apart(names):
    one, two, three = names
    assert trees.names_in(",".join(names), names) == [one, two, three]
    tree = trees.tree_of(f"(({one},{two}),{three})", names)
    assert trees.leaves(tree) == [one, two, three]
    with pytest.raises(KeyError):
        trees.names_in(f"{one},other", names)


def test_the_order_is_that_of_the_cheapest_path_kept_for_all_tables():
    sample = (paths.data() / "join_order" / "sample_trace.json").read_text()
    (planned,) = trace.plannings(json.loads(sample))
    assert planned.join_order == "((t03,t04),(t02,t01))"
    kept = [line for line in json.loads(sample)["join_optimizer"] if "paths for {t01,t02,t03,t04}" in line]
    assert "cost=195," in kept[-1].split("}, {")[-1]


def join(*inputs: Any, kind: str = "inner") -> dict[str, Any]:
    """A hash join: what probes, and what is hashed."""
    return {"kind": kind, "inputs": [{"table": each} if isinstance(each, str) else each for each in inputs]}


@pytest.mark.parametrize(
    ("tree", "hint", "others"),
    [
        (join("b", "a"), "JOIN_ORDER(a, b)", []),
        (join("c", join("b", "a")), "JOIN_ORDER(a, b, c)", []),
        (join(join("b", "a"), "c"), "JOIN_ORDER(a, b, c)", ["c"]),
        (join("a", "b", kind="left"), "JOIN_ORDER(a, b)", []),
        (join(join("a", "b", kind="left"), "c"), "JOIN_ORDER(a, b, c)", ["c"]),
        (join("a", join("c", "b"), kind="left"), "JOIN_ORDER(a, b, c)", []),
        (join(join("a", "b"), join("c", "d")), None, None),
        (join("b`c", "a"), "JOIN_ORDER(a, `b``c`)", []),
    ],
)
def test_a_hint_names_first_what_is_hashed_first(tree, hint, others):
    assert hint_of(tree) == hint
    if hint is not None:
        assert hashes_others(tree) == others


def test_a_hint_stands_behind_the_first_select():
    assert hinted("select 1 FROM a", "H") == "select /*+ H */ 1 FROM a"
    assert hinted("WITH x AS (SELECT 1) SELECT 1", "H") is None
    assert hinted("SELECT /*+ NO_INDEX(a) */ 1", "H") is None


# Statements whose plan a hint of the page's table can change, by what the hint is about.
STATEMENTS = {
    "JOIN_ORDER|JOIN_PREFIX|JOIN_SUFFIX|JOIN_FIXED_ORDER": (
        "SELECT /*+ {} */ COUNT(*) FROM a JOIN b ON a.id = b.x JOIN c ON b.id = c.x"
    ),
    "NO_BNL": "SELECT /*+ {} */ COUNT(*) FROM c JOIN e ON c.x = e.x",
    "NO_INDEX": "SELECT /*+ {} */ * FROM a WHERE x = 5",
    "NO_GROUP_INDEX": "SELECT /*+ {} */ x, MAX(id) FROM a GROUP BY x",
    "NO_ORDER_INDEX": "SELECT /*+ {} */ * FROM a ORDER BY x LIMIT 3",
    "NO_INDEX_MERGE": "SELECT /*+ {} */ * FROM f WHERE x = 5 OR y = 7",
    "NO_RANGE_OPTIMIZATION|MRR": "SELECT /*+ {} */ * FROM f WHERE x < 3",
    "NO_ICP": "SELECT /*+ {} */ * FROM f WHERE x < 3 AND x % 2 = 1",
    "JOIN_INDEX|BKA": "SELECT /*+ {} */ * FROM c JOIN f ON c.x = f.x",
    "NO_SEMIJOIN|SEMIJOIN|SUBQUERY": "SELECT COUNT(*) FROM c WHERE x IN (SELECT /*+ {} */ x FROM e)",
    "NO_MERGE": "SELECT /*+ {} */ COUNT(*) FROM c JOIN (SELECT * FROM a) d ON c.x = d.x",
    "NO_DERIVED_CONDITION_PUSHDOWN": (
        "SELECT /*+ {} */ COUNT(*) FROM c JOIN (SELECT x, COUNT(*) n FROM a GROUP BY x) d ON c.x = d.x WHERE d.x < 7"
    ),
}
TABLES = [
    "CREATE TABLE a (id INT PRIMARY KEY, x INT, INDEX ix (x))",
    "CREATE TABLE b LIKE a",
    "INSERT INTO a WITH RECURSIVE s AS (SELECT 0 n UNION ALL SELECT n + 1 FROM s WHERE n < 999) SELECT n, n % 300 FROM s",
    "INSERT INTO b SELECT * FROM a WHERE id < 700",
    "CREATE TABLE c AS SELECT * FROM a WHERE id < 400",
    "CREATE TABLE e AS SELECT * FROM a WHERE id < 600",
    "CREATE TABLE f (id INT PRIMARY KEY, x INT, y INT, z CHAR(200), INDEX ix (x), INDEX iy (y))",
    "INSERT INTO f SELECT id, x, id % 311, 'z' FROM a",
    "ANALYZE TABLE a, b, c, e, f",
]


@pytest.mark.live
def test_the_pages_table_says_what_each_hint_does_on_the_running_server():
    if not servers.runnable("9.7"):
        pytest.skip("no MySQL 9.7 on this machine")
    page = (paths.root() / "book" / "join_order_evidence.md").read_text(encoding="utf-8")
    said = re.findall(
        r"^\| `(\w+\(.*?\))` \| (another|the same) plan \| (another|the same) plan \|$", page, re.MULTILINE
    )
    assert len(said) == 21
    found, warnings = [], []
    with servers.start("9.7") as server:
        server.execute("CREATE DATABASE hinted")
        server.execute(*TABLES, database="hinted")
        with contextlib.closing(server.connect("hinted")) as connection, connection.cursor() as cursor:

            def plan(sql: str) -> str:
                cursor.execute(f"EXPLAIN FORMAT=TREE {sql}")
                (tree,) = cursor.fetchone()
                cursor.execute("SHOW WARNINGS")
                warnings.extend(row[2] for row in cursor.fetchall() if row[0] == "Warning")
                return re.sub(r"\s*\(cost[^)]*\)", "", tree)

            for hint, *_ in said:
                sql = next(sql for names, sql in STATEMENTS.items() if hint.split("(")[0] in names.split("|"))
                outcomes = []
                for switch in ("off", "on"):
                    cursor.execute(f"SET optimizer_switch = 'hypergraph_optimizer={switch}'")
                    is_same = plan(sql.replace("/*+ {} */ ", "")) == plan(sql.format(hint))
                    outcomes.append("the same" if is_same else "another")
                found.append((hint, *outcomes))
    assert found == said
    assert warnings == []
