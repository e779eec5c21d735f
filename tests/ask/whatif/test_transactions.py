"""A reader's file of transactions: what of each statement the engine is told, and what is refused with the place."""

from __future__ import annotations

import pytest

from engineroom import paths
from engineroom.ask.whatif.transactions import Value, parsed, read
from engineroom.errors import EngineRoomError


def statement(sql: str, **values):
    names = values or {"id": {"rows": 10}}
    kind = {"name": "t", "statements": [sql], "values": names}
    ((made,),) = [each.statements for each in parsed({"transaction": [kind]}, "f")]
    return made


@pytest.mark.parametrize(
    ("sql", "access", "shared", "table"),
    [
        ("SELECT a FROM shop.item WHERE id = :id", "reads", False, "item"),
        ("SELECT a FROM `item` WHERE id = :id FOR UPDATE", "locks", False, "item"),
        ("select a from item where id = :id lock in share mode", "locks", True, "item"),
        ("SELECT a FROM item WHERE id = :id FOR SHARE", "locks", True, "item"),
        ("SELECT ' FROM x FOR UPDATE', :id", "computes", False, ""),
        ("UPDATE LOW_PRIORITY `my item` SET a = 1 WHERE id = :id", "changes", False, "my item"),
        ("DELETE FROM item WHERE id = :id", "changes", False, "item"),
        ("INSERT INTO item VALUES (:id)", "inserts", False, "item"),
        ("INSERT IGNORE item VALUES (:id)", "inserts", False, "item"),
        ("INSERT INTO item VALUES (:id) ON DUPLICATE KEY UPDATE a = 1", "changes", False, "item"),
        ("REPLACE INTO item VALUES (:id)", "changes", False, "item"),
        ("DO :id", "computes", False, ""),
    ],
)
def test_a_statement_says_what_it_does_to_which_table(sql, access, shared, table):
    made = statement(sql)
    assert (made.access, made.shared, made.table) == (access, shared, table)


def test_the_row_is_the_first_value_behind_where_or_else_the_first():
    of = {"id": {"rows": 10}, "n": {"rows": 3}}
    assert statement("UPDATE t SET a = :n WHERE id = :id", **of).value == "id"
    assert statement("INSERT INTO t VALUES (:n, :id)", **of).value == "n"


def test_a_statement_without_a_value_always_means_the_same_row():
    kind = {"name": "t", "statements": ["UPDATE counter SET n = n + 1"]}
    assert parsed({"transaction": [kind]}, "f")[0].statements[0].value is None


def test_a_value_stands_in_for_its_name_and_a_text_stays():
    made = statement("SELECT ':id', `:id`, @a := 1 FROM t WHERE id = :id")
    assert made.text({"id": 7}) == "SELECT ':id', `:id`, @a := 1 FROM t WHERE id = 7"


def test_one_transaction_means_the_same_row_in_all_statements():
    kind = {
        "name": "t",
        "statements": ["SELECT a FROM t WHERE id = :id", "DELETE FROM t WHERE id = :id"],
        "values": {"id": {"rows": 1000}},
    }
    (made,) = parsed({"transaction": [kind]}, "f")
    pairs = [[text.rpartition(" ")[2] for text in texts] for texts in made.texts(20, seed=3)]
    assert all(one == other for one, other in pairs)
    assert len({one for one, _ in pairs}) > 10
    assert made.places == 3, "with the commit"


def test_rows_are_drawn_from_one_on_and_no_further_than_said():
    drawn = Value(5).drawn(200, seed=1)
    assert (min(drawn), max(drawn)) == (1, 5)
    skewed = Value(1000, "pareto").drawn(500, seed=1)
    assert max(skewed.count(row) for row in skewed) > 20


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"statements": ["CREATE TABLE t (id INT)"]}, "statement 1 begins with CREATE"),
        ({"statements": ["BEGIN"]}, "statement 1 is BEGIN"),
        ({"statements": ["SELECT 1; SELECT 2"]}, "2 statements, not one"),
        ({"statements": []}, "statements is \\[\\]"),
        ({"statements": ["DELETE FROM t WHERE id = :idd"]}, "what :idd is drawn from"),
        ({"values": {"id": {"rows": 10}, "x": {"rows": 2}}}, "no statement has :x"),
        ({"values": {"id": {"rows": 0}}}, "values.id: rows is 0"),
        ({"values": {"id": {"rows": True}}}, "rows is True"),
        ({"values": {"id": {"rows": 10, "distribution": "zipf"}}}, "distribution is 'zipf'"),
        ({"values": {"id": 10}}, "values.id is 10"),
        ({"weight": 0}, "weight is 0"),
        ({"weight": "3"}, "weight is '3'"),
        ({"name": None}, "name is missing"),
        ({"autocommit": True, "statements": ["DO :id", "DO :id"]}, "2 statements with autocommit"),
        ({"wait": 3}, "has wait"),
    ],
)
def test_a_mistake_is_refused_with_its_place(change, says):
    kind = {"name": "t", "statements": ["SELECT a FROM t WHERE id = :id"], "values": {"id": {"rows": 10}}}
    with pytest.raises(EngineRoomError, match=says):
        parsed({"transaction": [{**kind, **change}]}, "shop.toml")


@pytest.mark.parametrize(
    "content", [{}, {"transaction": []}, {"transaction": [{}], "x": 1}, {"transaction": 3}]
)
def test_a_file_without_transactions_is_refused(content):
    with pytest.raises(EngineRoomError, match="does not consist of transactions"):
        parsed(content, "shop.toml")


def test_two_kinds_have_two_names():
    kind = {"name": "t", "statements": ["DO 1"]}
    with pytest.raises(EngineRoomError, match="two transactions are called 't'"):
        parsed({"transaction": [kind, kind]}, "f")


def test_more_tables_than_the_engine_has_are_refused():
    kind = {"name": "t", "statements": [f"DELETE FROM t{i}" for i in range(17)]}
    with pytest.raises(EngineRoomError, match="about 17 tables"):
        parsed({"transaction": [kind]}, "f")


def test_a_file_that_is_no_toml_or_is_not_there_is_refused(tmp_path):
    (tmp_path / "bad.toml").write_text("[[transaction]]\nname = order\n")
    with pytest.raises(EngineRoomError, match=r"bad\.toml is not TOML"):
        read(tmp_path / "bad.toml")
    with pytest.raises(EngineRoomError, match=r"none\.toml"):
        read(tmp_path / "none.toml")


def test_the_example_of_the_page_can_be_read():
    order, look = read(paths.data() / "workloads" / "shop.toml")
    assert [each.table for each in order.statements] == ["item", "item", "orders"]
    assert {each.value for each in order.statements} == {"item"}
    assert (look.weight, look.places) == (9, 1)
