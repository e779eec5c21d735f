"""Our own hash join against a slow reference: types, NULLs, duplicates, threads, memory bounds, bad arguments."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from engineroom import _native
from engineroom.bench.engines import KEYS as KEY_DISTRIBUTIONS
from engineroom.bench.engines import Task, relations

fast = _native.hash_join.fast

JOINS = ["inner", "left", "semi", "anti"]


def reference(
    build_key: np.ndarray, probe_key: np.ndarray, join: str, build_null: np.ndarray, probe_null: np.ndarray
) -> list[tuple[int, int]]:
    """All rows of the join as (build row, probe row), by probe row and then by build row."""
    at: dict[int, list[int]] = {}
    for row, key in enumerate(build_key.tolist()):
        if not build_null[row]:
            at.setdefault(key, []).append(row)
    rows: list[tuple[int, int]] = []
    for row, key in enumerate(probe_key.tolist()):
        found = [] if probe_null[row] else at.get(key, [])
        if join in ("inner", "left"):
            rows += [(build_row, row) for build_row in found]
        if (join == "semi" and found) or (join in ("left", "anti") and not found):
            rows.append((-1, row))
    return rows


def sum_of(rows: list[tuple[int, int]], build_payload: np.ndarray, probe_payload: np.ndarray) -> int:
    """The payloads of all rows, wrapping around at 64 bits."""
    total = sum((int(build_payload[b]) if b >= 0 else 0) + int(probe_payload[p]) for b, p in rows)
    return (total + 2**63) % 2**64 - 2**63


def tables(seed: int, build_rows: int = 300, probe_rows: int = 500) -> dict[str, np.ndarray]:
    """Two relations with many duplicates, keys without a partner, and NULLs on both sides."""
    rng = np.random.default_rng(seed)
    keys = rng.integers(-(2**63), 2**63, size=max(build_rows // 3, 1))
    return {
        "build_key": rng.choice(keys, size=build_rows),
        "probe_key": np.where(
            rng.random(probe_rows) < 0.7, rng.choice(keys, size=probe_rows), rng.integers(0, 9)
        ),
        "build_payload": rng.integers(-(2**63), 2**63, size=build_rows),
        "probe_payload": rng.integers(-(2**63), 2**63, size=probe_rows),
        "build_null": rng.random(build_rows) < 0.1,
        "probe_null": rng.random(probe_rows) < 0.1,
    }


def check(data: dict[str, np.ndarray], join: str, **options: Any) -> dict[str, int]:
    """Both outputs of one call equal the reference's; returns the counters of the one with rows."""
    expected = reference(data["build_key"], data["probe_key"], join, data["build_null"], data["probe_null"])
    total = sum_of(expected, data["build_payload"], data["probe_payload"])
    return agrees(data, join, expected, total, **options)


def agrees(
    data: dict[str, np.ndarray], join: str, expected: list[tuple[int, int]], total: int, **options: Any
) -> dict[str, int]:
    """As `check`, against rows and a sum that were found before."""
    rows = fast(**data, join=join, **options)
    assert (
        list(zip(rows.rows["build_row"].tolist(), rows.rows["probe_row"].tolist(), strict=True)) == expected
    )
    counted = fast(**data, join=join, output="count", **options)
    assert counted.rows is None
    assert (rows.count, rows.sum) == (counted.count, counted.sum) == (len(expected), total)
    counters: dict[str, int] = rows.counters
    return counters


def test_two_equal_keys_meet_and_null_meets_nothing():
    key = np.array([7, 8, 7, 9])
    result = fast(
        key,
        np.array([7, 1, 9, 7]),
        build_payload=np.array([1, 2, 4, 8]),
        probe_payload=np.array([10, 20, 40, 80]),
        build_null=np.array([False, False, False, True]),
        probe_null=np.array([False, False, False, True]),
    )
    assert result.rows.tolist() == [(0, 0), (2, 0)]
    assert (result.count, result.sum) == (2, 1 + 4 + 2 * 10)


@pytest.mark.parametrize("layout", ["automatic", "partitioned"])
@pytest.mark.parametrize("join", JOINS)
def test_fast_join_agrees_with_the_reference(join, layout):
    for seed in range(20):
        check(tables(seed), join, layout=layout)


