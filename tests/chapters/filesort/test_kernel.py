"""The filesort kernel against a definition in Python: results of all designs, counted reads, runs, merges, the queue."""

from __future__ import annotations

import heapq
import random
import struct
from typing import Any

import pytest

from engineroom._native import filesort as kernel

ID, KEY, FILTER, CHAR, LOB = range(5)
DESIGNS = {
    "5.6 rowid": {"attach": "rowid", "is_read_set_narrow": True},
    "5.6 addon": {"attach": "additional_fields", "is_read_set_narrow": True},
    "9.7 addon": {"attach": "additional_fields", "is_read_set_narrow": False},
    "9.7 packed": {"attach": "packed_additional_fields", "is_read_set_narrow": False},
    "9.7 rowid": {"attach": "rowid", "is_read_set_narrow": False},
}
ALL = [ID, KEY, FILTER, CHAR, LOB]


def number(value: int) -> bytes:
    return struct.pack("<i", value)


def as_number(value: bytes) -> int:
    return int(struct.unpack("<i", value)[0])


def random_table(seed: int, *, only_varchar: bool) -> tuple[kernel.Table, list[tuple[bytes, ...]]]:
    """A table and its rows as Python sees them. Keys repeat and are negative, too.

    Records of one length with the longest text or JSON would not fit a sort buffer: then it is a varchar."""
    dice = random.Random(seed)
    kind = 0 if only_varchar else seed % 4
    text = [("varchar", 9000), ("text", 0), ("varchar", 9000), ("json", 0)][kind]
    table = kernel.Table(
        [
            ("integer", 4, False),
            ("integer", 4, True),
            ("integer", 4, True),
            ("char", 20, False),
            (*text, True),
        ]
    )
    rows = []
    for i in range(dice.randint(0, 120)):
        long = bytes(dice.choices(b"abc", k=dice.choice([0, 5, 60, 3000, 9000])))
        row = (number(i), number(dice.randint(-30, 30)), number(dice.randrange(100)), b"%-20d" % i, long)
        table.append(list(row))
        rows.append(row)
    return table, rows


def expected(rows: list[tuple[bytes, ...]], order_by: int, below: int | None) -> list[tuple[bytes, ...]]:
    passed = [row for row in rows if below is None or as_number(row[FILTER]) < below]
    key: Any = (lambda row: as_number(row[order_by])) if order_by == KEY else lambda row: row[order_by][:64]
    return sorted(passed, key=key)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("design", DESIGNS)
def test_every_design_hands_out_the_rows_of_a_sort_in_python(seed: int, design: str) -> None:
    table, rows = random_table(seed, only_varchar=DESIGNS[design]["attach"] == "additional_fields")
    dice = random.Random(f"query-{seed}")
    order_by = dice.choice([KEY, LOB])
    below = dice.choice([None, 0, 30])
    limit = dice.choice([None, 0, 1, 7, 1000])
    arguments: dict[str, Any] = DESIGNS[design]
    sorted_ = kernel.sort(
        table,
        selected=[LOB, ID],
        order_by=order_by,
        where=None if below is None else (FILTER, below),
        limit=limit,
        max_sort_length=64,
        sort_buffer_bytes=dice.choice([20_000, 65_536, 1 << 20]),
        storage=dice.choice(["file", "memory"]),
        **arguments,
    )
    wanted = expected(rows, order_by, below)[:limit]
    keys = [row[KEY] if order_by == KEY else row[LOB][:64] for row in wanted]
    by_id = {row[ID]: row for row in rows}
    got = [by_id[row[1]] for row in sorted_.rows]
    assert [row[KEY] if order_by == KEY else row[LOB][:64] for row in got] == keys
    assert len({row[ID] for row in got}) == len(got)
    assert all(row[0] == by_id[row[1]][LOB] for row in sorted_.rows)
    assert below is None or all(as_number(row[FILTER]) < below for row in got)
    assert sorted_.is_read_set_restored


