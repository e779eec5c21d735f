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


def test_too_many_rows_for_a_unique_column_is_an_error_with_the_number_that_fits() -> None:
    table = Table(name="t", columns=(column("tinyint", is_unique=True),))
    assert len(set(rows(table, 128))) == 128
    with pytest.raises(EngineRoomError, match=r"t\.c.*only 128 different values, and 129 rows"):
        rows(table, 129)


def test_a_type_without_values_is_an_error_that_names_the_column() -> None:
    with pytest.raises(EngineRoomError, match=r"no rows can be made for t\.c \(geometry\)"):
        rows(Table(name="t", columns=(column("geometry"),)), 1)
