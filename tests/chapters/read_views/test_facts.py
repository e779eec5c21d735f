from __future__ import annotations

from engineroom.facts.read_views import (
    Anomalies,
    Busy,
    Histories,
    Idle,
    Published,
    Quiet,
    Removing,
    Statements,
)


def test_histories_are_counted_without_a_mistake_and_shown_by_mistake(made):
    columns = (
        "series mistake repeat runs reads failures wrong_reads missing_history wrong_views purge_too_far"
    )
    told = Histories.of(
        made(
            "own-read-views-histories",
            "kernel",
            columns,
            ("5.7", "none", 0, 10, 1000, 0, 0, 0, 0, 0),
            ("9.7", "none", 0, 10, 1100, 0, 0, 0, 0, 0),
            ("9.7", "reuses_stale", 0, 10, 900, 7, 5, 2, 0, 0),
            ("9.7", "number_last", 0, 10, 900, 0, 0, 0, 0, 0),
            ("5.7", "reuses_stale", 0, 10, 900, 9, 9, 0, 0, 0),
        )
    )
    assert (told.runs, told.reads, told.wrong, told.harmless) == (20, 2100, 0, 0)
    assert told.table.rows["mistake"].tolist() == ["reuses stale", "number last"]


def test_statements_show_all_latches_together_and_where_the_kernel_differs(made):
    columns = "series has_binlog level statement repeat mutex serialisation shards kernel_mutex kernel_serialisation kernel_shards"
    rows = [
        ("5.7", 0, "REPEATABLE READ", "update", 0, 4.0, 0.0, 0.0, 4, 0, 0),
        ("9.7", 0, "REPEATABLE READ", "update", 0, 2.01, 2.0, 2.0, 2, 2, 2),
        ("9.7", 1, "REPEATABLE READ", "update", 0, 3.0, 2.0, 2.0, 2, 2, 2),
    ]
    told = Statements.of(made("own-read-views-statements", "live", columns, *rows))
    assert (told.counts, told.differing) == (9, 1)
    assert told.table.rows.to_dict("records") == [{"statement": "update", "5.7": 4, "9.7": 6}]


def test_anomalies_are_those_of_the_kernel_with_the_differences_counted(made):
    rows = [
        ("kernel", "READ COMMITTED", "phantom", 0, "seen"),
        ("5.7", "READ COMMITTED", "phantom", 0, "seen"),
        ("9.7", "READ COMMITTED", "phantom", 0, "refused"),
    ]
    told = Anomalies.of(
        made("own-read-views-anomalies", "live", "series level anomaly repeat outcome", *rows)
    )
    assert (told.servers, told.differing) == (2, 1)
    assert told.table.rows.to_dict("records") == [{"anomaly": "phantom", "READ COMMITTED": "seen"}]


def test_idle_sessions_are_told_of_none_and_of_the_most(made):
    rows = [
        (series, n, repeat, us, us / 10 + repeat)
        for series, n, us in (("5.7", 0, 10.0), ("5.7", 50, 40.0), ("9.7", 0, 1.0), ("9.7", 50, 30.0))
        for repeat in (0, 1)
    ]
    told = Idle.of(
        made(
            "own-read-views-idle",
            "live",
            "series idle_sessions repeat purge_us_per_batch mutex_us_per_transaction",
            *rows,
        )
    )
    assert (told.most_sessions, told.old_none_us, told.old_most_us, told.new_most_us) == (
        50,
        10.0,
        40.0,
        30.0,
    )
    assert (told.old_none_wait_us, told.old_most_wait_us) == ((1.0, 2.0), (4.0, 5.0))


def test_busy_sessions_are_those_that_ask_for_most_and_write_one_in_twenty(made):
    columns = (
        "series away_ms write_percent sessions repeat mean_response_us p99_response_us walked_per_batch "
        "purge_share_percent"
    )
    rows = [
        (series, away, writes, 10_000, 0, us * (2 if away == 15 else 1), 5 * us, 7000, 10)
        for series, us in (("kept", 90.0), ("removed_at_once", 30.0))
        for away in (15, 100)
        for writes in (5, 20)
    ]
    told = Busy.of(made("own-read-views-sessions", "sim", columns, *rows))
    assert (told.runs, told.views_per_batch) == (1, 7000)
    assert (told.kept_us, told.removed_us) == ((180.0, 180.0), (60.0, 60.0))
    assert told.more_writes_kept_us == (180.0, 180.0)


def test_a_quiet_list_is_told_with_its_machine_and_its_load(made):
    lengths = made(
        "num-rv-1",
        "sim",
        "series sessions repeat views",
        ("kept", 10_000, 0, 8000),
        ("closed", 10_000, 0, 6000),
        provenance={
            "machine": {"sockets": 2, "cores_per_socket": 3, "threads_per_core": 2},
            "load": {"away_ns": 100_000_000, "write_percent": 20},
        },
    )
    responses = made(
        "num-rv-2",
        "sim",
        "series build repeat mean_response_us",
        ("response", "kept", 0, 60.0),
        ("response", "removed_at_once", 0, 50.0),
    )
    told = Quiet.of(lengths, responses)
    assert (told.sessions, told.views, told.closed_percent) == (10_000, 8000, 75)
    assert (told.hardware_threads, told.statements_per_second, told.write_percent) == (12, 10, 20)
    assert (told.kept_us, told.removed_us) == (60.0, 50.0)


def test_the_articles_numbers_come_from_the_published_rows():
    told = Published.of_the_article()
    assert (told.kept_ms, told.removed_ms, told.kept_per_removed) == (8.0, 0.2, 40.0)
    assert round(told.read_only_loss_percent) == 5


def test_what_removing_views_costs_is_told_by_load(made):
    rows = [
        (series, load, repeat, throughput, taken)
        for series, load, throughput, taken in [
            ("kept", "read_only", 200.0, 0.0),
            ("kept", "mixed", 100.0, 1.5),
            ("kept", "read_write", 50.0, 4.0),
            ("removed_at_once", "read_only", 150.0, 2.0),
            ("removed_at_once", "mixed", 80.0, 2.5),
            ("removed_at_once", "read_write", 50.0, 4.0),
        ]
        for repeat in range(3)
    ]
    told = Removing.of(
        made("num-rv-3", "sim", "series load repeat relative_throughput mutex_per_statement", *rows)
    )
    assert told.left_percent == {"read_only": 75, "mixed": 80, "read_write": 100}
    assert (told.kept_mutex_per_read, told.removed_mutex_per_read) == (0, 2)