@pytest.fixture(scope="module")
def article() -> kernel.Table:
    return kernel.article_table(rows=1000)


@pytest.mark.parametrize("buffer", [40_000, 262_144, 32 << 20])
@pytest.mark.parametrize("limit", [1, 10, 100, None])
@pytest.mark.parametrize("design", DESIGNS)
def test_the_article_s_rows_come_in_order_with_any_memory(
    article: kernel.Table, design: str, limit: int | None, buffer: int
) -> None:
    arguments: dict[str, Any] = DESIGNS[design]
    sorted_ = kernel.sort(article, selected=ALL, limit=limit, sort_buffer_bytes=buffer, **arguments)
    assert [as_number(row[KEY]) for row in sorted_.rows] == list(range(limit or 1000))
    assert all(len(row[LOB]) == 8192 for row in sorted_.rows)
    counters = sorted_.counters
    wide = 1000 if design != "5.6 rowid" else 0
    fetched = (limit or 1000) if "rowid" in design else 0
    assert counters["lob_reads"] == wide + fetched
    assert counters["pages_touched"] == article.leaf_pages + wide + fetched * (article.height + 1)
    assert counters["peak_sort_bytes"] <= buffer


def test_a_long_value_leaves_its_page_and_a_short_one_stays() -> None:
    table = kernel.Table([("integer", 4, False), ("varchar", 9000, False), ("text", 0, False)])
    table.append([number(0), b"a" * 5000, b"b" * 5100])
    table.append([number(1), b"a" * 4000, b"b" * 3000])
    assert [table.is_off_page(0, i) for i in range(3)] == [False, False, True]
    assert [table.is_off_page(1, i) for i in range(3)] == [False, False, False]
    assert table.value(0, 2) == b"b" * 5100


def test_three_rows_by_hand() -> None:
    table = kernel.Table([("integer", 4, False), ("integer", 4, False), ("longtext", 0, False)])
    for i, key in enumerate((30, -10, 20)):
        table.append([number(i), number(key), b"x" * 20_000])  # two pages each
    sorted_ = kernel.sort(table, selected=[0, 2], order_by=1, limit=1, sort_buffer_bytes=100)
    assert [as_number(row[0]) for row in sorted_.rows] == [1]
    counted = sorted_.counters
    # One leaf; then one row from the root, which is the leaf, and its value on two pages.
    assert (counted["rows_scanned"], counted["lob_reads"], counted["pages_touched"]) == (3, 1, 1 + 1 + 2)
    # Keys of the scan, three records of key and row id, the value to the row and to the client, the id twice.
    assert counted["bytes_copied"] == 3 * 4 + 3 * 8 + (4 + 4 + 20_000) + (4 + 20_000)
    wide = kernel.sort(
        table, selected=[0, 2], order_by=1, limit=1, sort_buffer_bytes=100, is_read_set_narrow=False
    )
    assert wide.counters["lob_reads"] == 4
    assert wide.rows == sorted_.rows


@pytest.mark.parametrize(("lob_type", "release", "attach", "narrow"), [
    ("varchar", "5.6", "rowid", True),
    ("varchar", "5.7", "rowid", True),
    ("varchar", "8.0.15", "rowid", True),
    ("varchar", "9.7", "additional_fields", False),
    ("text", "8.0.15", "rowid", True),
    ("text", "9.7", "additional_fields", False),
    ("mediumtext", "9.7", "rowid", False),
    ("longtext", "9.7", "rowid", False),
    ("json", "5.7", "rowid", True),
    ("json", "9.7", "packed_additional_fields", False),
])  # fmt: skip
def test_a_release_chooses_as_the_live_servers_did(
    lob_type: str, release: str, attach: str, narrow: bool
) -> None:
    table = kernel.article_table(rows=1000, lob_type=lob_type)
    chosen = kernel.choose(table, release=release, selected=ALL, limit=1)
    assert chosen == {"attach": attach, "is_read_set_narrow": narrow}