@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize(("build_rows", "probe_rows"), [(0, 0), (0, 5), (5, 0), (1, 1), (1, 3000), (3000, 1)])
def test_empty_and_tiny_sides(build_rows, probe_rows, join):
    for layout in ("one_table", "partitioned"):
        check(tables(0, build_rows, probe_rows), join, layout=layout)


@pytest.mark.parametrize("threads", [2, 3, 7])
@pytest.mark.parametrize("join", JOINS)
def test_threads_do_not_change_the_rows_or_their_order(join, threads):
    data = tables(1, 50_000, 70_000)
    for layout in ("one_table", "partitioned"):
        one = fast(**data, join=join, layout=layout)
        many = fast(**data, join=join, layout=layout, threads=threads)
        assert np.array_equal(one.rows, many.rows)
        assert one.sum == many.sum


@pytest.mark.parametrize("join", JOINS)
def test_spilling_changes_no_row_and_the_bound_is_kept(join, tmp_path):
    data = tables(2, 20_000, 30_000)
    expected = reference(data["build_key"], data["probe_key"], join, data["build_null"], data["probe_null"])
    total = sum_of(expected, data["build_payload"], data["probe_payload"])
    storages = ({"storage": "memory"}, {"storage": "file", "directory": str(tmp_path)})
    for memory_bytes, threads, storage in itertools.product(
        (60_000, 150_000, 400_000, 1_000_000, 4_000_000), (1, 2), storages
    ):
        case = memory_bytes, threads, storage["storage"]
        bound = memory_bytes * threads
        counters = agrees(data, join, expected, total, threads=threads, memory_bytes=bound, **storage)
        assert 0 < counters["peak_memory_bytes"] <= bound, case
        assert counters["bytes_written"] <= 17.5 * counters["rows_written"], case  # 16 and a page's header
        assert counters["rows_read"] >= counters["rows_written"], case
        if memory_bytes <= 400_000:
            assert counters["bytes_read"] >= counters["bytes_written"] > 0, case
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("largest", [0, 1, 255, 256, 65_535, 2**24, 2**32 - 1, 2**40, 2**55, 2**63 - 1])
def test_payloads_of_any_width_come_back_from_the_file(largest):
    data = tables(5, 20_000, 30_000)
    rng = np.random.default_rng(5)
    for side in ("build", "probe"):
        payload = rng.integers(0, largest, size=data[f"{side}_payload"].size, endpoint=True)
        data[f"{side}_payload"] = np.where(
            rng.random(payload.size) < 0.5, payload, -payload - 1 if largest > 9 else payload
        )
    roomy = fast(**data, output="count")
    tight = fast(**data, output="count", memory_bytes=300_000)
    assert tight.counters["rows_written"] > 0
    assert (tight.count, tight.sum) == (roomy.count, roomy.sum)


def test_small_payloads_are_written_in_few_bytes():
    key = np.random.default_rng(0).integers(-(2**63), 2**63, size=50_000)
    small = fast(
        key, key, build_payload=key & 255, probe_payload=key & 255, output="count", memory_bytes=2_000_000
    )
    large = fast(key, key, build_payload=key, probe_payload=key, output="count", memory_bytes=2_000_000)
    assert small.counters["rows_written"] == large.counters["rows_written"] > 0
    assert small.counters["bytes_written"] < 0.6 * large.counters["bytes_written"]


def test_a_workspace_lends_its_memory_again_and_changes_no_result():
    data = tables(6, 200_000, 300_000)
    workspace = _native.hash_join.Workspace()
    results = [fast(**data, output="count", layout="partitioned", workspace=workspace) for _ in range(3)]
    assert len({(result.count, result.sum, result.counters["peak_memory_bytes"]) for result in results}) == 1


def test_a_workspace_lends_its_files_again_whatever_was_written_to_them(tmp_path):
    workspace = _native.hash_join.Workspace()
    for seed, rows in ((1, 60_000), (2, 5_000), (3, 90_000)):
        data = tables(seed, rows, rows)
        spilled = fast(
            **data, memory_bytes=12 * rows, threads=2, workspace=workspace, directory=str(tmp_path)
        )
        assert spilled.counters["bytes_written"] > 0
        np.testing.assert_array_equal(spilled.rows, fast(**data).rows)
    assert not any(tmp_path.iterdir())


