from __future__ import annotations

import collections
import itertools
import math
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engineroom._native import hash_join

pytestmark = pytest.mark.usefixtures("spilled_to_memory")
JOINS = ("inner", "left", "semi", "anti")
KERNELS: dict[str, Callable[..., Any]] = {
    "nested_loop": hash_join.nested_loop,
    "index_nested_loop": hash_join.index_nested_loop,
    "block_nested_loop": hash_join.block_nested_loop,
    "hybrid": hash_join.hybrid,
}


def reference(tables: dict[str, Any], join: str, max_diff: int | None) -> list[tuple[int, int]]:
    """A join as its definition says it, in probe order and then build order."""

    def matches(build: int, probe: int) -> bool:
        if tables["build_null"][build] or tables["probe_null"][probe]:
            return False
        if tables["build_key"][build] != tables["probe_key"][probe]:
            return False
        difference = int(tables["build_payload"][build]) - int(tables["probe_payload"][probe])
        return max_diff is None or abs(difference) <= max_diff

    rows = []
    for probe in range(len(tables["probe_key"])):
        found = [build for build in range(len(tables["build_key"])) if matches(build, probe)]
        if join == "semi":
            found = [-1] if found else []
        elif join == "anti":
            found = [] if found else [-1]
        elif join == "left":
            found = found or [-1]
        rows += [(build, probe) for build in found]
    return rows


def total(tables: dict[str, Any], rows: list[tuple[int, int]]) -> int:
    return sum(
        int(tables["probe_payload"][probe]) + (int(tables["build_payload"][build]) if build >= 0 else 0)
        for build, probe in rows
    )


def random_tables(seed: int, build_rows: int | None = None, probe_rows: int | None = None) -> dict[str, Any]:
    """Small tables with duplicates and NULLs; now and then one is empty, or one key has most of the rows."""
    rng = np.random.default_rng(seed)
    build_rows = int(rng.integers(0, 60)) if build_rows is None else build_rows
    probe_rows = int(rng.integers(0, 60)) if probe_rows is None else probe_rows
    keys = int(rng.choice([1, 5, 40, 400]))
    return {
        "build_key": rng.integers(-keys, keys, build_rows),
        "probe_key": rng.integers(-keys, keys, probe_rows),
        "build_payload": rng.integers(-50, 50, build_rows),
        "probe_payload": rng.integers(-50, 50, probe_rows),
        "build_null": rng.random(build_rows) < 0.1,
        "probe_null": rng.random(probe_rows) < 0.1,
    }


def run(kernel: Callable[..., Any], tables: dict[str, Any], **options: Any) -> Any:
    columns = dict(tables)
    return kernel(columns.pop("build_key"), columns.pop("probe_key"), **columns, **options)


def pairs(result: Any) -> list[tuple[int, int]]:
    return [(int(build), int(probe)) for build, probe in result.rows]


def distinct(rows: int, **options: Any) -> Any:
    keys = np.arange(rows)
    return hash_join.hybrid(keys, keys, output="count", **options)


# The smallest case worked out by hand


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize(
    ("join", "expected"),
    [
        ("inner", {(0, 2), (1, 0), (2, 0)}),
        ("left", {(0, 2), (1, 0), (2, 0), (-1, 1), (-1, 3)}),
        ("semi", {(-1, 0), (-1, 2)}),
        ("anti", {(-1, 1), (-1, 3)}),
    ],
)
def test_four_rows_join_as_worked_out_by_hand(
    kernel: Callable[..., Any], join: str, expected: set[tuple[int, int]]
) -> None:
    build, probe = np.array([1, 2, 2, 0]), np.array([2, 3, 1, 0])
    result = kernel(build, probe, join=join, build_null=build == 0, probe_null=probe == 0)
    assert set(pairs(result)) == expected
    assert result.count == len(expected)


def test_rows_of_one_key_come_newest_first() -> None:
    assert pairs(hash_join.hybrid(np.array([7, 8, 7, 7]), np.array([7]))) == [(3, 0), (2, 0), (0, 0)]


def test_the_sum_takes_the_payloads_of_both_sides_and_nothing_for_a_missing_row() -> None:
    one_match, extremes = np.array([5, 6]), np.array([2**62, 7])
    result = hash_join.hybrid(
        np.array([5]), one_match, join="left", build_payload=np.array([100]), probe_payload=extremes
    )
    assert result.sum == 2**62 + 7 + 100