@pytest.mark.parametrize("release", ["5.6", "5.7", "8.0.15", "9.7"])
def test_a_large_max_length_for_sort_data_provokes_the_old_releases_only(
    article: kernel.Table, release: str
) -> None:
    small, large = (
        kernel.choose(article, release=release, selected=ALL, limit=1, max_length_for_sort_data=n)
        for n in (1024, 8_388_608)
    )
    assert large["attach"] == "additional_fields"
    assert (small == large) is (release == "9.7")


def test_without_the_long_column_all_releases_carry_the_columns(article: kernel.Table) -> None:
    for release in ("5.6", "5.7", "8.0.15", "9.7"):
        chosen = kernel.choose(article, release=release, selected=[ID, KEY], limit=1)
        assert chosen["attach"] == "additional_fields"


@pytest.mark.parametrize(
    ("rows", "limit", "record_bytes", "used"),
    [
        (1000, 1, 8472, True),
        (1000, 10, 8472, True),
        (1000, 29, 8472, False),
        (1000, 28, 8472, True),
        (1000, 100, 8472, False),
        (1000, 100, 13, True),
        (1000, 333, 13, True),
        (1000, 334, 13, False),
        (1_000_000, 12_000, 13, True),
        (1_000_000, 12_482, 13, False),
        (1000, 1, 65913, True),
        (1000, 2, 65913, False),
    ],
)
def test_the_queue_is_used_when_it_pays_or_when_only_it_fits(
    rows: int, limit: int, record_bytes: int, used: bool
) -> None:
    assert kernel.uses_priority_queue(rows=rows, limit=limit, record_bytes=record_bytes) is used


def test_the_queue_needs_memory_for_its_rows_only(article: kernel.Table) -> None:
    of = {k: kernel.sort(article, selected=ALL, limit=k, output="count").counters for k in (1, 10, 100)}
    assert all(counters["is_priority_queue"] for counters in of.values())
    assert [counters["peak_sort_bytes"] for counters in of.values()] == [
        (k + 1) * (counters["record_bytes"] + 8) for k, counters in of.items()
    ]
    assert all(counters["runs"] == 0 for counters in of.values())


