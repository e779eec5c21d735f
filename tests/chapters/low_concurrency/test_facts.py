from __future__ import annotations

import pandas as pd
import pytest

from engineroom.chapters.low_concurrency.experiments import live
from engineroom.chapters.low_concurrency.experiments.settings import EQUAL, INSTALLED, NO_HASH_INDEX
from engineroom.facts import low_concurrency
from engineroom.facts.low_concurrency import Installed, Kernels, Memory, Operations, Share, inserted_said

SERVERS = ("5.6.24", "5.7.22", "8.0.15", "9.7.4")


@pytest.fixture
def operations(made):
    """Three operations in the order of the recording; each server's second repeat is disturbed."""
    cpu_us = {
        "insert rows": (1.0, 2.0, 2.5, 2.6),
        "point select": (30.0, 40.0, 41.0, 44.0),
        "full scan": (0.1, 0.4, 0.3, 0.2),
    }
    counters = [
        ("insert rows", "5.7.22", "Innodb_log_write_requests", 0.25),
        ("insert rows", "9.7.4", "Innodb_log_write_requests", 3.0),
        ("insert rows", "9.7.4", "Handler_write", 1.0),
        ("full scan", "9.7.4", "Innodb_log_write_requests", 7.0),
    ]
    return made(
        "own-low-concurrency-operations",
        "live",
        "operation unit series repeat server_cpu_us",
        *(
            (name, "statement", server, repeat, us * (1 + repeat))
            for name, all_us in cpu_us.items()
            for server, us in zip(SERVERS, all_us, strict=True)
            for repeat in (0, 1)
        ),
        tables={
            "counters": pd.DataFrame(counters, columns=["operation", "series", "counter", "per_operation"])
        },
        summary="min",
    )


def test_operations_are_told_by_the_newest_server_over_5_7(operations):
    seen = Operations.of(operations)
    assert (seen.old_server, seen.new_server) == ("5.7.22", "9.7.4")
    assert (seen.measured, seen.dearer) == (3, 2)
    assert (seen.insert_ratio, seen.point_select_ratio, seen.full_scan_ratio) == pytest.approx(
        (1.3, 1.1, 0.5)
    )
    assert (seen.old_log_writes_per_row, seen.new_log_writes_per_row) == (0.25, 3.0)


def test_a_scan_converts_its_fields_in_its_cpu_time(operations):
    fields = next(each.fields for each in live.OPERATIONS if each.name == "full scan")
    assert Operations.of(operations).scan_mcalls_per_s == fields / 0.2


def test_the_table_keeps_the_order_of_the_recording(operations):
    table = Operations.of(operations).table.rows
    assert list(table) == ["operation", "per", *SERVERS, "9.7.4 over 5.7.22, equal settings"]
    assert table.iloc[0].tolist() == ["insert rows", "statement", "1.00", "2.00", "2.50", "2.60", "1.30"]
    assert table["operation"].tolist() == ["insert rows", "point select", "full scan"]


def _joins(made, cpu_us, pages=()):
    """Joins by primary key of 5.7.22 and 9.7.4 by settings, and by index of 8.0.15 and 9.7.4, two repeats each."""
    rows = [
        ("join by primary key", "outer row", settings, server, repeat, us + 0.001 * repeat)
        for settings, both in cpu_us.items()
        for server, us in zip(("5.7.22", "9.7.4"), both, strict=True)
        for repeat in (0, 1)
    ]
    rows += [
        ("join by index", "outer row", settings, server, 0, us)
        for settings in cpu_us
        for server, us in (("5.7.22", 1.0), ("8.0.15", 2.0), ("9.7.4", 3.0))
    ]
    counters = [
        ("join by primary key", settings, "5.7.22", "Innodb_buffer_pool_read_requests", n)
        for settings, n in pages
    ]
    return made(
        "own-low-concurrency-operations",
        "live",
        "operation unit settings series repeat server_cpu_us",
        *rows,
        tables={
            "counters": pd.DataFrame(
                counters, columns=["operation", "settings", "series", "counter", "per_operation"]
            )
        },
        summary="min",
    )


def test_the_hash_index_is_told_as_the_cause_where_a_loss_goes_with_it(made):
    run = _joins(
        made,
        {EQUAL: (1.0, 1.0), INSTALLED: (1.0, 1.8), NO_HASH_INDEX: (1.5, 1.8)},
        pages=((INSTALLED, 1.02), (NO_HASH_INDEX, 3.01)),
    )
    seen = Installed.of(run)
    assert "costs 1.80 times as much, and 1.20 times when the adaptive hash index is off" in seen.in_short
    assert "The index makes 75 percent of the loss as installed." in seen.told
    assert "asks the buffer pool for 1.0 pages with the index and for 3.0 without it" in seen.told
    assert "hash index: join by primary key." in seen.told
    assert (
        "what it costs 8.0.15 with equal settings, and 1.50 times (1.50 to 1.50) as installed"
        in seen.published
    )