# Against the reference


@pytest.mark.parametrize("max_diff", [None, 0, 30])
@pytest.mark.parametrize("join", JOINS)
def test_every_kernel_agrees_with_the_reference(join: str, max_diff: int | None) -> None:
    for seed in range(20):
        tables = random_tables(seed)
        expected = reference(tables, join, max_diff)
        for name, kernel in KERNELS.items():
            result = run(kernel, tables, join=join, max_diff=max_diff)
            assert sorted(pairs(result)) == sorted(expected), (name, seed)
            assert (result.count, result.sum) == (len(expected), total(tables, expected)), (name, seed)
            counted = run(kernel, tables, join=join, max_diff=max_diff, output="count")
            assert counted.rows is None
            assert (counted.count, counted.sum, counted.counters) == (
                result.count, result.sum, result.counters,
            ), (name, seed)  # fmt: skip


@pytest.mark.parametrize("max_diff", [None, 20])
@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize("seed", range(20))
def test_any_memory_and_any_mode_give_the_rows_of_the_reference(
    seed: int, join: str, max_diff: int | None
) -> None:
    tables = random_tables(seed)
    expected = sorted(reference(tables, join, max_diff))
    # From one row a filling (a row as wide as the first block), over some rows, to everything.
    for row_bytes, allow_spill, max_chunks in itertools.product(
        (16384, 5000, 900, 20), (True, False), (1, 2, 128)
    ):
        result = run(
            hash_join.hybrid,
            tables,
            join=join,
            max_diff=max_diff,
            join_buffer_bytes=16384,
            row_bytes=row_bytes,
            allow_spill=allow_spill,
            max_chunks=max_chunks,
        )
        assert sorted(pairs(result)) == expected, (row_bytes, allow_spill, max_chunks)
        if not allow_spill:
            assert result.counters["chunk_files"] == 0


@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize("max_chunks", [1, 2, 4, 8, 16, 32, 64, 128])
def test_any_number_of_chunks_gives_the_rows_of_the_join_in_memory(join: str, max_chunks: int) -> None:
    tables = random_tables(3, build_rows=6000, probe_rows=5000)
    in_memory = run(hash_join.hybrid, tables, join=join, join_buffer_bytes=2**26)
    spilled = run(
        hash_join.hybrid,
        tables,
        join=join,
        join_buffer_bytes=16384,
        max_chunks=max_chunks,
        estimated_build_rows=10**9,
    )
    assert in_memory.counters["chunk_files"] == 0
    assert spilled.counters["chunk_files"] in (0, 2 * max_chunks)  # few distinct keys may fit a semijoin
    assert sorted(pairs(spilled)) == sorted(pairs(in_memory))
    assert spilled.sum == in_memory.sum


@pytest.mark.parametrize("kernel", ["nested_loop", "index_nested_loop", "hybrid"])
@pytest.mark.parametrize("join", JOINS)
def test_in_memory_the_output_comes_in_probe_order(kernel: str, join: str) -> None:
    probes = [probe for _, probe in pairs(run(KERNELS[kernel], random_tables(12, 50, 50), join=join))]
    assert probes == sorted(probes)


@pytest.mark.parametrize(("difference", "is_match"), [(2**63 - 1, False), (2**63 - 2, False), (0, True)])
def test_the_extra_condition_is_exact_at_the_ends_of_the_range(difference: int, is_match: bool) -> None:
    payload = np.array([-(2**63)]), np.array([-(2**63) + difference], dtype=np.int64)
    for kernel in KERNELS.values():
        result = kernel(
            np.array([1]), np.array([1]), build_payload=payload[0], probe_payload=payload[1], max_diff=5
        )
        assert (result.count == 1) == is_match


# The chunk-count rule and the two hashes


@pytest.mark.parametrize(
    ("estimate", "in_memory", "chunks"),
    [
        (1000, 100, 16),
        (50, 100, 1),
        (10**6, 10, 128),
        (0, 1, 1),
        (190, 100, 1),
        (191, 100, 2),
        (280, 100, 2),
        (281, 100, 4),
        (2**62, 1, 128),
    ],
)
def test_the_chunk_count_follows_the_rule(estimate: int, in_memory: int, chunks: int) -> None:
    assert hash_join.chunk_count(estimate, in_memory) == chunks


