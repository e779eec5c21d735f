"""The filesort chapter's experiments: small runs, live servers against the kernel, and the probes."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from engineroom._native import filesort as kernel
from engineroom.chapters.filesort import experiments as filesort
from engineroom.chapters.filesort import figures as drawn
from engineroom.chapters.filesort.figures import own_filesort_crossover
from engineroom.errors import EngineRoomError
from engineroom.ledger.verdicts import judge
from engineroom.measuring import instructions, probes
from engineroom.servers.catalogue import entry_of, release


def test_the_kernel_s_run_of_the_source_s_query_counts_every_row_once() -> None:
    times, reads = filesort.kernel_limit_one(rows=500, repeats=2)
    counted = reads.table.set_index("series")["external_field_reads"].to_dict()
    assert counted == {"like_5_6": 1, "like_8_0": 500, "rows_scanned": 500}
    assert set(times.table["query"]) == {"limit_1", "no_long_column"}
    assert judge(reads).verdict == "reproduced"


def test_late_fetch_reads_fewer_pages_for_few_rows_and_more_for_all() -> None:
    rows = own_filesort_crossover.rows(
        filesort.crossover(rows=600, at=(1, 50, 150, 199, 201, 600), repeats=1)
    )
    # Two pages to a row and one of its value, against one value a row.
    assert drawn.crossing(rows, "off-page value") == pytest.approx(200, abs=1)
    assert drawn.crossing(rows, "short rows") == 1


def test_rows_that_cannot_be_inserted_by_the_hundred_are_refused() -> None:
    with pytest.raises(EngineRoomError, match="got 250"):
        filesort.load(None, "t", 250)


@pytest.mark.parametrize("stack", [[], ["main", "_Z15row_search_mvccPh", "f"], ["x"]])
def test_a_share_counts_a_sample_once(stack: list[str]) -> None:
    stacks = [stack, ["_Z20row_search_for_mysqlPhm", "_Z20row_search_for_mysqlPhm"]]
    assert probes.share(stacks, filesort.SCAN) == (1 if len(stack) == 3 else 0.5)


def kernel_s(rows: int, limit: int | None, version: str, provoked: bool) -> dict[str, Any]:
    """Merges and mode of the kernel for the article's statement."""
    table = kernel.article_table(rows=rows)
    name = "9.7" if release(version) >= (8, 0, 20) else entry_of(version).name
    design = kernel.choose(
        table,
        release=name,
        selected=range(5),
        limit=limit,
        max_length_for_sort_data=filesort.PROVOKING if provoked else 1024,
    )
    counters = kernel.sort(table, selected=range(5), limit=limit, output="count", **design).counters
    return {"mode": design["attach"], **counters}


@pytest.mark.live
@pytest.mark.parametrize("version", ["5.7", "8.0.31", "9.7"])
def test_mode_queue_and_merges_of_the_kernel_are_the_server_s(version: str) -> None:
    table = filesort.limits(rows=(1000,), at=(1, 10, 100, None), repeats=1, versions=(version,)).table
    for row in table.itertuples():
        limit = None if row.limit == 1000 else row.limit
        server, _, setting = row.series.partition(", ")
        ours = kernel_s(1000, limit, server, setting == "provoked")
        assert row.sort_mode.rstrip(">").split(", ")[1] == ours["mode"], row
        assert row.merge_passes == ours["merge_passes"], row
        assert row.queue == bool(ours["is_priority_queue"]), row
        late = ours["rows_fetched"]
        assert row.rows_fetched == late or (late == 0 and ours["merge_passes"]), row
        # Pages: the kernel touches what the server requests, but for what a scan requests a second time.
        assert ours["pages_touched"] <= row.pages_read < ours["pages_touched"] + 250, row


@pytest.mark.live
def test_the_newest_server_copies_every_long_value_and_the_oldest_one() -> None:
    times, reads, affected = filesort.limit_one(rows=500, repeats=1, versions=("5.6", "8.0.31", "9.7"))
    counted = reads.table.set_index("series")["external_field_reads"].to_dict()
    assert counted == pytest.approx({"like_5_6": 1, "like_8_0": 500, "rows_scanned": 500}, rel=0.02)
    assert affected.table["version"].tolist() == ["5.6", "8.0", "after_8.0"]
    assert set(times.table["query"]) == {"limit_1", "no_long_column"}


@pytest.mark.live
def test_calls_of_a_function_are_counted_or_refused_with_the_reason() -> None:
    from engineroom import servers

    with servers.start("5.6") as server, contextlib.closing(server.connect()) as connection:
        filesort.load(connection, "wide", 100)
        assert "does not name" in str(probes.why_no_calls(server, r"no_such_function_at_all"))
        with (
            pytest.raises(EngineRoomError, match="why_no_calls"),
            probes.counted_calls(server, "no_such_one"),
        ):
            pass
        if probes.why_no_calls(server, filesort.COPY_ROUTINE) is not None:
            return
        with probes.counted_calls(server, filesort.COPY_ROUTINE) as calls, connection.cursor() as cursor:
            cursor.execute("SELECT * FROM wide")
            cursor.fetchall()
        assert calls.count == 100


@pytest.mark.live
def test_the_late_join_and_an_index_read_few_pages_where_all_columns_read_many() -> None:
    run = filesort.columns(rows=300, versions=("9.7",), types=("varchar(8192)", "longtext"), repeats=1)
    pages = run.table.set_index(["type", "query"])["pages_read"]
    for kind in ("varchar(8192)", "longtext"):
        assert pages[kind, "wide"] > 300
        assert pages[kind, "late_join"] < 40
        assert pages[kind, "indexed"] < 10
    modes = run.table.set_index(["type", "query"])["sort_mode"]
    assert "additional_fields" in modes["varchar(8192)", "wide"]
    assert "rowid" in modes["longtext", "wide"]


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.skipif(instructions.why_not() is not None, reason=str(instructions.why_not()))
def test_calls_and_shares_are_counted_in_instructions() -> None:
    _, reads, parts, by_long, _ = filesort.counted(rows=200, versions=("5.6", "8.0.31"))
    counts = reads.table.set_index(["query", "series"])["external_field_reads"].to_dict()
    assert counts["limit_1", "like_5_6"] == 1
    assert counts["limit_1", "like_8_0"] == counts["limit_1", "rows_scanned"] == 200
    assert judge(parts).verdict == judge(by_long).verdict == "reproduced"