def passes(runs: int) -> int:
    """Merges of runs into one, written as groups instead of as the kernel's loop."""
    merges = 0
    while runs > 15:
        groups = [7] * (1 + (runs - 11) // 7)
        rest = runs - sum(groups)
        groups += [rest] if rest else []
        merges, runs = merges + len(groups), len(groups)
    return merges + 1


@pytest.mark.parametrize("rows", [62, 400, 465, 466, 496, 1000, 3300])
def test_runs_and_merges_follow_from_rows_and_memory(rows: int) -> None:
    table = kernel.article_table(rows=rows, lob_bytes=10)
    counters = kernel.sort(table, selected=ALL, attach="additional_fields", output="count").counters
    fit = 262_144 // (counters["record_bytes"] + 8)
    assert fit == 30
    runs = -(-rows // fit)
    assert counters["runs"] == runs
    assert counters["merge_passes"] == passes(runs)
    each = rows * counters["record_bytes"]
    levels = 0
    while runs > 15:
        runs, levels = -(-runs // 7) if (runs % 7) > 3 or runs % 7 == 0 else runs // 7, levels + 1
    assert counters["bytes_written"] == each * (1 + levels)
    assert counters["bytes_read"] >= each * levels


def test_the_merges_of_34_and_32_runs_are_the_live_server_s() -> None:
    assert (passes(34), passes(32)) == (6, 6)


@pytest.mark.parametrize("attach", ["rowid", "additional_fields"])
def test_a_condition_is_asked_before_the_sort(article: kernel.Table, attach: str) -> None:
    sorted_ = kernel.sort(article, selected=ALL, where=(FILTER, 10), attach=attach)
    passed = [i for i in range(1000) if as_number(article.value(i, FILTER)) < 10]
    assert sorted_.counters["rows_sorted"] == len(passed)
    assert {as_number(row[ID]) for row in sorted_.rows} == set(passed)
    assert sorted_.counters["lob_reads"] == (len(passed) if attach == "rowid" else 1000)


def test_a_read_set_without_the_condition_s_column_lets_the_filter_read_garbage(
    article: kernel.Table,
) -> None:
    right = kernel.sort(article, selected=ALL, where=(FILTER, 10))
    wrong = kernel.sort(article, selected=ALL, where=(FILTER, 10), forget_condition=True)
    assert wrong.rows != right.rows
    assert wrong.counters["rows_sorted"] in (0, 1000)  # what was never read is the same for every row


def test_a_sort_by_the_long_column_reads_it_in_every_design(article: kernel.Table) -> None:
    for arguments in DESIGNS.values():
        typed: Any = arguments
        counters = kernel.sort(
            article, selected=[ID], order_by=LOB, limit=1, output="count", **typed
        ).counters
        assert counters["lob_reads"] >= 1000


def test_the_same_table_is_made_from_the_same_seed() -> None:
    tables = [kernel.article_table(rows=50, seed=seed) for seed in (3, 3, 4)]
    content = [[table.value(i, c) for i in range(50) for c in ALL] for table in tables]
    assert content[0] == content[1] != content[2]
    assert sorted(as_number(tables[0].value(i, KEY)) for i in range(50)) == list(range(50))


def test_the_heap_of_python_keeps_the_same_keys(article: kernel.Table) -> None:
    keys = [as_number(article.value(i, KEY)) for i in range(1000)]
    sorted_ = kernel.sort(article, selected=[KEY], limit=40)
    assert sorted_.counters["is_priority_queue"] == 1
    assert [as_number(row[0]) for row in sorted_.rows] == heapq.nsmallest(40, keys)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"selected": []}, "selected"),
        ({"selected": [5]}, "selected must be a column from 0 to 4, got 5"),
        ({"order_by": 9}, "order_by"),
        ({"order_by": -1}, "order_by"),
        ({"where": (CHAR, 1)}, "where must be an integer column, got column 3"),
        ({"limit": -1}, "limit"),
        ({"attach": "rows"}, "'packed_additional_fields', got 'rows'"),
        ({"sort_buffer_bytes": 0}, "sort_buffer_bytes"),
        (
            {"sort_buffer_bytes": 12},
            "sort_buffer_bytes must hold a record of 9 bytes and its pointer, got 12",
        ),
        ({"max_sort_length": 0}, "max_sort_length"),
        ({"estimated_rows": -1}, "estimated_rows"),
        ({"storage": "tape"}, "tape"),
        ({"output": "row"}, "row"),
    ],
)
def test_bad_arguments_are_refused_with_their_value(
    article: kernel.Table, wrong: dict[str, Any], named: str
) -> None:
    with pytest.raises(ValueError, match=named):
        kernel.sort(article, **{"selected": [ID], **wrong})


@pytest.mark.parametrize(
    ("columns", "values", "named"),
    [
        ([("number", 4, False)], [], "'number'"),
        ([("integer", 4, False)], [b"123"], "takes 4 bytes, got 3"),
        ([("varchar", 5, False)], [b"123456"], "at most 5 bytes, got 6"),
        ([("integer", 4, False)], [], "1 columns, got 0"),
        ([("char", 9000, False)], [b" " * 9000], "half a page"),
    ],
)
def test_a_table_refuses_what_it_cannot_hold(
    columns: list[tuple[str, int, bool]], values: list[bytes], named: str
) -> None:
    with pytest.raises(ValueError, match=named):
        kernel.Table(columns).append(values)


def test_a_folder_that_is_not_there_is_named(article: kernel.Table) -> None:
    with pytest.raises(ValueError, match="no-such-folder"):
        kernel.sort(article, selected=ALL, attach="additional_fields", directory="no-such-folder")
