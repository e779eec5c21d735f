from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from engineroom.ledger import sensitivity
from engineroom.ledger.sensitivity import SEED
from engineroom.machine import presets
from engineroom.runs import Run
from engineroom.validation import formulas, numbers
from engineroom.validation.experiments import real


@pytest.mark.slow
def test_the_machine_agrees_with_every_formula_and_comes_out_as_recorded():
    found = formulas.validate()
    assert len(found) == 39
    assert found[~found["holds"]]["case"].tolist() == []
    pd.testing.assert_frame_equal(found, numbers.checked[found.columns], check_exact=False, rtol=1e-11)


def point(load, design, clients, rates, simulated, *, fsyncs=(1.0, 1.0), **more):
    """Real and simulated runs of a point, one a throughput."""
    at = {"load": load, "design": design, "clients": clients, "is_held_out": load in real.HELD_OUT}
    return [
        {**at, "commits_per_s": rate, "fsyncs_per_commit": per_commit, "processors_used": 1.0, "series": series, "repeat": i, **more}
        for series, of, per_commit in zip(("real", "simulated"), (rates, simulated), fsyncs, strict=True)
        for i, rate in enumerate(of)
    ]  # fmt: skip


def compared(*points):
    table = pd.DataFrame([row for each in points for row in each])
    return Run("own-machine-real", "host", table, {}, n=1)


def test_only_points_that_the_fit_has_not_seen_miss_a_goal():
    run = compared(
        point("a", "5.7", 1, [100.0], [150.0]),
        point("d", "5.7", 2, [100.0, 300.0, 110.0], [121.0]),  # the median of the real ones is 110
        point("e", "8.0", 2, [1000.0], [950.0], fsyncs=(1.0, 1.2)),
        point("f", "5.7", 4, [100.0], [130.0]),
    )
    found = numbers.held_out(real.errors(run.table)).set_index("load")
    assert found["throughput"].round().to_dict() == {"f": 30, "d": 10, "e": 5}
    assert found["misses"].to_dict() == {"f": True, "d": False, "e": True}


def test_runs_lie_apart_by_the_point_that_varies_most():
    table = compared(
        point("f", "5.7", 4, [100.0, 175.0], [100.0]), point("f", "5.7", 8, [100.0, 110.0], [1.0])
    ).table.query("series == 'real'")
    assert numbers.apart(table, "clients") == 1.75


def test_one_client_at_the_gate_is_told_from_its_least_to_its_most():
    run = compared(
        point("g", "8.0", 1, [1400.0, 1500.0], [1480.0, 1520.0]),
        point("g", "8.0", 2, [9.0], [9.0]),
        point("g", "5.7", 1, [9.0], [9.0]),
    )
    assert numbers.gate_per_s(run).loc["real"].tolist() == [1400, 1500]
    assert numbers.gate_per_s(run).loc["simulated"].tolist() == [1480, 1520]


def test_costs_are_told_from_picoseconds(monkeypatch):
    quantiles = [each * 1_000_000 for each in range(1001)]  # 0 to 1000 us
    monkeypatch.setattr(numbers, "parameters", {"timer_ps": 14_000_000, "wake_quantiles_ps": quantiles})
    assert (numbers.us("timer_ps"), numbers.us("wake_quantiles_ps")) == (14, 500)
    assert numbers.twentieths_us("wake_quantiles_ps") == (50, 950)


def test_a_case_is_told_in_its_unit(monkeypatch):
    names = ["M/M/1 response time", "closed network throughput", "commits per fsync"]
    values = [2_500_000, 1.5e-6, 1.23456]
    found = {
        "case": names,
        "formula": values,
        "simulated": values,
        "off_percent": 0.1,
        "half_width_percent": 1.0,
    }
    monkeypatch.setattr(numbers, "checked", pd.DataFrame(found))
    assert numbers.cases_table().rows["formula"].tolist() == ["2.5 ms", "1,500 a second", "1.235"]


def test_times_are_in_the_unit_that_keeps_them_short():
    said = [numbers.time_said(ps) for ps in (999, 1000, 40_500, 3_000_000, 4_000_000_000)]
    assert said == ["999 ps", "1 ns", "40.5 ns", "3 us", "4 ms"]