def test_chunks_are_counted_by_the_keys_in_memory_not_by_the_rows() -> None:
    keys = np.arange(8000) % 80
    done = hash_join.hybrid(keys, keys[:1], join_buffer_bytes=65536, output="count").counters
    assert done["build_keys_in_memory"] == 80
    assert done["build_rows_in_memory"] > 4000
    assert done["chunk_files"] == 2 * hash_join.chunk_count(8000, 80) == 256


def test_the_estimate_decides_the_chunks_not_the_truth() -> None:
    low, true, high = (
        distinct(20_000, join_buffer_bytes=65536, estimated_build_rows=n) for n in (10, 20_000, 10**7)
    )
    assert [r.counters["chunk_files"] for r in (low, true, high)] == [2, 32, 256]
    assert low.counters["passes"] > 1 + 1
    assert true.counters["passes"] == 1 + 16
    assert low.counters["bytes_read"] > 2 * true.counters["bytes_read"]


@pytest.mark.parametrize(
    ("key", "digest"),
    # From the reference implementation of xxHash64 over the key's eight bytes, seed 899339.
    [
        (0, 0xC576D7C9B05154AB),
        (1, 0xFAF5F7F142B0B7DF),
        (-1, 0xE1A276090F97749F),
        (42, 0xF6439804D75CA2D0),
        (2**63 - 1, 0x4870469C70D20B27),
        (-(2**63), 0x0821F79A8838C7ED),
        (1234567890123456789, 0x6FD77E140838191E),
    ],
)
def test_the_chunk_hash_is_xxhash64(key: int, digest: int) -> None:
    assert int(hash_join.chunk_hash(key)) == digest


def test_the_rows_of_one_chunk_spread_evenly_over_the_table() -> None:
    keys = np.arange(400_000)
    one_chunk = keys[(hash_join.chunk_hash(keys) & np.uint64(127)) == 5]
    buckets = 64
    seen = np.bincount((hash_join.table_hash(one_chunk) >> np.uint64(58)).astype(int), minlength=buckets)
    expected = len(one_chunk) / buckets
    chi_square = float(((seen - expected) ** 2 / expected).sum())
    # 63 degrees of freedom: mean 63, standard deviation 11.
    assert 63 - 5 * 11 < chi_square < 63 + 5 * 11
    assert abs(len(one_chunk) - 400_000 / 128) < 5 * math.sqrt(400_000 / 128)


# The same numbers as a server


# Measured on 9.7.4 with the tables of `server_tables`: pairs of join_buffer_size in KiB and what the join with the table
# showed in Created_tmp_files and in writes and written bytes of wait/io/file/sql/hash_join.
SEEN_ON_A_SERVER = {
    "singles": {
        16: (64, 64, 311_800),
        32: (32, 32, 305_100),
        48: (16, 16, 293_960),
        64: (8, 8, 284_140),
        128: (4, 6, 260_460),
        256: (2, 4, 199_020),
        1024: (0, 0, 0),
    },
    "fours": {64: (8, 8, 284_140), 128: (8, 8, 253_820), 256: (0, 0, 0)},
    "hundreds": {16: (256, 185, 297_520), 64: (256, 185, 235_360), 128: (0, 0, 0)},
}


def server_tables() -> dict[str, Any]:
    """Build sides of 8000 rows, by how many rows have the same key; the probe side is the first."""
    rows = np.arange(8000)
    return {"singles": rows, "fours": rows % 2000, "hundreds": rows % 80}


def rows_that_addresses_decide(keys: int, rows: int, join_buffer_bytes: int) -> int:
    """Most rows that a server can hold more or fewer than the kernel, whose blocks follow each other in memory.

    A link to an older row of the same key is a distance between addresses, in 1 to 7 bytes for addresses of 48 bits.
    Only a link into another block depends on where the blocks lie, and a key has at most one such link a block.
    """
    blocks, filled, block_bytes = 0, 0, 16384
    while filled < join_buffer_bytes:
        blocks, filled, block_bytes = blocks + 1, filled + block_bytes, block_bytes * 3 // 2
    links_across = min(rows - keys, keys * (blocks - 1))
    least_row_bytes = 1 + 12
    return math.ceil(links_across * (7 - 1) / least_row_bytes) + 1  # the last row that fits, by alignment