def test_each_build_row_is_in_memory_or_written():
    data = tables(3, 20_000, 30_000)
    roomy = check(data, "inner")
    tight = check(data, "inner", memory_bytes=300_000)
    assert roomy["build_rows_in_memory"] == int((~data["build_null"]).sum())
    assert roomy["bytes_written"] == roomy["chunk_files"] == 0
    assert 0 < tight["build_rows_in_memory"] < roomy["build_rows_in_memory"]


@pytest.mark.parametrize("join", JOINS)
def test_one_key_for_all_build_rows_takes_several_passes_within_the_bound(join):
    data = tables(4, 20_000, 40)
    data["build_key"][:] = 5
    data["probe_key"][:20] = 5
    data["build_payload"][:] = np.arange(20_000)
    counters = check(data, join, memory_bytes=200_000)
    assert counters["peak_memory_bytes"] <= 200_000
    assert counters["passes"] > 10


KEYS = {
    "sequential": np.arange,
    "descending negatives": lambda n: -np.arange(n),
    "multiples of 2^12": lambda n: np.arange(n) << 12,
    "multiples of 2^32": lambda n: np.arange(n) << 32,
    "multiples of 2^44": lambda n: np.arange(n) << 44,
    "high half and low half equal": lambda n: np.arange(n) | (np.arange(n) << 32),
    "doubles": lambda n: np.arange(n, dtype=np.float64).view(np.int64),
    "scattered": lambda n: np.random.default_rng(0).permutation(n) * 0x9E3779B97F4A7C1,
}


@pytest.mark.parametrize("layout", ["one_table", "partitioned"])
@pytest.mark.parametrize("name", KEYS)
def test_no_regular_key_pattern_fills_a_bucket(name, layout):
    """Four comparisons are one bucket; a row in twenty-seven needs its overflow, of one or two rows, too."""
    key = KEYS[name](100_000).astype(np.int64)
    result = fast(key, key, output="count", layout=layout)
    assert result.count == 100_000
    assert result.counters["comparisons"] < 4.2 * 100_000


def test_a_heavy_key_costs_only_the_rows_that_ask_for_it():
    light = np.arange(1, 100_001)
    key = np.concatenate([np.zeros(100_000, dtype=np.int64), light])
    result = fast(key, light, output="count", may_swap=False)
    assert result.count == 100_000
    # Beside the line: a few rows may share the bucket of the heavy key, never more than a handful.
    assert result.counters["comparisons"] < 4.2 * 100_000 + 20 * 100_000


@pytest.mark.parametrize("join", ["semi", "anti"])
def test_semi_and_anti_joins_stop_at_the_first_match(join):
    ones = np.ones(100_000, dtype=np.int64)
    result = fast(ones, ones[:1000], join=join, output="count")
    assert result.counters["comparisons"] == 1000


def test_all_keys_equal_give_the_whole_product():
    ones = np.ones(3000, dtype=np.int64)
    payload = np.arange(3000)
    for layout in ("one_table", "partitioned"):
        result = fast(
            ones, ones, build_payload=payload, probe_payload=payload, output="count", layout=layout, threads=2
        )
        assert (result.count, result.sum) == (9_000_000, 2 * 3000 * int(payload.sum()))


def test_a_column_left_out_counts_as_zero():
    key = np.arange(10)
    assert fast(key, key, output="count").sum == 0
    assert fast(key, key, build_payload=key, output="count").sum == 45
    assert fast(key, key, probe_payload=key).sum == 45


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"join": "outer"}, "'outer'"),
        ({"output": "all"}, "'all'"),
        ({"layout": "heap"}, "'heap'"),
        ({"threads": 0}, "threads must be 1 to 256, got 0"),
        ({"threads": 10_000}, "threads must be 1 to 256, got 10000"),
        ({"memory_bytes": 0}, "memory_bytes must be at least 1 or None, got 0"),
        (
            {"memory_bytes": 500, "layout": "partitioned"},
            "memory_bytes must leave room .* got 500 for 6 rows",
        ),
        ({"storage": "tape"}, "'tape'"),
        ({"build_payload": np.arange(2)}, "build_payload"),
        ({"probe_null": np.zeros(3)}, "probe_null must be"),
    ],
)
def test_bad_arguments_are_refused_with_the_value_received(options, message):
    with pytest.raises(ValueError, match=message):
        fast(np.arange(3), np.arange(3), **options)


