"""The browser's value lists are the native ones."""

from __future__ import annotations

import itertools

import pytest

from engineroom.show import headless

pytestmark = pytest.mark.usefixtures("node")


def test_low_concurrency_in_webassembly_counts_what_the_native_kernel_counts():
    from engineroom._native import low_concurrency

    grid = [
        {"columns": columns, "rows": rows}
        for columns, rows in itertools.product((1, 4, 64, 65, 193), (1, 100, 10_000, 1_000_000))
    ]
    results = headless.evaluate("low_concurrency", grid)["results"]
    assert {result["parsed"] for result in results} == {True, False}
    for inputs, result in zip(grid, results, strict=True):
        for container, counted in zip(("list_5_7", "deque_8_0", "deque_9_7"), result["lists"], strict=True):
            assert counted["bytes"] == low_concurrency.container_bytes(container, **inputs)
            parsed = low_concurrency.parse_insert(container, **inputs) if result["parsed"] else {}
            assert counted["bytes"] == parsed.get("container_bytes", counted["bytes"])
        assert result["items"] == inputs["rows"] * inputs["columns"] * 128
        row = low_concurrency.container_bytes("deque_9_7", rows=2, columns=inputs["columns"])
        first = low_concurrency.container_bytes("deque_9_7", rows=1, columns=inputs["columns"])
        assert result["row_blocks"] == (row - first - 48) // 1024