def compare_with_server(build: str, join_buffer_kib: int, seen: tuple[int, int, int]) -> None:
    tables = server_tables()
    counters = hash_join.hybrid(
        tables[build], tables["singles"], join_buffer_bytes=join_buffer_kib * 1024, output="count"
    ).counters
    assert (counters["chunk_files"], counters["file_writes"]) == seen[:2]
    if not counters["chunk_files"]:
        return
    rows_on_file, bytes_over = divmod(seen[2], 20)
    assert bytes_over == 0
    free = rows_that_addresses_decide(
        counters["build_keys_in_memory"], counters["build_rows_in_memory"], join_buffer_kib * 1024
    )
    assert abs(counters["rows_written"] - rows_on_file) <= free
    assert counters["bytes_written"] == 20 * counters["rows_written"]


def test_links_leave_little_room_for_disagreement() -> None:
    # Without duplicates there is no link, so one row; in the tables that are compared at most a tenth of the rows.
    assert rows_that_addresses_decide(2977, 2977, 128 * 1024) == 1
    assert rows_that_addresses_decide(80, 4265, 64 * 1024) <= 0.1 * 4265
    assert rows_that_addresses_decide(80, 4265, 64 * 1024) > 1


@pytest.mark.parametrize(
    ("build", "join_buffer_kib"), [(build, kib) for build, seen in SEEN_ON_A_SERVER.items() for kib in seen]
)
def test_spilling_is_that_of_a_9_7_server(build: str, join_buffer_kib: int) -> None:
    compare_with_server(build, join_buffer_kib, SEEN_ON_A_SERVER[build][join_buffer_kib])


@pytest.mark.parametrize(
    ("join_buffer_kib", "rows_read"), [(16, 168_019), (64, 48_004), (256, 24_001), (4096, 16_000)]
)
def test_rescans_in_refill_mode_are_those_of_a_9_7_server(join_buffer_kib: int, rows_read: int) -> None:
    # Handler_read_rnd_next of 8000 rows joined with 8000 under LIMIT 7999. It counts the end of a scan too, here
    # that of every probe scan but the last.
    refilled = distinct(8000, join_buffer_bytes=join_buffer_kib * 1024, allow_spill=False).counters
    assert refilled["build_rows_read"] + refilled["probe_rows_read"] + refilled["passes"] - 1 == rows_read


@pytest.mark.live
def test_a_live_server_spills_what_the_kernel_spills() -> None:
    from engineroom import servers

    if not servers.runnable("9.7"):
        pytest.skip("MySQL 9.7 cannot run here; `engineroom doctor` says what to add")
    with servers.start("9.7") as server:
        server.execute("CREATE DATABASE spill")
        for name, keys in server_tables().items():
            values = ",".join(f"({key},1)" for key in keys)
            server.execute(
                f"CREATE TABLE {name} (k BIGINT NOT NULL, v INT NOT NULL)",
                f"INSERT INTO {name} VALUES {values}",
                f"ANALYZE TABLE {name}",
                database="spill",
            )
        server.execute("CREATE TABLE probe AS SELECT * FROM singles", database="spill")
        for build, kib in (("singles", 64), ("fours", 128), ("hundreds", 64)):
            connection = server.connect("spill")
            cursor = connection.cursor()

            def counted(cursor: Any = cursor) -> np.ndarray[Any, Any]:
                cursor.execute(
                    "SELECT (SELECT variable_value FROM performance_schema.global_status"
                    " WHERE variable_name = 'Created_tmp_files'), count_write, sum_number_of_bytes_write"
                    " FROM performance_schema.file_summary_by_event_name"
                    " WHERE event_name = 'wait/io/file/sql/hash_join'"
                )
                return np.array([int(value) for value in cursor.fetchone()])

            cursor.execute(f"SET join_buffer_size = {kib * 1024}")
            before = counted()
            cursor.execute(
                f"SELECT /*+ JOIN_ORDER({build}, probe) */ COUNT(probe.v), COUNT({build}.v)"
                f" FROM probe JOIN {build} USING (k)"
            )
            cursor.fetchall()
            files, writes, written = (counted() - before).tolist()
            connection.close()
            compare_with_server(build, kib, (files, writes, written))


# Memory