def test_a_loss_that_stays_without_the_hash_index_is_not_the_index_s(made):
    seen = Installed.of(_joins(made, {EQUAL: (1.0, 1.0), INSTALLED: (1.0, 1.5), NO_HASH_INDEX: (1.0, 1.5)}))
    assert "the index is no cause of a loss here" in seen.told
    assert "For no operation" in seen.told
    assert "buffer pool" not in seen.told


def test_a_join_that_is_no_slower_without_the_hash_index_loses_all_by_it(made):
    seen = Installed.of(_joins(made, {EQUAL: (1.0, 1.0), INSTALLED: (1.0, 1.5), NO_HASH_INDEX: (2.0, 1.5)}))
    assert "the whole loss is the index's" in seen.told


def test_a_gain_as_installed_is_called_no_loss(made):
    seen = Installed.of(_joins(made, {EQUAL: (1.0, 1.0), INSTALLED: (1.0, 0.9), NO_HASH_INDEX: (1.5, 0.9)}))
    assert "loss as installed" not in seen.told
    assert "no slower as installed" in seen.told


def test_narrow_rows_stand_beside_figure_2_with_each_of_the_settings(made):
    def inserts(*settings):
        rows = [
            (width, n, target, chosen, server, repeat, us * (1 + repeat))
            for chosen in settings
            for width, n, target, old, new in (
                (1, 1000, "innodb", 2.0, 3.0 if chosen == EQUAL else 5.0),
                (5, 1000, "innodb", 4.0, 8.0),
                (5, 1000, "blackhole", 1.0, 9.0),
                (80, 1000, "innodb", 1.0, 9.0),
            )
            for server, us in (("5.7.22", old), ("9.7.4", new))
            for repeat in (0, 1)
        ]
        columns = "columns rows_per_statement target settings series repeat server_cpu_us"
        return made("own-low-concurrency-insert", "live", columns, *rows, summary="min")

    assert inserted_said(inserts(EQUAL, INSTALLED)) == (
        "Rows of 1 and of 5 columns cost 9.7.4 1.50 to 2.00 times what they cost 5.7.22 with equal settings, and 2.00 to 2.50 times as installed."
    )
    assert "not in this recording" in inserted_said(inserts(EQUAL))


def test_a_recording_of_equal_settings_says_what_it_lacks(operations):
    assert Installed.of(operations).told == "What the versions cost as installed is not in this recording."


def test_the_operations_are_told_with_equal_settings_and_their_table_has_all(made):
    run = _joins(made, {EQUAL: (1.0, 1.1), INSTALLED: (1.0, 1.8), NO_HASH_INDEX: (1.5, 1.8)})
    cpu_us = low_concurrency._cpu_us(run)
    assert cpu_us.loc["join by primary key", "9.7.4"] == 1.1
    shown = low_concurrency._operations_table(run, cpu_us, old="5.7.22", new="9.7.4").rows.iloc[0]
    assert [shown[f"9.7.4 over 5.7.22, {name}"] for name in (EQUAL, INSTALLED, NO_HASH_INDEX)] == [
        "1.10",
        "1.80",
        "1.20",
    ]


def test_a_ratio_is_of_the_least_repeats_with_an_interval_that_holds_it():
    ratio = low_concurrency._ratio([2.0, 2.4, 3.0], [1.0, 1.5, 1.1])
    assert ratio.value == 2
    assert ratio.low <= 2 <= ratio.high
    assert ratio.low < ratio.high


def test_memory_is_told_by_generation(made):
    fitted = pd.DataFrame(
        {
            "series": ["5.7.22", "8.0.15", "9.7.4"],
            "bytes_per_value": [188, 184, 199],
            "bytes_per_row": [62, 50, 1154],
        }
    )
    measured = pd.DataFrame(
        {
            "columns": [1, 1, 1, 2],
            "series": ["5.7.22", "8.0.15", "9.7.4", "9.7.4"],
            "bytes_per_row_with_items": [241.0, 250.0, 1353.0, 2000.0],
        }
    )
    run = made(
        "num-deg-1",
        "live",
        "columns series repeat bytes_per_row",
        (1, "list_5_7", 0, 78.0),
        tables={"fitted": fitted, "measured": measured},
    )
    seen = Memory.of(run)
    assert (seen.old_row_bytes, seen.early_row_bytes, seen.new_row_bytes) == (62, 50, 1154)
    assert (seen.old_value_bytes, seen.new_value_bytes) == (188, 199)
    assert (seen.old_narrow_row_bytes, seen.new_narrow_row_bytes) == (241.0, 1353.0)
    assert seen.table.rows.iloc[2].tolist() == ["9.7.4", "199", "1154"]


