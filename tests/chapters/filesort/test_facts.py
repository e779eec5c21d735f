from __future__ import annotations

import pandas as pd
import pytest

from engineroom.facts import filesort
from engineroom.facts.filesort import Columns, Conversion, Crossover, Limits, LongValues, Published

SERVERS = ("5.6.24", "5.7.22", "8.0.15", "8.0.15, provoked", "9.7.4")


@pytest.fixture
def limits(made):
    """Two sizes of table, of which the larger one counts; pages, ms and passes by server and rows returned."""
    told = {
        ("5.6.24", 1): (500, 0.3, 0),
        ("5.6.24", 100): (800, 0.6, 0),
        ("5.6.24", 3000): (9000, 30.0, 0),
        ("8.0.15", 1): (400, 0.4, 0),
        ("8.0.15", 100): (700, 1.1, 0),
        ("8.0.15", 3000): (8500, 32.0, 1),
        ("8.0.15, provoked", 1): (3400, 0.5, 0),
        ("8.0.15, provoked", 100): (3300, 21.0, 15),
        ("8.0.15, provoked", 3000): (3200, 60.0, 16),
        ("9.7.4", 1): (3250, 2.0, 0),
        ("9.7.4", 100): (3250, 3.0, 0),
        ("9.7.4", 3000): (3252, 50.0, 9),
        ("5.7.22", 1): (450, 0.3, 0),
    }
    rows = [
        (n, limit, server, repeat, pages, ms + repeat, passes)
        for n in (1000, 3000)
        for (server, limit), (pages, ms, passes) in told.items()
        for repeat in (0, 1)
    ]
    columns = "rows limit series repeat pages_read server_cpu_ms merge_passes"
    return made("own-filesort-limits", "live", columns, *rows, summary="min")


def test_limits_are_told_of_the_largest_table_and_of_servers_in_the_order_of_their_release(limits):
    seen = Limits.of(limits)
    assert seen.rows == 3000
    assert (seen.old_all_pages, seen.new_all_pages) == (9000, 3252)
    assert (seen.before_hundred_ms, seen.before_all_ms) == (1.1, 32.0)
    assert (seen.provoked_hundred_ms, seen.provoked_all_ms) == (21.0, 60.0)
    assert seen.provoked_hundred_merge_passes == 15


def test_the_table_has_four_servers_for_each_number_of_rows_returned(limits):
    table = Limits.of(limits).table.rows
    assert table["server"].tolist() == ["5.6.24", "8.0.15", "8.0.15, provoked", "9.7.4"] * 3
    assert table["rows returned"].tolist() == [n for n in ("1", "100", "3,000") for _ in range(4)]
    assert table.iloc[6].tolist() == ["8.0.15, provoked", "100", "3,300", "21.0", 15]


def test_columns_are_told_of_the_newest_server_and_the_long_value(made):
    run = made(
        "own-filesort-columns",
        "live",
        "type query series repeat pages_read",
        *(
            (kind, query, server, 0, pages + shift)
            for kind, shift in (("varchar(8192)", 0), ("longtext", 5))
            for server, more in (("5.6.24", 100), ("9.7.4", 0))
            for query, pages in (("wide", 1086 + more), ("late_join", 29 + more), ("indexed", 4 + more))
        ),
        summary="min",
    )
    assert Columns.of(run).texts() == {
        "wide_pages": "1,086",
        "most_pages": "1,091",
        "late_join_pages": "29",
        "indexed_pages": "4",
    }


def test_long_values_are_counts(made):
    columns = "query repeat series external_field_reads"
    reads = (("limit_1", 0, "like_5_6", 1), ("limit_1", 0, "like_8_0", 10_000))
    assert LongValues.of(made("num-fs-2", "live", columns, *reads)).texts() == {
        "like_5_6": "1",
        "like_8_0": "10,000",
    }


def test_the_lines_cross_between_two_counts(made):
    """Late fetch reads 3 pages per row, additional fields 30: as many at 10 rows."""
    run = made(
        "own-filesort-crossover",
        "kernel",
        "limit series repeat pages_read rows",
        *((n, f"late fetch, {content}", 0, 3 * n, 30) for content in ("off-page value", "short rows") for n in (1, 8, 14)),
        *((n, f"additional fields, {content}", 0, 30, 30) for content in ("off-page value", "short rows") for n in (1, 8, 14)),
        summary="min",
    )  # fmt: skip
    seen = Crossover.of(run)
    assert seen.returned_rows == pytest.approx(10)
    assert seen.table_rows == 30


def test_conversion_is_the_median_share(made):
    run = made(
        "num-fs-3",
        "live",
        "part series repeat share_percent",
        *(
            ("row_conversion", series, repeat, percent * factor)
            for series, percent in (("like_5_6", 10.0), ("like_8_0", 60.0))
            for repeat, factor in enumerate((1, 0.5, 1.5))
        ),
        ("reading", "like_5_6", 0, 40.0),
    )
    assert Conversion.of(run).texts() == {"like_5_6_percent": "10 %", "like_8_0_percent": "60 %"}


def test_what_the_source_counted_is_of_8_0():
    counted = pd.DataFrame({"series": ["like_5_6", "like_8_0"], "count": [1, 300_000]})
    sampled = pd.DataFrame(
        {"part": ["reading", "reading"], "series": ["like_5_6", "like_8_0"], "share_percent": [62, 16]}
    )
    assert Published.of(counted, sampled).texts() == {"calls": "300,000", "reading_percent": "16 %"}


def test_the_newest_recordings_have_all_facts():
    assert filesort.facts().texts()