@pytest.mark.parametrize("join_buffer_bytes", [128, 16384, 40_000, 262_144, 10**6])
@pytest.mark.parametrize("row_bytes", [12, 100, 3000, 20_000])
@pytest.mark.parametrize("keys", [1, 50, 10**9])
def test_memory_stays_within_the_join_buffer_and_one_row(
    join_buffer_bytes: int, row_bytes: int, keys: int
) -> None:
    rng = np.random.default_rng(5)
    build = rng.integers(0, keys, 6000)
    result = hash_join.hybrid(
        build, np.arange(50), join_buffer_bytes=join_buffer_bytes, row_bytes=row_bytes, output="count"
    ).counters
    limit = max(join_buffer_bytes, 16384)
    one_row = 16 + row_bytes + 10 + 16 + 9  # the overflow's two blocks, for a key and a row
    rows = result["peak_memory_bytes"] - result["peak_table_bytes"]
    assert rows <= limit + 16 + one_row
    # The table was below the limit before its last doubling and its last segment of values.
    assert result["peak_table_bytes"] < 2 * limit + 4096
    assert result["peak_memory_bytes"] <= 2 * limit + 16 + 4096 + one_row


def test_a_buffer_below_16_kib_acts_as_16_kib() -> None:
    assert distinct(5000, join_buffer_bytes=128).counters == distinct(5000, join_buffer_bytes=16384).counters


def test_at_least_one_row_is_stored_in_each_pass() -> None:
    result = distinct(40, join_buffer_bytes=16384, row_bytes=60_000, max_chunks=1)
    assert (result.count, result.counters["passes"]) == (40, 40)


def test_one_key_with_all_rows_takes_as_many_passes_as_its_bytes_fill_the_buffer() -> None:
    rows = 20_000
    keys = np.zeros(rows, dtype=np.int64)
    result = hash_join.hybrid(keys, keys[:3], join_buffer_bytes=65536, max_chunks=1, output="count")
    assert result.count == 3 * rows
    # A row takes 12 bytes and a link of one; four buckets and one segment of values leave this for rows:
    room = 65536 - 4 * 8 - 4096
    assert result.counters["passes"] == math.ceil(rows * 13 / room)


# What goes to files


@pytest.fixture(params=JOINS)
def spilled(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any], Any]:
    tables = random_tables(8, build_rows=3000, probe_rows=2500)
    tables["build_key"] = np.random.default_rng(1).integers(0, 3000, 3000)
    tables["probe_key"] = np.random.default_rng(2).integers(0, 3000, 2500)
    result = run(
        hash_join.hybrid,
        tables,
        join=request.param,
        join_buffer_bytes=16384,
        estimated_build_rows=1200,
        trace=10**7,
    )
    return request.param, tables, result


def steps(result: Any, *names: str) -> Iterator[Any]:
    wanted = [hash_join.Step[name] for name in names]
    return (event for event in result.trace if event["step"] in wanted)


def test_probe_rows_go_to_chunks_by_the_rule_of_the_join(spilled: tuple[str, dict[str, Any], Any]) -> None:
    join, tables, result = spilled
    in_memory = {int(event["build_row"]) for event in steps(result, "build_stored")}
    keys = {int(tables["build_key"][row]) for row in in_memory}
    written = {int(event["probe_row"]) for event in steps(result, "probe_to_chunk")}
    for row in range(len(tables["probe_key"])):
        is_null = bool(tables["probe_null"][row])
        has_match = not is_null and int(tables["probe_key"][row]) in keys
        if is_null:
            expected = join in ("left", "anti")
        elif join in ("inner", "left"):
            expected = True
        else:
            expected = not has_match
        assert (row in written) == expected, (row, join)


def test_the_same_key_lies_in_the_same_chunk_on_both_sides(spilled: tuple[str, dict[str, Any], Any]) -> None:
    _, tables, result = spilled
    chunks = result.counters["chunk_files"] // 2
    for side in ("build", "probe"):
        for event in steps(result, f"{side}_to_chunk"):
            row = event[f"{side}_row"]
            if not tables[f"{side}_null"][row]:
                expected = int(hash_join.chunk_hash(int(tables[f"{side}_key"][row]))) & (chunks - 1)
                assert event["chunk"] == expected


def test_each_build_row_is_in_the_table_or_in_one_chunk(spilled: tuple[str, dict[str, Any], Any]) -> None:
    _, tables, result = spilled
    placed = collections.Counter(
        int(event["build_row"])
        for event in steps(result, "build_stored", "build_to_chunk", "build_duplicate", "build_skipped_null")
    )
    # A duplicate that a chunk rejects was written to the chunk before.
    twice = {int(event["build_row"]) for event in steps(result, "build_duplicate") if event["chunk"] >= 0}
    assert all(count == (2 if row in twice else 1) for row, count in placed.items())
    assert set(placed) == set(range(len(tables["build_key"])))


