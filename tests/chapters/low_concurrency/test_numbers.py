from __future__ import annotations

import pandas as pd

from engineroom import paths
from engineroom.chapters.low_concurrency import numbers
from engineroom.chapters.low_concurrency.experiments import live


def test_a_ratio_is_of_the_least_repeats_with_an_interval_that_holds_it() -> None:
    ratio = numbers.interval([2.0, 2.4, 3.0], [1.0, 1.5, 1.1])
    assert ratio.value == 2
    assert ratio.low <= 2 <= ratio.high
    assert ratio.low < ratio.high


def test_an_operation_costs_what_the_table_says_it_costs() -> None:
    cost = numbers.cost("join by primary key", "as installed")
    assert cost.value == numbers.ratio["as installed", "join by primary key"]
    rows = numbers.operations_table().rows.set_index("operation")
    shown = rows.loc["join by primary key", f"{numbers.new} over {numbers.old}, as installed"]
    assert shown == f"{cost.value:.2f}"
    assert rows.index.tolist() == [each.name for each in live.OPERATIONS if each.name in rows.index]


def test_an_operation_moves_with_the_hash_index_if_the_intervals_do_not_meet() -> None:
    for name in numbers.operations.table["operation"].unique():
        with_index, without = (
            numbers.cost(name, f"as installed{more}") for more in ("", " but no hash index")
        )
        assert (name in numbers.moved()) == (with_index.low > without.high)


def test_a_full_scan_converts_its_fields() -> None:
    assert [each.fields for each in live.OPERATIONS if each.name == "full scan"] == [numbers.scan_fields]


def test_settings_are_said_as_an_option_file_says_them() -> None:
    said = numbers.settings_table().rows.set_index("setting")["value"]
    assert said["innodb_flush_log_at_trx_commit"] == "0"
    assert "True" not in set(said)


def test_others_measurements_are_those_of_the_same_server() -> None:
    found = pd.read_csv(paths.data() / "published" / "independent.csv")
    of_fork = found[found["id"].str.startswith("percona-lab-2026-percona")]
    shown = numbers.independent_table().rows
    assert len(of_fork) > 0
    assert set(shown["numbers"]) < set(found["numbers"]) - set(of_fork["numbers"])
