"""What the page of read views computes, on rows made by hand."""

from __future__ import annotations

import pandas as pd

from engineroom.chapters.read_views.numbers import anomalies_table, statements_table


def test_statements_show_all_latches_together_without_a_binary_log():
    columns = ["series", "has_binlog", "level", "statement", "mutex", "serialisation", "shards"]
    rows = [
        ("5.7", 0, "REPEATABLE READ", "one_update", 4.0, 0.0, 0.0),
        ("9.7", 0, "REPEATABLE READ", "one_update", 2.01, 2.0, 2.0),
        ("9.7", 1, "REPEATABLE READ", "one_update", 3.0, 2.0, 2.0),
        ("5.7", 0, "REPEATABLE READ", "a_select", 0.0, 0.0, 0.0),
        ("9.7", 0, "REPEATABLE READ", "a_select", 0.0, 0.0, 0.0),
    ]
    shown = statements_table(pd.DataFrame(rows, columns=columns)).rows
    assert shown.to_dict("records") == [
        {"statement": "one update", "5.7": 4, "9.7": 6},
        {"statement": "a select", "5.7": 0, "9.7": 0},
    ]


def test_anomalies_are_those_of_the_kernel_in_the_order_of_the_recording():
    rows = [
        (series, level, anomaly, f"{outcome}, {level}")
        for series, outcome in (("kernel", "seen"), ("9.7", "refused"))
        for anomaly in ("phantom", "lost update")
        for level in ("READ COMMITTED", "REPEATABLE READ")
    ]
    shown = anomalies_table(pd.DataFrame(rows, columns=["series", "level", "anomaly", "outcome"])).rows
    assert list(shown.columns) == ["anomaly", "READ COMMITTED", "REPEATABLE READ"]
    assert shown["anomaly"].tolist() == ["phantom", "lost update"]
    assert shown.loc[0, "REPEATABLE READ"] == "seen, REPEATABLE READ"
