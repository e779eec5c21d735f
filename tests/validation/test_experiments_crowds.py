"""The comparison with what others measured: what counts as off, as a step, and as an order of two locks."""

from __future__ import annotations

import pandas as pd
import pytest

from engineroom.simulating.executors import HERE
from engineroom.validation import studies
from engineroom.validation.experiments import crowds


def table(*points: tuple[str, int, float, float], study: str = "a study") -> pd.DataFrame:
    """A published and a simulated row of each lock and number of threads."""
    return pd.DataFrame(
        [
            {"study": study, "lock": lock, "threads": n, "series": series, "repeat": 0, "ns_per_turn": ns}
            for lock, n, *both in points
            for series, ns in zip(("published", "simulated"), both, strict=True)
        ]
    )


def test_throughput_is_off_by_the_ratio_of_the_times():
    found = crowds.off(
        table(("ticket", 1, 10.0, 99.0), ("ticket", 2, 100.0, 80.0), ("ticket", 4, 100.0, 200.0))
    )
    assert found["threads"].tolist() == [2, 4], "one thread is where the cost of a turn was taken from"
    assert found["off_percent"].tolist() == [25.0, -50.0]


def test_what_a_study_repeats_counts_by_its_median():
    rows = table(("ticket", 2, 100.0, 100.0))
    more = [
        rows.assign(repeat=i, ns_per_turn=rows["ns_per_turn"] * factor) for i, factor in ((1, 1.02), (2, 9))
    ]
    assert crowds.off(pd.concat([rows, *more]))["off_percent"].tolist() == [0.0]
    slower = more[1][more[1]["series"] == "published"]
    assert crowds.off(pd.concat([rows, slower, slower]))["off_percent"].tolist() == [800.0]


def test_where_lines_stay_the_published_times_are_the_same():
    rows = table(("ticket", 2, 100.0, 80.0))
    stays = pd.DataFrame([{"study": "a study", "lock": "ticket", "threads": 2, "ns_per_turn": 50.0}])
    found = crowds.staying(rows, stays)
    assert found[["published", "simulated", "off_percent"]].to_numpy().tolist() == [[100.0, 50.0, 100.0]]


def test_a_step_counts_where_the_published_time_moves():
    points = crowds.off(
        table(
            ("ticket", 2, 100.0, 100.0),
            ("ticket", 4, 109.0, 50.0),  # published hardly moves
            ("ticket", 8, 200.0, 60.0),
            ("ticket", 16, 100.0, 70.0),  # the wrong way
        )
    )
    found = crowds.steps(points)
    assert found[["threads", "to_threads", "is_right"]].to_numpy().tolist() == [[4, 8, True], [8, 16, False]]


def test_steps_stay_within_a_study_and_a_lock():
    both = pd.concat(
        [table(("ticket", 2, 1.0, 1.0), ("mcs", 4, 9.0, 9.0)), table(("ticket", 8, 9.0, 9.0), study="b")]
    )
    assert crowds.steps(crowds.off(both)).empty


def test_two_locks_have_an_order_where_the_study_tells_them_apart():
    points = crowds.off(
        table(
            ("ticket", 2, 100.0, 90.0),
            ("mcs", 2, 105.0, 80.0),
            ("futex", 2, 50.0, 85.0),
            ("futex", 4, 1.0, 1.0),
        )
    )
    found = crowds.orders(points)
    assert found[["faster", "slower", "is_right"]].to_numpy().tolist() == [
        ["futex", "ticket", True],
        ["futex", "mcs", False],
    ]


def test_only_turns_behind_a_look_are_held_against_the_pairs():
    pairs = pd.DataFrame(
        [
            {"where": "sibling", "how": how, "published_ns": 10.0, "simulated_ns": 9.0}
            for how in ("blind compare-and-swap", "look, then increment")
        ]
    )
    assert crowds.pairs_off(pairs)["off_percent"].tolist() == [pytest.approx(-10.0)]


def test_what_moves_throughput_most_stands_first():
    run = table(("ticket", 2, 100.0, 100.0), ("ticket", 4, 100.0, 200.0))
    varied = pd.DataFrame(
        [
            {
                "study": "a study",
                "lock": "ticket",
                "threads": n,
                "parameter": name,
                "factor": 0.5,
                "ns_per_turn": ns,
            }
            for name, times in (("pause_ps", (100.0, 200.0)), ("far_ps", (50.0, 160.0)))
            for n, ns in zip((2, 4), times, strict=True)
        ]
    )
    found = crowds.sensitivities(run, varied)
    assert found["parameter"].tolist() == ["far_ps", "pause_ps"]
    assert found["most_percent"].tolist() == [100.0, 0.0]
    assert found["median_percent"].tolist() == [pytest.approx(62.5), 0.0]


@pytest.fixture(scope="module")
def java():
    return crowds.crowds_sim(names=["java_locks_24"], seeds=(1, 2), factors=(1.5,), executor=HERE)


def test_a_run_has_what_was_published_beside_each_seed(java):
    published = studies.study("java_locks_24").published()
    counted = java.table.groupby(["threads", "series"]).size().unstack()
    assert (counted["simulated"] == 2).all()
    assert counted["published"].sum() == len(published)
    assert (java.table["ns_per_turn"] > 0).all()
    assert "pairs" not in java.tables


def test_lines_stay_at_every_contended_point(java):
    stays = java.tables["stays"]
    assert set(stays["threads"]) == set(java.table["threads"]) - {1}
    assert set(stays["line_stay_permille"]) == {crowds.LINE_STAY_PERMILLE}
    assert (stays["ns_per_turn"] > 0).all()


def test_every_number_that_nobody_measured_is_varied_at_every_contended_point(java):
    study = studies.study("java_locks_24")
    varied = java.tables["varied"]
    assert set(varied["parameter"]) == set(study.machine.uncertain())
    contended = set(java.table["threads"]) - {1}
    assert len(varied) == len(study.machine.uncertain()) * len(contended)
    assert crowds.sensitivities(java.table, varied)["most_percent"].max() > 0


def test_blind_turns_of_two_cpus_are_the_distance_that_they_were_made_of():
    found = pd.DataFrame(crowds._pairs(studies.study("perfbook_448")))
    blind = found[found["how"] == "blind compare-and-swap"]
    assert (blind["simulated_ns"] / blind["published_ns"] - 1).abs().max() < 0.02
