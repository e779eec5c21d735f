"""The binary log's kernel: what is written comes back, for values of every type by seed, and damage is told with its position.

Against servers it is tested in test_binlog_writer.py.
"""

from __future__ import annotations

import datetime
import json
import random
import zlib
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from engineroom._native import binlog

FIXED = [
    ("int unsigned not null", 4_000_000_000, 4_000_000_000),
    ("tinyint", -128, -128),
    ("mediumint unsigned", 16_777_215, 16_777_215),
    ("bigint unsigned", 2**64 - 1, 2**64 - 1),
    ("float", 1.5, 1.5),
    ("double", -0.1, -0.1),
    ("decimal(20,7)", Decimal("-12345.6789"), "-12345.6789000"),
    ("decimal(5,5)", "0.00001", "0.00001"),
    ("bit(13)", 0x1234, 0x1234),
    ("enum('a','b')", 2, 2),
    ("set('a','b','c')", 5, 5),
    ("year", 1999, 1999),
    ("char(5)", "ab   ", "ab"),
    ("varchar(300)", 'a "word"\\\n', 'a "word"\\\n'),
    ("varchar(5) character set latin1", b"\xe9", "é"),
    ("binary(4)", b"ab\0\0", "0x6162"),
    ("longblob", b"\0\xff", "0x00FF"),
    ("text", "日本", "日本"),
    ("json", {"b": [1, 2.5, None, True, 2**40], "a": "x"}, {"a": "x", "b": [1, 2.5, None, True, 2**40]}),
    ("date", datetime.date(2024, 2, 29), "2024-02-29"),
    ("time(3)", -datetime.timedelta(hours=700, microseconds=1000), "-700:00:00.001"),
    ("datetime", datetime.datetime(1000, 1, 1), "1000-01-01 00:00:00"),
    ("datetime(6)", datetime.datetime(9999, 12, 31, 23, 59, 59, 999999), "9999-12-31 23:59:59.999999"),
    ("timestamp(2)", datetime.datetime(2038, 1, 1, 0, 0, 1, 250000), "2038-01-01 00:00:01.25"),
    ("timestamp", datetime.datetime(2024, 2, 29, 23, 59, 59), "2024-02-29 23:59:59"),
    ("int", None, None),
]


def no_inflate(_: bytes) -> Iterator[bytes]:
    raise AssertionError("nothing is compressed here")


def file_of(table: binlog.Table, statements: list[binlog.Statement]) -> bytes:
    writer = binlog.Writer(position=4, checksums=True, timestamp=1)
    writer.format_description("9.7.4")
    writer.begin()
    for statement in statements:
        writer.table_map(table)
        writer.rows(statement)
    writer.xid(1)
    return b"\xfebin" + bytes(writer.take())


def rows_of(file: bytes) -> list[dict[str, Any]]:
    reader = binlog.RowLines(file_bytes=len(file), inflate=no_inflate)
    lines = reader.feed(file)
    reader.end()
    return [json.loads(line) for line in lines.splitlines()]


def test_a_value_of_each_type_is_read_as_it_was_written() -> None:
    table = binlog.Table("d", "t", [declared for declared, _, _ in FIXED], key=[0])
    row = [value for _, value, _ in FIXED]
    (found,) = rows_of(file_of(table, [binlog.Statement(table, "insert", after=[row])]))
    assert found["table"] == "d.t"
    assert list(found["after"].values()) == [expected for _, _, expected in FIXED]


@pytest.mark.parametrize("image", ["full", "minimal", "noblob"])
def test_each_image_holds_its_columns_and_no_others(image: str) -> None:
    table = binlog.Table("d", "t", ["int", "text", "varchar(9)", "json"], key=[0])
    before, after = [1, "a", "b", [1]], [1, "a", "c", [1]]
    statement = binlog.Statement(table, "update", before=[before], after=[after], image=image, written=[2])
    (found,) = rows_of(file_of(table, [statement]))
    expected = {
        "full": ("@1 @2 @3 @4", "@1 @2 @3 @4"),
        "minimal": ("@1", "@3"),
        "noblob": ("@1 @3 @4", "@1 @3 @4"),
    }[image]
    assert (" ".join(found["before"]), " ".join(found["after"])) == expected


