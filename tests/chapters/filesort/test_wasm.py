"""The browser's sort is the native one."""

from __future__ import annotations

import itertools

import pytest

from engineroom.show import headless

pytestmark = pytest.mark.usefixtures("node")


def test_filesort_in_webassembly_counts_what_the_native_kernel_counts():
    from engineroom._native import filesort

    grid = [
        {"rows": rows, "limit": limit, "lob_bytes": lob, "sort_buffer_bytes": buffer, "design": design}
        for rows, limit, lob, buffer, design in itertools.product(
            (100, 500), (0, 1, 30, 300), (0, 1000, 8192), (32768, 262144, 4194304), range(3)
        )
    ]
    for inputs, result in zip(grid, headless.evaluate("filesort", grid)["results"], strict=True):
        lob, limit = inputs["lob_bytes"], inputs["limit"] or None
        table = filesort.article_table(rows=inputs["rows"], lob_bytes=lob, declared_bytes=max(lob, 1))
        buffer = inputs["sort_buffer_bytes"]
        chosen = filesort.choose(
            table, release="9.7", selected=range(5), limit=limit, sort_buffer_bytes=buffer
        )
        designs = [
            {"attach": "rowid", "is_read_set_narrow": True},
            chosen,
            {"attach": "rowid", "is_read_set_narrow": False},
        ]
        expected = filesort.sort(
            table,
            selected=range(5),
            limit=limit,
            sort_buffer_bytes=buffer,
            storage="memory",
            output="count",
            **designs[inputs["design"]],
        ).counters
        counted = {name: value for name, value in result.items() if name in expected}
        assert len(counted) == 9
        assert counted == {name: expected[name] for name in counted}, inputs
        parts = [result[name] for name in ("leaf_pages", "pages_of_values", "pages_fetched")]
        assert (sum(parts), parts[0]) == (expected["pages_touched"], table.leaf_pages)
