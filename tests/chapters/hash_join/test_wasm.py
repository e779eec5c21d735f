"""The browser's hash join is the native one."""

from __future__ import annotations

import itertools

import pytest

from engineroom.show import headless

GRID = [
    {
        "build_rows": build,
        "probe_rows": probe,
        "skew_quarters": skew,
        "estimate_percent": estimate,
        "join_buffer_bytes": buffer,
    }
    for build, probe, skew, estimate, buffer in itertools.product(
        (500, 5000), (500, 10000), (0, 4, 8), (10, 100, 1000), (16384, 65536, 262144, 16 << 20)
    )
]

pytestmark = pytest.mark.usefixtures("node")


def native(inputs: dict[str, int]) -> dict[str, int]:
    from engineroom._native import hash_join

    rows = inputs["build_rows"]
    result = hash_join.hybrid(
        hash_join.skewed_keys(rows=rows, distinct=rows, skew_quarters=inputs["skew_quarters"], seed=1),
        hash_join.skewed_keys(rows=inputs["probe_rows"], distinct=rows, seed=2),
        output="count",
        join_buffer_bytes=inputs["join_buffer_bytes"],
        estimated_build_rows=max(1, rows * inputs["estimate_percent"] // 100),
        row_bytes=100,
        storage="memory",
    )
    return {"count": result.count, **result.counters}


def test_webassembly_counts_what_the_native_kernel_counts():
    in_browser = headless.evaluate("hash_join", GRID)["results"]
    for inputs, result in zip(GRID, in_browser, strict=True):
        expected = native(inputs)
        counted = {name: value for name, value in result.items() if name in expected}
        assert len(counted) == 15
        assert counted == {name: expected[name] for name in counted}, inputs


def test_the_grid_spills_and_fits_and_reads_again():
    results = headless.evaluate("hash_join", GRID)["results"]
    assert {result["chunk_files"] for result in results} >= {0, 2, 8, 256}
    assert any(result["bytes_read"] > result["bytes_written"] for result in results)


def test_sentence_says_what_the_counters_say():
    fits, spills, again = headless.evaluate(
        "hash_join",
        [
            {"join_buffer_bytes": 16 << 20},
            {"join_buffer_bytes": 262144},
            {"join_buffer_bytes": 262144, "estimate_percent": 10},
        ],
    )["results"]
    assert "no chunk file" in fits["sentence"]
    assert f"{spills['chunk_files'] // 2} pairs of chunk files" in spills["sentence"]
    assert "more than once" not in spills["sentence"]
    assert "1 pair of chunk files" in again["sentence"]
    assert "more than once" in again["sentence"]