def test_a_machine_that_lacks_a_parameter_has_a_dash(monkeypatch):
    def preset(name, **values):
        made = (presets.Parameter(each, value, "cited", "a paper") for each, value in values.items())
        return presets.Preset(name, f"The {name}", tuple(made))

    large = preset("large", cores=88, smt_permille=1500, copy_ps_per_kib=[40_000, 50_000])
    monkeypatch.setattr(numbers, "_machines", lambda: [preset("small", cores=2), large])
    table = numbers.machines_table().rows
    assert list(table) == ["parameter", "small", "large"]
    assert table.to_numpy().tolist() == [
        ["cores", "2", "88"],
        ["smt", "-", "1.5"],
        ["copy a KiB", "-", "40 ns"],
    ]
    assert ":::{dropdown} The large (`large`)" in numbers.machines_sources()
    assert "| `smt_permille` | 1.5 | cited | a paper |" in numbers.machines_sources()


def test_a_study_names_its_source_and_the_numbers_that_are_its_own():
    first, _, _ = numbers.studies_sources().partition(":::\n\n")
    assert "https://" in first
    assert "`wake_ps`" not in first, "a number of the preset"


def test_the_lock_that_is_farthest_off_stands_first():
    off = [float(each.removesuffix(" %")) for each in numbers.studies_table().rows["off, median"]]
    assert off == sorted(off, key=abs, reverse=True)


def test_numbers_that_move_a_figure_are_told_with_where_they_come_from(monkeypatch):
    columns = ["figure", "parameter", "factor", "claim", "moved_percent", "flips", "outcomes_changed"]
    rows = [
        ("fig-7-06", SEED, 1, "peak", 300.0, False, 0),
        ("fig-7-06", "wake_ps", 0.5, "peak", -38.0, True, 1),
        ("fig-7-06", "wake_ps", 1.5, "peak", 6.0, False, 0),
        ("fig-7-02", "pause_ps", 0.5, "ratio", 20.0, False, 0),
        ("own-machine-crowds", "load_ps", 0.5, "ratio", -9.0, False, 0),
    ]
    monkeypatch.setattr(numbers, "moves", lambda: pd.DataFrame(rows, columns=columns))
    assert numbers.varied_figures() == ["fig-7-02", "fig-7-06"]
    assert numbers.figures_flipped() == "fig-7-06 (1)"
    table = numbers.moving_table().rows
    assert table["number"].tolist() == ["wake", "pause"]
    assert table.iloc[0].tolist()[1:3] == ["3 us", "fig-7-06 -38 % (times 0.5)"]
    assert numbers.moves_run().figure == "own-machine-sensitivity"


def test_moves_of_the_studies_stand_beside_those_of_the_figures(monkeypatch):
    monkeypatch.setattr(sensitivity, "varied_runs", list)
    found = numbers.moves.__wrapped__()
    assert set(found["figure"]) == {"own-machine-crowds"}
    assert not found["flips"].any()


def test_a_verdict_that_flips_and_the_farthest_ratio_are_told_by_figure(monkeypatch):
    rows = [
        ("fig-7-06", "peak", 9900.0, "holds", "fails", "partly", "reproduced"),
        ("fig-7-06", "shape", float("nan"), "holds", "holds", "partly", "reproduced"),
        ("fig-7-09", "ratio", -12.0, "holds", "holds", "partly", "partly"),
    ]
    columns = ["figure", "claim", "moved_percent", "outcome", "usual_outcome", "verdict", "usual_verdict"]
    monkeypatch.setattr(numbers, "rescheduled", lambda: pd.DataFrame(rows, columns=columns))
    assert numbers.flipped() == "fig-7-06 (reproduced, now partly)"
    assert numbers.rescheduled_moves()["figure"].tolist() == ["fig-7-09", "fig-7-06"]
    assert numbers.configuration_table().rows.to_numpy().tolist() == [
        ["fig-7-06", "reproduced", "partly", "1 of 2", "times 100"],
        ["fig-7-09", "partly", "partly", "0 of 1", "-12 %"],
    ]


def test_cores_are_told_by_what_their_time_was_used_for():
    used = np.array([[60, 10, 10, 10, 10, 0], [40, 0, 0, 0, 60, 0]])
    assert numbers.use_of_cores({"two cores": {"core_ps": used}}).rows.to_numpy().tolist() == [
        ["two cores", "50.0 %", "5.0 %", "5.0 %", "5.0 %", "35.0 %", "0.0 %"]
    ]


def test_a_crowd_is_what_its_figure_draws():
    run = numbers.crowd()
    assert run.figure == "own-machine-flame"
    assert {"path", "state", "ns"} <= set(run.table)
