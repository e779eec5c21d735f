"""How far a varied number of the machine moves a figure's claims."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

from engineroom import runs
from engineroom.ledger import sensitivity
from engineroom.ledger.sensitivity import SEED
from engineroom.runs import Run

FIGURE = "fig-7-02"  # one effect: before over after


def load_times(before: float, after: float, **more: object) -> pd.DataFrame:
    """Minutes of either build, beside each other as the figure's rows have them."""
    rows = pd.DataFrame(
        {
            "build": ["before", "after"],
            "series": "load_time",
            "load_time_minutes": [before, after],
            "repeat": 0,
        }
    )
    return rows.assign(**more)


@pytest.fixture
def run() -> Run:
    usual = runs.newest(FIGURE, "sim")
    return dataclasses.replace(
        usual,
        table=pd.concat([load_times(20.0, 2.0), load_times(24.0, 2.0, repeat=1)]),
        tables={
            "varied": pd.concat(
                [
                    load_times(30.0, 2.0, parameter="pause_ps", factor=0.5),
                    load_times(19.0, 2.0, parameter="pause_ps", factor=1.5),
                    load_times(2.0, 4.0, parameter="load_ps", factor=0.5),
                ]
            )
        },
    )


def test_a_ratio_moves_from_that_of_the_same_seed(run):
    found = sensitivity.sensitivity([run]).set_index(["parameter", "factor"])
    assert found["moved_percent"].round(6).to_dict() == {
        (SEED, 1): 20.0,
        ("pause_ps", 0.5): 50.0,
        ("pause_ps", 1.5): -5.0,
        ("load_ps", 0.5): -95.0,
    }
    assert (found["figure"] == FIGURE).all()


def test_a_verdict_that_flips_is_marked_where_it_does(run):
    most = sensitivity.farthest(sensitivity.sensitivity([run])).set_index(["parameter", "factor"])
    assert most["flips"][most["flips"]].index.tolist() == [("load_ps", 0.5)]
    assert most.loc[("load_ps", 0.5), "outcomes_changed"] == 1


def test_the_other_scheduling_is_compared_with_the_same_seed_of_figures_that_were_simulated_with_it(run):
    def with_it(before):
        return dataclasses.replace(
            run, figure=sensitivity.RESCHEDULED, tables={FIGURE: load_times(before, 2.0)}
        )

    found = sensitivity.rescheduled([run], with_it(40.0))
    assert found["parameter"].unique().tolist() == [sensitivity.RESCHEDULED]
    assert found["moved_percent"].max() == pytest.approx(100.0)
    assert sensitivity.rescheduled([run], with_it(20.0))["moved_percent"].max() == 0
    assert sensitivity.rescheduled([run], dataclasses.replace(run, tables={})).empty
    flips = sensitivity.rescheduled([run], with_it(1.0))
    assert (flips["verdict"] != flips["usual_verdict"]).all()


def test_the_farthest_move_keeps_its_sign_and_a_shape_alone_moves_nothing():
    common = {"figure": "a", "parameter": "p", "factor": 0.5, "outcome": "", "usual_outcome": ""}
    common |= {"verdict": "", "usual_verdict": ""}
    found = pd.DataFrame(
        [
            {**common, "claim": "one", "moved_percent": 10.0},
            {**common, "claim": "two", "moved_percent": -30.0},
            {**common, "claim": "shape", "moved_percent": float("nan")},
            {**common, "figure": "b", "claim": "shape", "moved_percent": float("nan")},
        ]
    )
    most = sensitivity.farthest(found)
    assert most[["figure", "claim", "moved_percent"]].to_numpy().tolist() == [
        ["a", "two", -30.0],
        ["b", "shape", 0.0],
    ]
    assert not most["flips"].any()


def test_the_newest_runs_that_were_varied_are_found():
    found = sensitivity.varied_runs()
    assert found
    assert all("varied" in each.tables and each.method == "sim" for each in found)


def test_rows_of_several_tables_may_share_their_index():
    common = {"parameter": "p", "factor": 0.5, "claim": "c", "outcome": "", "usual_outcome": ""}
    common |= {"verdict": "", "usual_verdict": ""}
    one, other = (pd.DataFrame([{**common, "figure": name, "moved_percent": 1.0}]) for name in "ab")
    assert len(sensitivity.farthest(pd.concat([one, other]))) == 2