def test_keys_of_another_type_are_refused():
    with pytest.raises(ValueError, match="probe_key must be a one-dimensional int64 array, got float64"):
        fast(np.arange(3), np.arange(3.0))


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ValueError, match="directory must be a folder that exists"):
        fast(np.arange(3), np.arange(3), directory=str(tmp_path / "none"))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("layout", ["automatic", "array", "one_table", "partitioned"])
@pytest.mark.parametrize("keys", KEY_DISTRIBUTIONS)
def test_every_distribution_of_the_bench_gives_the_rows_of_the_reference(keys, layout, threads):
    for seed, (build_rows, probe_rows) in enumerate([(400, 2000), (2000, 400), (800, 800)]):
        task = Task(build_rows, probe_rows, threads, keys, seed)
        data = {name.replace("_v", "_payload"): column for name, column in relations(task).items()}
        rng = np.random.default_rng(seed)
        for side in ("build", "probe"):
            data[f"{side}_null"] = rng.random(data[f"{side}_key"].size) < (0.1 if seed else 0)
        for join in JOINS:
            check(data, join, layout=layout, threads=threads)


@pytest.mark.parametrize("memory_bytes", [60_000, 100_000, 400_000])
@pytest.mark.parametrize("keys", KEY_DISTRIBUTIONS)
def test_every_distribution_keeps_a_memory_bound(keys, memory_bytes):
    data = relations(Task(8_000, 20_000, 1, keys))
    columns = {name.replace("_v", "_payload"): column for name, column in data.items()}
    roomy = fast(**columns, output="count")
    for storage in ("file", "memory"):
        tight = fast(**columns, output="count", memory_bytes=memory_bytes, storage=storage)
        assert (tight.count, tight.sum) == (roomy.count, roomy.sum)
        assert tight.counters["peak_memory_bytes"] <= memory_bytes


@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize("least", [-(2**63), -300, 0, 2**63 - 1000])
def test_dense_keys_are_an_array_by_key(least, join):
    rng = np.random.default_rng(1)
    key = least + rng.permutation(600)[:500]
    data = {
        "build_key": key,
        "probe_key": np.concatenate([rng.choice(key, size=900), [-(2**63), 0, 2**63 - 1]]),
        "build_payload": rng.integers(-(2**63), 2**63, size=500),
        "probe_payload": rng.integers(-(2**63), 2**63, size=903),
        "build_null": rng.random(500) < 0.1,
        "probe_null": rng.random(903) < 0.1,
    }
    counters = check(data, join)
    assert counters["comparisons"] == 903  # a place each, nothing beside it
    assert check(data, join, memory_bytes=40_000)["peak_memory_bytes"] <= 40_000


def test_an_array_is_taken_at_any_size_where_both_sides_come_in_order():
    n = 5_000_000
    key = np.arange(n)
    in_order = fast(key, key, output="count")
    assert in_order.count == in_order.counters["comparisons"] == n
    backwards = fast(key, np.random.default_rng(0).permutation(n), output="count")
    assert backwards.count == n
    assert backwards.counters["comparisons"] > n


def test_rows_that_match_nothing_are_left_out_before_they_are_looked_up():
    rng = np.random.default_rng(0)
    build = rng.integers(-(2**63), 2**63, size=20_000)
    probe = rng.integers(-(2**63), 2**63, size=100_000)
    probe[::100] = build[:1000]
    few = fast(build, probe, output="count", layout="partitioned")
    assert few.count == 1000
    assert few.counters["hash_probes"] < 5000
    all_match = fast(build, rng.choice(build, size=100_000), output="count", layout="partitioned")
    assert all_match.counters["hash_probes"] == 100_000


def test_the_smaller_side_is_built_where_only_count_and_sum_are_asked_for():
    data = tables(1, 5000, 500)
    swapped = fast(**data, output="count")
    as_given = fast(**data, output="count", may_swap=False)
    assert (swapped.count, swapped.sum) == (as_given.count, as_given.sum)
    assert swapped.counters["build_rows_in_memory"] <= 500 < as_given.counters["build_rows_in_memory"]
    assert swapped.counters["build_rows_read"] == as_given.counters["build_rows_read"] == 5000
    rows = fast(**data)
    assert rows.counters["build_rows_in_memory"] > 500
    assert rows.sum == swapped.sum
