"""Rows made from a table's columns: deterministic, within their types, unique where they must be."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest

from engineroom.ask.compare import made_rows
from engineroom.ask.compare.made_rows import Column, ForeignKey, Table
from engineroom.errors import EngineRoomError

ID = Column(name="id", kind="int", full_type="int(11)", is_unique=True)


def rows(table: Table, n: int, *others: Table) -> list[tuple[object, ...]]:
    return list(made_rows.made([*others, table], table, n))


def column(kind: str, full_type: str = "", **more: object) -> Column:
    return replace(Column(name="c", kind=kind, full_type=full_type or kind), **more)


def test_rows_are_the_same_in_every_run_and_a_longer_table_keeps_the_keys() -> None:
    table = Table(name="t", columns=(ID, column("varchar", length=20)))
    assert rows(table, 50) == rows(table, 50)
    assert (
        [row[0] for row in rows(table, 60)][:50] == [row[0] for row in rows(table, 50)] == list(range(1, 51))
    )


@pytest.mark.parametrize(
    ("kind", "more", "least", "most"),
    [
        ("tinyint", {}, 0, 127),
        ("tinyint", {"full_type": "tinyint(3) unsigned"}, 0, 255),
        ("smallint", {}, 0, 32767),
        ("year", {}, 1901, 2155),
        ("date", {}, datetime.date(2001, 1, 1), datetime.date(9999, 12, 31)),
        ("timestamp", {}, datetime.datetime(2001, 1, 1), datetime.datetime(2038, 1, 19)),
    ],
)
def test_values_stay_within_their_type(kind, more, least, most) -> None:
    found = [row[0] for row in rows(Table(name="t", columns=(column(kind, **more),)), 3000)]
    assert least <= min(found) < max(found) <= most


@pytest.mark.parametrize("longest", [1, 2, 5, 24, 60])
def test_texts_have_at_most_their_length_and_unique_ones_differ(longest: int) -> None:
    text = column("varchar", length=longest, is_unique=True)
    found = [row[0] for row in rows(Table(name="t", columns=(text,)), 36 if longest == 1 else 900)]
    assert max(map(len, found)) <= longest
    assert len(set(found)) == len(found)


def test_an_enum_has_its_members_and_a_nullable_column_some_nulls() -> None:
    kind = column("enum", "enum('a','it''s','c')", is_nullable=True)
    found = [row[0] for row in rows(Table(name="t", columns=(kind,)), 500)]
    assert set(found) == {"a", "it's", "c", None}
    assert 20 < found.count(None) < 100


def test_a_decimal_has_its_scale() -> None:
    found = [row[0] for row in rows(Table(name="t", columns=(column("decimal", precision=6, scale=2),)), 200)]
    assert all(float(value) < 10_000 and value[-3] == "." for value in found)


def test_a_foreign_key_repeats_keys_of_its_parent() -> None:
    parent = Table(name="parent", columns=(replace(ID, kind="bigint"),))
    key = ForeignKey(columns=("parent_id",), parent="parent", parent_columns=("id",))
    child = Table(name="child", columns=(ID, replace(column("int"), name="parent_id")), foreign_keys=(key,))
    found = [row[1] for row in rows(child, 300, parent)]
    assert set(found) <= set(range(1, 301))
    assert 100 < len(set(found)) < 300


def test_a_composite_foreign_key_takes_both_values_from_one_row() -> None:
    parent = Table(name="p", columns=(ID, replace(column("varchar", length=9), name="code")))
    key = ForeignKey(columns=("a", "b"), parent="p", parent_columns=("id", "code"))
    child = Table(
        name="c",
        columns=(replace(column("int"), name="a"), replace(column("varchar", length=9), name="b")),
        foreign_keys=(key,),
    )
    assert set(rows(child, 200, parent)) <= set(rows(parent, 200))


@pytest.mark.parametrize(
    ("key", "fits"),
    [
        (column("tinyint"), 128),
        (column("tinyint", "tinyint unsigned"), 256),
        (column("enum", "enum('a','b','c')"), 3),
        (column("bit", precision=3), 8),
        (column("char", length=1), 36),
        (column("year"), 255),
        (column("int", low=10, high=19), 10),
    ],
)
def test_a_table_has_no_more_rows_than_its_key_has_values_and_one_that_repeats_it_uniquely_as_many(key, fits):
    table = Table(name="t", columns=(replace(key, is_unique=True),))
    assert len(set(rows(table, 500))) == len(rows(table, 500)) == fits
    foreign = ForeignKey(columns=("t_c",), parent="t", parent_columns=("c",), is_unique=True)
    one_to_one = Table(name="u", columns=(replace(key, name="t_c"),), foreign_keys=(foreign,))
    assert sorted(rows(one_to_one, 500, table)) == sorted(rows(table, 500))


def test_a_type_without_values_is_an_error_that_names_the_column() -> None:
    with pytest.raises(EngineRoomError, match=r"no rows can be made for t\.c \(hologram\)"):
        rows(Table(name="t", columns=(column("hologram"),)), 1)
    assert rows(Table(name="t", columns=(column("hologram", is_nullable=True),)), 1) == [(None,)]


@pytest.mark.parametrize(
    ("asking", "where", "value"),
    [
        (column("varchar", length=9), "c = 'paid'", "paid"),
        (column("enum", "enum('new','paid')"), "t.c IN ('paid')", "paid"),
        (column("int"), "c > 41000", 41001),
        (column("bigint"), "c <= -5", -5),
        (column("date"), "c BETWEEN '2031-01-05' AND '2031-01-05'", datetime.date(2031, 1, 5)),
        (column("datetime"), "c < DATE '2031-01-05'", datetime.datetime(2031, 1, 4, 23, 59, 59)),
        (column("decimal", precision=9, scale=2), "12.5 = c", 12.5),
        (column("text", length=65535), "c LIKE '%gift%'", "gift"),
        (column("int", is_nullable=True), "c IS NULL", None),
    ],
)
def test_one_row_in_four_holds_what_a_statement_asks_for_in_all_its_columns(asking, where, value) -> None:
    table = Table(name="t", columns=(ID, asking, replace(column("int"), name="d")))
    asked, homeless = made_rows.asked_for([table], [f"SELECT id FROM t WHERE {where} AND d = 70000"])
    found = list(made_rows.made([table], table, 400, asked))
    assert 60 < sum(row[1:] == (value, 70000) for row in found) < 160
    assert len({row[0] for row in found}) == 400
    assert homeless == []


def test_a_key_holds_a_constant_once_and_what_no_column_can_hold_is_named() -> None:
    table = Table(name="t", columns=(ID, replace(column("varchar", length=4), name="st")))
    asks = [
        "SELECT 1 FROM t WHERE id = 99999 AND st = 'paid'",
        "SELECT 1 FROM t WHERE id = 7 AND st = 'open'",
    ]
    asked, homeless = made_rows.asked_for(
        [table], [*asks, "SELECT 1 FROM t WHERE st = 'too long' AND id = 1e99"]
    )
    found = list(made_rows.made([table], table, 100, asked))
    assert (99999, "paid") in found
    assert (7, "open") in found
    assert len({row[0] for row in found}) == 100
    assert homeless == ["'too long'", "1e+99"]


@pytest.mark.parametrize("bound", ["9" * 18, "9" * 5000, "1e999"])
def test_a_bound_beyond_all_dates_and_numbers_is_no_traceback(bound: str) -> None:
    for kind, text in (("datetime", "unix_timestamp(`c`) < {}"), ("int", "c > {}"), ("double", "c = {}")):
        made_rows._bounded({"c": column(kind)}, text.format(bound))
    made_rows.asked_for(
        [Table(name="t", columns=(column("int"),))], [f"SELECT 1 FROM t WHERE c = {bound} OR c > -{bound}"]
    )
