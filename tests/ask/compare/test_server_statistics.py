"""Statistics of a reader's server, as its clients print them, and made rows that follow them."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from engineroom import servers
from engineroom.ask.compare import cli, made_rows, server_statistics
from engineroom.ask.compare.made_rows import Column, ForeignKey, Table
from engineroom.ask.compare.server_statistics import Bucket, TableStatistics
from engineroom.ask.compare.spread import Drawn, Spread
from engineroom.errors import EngineRoomError

STATES = {"buckets": [["base64:type254:bmV3", 0.1], ["base64:type254:cGFpZA==", 0.3]], "data-type": "string", "null-values": 0.7}  # fmt: skip
BATCH = f"""\
TABLE_CATALOG\tTABLE_SCHEMA\tTABLE_NAME\tTABLE_ROWS\tCREATE_OPTIONS
def\tshop\torders\t90000\tNULL
TABLE_SCHEMA\tTABLE_NAME\tNON_UNIQUE\tINDEX_NAME\tSEQ_IN_INDEX\tCOLUMN_NAME\tCARDINALITY
shop\torders\t0\tPRIMARY\t1\tid\t89000
shop\torders\t1\tby_customer\t1\tcustomer\t3000
shop\torders\t1\tby_customer\t2\tday\t60000
shop\torders\t1\tby_note\t1\tnote\tNULL
SCHEMA_NAME\tTABLE_NAME\tCOLUMN_NAME\tHISTOGRAM
shop\torders\tstate\t{json.dumps(STATES)}
"""
ROWS = [
    {"TABLE_SCHEMA": "shop", "TABLE_NAME": "orders", "TABLE_ROWS": 90000},
    {"TABLE_SCHEMA": "shop", "TABLE_NAME": "orders", "INDEX_NAME": "PRIMARY", "SEQ_IN_INDEX": 1, "COLUMN_NAME": "id", "CARDINALITY": 89000},
    {"table_schema": "shop", "table_name": "orders", "index_name": "c", "seq_in_index": 2, "column_name": "day", "cardinality": 60000},
    {"table_schema": "shop", "table_name": "orders", "index_name": "c", "seq_in_index": 1, "column_name": "customer", "cardinality": 3000},
    {"SCHEMA_NAME": "shop", "TABLE_NAME": "orders", "COLUMN_NAME": "state", "HISTOGRAM": STATES},
]  # fmt: skip
ORDERS = TableStatistics(
    rows=90000,
    columns={
        "state": (
            Bucket(low="base64:type254:bmV3", high="base64:type254:bmV3", end=0.1),
            Bucket(low="base64:type254:cGFpZA==", high="base64:type254:cGFpZA==", end=0.3),
        ),
        "id": (Bucket(different=89000),),
        "customer": (Bucket(different=3000),),
        "day": (Bucket(different=20),),
    },
)


def read(folder: Path, text: str) -> dict[tuple[str, str], TableStatistics]:
    (folder / "told").write_text(text)
    return server_statistics.read(folder / "told")


@pytest.mark.parametrize(
    "text",
    [
        BATCH,
        BATCH.replace("\n", "\r\n"),
        json.dumps(ROWS),
        "\n".join(map(json.dumps, ROWS)),
        "\n".join(json.dumps(row, indent=4) for row in ROWS),
        json.dumps({"rows": ROWS, "rowCount": 5}),
    ],
    ids=["batch", "Windows", "list", "lines", "one behind the other", "MySQL Shell"],
)
def test_the_same_is_told_however_a_client_prints_it(tmp_path, text):
    assert read(tmp_path, text) == {("shop", "orders"): ORDERS}


def test_show_index_and_table_status_tell_it_without_a_database(tmp_path):
    index = "Table\tNon_unique\tKey_name\tSeq_in_index\tColumn_name\tCardinality\nt\t0\tPRIMARY\t1\tid\t12\n"
    assert read(tmp_path, index)["", "t"] == TableStatistics(rows=12, columns={"id": (Bucket(different=12),)})
    status = "Name\tEngine\tRows\nt\tInnoDB\t15\n"
    assert read(tmp_path, index + status)["", "t"].rows == 15


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no statistics of a table"),
        ("{", "holds no statistics"),
        ("[1]", "holds no statistics"),
        ("[[[]]]", "holds no statistics of a table"),
        ('{"TABLE_NAME": "t", "TABLE_ROWS": -1}', "is -1"),
        ('{"TABLE_NAME": "t", "TABLE_ROWS": "many"}', "many"),
        ('{"TABLE_NAME": "t", "COLUMN_NAME": "c", "HISTOGRAM": {}}', "'buckets' is missing"),
        ('{"TABLE_NAME": "t", "COLUMN_NAME": "c", "HISTOGRAM": {"buckets": [[1, NaN]]}}', r"a bucket is \[1, nan\]"),
        ('{"TABLE_NAME": "t", "COLUMN_NAME": "c", "HISTOGRAM": {"buckets": [[1, 0.5], [2, 0.4]]}}', r"a bucket is \[2, 0.4\]"),
        ('{"TABLE_NAME": "t", "COLUMN_NAME": "c", "HISTOGRAM": {"buckets": [[1, 2, 0.5, 0]]}}', "a bucket is"),
        ("+----+\n| id |\n+----+\n|  1 |\n", "holds no statistics of a table"),
        ("[" * 100_000, "holds no statistics"),
    ],
)  # fmt: skip
def test_what_tells_nothing_is_refused_with_the_value(tmp_path, text, said):
    with pytest.raises(EngineRoomError, match=said) as refused:
        read(tmp_path, text)
    assert "compare --help" in refused.value.remedy


def column(kind: str, full_type: str = "", **more: object) -> Column:
    return replace(Column(name="c", kind=kind, full_type=full_type or kind), **more)


def followed(
    column: Column, buckets: list[list[object]], n: int = 4000, asks: str = "", rows: int | None = None
):
    """The values of a column in `n` made rows, by its histogram."""
    told = TableStatistics(
        rows, {"c": server_statistics._buckets({"buckets": buckets})} if buckets else {"c": (Bucket(different=4),)}
    )  # fmt: skip
    (table,), remarks = made_rows.following([Table(name="t", columns=(column,))], {("x", "t"): told})
    asked, _ = made_rows.asked_for([table], [f"SELECT 1 FROM t WHERE {asks}"] if asks else [])
    return [row[0] for row in made_rows.made([table], table, n, asked)], remarks


@pytest.mark.parametrize(
    ("kind", "buckets", "values"),
    [
        (column("int"), [[3, 0.25], [700, 1.0]], {3: 0.25, 700: 0.75}),
        (column("varchar", length=9), [["base64:type254:bmV3", 0.5], ["base64:type254:cGFpZA==", 1]], {"new": 0.5, "paid": 0.5}),
        (column("enum", "enum('a','b','c')"), [[1, 0.1], [3, 1.0]], {"a": 0.1, "c": 0.9}),
        (column("set", "set('a','b','c')"), [[5, 0.5], [0, 1.0]], {"a,c": 0.5, "": 0.5}),
        (column("date"), [["2024-02-01", 0.5], ["2024-02-03", 1.0]], {datetime.date(2024, 2, 1): 0.5, datetime.date(2024, 2, 3): 0.5}),
        (column("datetime"), [["2024-02-01 10:00:00.000000", 1.0]], {datetime.datetime(2024, 2, 1, 10): 1.0}),
        (column("decimal", precision=9, scale=2), [[1.25, 0.5], [9.5, 1.0]], {1.25: 0.5, 9.5: 0.5}),
        (column("varbinary", length=9), [["base64:type15:/w==", 1.0]], {b"\xff": 1.0}),
        (column("int", is_nullable=True), [[1, 0.2], [2, 0.4]], {1: 0.2, 2: 0.2, None: 0.6}),
        (column("int", is_nullable=True), [], {None: 0.1, 0: 0.225, 1: 0.225, 2: 0.225, 3: 0.225}),
    ],
)  # fmt: skip
def test_each_value_is_as_often_there_as_the_histogram_has_it(kind, buckets, values) -> None:
    found, remarks = followed(kind, buckets)
    assert {value: n / 4000 for value, n in Counter(found).items()} == pytest.approx(values, abs=0.03)
    assert remarks == ["made rows follow the statistics: t.c"]


@pytest.mark.parametrize(
    ("kind", "low", "high", "least", "most"),
    [
        (column("int"), 10, 1010, 10, 1010),
        (column("bigint"), -(2**60), 2**60, -(2**60), 2**60),
        (column("double"), 0.5, 0.75, 0.5, 0.75),
        (column("date"), "2024-01-01", "2024-12-31", datetime.date(2024, 1, 1), datetime.date(2024, 12, 31)),
        (column("varchar", length=30), "ba", "bc", "ba", "bc"),
    ],
)
def test_values_of_a_wide_bucket_lie_within_it_and_are_as_many(kind, low, high, least, most):
    found, _ = followed(kind, [[low, high, 1.0, 100]])
    assert least <= min(found)
    assert max(found) <= most
    assert len(set(found)) == 100


@pytest.mark.parametrize(
    ("there", "different", "here", "kept"),
    [
        (1_000_000, 4, 10_000, 4),  # a state
        (1_000_000, 100_000, 10_000, 1000),  # ten rows for each customer, as there
        (1_000_000, 1000, 10_000, 100),
        (10_000, 100, 20_000, 100),
        (None, 50, 10_000, 50),
        (None, 50_000, 10_000, 10_000),
    ],
)
def test_a_smaller_table_keeps_rows_per_value_or_else_its_values(there, different, here, kept):
    drawn = Drawn(Spread((Bucket(different=different),), there), here, is_nullable=False)
    assert drawn.sizes == [kept]


def test_what_a_statement_asks_for_is_as_frequent_as_the_statistics_have_it_and_always_there():
    found, _ = followed(column("varchar", length=9), [["new", 0.98], ["paid", 1.0]], asks="c = 'paid'")
    assert 40 < found.count("paid") < 140
    rare, _ = followed(column("int"), [[1, 100, 1.0, 10]], asks="c = 77")
    assert 280 < rare.count(77) < 520
    outside, _ = followed(column("int"), [[1, 1.0]], asks="c = 5")
    assert outside.count(5) == 8
    by_cardinality, _ = followed(column("varchar", length=9), [], asks="c = 'paid'")
    assert 900 < by_cardinality.count("paid") < 1100


def test_a_column_without_statistics_holds_what_is_asked_for_beside_one_that_has_them():
    columns = (column("varchar", length=9), column("int", name="d"))
    told = {("", "t"): TableStatistics(None, {"c": (Bucket(different=4),)})}
    (table,), _ = made_rows.following([Table(name="t", columns=columns)], told)
    asked, _ = made_rows.asked_for([table], ["SELECT 1 FROM t WHERE c = 'paid' AND d > 90000"])
    found = list(made_rows.made([table], table, 4000, asked))
    assert 900 < sum(row[0] == "paid" for row in found) < 1100
    assert 900 < sum(row[1] > 90000 for row in found) < 1150
    assert 180 < found.count(("paid", 90001)) < 330


def test_a_foreign_key_is_spread_as_its_own_statistics_have_it_and_small_tables_stay_small():
    key = ForeignKey(columns=("state",), parent="states", parent_columns=("id",))
    id_ = Column(name="id", kind="int", full_type="int", is_unique=True)
    tables = [
        Table(name="states", columns=(id_,)),
        Table(name="orders", columns=(id_, replace(id_, name="state", is_unique=False)), foreign_keys=(key,)),
    ]
    told = {
        ("shop", "states"): TableStatistics(rows=5),
        ("shop", "orders"): TableStatistics(10**6, {"state": (Bucket(low=1, high=1, end=0.9), Bucket(low=2, high=2))}),
    }  # fmt: skip
    tables, remarks = made_rows.following(tables, told)
    assert made_rows.sizes(tables, 2000) == {("", "states"): 5, ("", "orders"): 2000}
    found = Counter(row[1] for row in made_rows.made(tables, tables[1], 2000))
    assert found.keys() == {1, 2}
    assert found[1] == pytest.approx(1800, abs=60)
    assert remarks == ["made rows follow the statistics: rows of states, orders.state, rows of orders"]


def test_what_cannot_be_followed_is_named_and_costs_itself_alone():
    table = Table(name="t", columns=(column("int"), column("varchar", name="d", length=2)))
    told = TableStatistics(None, {"c": (Bucket(low="x", high="x"),), "d": (Bucket(low="abc", high="abc"),)})
    (same,), remarks = made_rows.following([table], {("", "t"): told})
    assert same == table
    assert remarks[0].startswith("statistics of t.c are not followed: invalid literal")
    assert remarks[1].startswith("statistics of t.d are not followed: 'abc' is longer than varchar")
    two = {("a", "t"): TableStatistics(1), ("b", "t"): TableStatistics(2)}
    assert made_rows.following([table], two)[1] == [
        "statistics of t are not followed: a, b have such a table each"
    ]
    assert made_rows.following([replace(table, database="b")], two)[0][0].most == 2
    with pytest.raises(EngineRoomError, match="the statistics tell nothing of t"):
        made_rows.following([table], {("", "other"): TableStatistics(1)})


def test_statistics_without_rows_to_make_are_refused(tmp_path):
    for name in ("query.sql", "told"):
        (tmp_path / name).write_text("SELECT 1")
    done = CliRunner().invoke(
        cli.compare, [str(tmp_path / "query.sql"), "--statistics", str(tmp_path / "told")]
    )
    assert "no --rows that could follow them" in str(done.exception)


@pytest.mark.live
@pytest.mark.skipif(not servers.runnable("9.7"), reason="9.7 does not run here: engineroom doctor")
def test_rows_follow_what_a_real_server_told_and_a_dumps_histograms_are_made_over_them(tmp_path):
    with servers.start("9.7") as server:
        server.execute(
            "CREATE DATABASE shop",
            "CREATE TABLE shop.t (id INT PRIMARY KEY, st ENUM('new', 'paid', 'lost'), c VARCHAR(20), KEY (c))",
            "SET cte_max_recursion_depth = 5000",
            "INSERT INTO shop.t WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
            "SELECT i, IF(i % 50, 'new', 'paid'), CONCAT('c', i % 300) FROM n",
            "ANALYZE TABLE shop.t",
            "ANALYZE TABLE shop.t UPDATE HISTOGRAM ON st WITH 8 BUCKETS",
        )
        asked = (
            "SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, CARDINALITY FROM information_schema.statistics WHERE TABLE_SCHEMA = 'shop'",
            "SELECT SCHEMA_NAME, TABLE_NAME, COLUMN_NAME, HISTOGRAM FROM information_schema.column_statistics WHERE SCHEMA_NAME = 'shop'",
        )  # fmt: skip
        lines = [
            "\t".join(map(str, row))
            for sql in asked
            for row in (sql[7 : sql.index(" FROM")].split(", "), *server.query(sql))
        ]
    (tmp_path / "told").write_text("\n".join(lines))
    (tmp_path / "s.sql").write_text(
        "CREATE TABLE t (id INT PRIMARY KEY, st ENUM('new', 'paid', 'lost'), c VARCHAR(20), KEY (c));\n"
        "/*!80002 ANALYZE TABLE `t` UPDATE HISTOGRAM ON `st` WITH 8 BUCKETS */;\n"
    )
    (tmp_path / "q.sql").write_text(
        "SELECT COUNT(*), COUNT(DISTINCT c) FROM t; SELECT COUNT(*) FROM t WHERE st = 'paid'; SELECT id FROM t WHERE st = 'paid'"
    )
    arguments = [
        str(tmp_path / "q.sql"),
        "--schema",
        str(tmp_path / "s.sql"),
        "--rows",
        "9000",
        "--repeats",
        "1",
    ]
    arguments += ["--statistics", str(tmp_path / "told"), "--versions", "9.7", "--format", "json"]
    found = json.loads(CliRunner().invoke(cli.compare, arguments, catch_exceptions=False).output)
    whole, paid, plan = (each["sides"][0] for each in found["digests"])
    n, different = map(int, whole["first_rows"][0])
    assert n == pytest.approx(3000, abs=200)
    assert different == pytest.approx(300, abs=30)
    assert 20 < int(paid["first_rows"][0][0]) < 140
    estimated = int(float(plan["plan"].partition("rows=")[2].split(")")[0].split()[0]))
    assert estimated < 150, "without the histogram a tenth of all, or a third"
    assert any(
        "made rows follow the statistics: t.st, t.c, rows of t" in each
        for each in found["digests"][0]["remarks"]
    )
