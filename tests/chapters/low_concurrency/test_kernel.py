"""The low concurrency kernels against slow references in Python."""

from __future__ import annotations

import random
from typing import Any

import pytest

from engineroom._native import low_concurrency as kernel

SQL_NULL, EXTERNAL, DEFAULT, DROPPED = 1 << 31, 1 << 30, 1 << 29, 1 << 28
CONTAINERS = ("list_5_7", "deque_8_0", "deque_9_7", "reserved")


def deque_bytes(elements: int, *, spare_slots: bool) -> int:
    """Push one element after the other, as the server does, and add up what is taken from the arena."""
    taken, blocks, capacity, free = 0, 0, 0, 0
    for _ in range(elements):
        if free == 0:
            if blocks == capacity or not spare_slots:
                capacity = 2 * capacity if spare_slots and capacity else blocks + 1
                taken += 8 * capacity
            taken += 1024
            blocks += 1
            free = 64 if blocks == 1 else 128
        free -= 1
    return taken


@pytest.mark.parametrize("rows", [1, 64, 65, 1000, 20_000])
@pytest.mark.parametrize("columns", [1, 5, 20, 64, 65, 80, 321])
def test_bytes_of_the_deques_are_those_of_pushing_one_by_one(rows: int, columns: int) -> None:
    for container, spare in (("deque_8_0", False), ("deque_9_7", True)):
        by_hand = rows * (40 + deque_bytes(columns, spare_slots=spare)) + deque_bytes(rows, spare_slots=spare)
        assert kernel.container_bytes(container, rows=rows, columns=columns) == by_hand


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_parsed_insert_takes_what_the_formula_says_and_keeps_the_values(container: str) -> None:
    parsed = kernel.parse_insert(container, rows=700, columns=7)
    assert parsed["container_bytes"] == kernel.container_bytes(container, rows=700, columns=7)
    assert parsed["item_bytes"] == 700 * 7 * 128
    assert parsed["reserved_bytes"] >= parsed["container_bytes"] + parsed["item_bytes"]
    checksum = 0
    for row in range(700):
        for column in range(7):
            checksum = (checksum * 31 + 1000 + column + row) % 2**64
    assert parsed["checksum"] == checksum


def test_narrow_rows_pay_twelve_times_and_wide_ones_nothing() -> None:
    def per_row(container: str, columns: int) -> float:
        return kernel.container_bytes(container, rows=10_000, columns=columns) / 10_000

    assert per_row("deque_9_7", 4) / per_row("list_5_7", 4) == pytest.approx(10.4, abs=0.1)
    assert per_row("deque_9_7", 64) / per_row("list_5_7", 64) == pytest.approx(1.02, abs=0.02)
    assert per_row("deque_9_7", 65) / per_row("deque_9_7", 64) > 1.9