@pytest.mark.parametrize("seed", range(20))
def test_tables_of_any_columns_come_back_whole(seed: int) -> None:
    rng = random.Random(seed)
    chosen = [rng.choice(FIXED) for _ in range(rng.choice([1, 7, 8, 9, 64, 300]))]
    table = binlog.Table(
        "d" * rng.randint(1, 60), "t" * rng.randint(1, 60), [declared for declared, _, _ in chosen]
    )
    made = []
    for _ in range(rng.choice([1, 5, 60])):
        is_null = [rng.random() < 0.3 and "not null" not in declared for declared, _, _ in chosen]
        made.append(
            (
                [None if null else value for null, (_, value, _) in zip(is_null, chosen, strict=True)],
                [None if null else text for null, (_, _, text) in zip(is_null, chosen, strict=True)],
            )
        )
    rows = [row for row, _ in made]
    changes = [
        binlog.Statement(table, "insert", after=rows),
        binlog.Statement(table, "update", before=rows, after=rows[::-1]),
        binlog.Statement(table, "delete", before=rows),
    ]
    found = rows_of(file_of(table, changes))
    texts = [text for _, text in made]
    assert [list(one["after"].values()) for one in found if one["change"] == "insert"] == texts
    assert [list(one["before"].values()) for one in found if one["change"] == "update"] == texts
    assert [list(one["after"].values()) for one in found if one["change"] == "update"] == texts[::-1]
    assert [list(one["before"].values()) for one in found if one["change"] == "delete"] == texts


@pytest.mark.parametrize("seed", range(20))
def test_a_document_survives_its_binary_form(seed: int) -> None:
    rng = random.Random(seed)

    def made(depth: int) -> Any:
        kind = rng.randrange(7 if depth < 5 else 4)
        if kind >= 5:
            items = [(f"k{i}" * rng.randint(1, 3), made(depth + 1)) for i in range(rng.randint(0, 8))]
            return dict(items) if kind == 6 else [value for _, value in items]
        integer, real = rng.randint(-(2**63), 2**64 - 1), rng.randint(-99, 99) / 4
        return [None, rng.random() < 0.5, integer, real, "ü" * rng.choice([0, 9, 200, 40_000])][kind]

    document = [made(0) for _ in range(4)]
    assert json.loads(binlog.json_text(binlog.json_binary(document))) == document


def test_a_document_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append({"again": endless})
    with pytest.raises(ValueError, match="at most 100 deep"):
        binlog.json_binary(endless)


def test_the_checksum_is_zlibs() -> None:
    for n in (0, 1, 7, 8, 9, 1000):
        some = (bytes(range(256)) * 4)[:n]
        assert binlog.crc32(some) == zlib.crc32(some)


def test_damage_is_told_with_the_position_of_its_event() -> None:
    table = binlog.Table("d", "t", ["int"])
    file = bytearray(file_of(table, [binlog.Statement(table, "insert", after=[[1]])]))
    rows_at = file.index(bytes([30]), 200) - 4
    file[-40] ^= 1
    with pytest.raises(binlog.Damaged, match=f"at position {rows_at}: the checksum"):
        rows_of(bytes(file))
    with pytest.raises(binlog.Damaged, match="position 0: the file is empty"):
        rows_of(b"")
    with pytest.raises(binlog.Damaged, match="encrypted"):
        rows_of(b"\xfdbin" + bytes(600))
    assert issubclass(binlog.Damaged, ValueError)


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        ("int", 2**31),
        ("varchar(1)", "abcde"),
        ("decimal(3,1)", "1234"),
        ("year", 5),
        ("int", [1]),
        ("timestamp", datetime.date(1960, 1, 1)),
        ("bigint", 2**64),
        ("date", "2026-01-01"),
        ("time", 5),
        ("varchar(9)", "\udcff"),
        ("json", [2**64]),
        ("json", {1: 2}),
    ],
)
def test_a_value_that_does_not_fit_is_refused(declared: str, value: Any) -> None:
    table = binlog.Table("d", "t", [declared])
    with pytest.raises(ValueError, match=r"cannot hold|a value of a row"):
        file_of(table, [binlog.Statement(table, "insert", after=[[value]])])


def test_bad_arguments_are_refused_with_what_to_pass() -> None:
    with pytest.raises(ValueError, match="wobble"):
        binlog.Table("d", "t", ["wobble"])
    table = binlog.Table("d", "t", ["int", "int"])
    with pytest.raises(ValueError, match="rows after"):
        binlog.Statement(table, "insert", before=[[1, 2]])
    with pytest.raises(ValueError, match="2 values, got 1"):
        binlog.Statement(table, "insert", after=[[1]])
    with pytest.raises(ValueError, match="'full', 'minimal' or 'noblob'"):
        binlog.Statement(table, "insert", after=[[1, 2]], image="small")