def test_each_pair_is_produced_once(spilled: tuple[str, dict[str, Any], Any]) -> None:
    _, _, result = spilled
    assert result.counters["passes"] > result.counters["chunk_files"] // 2 + 1, "no chunk needs two passes"
    produced = collections.Counter(pairs(result))
    assert max(produced.values()) == 1
    assert sum(1 for _ in steps(result, "output")) == result.count


@pytest.mark.parametrize("spilled", ["left", "anti"], indirect=True)
def test_an_unmatched_probe_row_comes_after_its_last_possible_match(
    spilled: tuple[str, dict[str, Any], Any],
) -> None:
    _, _, result = spilled
    last_lookup: dict[int, int] = {}
    complemented: dict[int, int] = {}
    for i, event in enumerate(result.trace):
        row = int(event["probe_row"])
        if event["step"] == hash_join.Step.output and event["build_row"] < 0:
            complemented[row] = i
        elif row >= 0 and event["step"] != hash_join.Step.output:
            last_lookup[row] = i
    assert complemented
    assert all(at > last_lookup.get(row, -1) for row, at in complemented.items())


def test_only_joins_other_than_inner_save_probe_rows(spilled: tuple[str, dict[str, Any], Any]) -> None:
    join, _, result = spilled
    assert (result.counters["probe_rows_saved"] > 0) == (join != "inner")


def test_what_is_written_is_counted_row_by_row(spilled: tuple[str, dict[str, Any], Any]) -> None:
    join, _, result = spilled
    written = collections.Counter(hash_join.Step(event["step"]).name for event in result.trace)
    build, probe = written["build_to_chunk"], written["probe_to_chunk"] + written["probe_saved"]
    flag = 1 if join in ("left", "anti") else 0
    assert result.counters["rows_written"] == build + probe
    assert result.counters["bytes_written"] == build * (8 + 20) + probe * (8 + 20 + flag)
    assert result.counters["bytes_read"] >= result.counters["bytes_written"]


def test_a_shorter_trace_is_the_beginning_of_a_longer_one() -> None:
    short, long = (hash_join.hybrid(np.arange(9), np.arange(9), trace=n).trace for n in (5, 100))
    assert len(short) == 5
    assert short.tolist() == long[:5].tolist()


@pytest.mark.parametrize("join", ["semi", "anti"])
def test_duplicates_are_kept_only_when_a_condition_may_tell_them_apart(join: str) -> None:
    keys, payload = np.zeros(10, dtype=np.int64), np.arange(10)
    plain = hash_join.hybrid(keys, keys[:1], join=join)
    both = {"build_payload": payload, "probe_payload": payload[:1] + 9}
    with_condition = hash_join.hybrid(keys, keys[:1], join=join, max_diff=0, **both)
    assert plain.counters["build_rows_in_memory"] == 1
    assert with_condition.counters["build_rows_in_memory"] == 10
    assert with_condition.count == (1 if join == "semi" else 0)


@pytest.mark.parametrize(("join", "reads_probe"), [("inner", 0), ("semi", 0), ("left", 5), ("anti", 5)])
def test_an_empty_build_side_ends_a_join_that_needs_a_match(join: str, reads_probe: int) -> None:
    all_null = np.ones(3, dtype=bool)
    for build in ({"build_key": np.arange(0)}, {"build_key": np.arange(3), "build_null": all_null}):
        result = hash_join.hybrid(**build, probe_key=np.arange(5), join=join)
        assert (result.count, result.counters["probe_rows_read"]) == (reads_probe, reads_probe)


def test_with_the_probe_row_first_an_empty_probe_side_builds_nothing() -> None:
    nothing = np.arange(0)
    assert hash_join.hybrid(np.arange(50), nothing).counters["build_rows_read"] == 50
    assert hash_join.hybrid(np.arange(50), nothing, probe_row_first=True).counters["build_rows_read"] == 0