def test_kernels_are_told_of_one_column_and_one_thread(made):
    lists = made(
        "own-low-concurrency-lists",
        "kernel",
        "columns series repeat row_ns",
        *((n, series, 0, ns * n) for n in (1, 4) for series, ns in (("list_5_7", 40.0), ("deque_9_7", 60.0))),
        summary="min",
    )
    commits = made(
        "num-deg-3",
        "kernel",
        "threads series repeat cpu_ns",
        *(
            (n, series, repeat, ns * n * (1 + repeat))
            for n in (1, 2)
            for series, ns in (("mtr_5_7", 60.0), ("mtr_8_0", 90.0), ("mtr_8_0_writer_threads_off", 80.0))
            for repeat in (0, 1)
        ),
        summary="min",
    )
    fatal = [
        made(
            "own-low-concurrency-fatal",
            "kernel",
            "fields series repeat field_ns",
            *((fields, series, 0, ns) for fields in ("integers", "mixed") for series, ns in both),
            summary="min",
            tables={
                "code": pd.DataFrame(
                    {"series": ["none", "inline_stream", "cold_call"], "hot_bytes": [395, 860, 397]}
                )
            },
        )
        for both in ((("none", 4.0), ("cold_call", 3.0)), (("none", 3.0), ("cold_call", 6.0)))
    ]
    offsets = made("own-low-concurrency-offsets", "kernel", "columns series repeat", summary="min")
    assert list(Kernels.of(lists, commits=commits, fatal=fatal, offsets=offsets).texts().values()) == [
        "1.5",
        low_concurrency.cold_said(fatal),
        "Asked once per record, the question costs nothing that these repeats show.",
        "395",
        "860",
        "397",
        low_concurrency.lists_said(lists),
        "1.50 times (1.50 to 1.50)",
        "1.33 times (1.33 to 1.33)",
    ]


@pytest.mark.parametrize(
    ("cold", "verdict"),
    [
        ((3.0, 4.0), "So it saves time here."),
        ((9.0, 12.0), "So it costs time here."),
        (
            (6.0, 12.0),
            "Whether it saves time, these nanoseconds do not tell: the bytes are the finding.",
        ),
    ],
)
def test_the_fatal_path_is_told_over_processes(made, cold, verdict):
    rows = [
        ("integers", series, repeat, ns)
        for series, both in (("none", (2.0, 4.0)), ("inline_stream", (6.0, 8.0)), ("cold_call", cold))
        for repeat, ns in enumerate(both)
    ]
    run = made(
        "own-low-concurrency-fatal", "kernel", "fields series repeat field_ns", *rows, summary="median"
    )
    said = low_concurrency.cold_said([run])
    assert said.startswith(
        "Over 2 processes, a field of a row of integers took, beside one without a check, with the message in place 2.50 times (2.00 to 3.00); "
    )
    assert said.endswith(verdict)


def test_recordings_of_one_process_do_not_tell_whether_a_cold_function_saves_time(made):
    columns = "fields series repeat field_ns"
    fatal = [
        made(
            "own-low-concurrency-fatal",
            "kernel",
            columns,
            ("integers", "none", 0, 4.0),
            ("integers", "cold_call", 0, cold),
            summary="min",
        )
        for cold in (3.0, 8.0)
    ]
    assert (
        "these nanoseconds do not tell: over our recordings such a field took 0.75 to 2.00 times"
        in low_concurrency.cold_said(fatal)
    )


def test_record_offsets_are_told_over_processes(made):
    rows = [
        (columns, versions, series, repeat, ns * columns * (1 + repeat * (series == "v80")))
        for columns in (5, 10)
        for versions in (0, 4)
        for series, ns in (("v57", 1.0), ("v80", 2.0), ("hoisted", 1.1))
        for repeat in (0, 1)
    ]
    columns = "columns row_versions series repeat record_ns"
    run = made("own-low-concurrency-offsets", "kernel", columns, *rows, summary="median")
    assert low_concurrency.offsets_said(run) == (
        "Over 2 processes, finding the fields took 3.00 times (2.00 to 4.00) as long as in 5.7 if the question is asked for each field, and "
        "1.10 times (1.10 to 1.10) if once per record."
    )


