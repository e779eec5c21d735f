"""The comparison of the two machines: what is fitted, what is held out, what counts as an error."""

from __future__ import annotations

import pandas as pd
import pytest

from engineroom.experiments import machine as experiment
from engineroom.figures import own_machine_real


@pytest.fixture(scope="module")
def run():
    return experiment.real_against_simulated(
        clients=(2,), crowds=(4,), repeats=1, crowd_repeats=1, run_ms=20, sim_ms=20, rounds=1
    )


def test_every_load_is_measured_and_simulated(run):
    for series in experiment.SERIES:
        mine = run.table[run.table["series"] == series]
        assert set(mine["load"]) == set(experiment.LOADS)
        assert (mine.loc[mine["load"] != "f", "commits_per_s"] > 0).all()


def test_the_fit_sees_no_held_out_load(monkeypatch):
    asked = []

    def simulated(load, _design, _clients, parameters, **_):
        asked.append(load)
        return {"commits_per_s": parameters["wake_ps"] / 1e6}

    monkeypatch.setattr(experiment, "_simulated", simulated)
    real = pd.DataFrame(
        {
            "load": load,
            "design": design,
            "clients": 2,
            "is_held_out": load in experiment.HELD_OUT,
            "commits_per_s": 4 * experiment.preset("laptop").values()["wake_ps"] / 1e6,
        }
        for load in experiment.LOADS
        for design in experiment.DESIGNS
    )
    fitted, tried = experiment._fit(real, (2,), run_ms=1, rounds=1)
    assert set(asked) == set(experiment.FITTED)
    assert fitted["wake_ps"] == 4 * experiment.preset("laptop").values()["wake_ps"]
    assert tried[-1]["error"] < 0.01 < tried[0]["error"]


def test_errors_are_of_medians_and_the_farthest_comes_first():
    rows = [
        {"load": load, "design": "5.7", "clients": 2, "is_held_out": True, "series": series,
         "repeat": repeat, "commits_per_s": value, "fsyncs_per_commit": 1.0}
        for load, series, values in (
            ("d", "real", (90, 100, 500)), ("d", "simulated", (110, 110, 110)),
            ("e", "real", (100, 100, 100)), ("e", "simulated", (70, 70, 70)),
        )
        for repeat, value in enumerate(values)
    ]  # fmt: skip
    found = experiment.errors(pd.DataFrame(rows))
    assert found["load"].tolist() == ["e", "d"]
    assert found["commits_per_s_off_percent"].tolist() == pytest.approx([-30, 10])


def test_figure_says_the_errors_of_the_held_out_loads(run):
    table = own_machine_real.rows(run)
    off = table.loc[table["is_held_out"], "commits_per_s_off_percent"].abs()
    assert f"{off.max():.0f} % at most" in own_machine_real.words(table).alt
