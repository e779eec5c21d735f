"""The facts of the chapter's page, on rows made by hand."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from engineroom.chapters.binlog import figures as drawn
from engineroom.chapters.binlog.figures import own_binlog_levels
from engineroom.facts import binlog
from engineroom.facts.binlog import Cpu, Kernel, Levels, Published, Sizes, Throughput

SIZES = {
    binlog.FULL: {"new_order": 8000, "payment": 2000, "mix": 5000},
    binlog.MINIMAL: {"new_order": 6000, "payment": 500, "mix": 3000},
    binlog.PACKED: {"new_order": 3000, "payment": 1500, "mix": 2000},
    binlog.BOTH: {"new_order": 2000, "payment": 400, "mix": 1000},
}


def sizes(made, method, shift=0.0):
    rows = [
        (kind, series, repeat, value + (shift if "zstd" in series else 0), 100)
        for series, by_kind in SIZES.items()
        for kind, value in by_kind.items()
        for repeat in (0, 1)
    ]
    return made("own-binlog-transactions", method, "kind series repeat bytes_per_txn transactions", *rows)


def test_sizes_are_shares_of_full_images(made):
    seen = Sizes.of(sizes(made, "live")).texts()
    assert seen == {
        "transactions": "200",
        "mix_bytes": "5,000",
        "new_order_bytes": "8,000",
        "payment_bytes": "2,000",
        "minimal_percent": "60 %",
        "packed_percent": "40 %",
        "both_percent": "20 %",
        "new_order_minimal_percent": "75 %",
        "new_order_packed_percent": "38 %",
        "payment_minimal_percent": "25 %",
        "payment_packed_percent": "75 %",
    }


def test_the_kernel_differs_by_the_largest_difference(made):
    seen = Kernel.of(sizes(made, "kernel", shift=4.0), sizes(made, "live"))
    assert seen.uncompressed_differ_bytes == 0
    assert seen.packed_differ_percent == pytest.approx(1.0)


@pytest.fixture
def levels(made):
    """Level 2 lies above the line from 1 to 3, and nothing after 3 saves more."""
    points = {1: (2.0, 0.5), 2: (5.0, 0.47), 3: (6.0, 0.4), 4: (30.0, 0.4), 19: (60.0, 0.41)}
    rows = [
        (kind, kind, level, repeat, ratio, cpu + repeat, 5000.0)
        for kind in drawn.KINDS_OWN_BINLOG_LEVELS
        for level, (cpu, ratio) in points.items()
        for repeat in (0, 1)
    ]
    columns = "rows_kind series level repeat ratio cpu_ns_per_byte unit_bytes"
    return made("own-binlog-levels", "kernel", columns, *rows, summary="min")


def test_levels_off_the_hull_are_never_worth_it(levels):
    rows = own_binlog_levels.rows(levels)
    assert drawn.worth(drawn.points(rows, "orders")) == [0, 1, 3]
    seen = Levels.of(levels)
    assert seen.texts()["never"] == seen.texts()["never_without_one"] == "2, 4 and 19"
    assert seen.orders_last_over_first_ratio == 30
    assert (seen.third_us_per_txn, seen.nineteenth_us_per_txn) == (30.0, 300.0)
    assert seen.table.rows["level"].tolist() == ["1", "3"] * 3


def test_a_level_is_surely_worth_nothing_if_no_repeat_is_needed_for_that(levels):
    cheap = levels.table["level"].eq(2) & levels.table["repeat"].eq(0)
    quicker = levels.table["cpu_ns_per_byte"].mask(cheap, 1.0)  # cheaper than level 1, once
    seen = Levels.of(replace(levels, table=levels.table.assign(cpu_ns_per_byte=quicker))).texts()
    assert (seen["never"], seen["never_without_one"]) == ("1, 4 and 19", "4 and 19")


def test_a_level_that_only_costs_is_not_worth_it():
    points = pd.DataFrame({"cpu_ns_per_byte": [0.0, 1.0], "ratio": [1.0, 1.01]}, index=[0, 1])
    assert drawn.worth(points) == [0]


def test_cpu_is_beside_the_plain_setting(made):
    rows = [
        (setting, "server", repeat, us * (1 + 0.1 * repeat))
        for setting, us in ((binlog.FULL, 1000), (binlog.PACKED, 1100), ("full, zstd 19", 3000), (binlog.MINIMAL, 950))
        for repeat in (0, 1)
    ]  # fmt: skip
    seen = Cpu.of(made("own-binlog-cpu", "live", "setting series repeat server_cpu_us", *rows, summary="min"))
    assert seen.texts() == {
        "plain_us": "1,000 us",
        "packed_more_percent": "+10 %",
        "nineteenth_more_us": "2,000 us",
        "minimal_more_percent": "-5 %",
        "spread_ratio": "1.1",
    }


def test_throughput_is_over_the_plain_setting_at_the_same_number_of_clients(made):
    def run(figure, provenance=None, **by_series):
        rows = [
            (clients, series, repeat, tpm * clients)
            for series, tpm in by_series.items()
            for clients in (50, 400, 2000)
            for repeat in (0, 1)
        ]
        return made(figure, "sim", "concurrency series repeat tpmC", *rows, provenance=provenance)

    load = {"compressed_compress_ns": 26_301, "statements": 25, "statement_ns": 50_000}
    seen = Throughput.of(
        run("fig-7-26", {"load": load}, uncompressed=100, compressed=97.5),
        run("fig-7-28", full=100, minimal=101),
        run("own-binlog-places", uncompressed=100, session=98, leader=50, nowhere=100),
    )
    assert seen.texts() == {
        "packed_ratio.50": "0.975",
        "packed_ratio.2000": "0.975",
        "images_ratio": "1.010",
        "session_ratio": "0.98",
        "leader_ratio": "0.50",
        "free_ratio": "1.00",
        "clients": "2000",
        "compress_us": "26 us",
        "computing_us": "1,250 us",
    }


def test_what_was_published_is_told_by_its_worst_point():
    throughput = pd.DataFrame({
        "concurrency": [50, 50, 400, 400], "series": ["uncompressed", "compressed"] * 2, "tpmC": [10, 10, 20, 15],
    })  # fmt: skip
    packed = pd.DataFrame({"setting": ["uncompressed", "compressed"], "binlog_gb": [400, 200]})
    minimal = pd.DataFrame({"setting": ["full", "minimal"], "binlog_gb": [100, 40]})
    assert Published.of(throughput, packed, minimal).texts() == {
        "worst_throughput_ratio": "0.75",
        "packed_percent": "50 %",
        "minimal_percent": "40 %",
    }


@pytest.mark.parametrize(("levels", "said"), [([], "none"), ([4], "4"), ([1, 2, 3, 7], "1 to 3 and 7"), ([1, 3, 5], "1, 3 and 5")])  # fmt: skip
def test_levels_are_said_as_ranges(levels, said):
    assert binlog._said(levels) == said


def test_the_newest_recordings_have_all_facts():
    assert binlog.facts().texts()