def _shares(made, *inserted, installed=()):
    """Inserted rows and a full scan of one sitting; `inserted` is share, low and high with equal settings."""
    rows = [
        ("insert rows", EQUAL, "value lists", 0, 85.0, 500.0, 0.17, 0.1, 0.2),
        ("insert rows", EQUAL, "fatal path", 0, 5.0, 500.0, 0.01, 0.0, 0.02),
        ("insert rows", EQUAL, "all causes", 0, 90.0, 500.0, *inserted),
        ("full scan", EQUAL, "value lists", 0, 0.0, -10.0, 0.0, 0.0, 0.0),
        ("full scan", EQUAL, "fatal path", 0, 5.0, -10.0, -0.5, -0.6, -0.4),
        ("full scan", EQUAL, "all causes", 0, 5.0, -10.0, -0.5, -0.6, -0.4),
        *(("insert rows", INSTALLED, "all causes", 0, 90.0, 900.0, share, 0.0, 0.2) for share in installed),
    ]
    columns = "operation settings series repeat explained_ns difference_ns share share_low share_high"
    return made("own-low-concurrency-share", "live", columns, *rows)


def test_all_causes_together_are_told_of_inserts_with_their_interval(made):
    seen = Share.of(_shares(made, 0.18, 0.14, 0.21))
    assert (seen.insert_percent, seen.insert_installed) == (18, "not measured as installed")
    assert seen.repeats_percent == seen.sittings_percent == pytest.approx((14, 21))
    assert seen.n_sittings == 1
    assert seen.table.rows.to_numpy().tolist() == [
        ["insert rows", EQUAL, "85.0", "5.0", "500.0"],
        ["full scan", EQUAL, "0.0", "5.0", "-10.0"],
    ]
    assert list(seen.table.rows) == [
        "operation",
        "settings",
        "value lists",
        "fatal path",
        "measured difference",
    ]


def test_the_interval_of_all_sittings_holds_each_of_them(made):
    """Also of an older one, which does not say its settings."""
    old = _shares(made, 0.11, 0.09, 0.12)
    old = old.with_table(old.table.drop(columns="settings"))
    seen = Share.of(_shares(made, 0.36, 0.35, 0.37, installed=[0.1]), others=[old])
    assert seen.sittings_percent == pytest.approx((9, 37))
    assert seen.repeats_percent == pytest.approx((35, 37))
    assert (seen.n_sittings, seen.insert_installed) == (2, "10 percent as installed")


def test_what_a_profile_gains_is_counted_by_kernel(made):
    rows = [
        (workload, kernel, variant, build, 0, 10.0 if build == "plain" else gain)
        for kernel, variant, gain in (
            ("insert_values", "deque_9_7", 9.0),
            ("field_store", "inline_stream", 11.0),
        )
        for workload in ("narrow", "wide")
        for build in ("plain", "narrow", "wide")
    ]
    run = made("own-low-concurrency-pgo", "kernel", "workload kernel variant series repeat cpu_ns", *rows)
    assert low_concurrency.Trained.of(run).said == (
        "Trained on the workload that is measured, 2 of 4 cells get faster: fatal path 0 of 2, value lists 2 of 2."
    )


def test_a_recording_of_lists_in_one_process_is_said_to_count_page_faults_by_chance(made):
    one = ("own-low-concurrency-lists", "kernel", "columns series repeat row_ns", (1, "list_5_7", 0, 1.0))
    assert "chance" in low_concurrency.lists_said(made(*one, summary="min"))
    assert "warm" in low_concurrency.lists_said(made(*one, summary="median"))


def test_others_measurements_are_those_of_the_same_server():
    published = pd.DataFrame(
        {
            "id": ["a", "percona-lab-2026-percona-x", "b"],
            "who": ["A", "P", "B"],
            "measured": ["m"] * 3,
            "numbers": ["n"] * 3,
            "bears_on": ["degradation", "degradation", "another figure"],
            "bearing": ["contradicts"] * 3,
        }
    )
    assert low_concurrency.independent(published).rows.to_numpy().tolist() == [["A", "m", "n", "contradicts"]]


def test_settings_are_said_as_an_option_file_says_them():
    table = low_concurrency.settings(
        {"skip_log_bin": True, "innodb_flush_neighbors": 0, "innodb_flush_method": "fsync"}
    )
    assert table.rows["value"].tolist() == ["on", "0", "fsync"]


def test_the_newest_recordings_have_all_facts():
    assert low_concurrency.facts().texts()
