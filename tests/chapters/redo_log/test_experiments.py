"""The redo log's simulated figures: a recorded point is simulated again, and equal to the last digit."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import pandas as pd
import pytest

from engineroom import runs
from engineroom._native import redo_log as kernel
from engineroom.chapters.redo_log import experiments as redo_log
from engineroom.chapters.redo_log.experiments import designs, simulated, whole_engine
from engineroom.machine.presets import parameters
from engineroom.simulating.executors import HERE

# Each figure's points that take the least time, one a series; those of the last four take many seconds.
AGAIN = {
    "fig-7-01": (whole_engine.throughput_engine_sim, {"concurrency": (50,)}),
    "fig-7-06": (simulated.flushes_sim, {"concurrency": (1,)}),
    "num-ch7-1": (whole_engine.few_clients_engine_sim, {"concurrency": (1,)}),
    "num-deg-3": (simulated.commit_cost_sim, {"threads": (1, 2)}),
    "own-redo-few-clients": (simulated.few_clients_sim, {"concurrency": (1,)}),
    "own-redo-throughput": (simulated.throughput_sim, {"concurrency": (50,)}),
    "fig-7-02": (simulated.load_time_sim, {}),
    "fig-7-04": (simulated.where_time_goes_sim, {}),
    "fig-7-05": (simulated.where_time_goes_sim, {}),
    "own-redo-engine-profile": (whole_engine.profile_engine_sim, {}),
}
KEYS = ("series", "repeat", "concurrency", "threads", "build", "component", "caller", "name", "latch")
LONG = ("fig-7-02", "fig-7-04", "fig-7-05", "own-redo-engine-profile")


@pytest.fixture(scope="module", autouse=True)
def simulated_once():
    """Of what two figures ask alike, the same run is told to both: each makes its own rows of it."""
    simulate, made = simulated._simulate, {}

    def once(series, given, **how):
        asked = repr((series, given, how))
        if asked not in made:
            made[asked] = simulate(series, given, **how)
        return copy.deepcopy(made[asked])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulated, "_simulate", once)
        yield


def as_recorded(value):
    """With the digits of a recorded CSV."""
    return float(f"{value:.12g}") if isinstance(value, float) else value


def same_rows(run, recorded):
    """The simulated rows with the digits of a CSV, and the recorded ones of the same points."""
    seen = [{name: as_recorded(value) for name, value in row.items()} for row in run.to_dict("records")]
    keys = [name for name in run.columns if name in KEYS]
    known = {tuple(row[name] for name in keys): row for row in recorded.to_dict("records")}
    return seen, [known[tuple(row[name] for name in keys)] for row in seen]


@pytest.mark.parametrize(
    "figure", [pytest.param(figure, marks=pytest.mark.slow) if figure in LONG else figure for figure in AGAIN]
)
def test_a_recorded_point_is_simulated_again_to_the_last_digit(figure):
    simulate, points = AGAIN[figure]
    recorded = runs.latest(figure, "sim")
    made = simulate(
        seeds=(recorded.provenance["seed"],), machine=recorded.provenance["machine"], executor=HERE, **points
    )
    run = next(each for each in (made if isinstance(made, list) else [made]) if each.figure == figure)
    seen, known = same_rows(run.table, recorded.table)
    assert seen == known
    assert set(run.table["series"]) == set(recorded.table["series"])
    assert recorded.provenance["load"].items() <= run.provenance["load"].items()
    for name, table in run.tables.items():
        again, then = same_rows(table, recorded.tables[name])
        assert again == then


def test_every_simulated_figure_that_can_be_recorded_is_simulated_again():
    also = redo_log.MADE_TOGETHER["fig-7-04", "sim"]
    assert {figure for figure, method in redo_log.RECORD if method == "sim"} | {*also} == set(AGAIN)


def test_a_series_is_a_design_that_the_kernel_knows():
    assert {design.name for design in designs.SERIES.values()} == set(designs.DESIGNS)
    for name in designs.DESIGNS:
        seen = kernel.simulate(design=name, parameters={}, load={"clients": 1}, run_ns=5_000_000)
        assert seen["transactions"] > 0


def test_the_machine_of_a_recording_is_the_one_of_the_book():
    for figure in AGAIN:
        made = runs.latest(figure, "sim").provenance
        assert made["machine"] == parameters(made["machine_name"])


def test_the_claims_on_the_engines_profile_can_be_true_and_false():
    """Made-up profiles: one that has all three, and for each claim one that lacks it."""
    claims = whole_engine.PROFILE_CLAIMS

    def held(old: Mapping[str, float], new: Mapping[str, float], callers: Mapping[str, float]) -> list[bool]:
        table = pd.DataFrame(
            [
                {"series": series, "repeat": 0, "component": name, "share_percent": share}
                for series, shares in (("old_redo", old), ("new_redo", new))
                for name, share in shares.items()
            ]
        )
        by = [
            {"series": "old_redo", "repeat": 0, "caller": name, "share_percent": share}
            for name, share in callers.items()
        ]
        run = runs.Run("own-redo-engine-profile", "sim", table, {}, tables={"callers": pd.DataFrame(by)})
        return [holds(run) for holds in claims.values()]

    old = {"statement": 60.0, "log_reservation": 30.0, "row_lock": 6.0, "rollback": 4.0}
    new = {"statement": 95.0, "log_reservation": 5.0}
    callers = {"mtr_commit": 90.0, "log_write_up_to": 10.0}
    assert held(old, new, callers) == [True, True, True]
    assert held({**old, "row_lock": 31.0}, new, callers) == [False, True, True]
    assert held({"statement": 70.0, "log_reservation": 30.0}, new, callers) == [False, True, True]
    assert held(old, {"log_reservation": 31.0}, callers) == [True, False, True]
    assert held(old, {"statement": 100.0}, callers) == [True, True, True]
    assert held(old, new, {"mtr_commit": 49.0, "log_write_up_to": 51.0}) == [True, True, False]
    assert held(old, new, {"mtr_commit": 100.0}) == [True, True, False]