def reference(fields: list[dict[str, Any]], core: int, record: bytes, origin: int) -> list[int]:
    """End offsets by the format's rules, one bit and one byte at a time."""
    versions = max((max(f.get("added_version", 0), f.get("dropped_version", 0)) for f in fields), default=0)
    at, info = origin - 6, record[origin - 5]
    version, n = 0, len(fields)
    if info & 0x40:
        version, at, core = record[at], at - 1, 0
    elif info & 0x80:
        n, at = record[at], at - 1
        if n & 0x80:
            n, at = (n & 0x7F) << 8 | record[at], at - 1
    elif core:
        n = core

    def is_there(i: int, field: dict[str, Any]) -> bool:
        added, dropped = field.get("added_version", 0), field.get("dropped_version", 0)
        if core:
            return i < n and added == 0
        return not versions or (added <= version and (not dropped or version < dropped))

    bits = [i for i, f in enumerate(fields) if f.get("is_nullable") and is_there(i, f)]
    nulls = {i for k, i in enumerate(bits) if record[at - k // 8] >> (k % 8) & 1}
    at -= (len(bits) + 7) // 8
    end, found = 0, []
    for i, field in enumerate(fields):
        if not is_there(i, field):
            dropped = field.get("dropped_version", 0)
            gone = dropped and version >= dropped
            found.append(end | (DROPPED if gone else SQL_NULL if field.get("default_is_null") else DEFAULT))
        elif i in nulls:
            found.append(end | SQL_NULL)
        elif field.get("fixed_bytes"):
            end += field["fixed_bytes"]
            found.append(end)
        else:
            length, at, flag = record[at], at - 1, 0
            if length & 0x80 and (field["max_bytes"] > 255 or field.get("is_big")):
                flag = EXTERNAL if length & 0x40 else 0
                length, at = (length & 0x3F) << 8 | record[at], at - 1
            end += length
            found.append(end | flag)
    return found


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", ["plain", "instant", "versions", "both"])
def test_every_decoder_agrees_with_the_reference(kind: str, seed: int) -> None:
    rng = random.Random(f"{kind}{seed}")
    fields: list[dict[str, Any]] = []
    for _ in range(rng.randint(1, 40)):
        field: dict[str, Any] = {"is_nullable": rng.random() < 0.5}
        if rng.random() < 0.5:
            field |= {"max_bytes": rng.choice([10, 255, 256, 900]), "is_big": rng.random() < 0.2}
        else:
            field["fixed_bytes"] = rng.randint(1, 9)
        if kind in ("versions", "both") and rng.random() < 0.4:
            field["added_version"] = rng.randint(1, 4)
        if kind in ("versions", "both") and rng.random() < 0.3:
            field["dropped_version"] = rng.randint(field.get("added_version", 0) + 1, 6)
        fields.append(field)
    core = rng.randint(1, len(fields)) if kind in ("instant", "both") else 0
    newest = max(max(f.get("added_version", 0), f.get("dropped_version", 0)) for f in fields)
    for version in range(newest + 1):
        values = [
            None
            if field["is_nullable"] and rng.random() < 0.3
            else (rng.randint(0, field["max_bytes"]) if "max_bytes" in field else 0)
            * (-1 if field.get("is_big") and rng.random() < 0.5 else 1)
            for field in fields
        ]
        n_fields = rng.randint(core, len(fields)) if core and not version and rng.random() < 0.5 else 0
        record, origin, ends = kernel.encode_record(
            fields, values, core_fields=core, version=version, n_fields=n_fields
        )
        assert reference(fields, core, record, origin) == ends
        for decoder in ("v80", "hoisted", "by_state") + (("v57",) if kind == "plain" else ()):
            assert kernel.record_offsets(decoder, record, origin, fields, core_fields=core) == ends, decoder


def test_variants_of_the_conversion_give_the_same_rows() -> None:
    sums = {
        kernel.measure_store(path, passes=1)["checksum"]
        for path in ("none", "inline_stream", "cold_call", "expect")
    }
    assert len(sums) == 1


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (
            lambda: kernel.parse_insert("deque", rows=1, columns=1),
            "container must be 'list_5_7', .* got 'deque'",
        ),
        (lambda: kernel.parse_insert("list_5_7", rows=0, columns=1), "rows"),
        (lambda: kernel.parse_insert("list_5_7", rows=1, columns=5000), "columns is 5000"),
        (lambda: kernel.measure_offsets("v81", columns=3), "decoder must be 'v57', .* got 'v81'"),
        (lambda: kernel.measure_offsets("v80", columns=3, row_versions=3), "row_versions is 3"),
        (lambda: kernel.measure_offsets("v80", nullable_percent=101), "nullable_percent must be 0 to 100"),
        (lambda: kernel.measure_store("none", integers=0, varying=0, fixed_texts=0), "a row has no field"),
        (lambda: kernel.measure_store("none", passes="many"), "passes must be an integer, got .many."),
        (lambda: kernel.encode_record([{"fixed_bytes": 1}], [1], version=256), "version must be at most 255"),
        (
            lambda: kernel.encode_record([{"width": 3}], [1]),
            "a field has no option 'width'; its options are fixed_bytes",
        ),
        (lambda: kernel.encode_record([{"fixed_bytes": 3}], [None]), "field 0 is NULL and not nullable"),
        (lambda: kernel.encode_record([{"fixed_bytes": 3}], ["abc"]), "below 4 GiB, or None, got 'abc'"),
        (lambda: kernel.encode_record([{"fixed_bytes": 3}], [2**32 + 3]), "below 4 GiB, .* got 4294967299"),
        (lambda: kernel.record_offsets("v80", b"12345", 9, [{"fixed_bytes": 1}]), "origin is 9"),
        (lambda: kernel.measure_store("cold", passes=1), "path must be 'none', .* got 'cold'"),
    ],
)
def test_bad_arguments_are_refused_with_the_value_received(call, problem) -> None:
    with pytest.raises(ValueError, match=problem):
        call()