def test_refill_mode_scans_the_probe_side_once_a_filling_but_saves_what_an_outer_join_needs() -> None:
    keys = np.arange(3000)
    inner, left = (
        hash_join.hybrid(keys, keys, join=join, join_buffer_bytes=16384, allow_spill=False, output="count")
        for join in ("inner", "left")
    )
    assert inner.counters["probe_rows_read"] == 3000 * inner.counters["passes"] > 3000
    assert left.counters["probe_rows_read"] == 3000
    assert left.counters["probe_rows_saved"] == 3000 * (left.counters["passes"] - 1)


def test_work_is_counted_in_the_phases_that_happened() -> None:
    in_memory, spilled = (distinct(5000, join_buffer_bytes=n).counters for n in (2**24, 16384))
    phases = ("work_build", "work_probe", "work_spill_write", "work_spill_read", "work_chunk_join")
    assert [in_memory[phase] > 0 for phase in phases] == [True, True, False, False, False]
    assert all(spilled[phase] > 0 for phase in phases)


# The other joins' own counters


@pytest.mark.parametrize("join_buffer_bytes", [1, 100, 512, 4096, 10**6])
def test_block_nested_loop_scans_the_inner_table_once_a_bufferful(join_buffer_bytes: int) -> None:
    outer, inner, row_bytes = np.arange(130), np.arange(70), 32
    done = hash_join.block_nested_loop(
        inner, outer, join_buffer_bytes=join_buffer_bytes, row_bytes=row_bytes
    ).counters
    passes = math.ceil(130 / max(1, join_buffer_bytes // row_bytes))
    assert done["passes"] == passes
    assert done["build_rows_read"] == passes * 70
    assert done["comparisons"] == 130 * 70
    assert done["peak_memory_bytes"] <= max(join_buffer_bytes, row_bytes)


def test_nested_loop_compares_each_row_with_each() -> None:
    done = hash_join.nested_loop(np.arange(70), np.arange(130)).counters
    assert (done["comparisons"], done["build_rows_read"], done["probe_rows_read"]) == (9100, 9100, 130)


def test_an_index_lookup_visits_one_page_a_level() -> None:
    # 1000 entries, ten a page: 100 leaves, 10 pages above them, a root.
    done = hash_join.index_nested_loop(np.arange(1000), np.array([4]), entries_per_page=10).counters
    assert done["page_visits"] == 3
    assert done["comparisons"] <= 3 * 4 + 2


def test_an_index_finds_all_duplicates_across_pages() -> None:
    build = np.repeat(np.arange(5), 37)
    done = hash_join.index_nested_loop(build, np.array([2]), entries_per_page=4)
    assert [build_row for build_row, _ in pairs(done)] == list(range(74, 111))
    assert done.counters["build_rows_read"] == 37
    assert done.counters["page_visits"] >= 37 / 4


# Real files


@pytest.mark.parametrize("join", JOINS)
def test_real_files_give_what_memory_gives_and_leave_nothing(tmp_path: Path, join: str) -> None:
    tables = random_tables(4, build_rows=4000, probe_rows=3000)
    tables["build_key"], tables["probe_key"] = np.arange(4000), np.arange(1000, 4000)
    options = {"join": join, "join_buffer_bytes": 16384, "row_bytes": 500, "estimated_build_rows": 300}
    in_memory = run(hash_join.hybrid, tables, **options)
    on_disk = run(hash_join.hybrid, tables, **options, storage="file", directory=str(tmp_path))
    assert pairs(on_disk) == pairs(in_memory)
    assert on_disk.counters == in_memory.counters
    assert on_disk.counters["bytes_written"] > 10**6
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_is_an_os_error_with_the_folder_and_leaves_nothing(tmp_path: Path) -> None:
    code = f"""
import resource, signal
import numpy as np
from engineroom._native import hash_join
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
keys = np.arange(5000)
try:
    hash_join.hybrid(keys, keys, join_buffer_bytes=16384, row_bytes=1000, max_chunks=1, storage="file",
                     directory={str(tmp_path)!r})
except OSError as error:
    print(error.errno, error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("27 ")
    assert str(tmp_path) in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_too_few_file_descriptors_are_an_os_error(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    in_use = len(list(Path("/proc/self/fd").iterdir()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (in_use + 20, hard))
    try:
        with pytest.raises(OSError, match="cannot open a temporary file in"):
            distinct(
                5000,
                join_buffer_bytes=16384,
                estimated_build_rows=10**6,
                storage="file",
                directory=str(tmp_path),
            )
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


# Bad arguments


ONE = np.array([1])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"build_key": np.array([1.5])}, "build_key must be a one-dimensional int64 array, got float64"),
        ({"probe_key": np.array([[1]])}, r"probe_key .* got int64 with shape \(1, 1\)"),
        ({"build_key": np.array([1], dtype=np.int32)}, "got int32 .* convert it with"),
        ({"build_null": np.array([1])}, "build_null must be a one-dimensional bool array, got int64"),
        ({"probe_null": np.array([True, False])}, "probe_null .* got 2 values for 1 keys"),
        ({"build_payload": np.array([1, 2, 3])}, "build_payload .* got 3 values for 1 keys"),
        ({"probe_payload": np.arange(0)}, "probe_payload .* got 0 values for 1 keys"),
        ({"join": "outer"}, "join must be 'inner', 'left', 'semi' or 'anti', got 'outer'"),
        ({"output": "csv"}, "output must be 'rows' or 'count', got 'csv'"),
        ({"max_diff": -1}, "max_diff must be at least 0 or None, got -1"),
        ({"max_diff": 3}, "max_diff=3 compares payloads"),
        ({"max_diff": 3, "build_payload": ONE}, "max_diff=3 compares payloads"),
    ],
)
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_bad_arguments_are_refused_with_the_value_received(
    kernel: Callable[..., Any], arguments: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        kernel(**{"build_key": ONE, "probe_key": ONE, **arguments})


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"join_buffer_bytes": 127}, "join_buffer_bytes must be at least 128, got 127"),
        ({"join_buffer_bytes": -1}, "join_buffer_bytes must be at least 128, got -1"),
        ({"estimated_build_rows": -5}, "estimated_build_rows must be at least 0 or None, got -5"),
        ({"max_chunks": 0}, "max_chunks must be a power of two from 1 to 128, got 0"),
        ({"max_chunks": 12}, "max_chunks must be a power of two from 1 to 128, got 12"),
        ({"max_chunks": 256}, "max_chunks must be a power of two from 1 to 128, got 256"),
        ({"row_bytes": 11}, "row_bytes must be from 12, .* got 11"),
        (
            {"row_bytes": 19, "build_payload": ONE, "probe_payload": ONE},
            "row_bytes must be from 20, .* got 19",
        ),
        ({"row_bytes": 65536}, "to 65535, got 65536"),
        ({"trace": -1}, "trace must be at least 0, got -1"),
        ({"storage": "tape"}, "storage must be 'memory' or 'file', got 'tape'"),
        (
            {"storage": "file", "directory": "/nowhere/at/all"},
            "folder that exists, got /nowhere/at/all; create",
        ),
        ({"storage": "memory", "directory": "here"}, "directory='here' has no use with storage='memory'"),
    ],
)
def test_bad_options_of_the_hybrid_join_are_refused(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        hash_join.hybrid(ONE, ONE, **arguments)


def test_bad_options_of_the_other_joins_are_refused() -> None:
    with pytest.raises(ValueError, match="join_buffer_bytes must be at least 1, got 0"):
        hash_join.block_nested_loop(ONE, ONE, join_buffer_bytes=0)
    with pytest.raises(ValueError, match="row_bytes must be at least 1 or None, got 0"):
        hash_join.block_nested_loop(ONE, ONE, row_bytes=0)
    with pytest.raises(ValueError, match="entries_per_page must be at least 2, got 1"):
        hash_join.index_nested_loop(ONE, ONE, entries_per_page=1)
    with pytest.raises(ValueError, match="keys_in_memory must be at least 1, got 0"):
        hash_join.chunk_count(5, 0)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_options_have_names(kernel: Callable[..., Any]) -> None:
    with pytest.raises(TypeError):
        kernel(ONE, ONE, "left")


# A kernel leaves room for others


def test_arrays_with_gaps_are_read_as_they_are() -> None:
    wide = np.arange(40).reshape(20, 2)
    assert hash_join.hybrid(wide[:, 0], wide[::2, 0]).count == 10


def test_the_result_outlives_its_join() -> None:
    rows = hash_join.nested_loop(np.arange(100), np.arange(100)).rows
    assert rows.dtype.names == ("build_row", "probe_row")
    assert rows["build_row"].tolist() == list(range(100))


def test_a_long_join_can_be_interrupted() -> None:
    keys = np.zeros(2_000_000, dtype=np.int64)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            hash_join.nested_loop(keys, keys + 1, output="count")
    finally:
        timer.cancel()
        timer.join()
