"""How stable a verdict is: all resamples at once give what each would give alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engineroom.ledger import resampling
from engineroom.ledger.claims import figure, figures
from engineroom.ledger.rows import FRAGILE_BELOW
from engineroom.ledger.verdicts import _resampled, fragile, judge, stability
from engineroom.runs import Run
from engineroom.runs.summary import cells

SIZE = 40


def run_of(figure_id, values, method="live", **more):
    """A run with `{series: {x: repeats}}`."""
    subject = figure(figure_id)
    rows = [
        {subject.x: x, "series": series, subject.y_column("live"): value, "repeat": repeat}
        for series, cells in values.items()
        for x, given in cells.items()
        for repeat, value in enumerate(given)
    ]
    return Run(figure_id, method, pd.DataFrame(rows), {}, **more)


WITH_ROWS = [each.id for each in figures().values() if each.claims and each.published_rows()]


@pytest.mark.parametrize("figure_id", WITH_ROWS)
def test_every_claim_is_answered_for_many_rows_as_for_each_alone(figure_id):
    subject, rng = figure(figure_id), np.random.default_rng(1)
    many = {
        series: {x: value * rng.lognormal(0, 0.3, SIZE) for x, value in cells.items()}
        for series, cells in subject.published_rows().items()
    }
    for claim in subject.claims:
        together = resampling.evaluate_many(claim.expr, many, SIZE)
        np.testing.assert_allclose(
            together.astype(float), [resampling._one(claim.expr, many, i) for i in range(SIZE)]
        )


@pytest.mark.parametrize(
    "expression",
    [
        'max(x for x in y["a"] if y["a"][x] > 1) > 1',  # which rows are read depends on values
        'max([x for x in y["a"] if y["a"][x] > 1]) > 1',  # of some resamples no row is
        'max([x for x in y["a"] if y["a"][x] >= max(y["a"][k] for k in y["a"])]) > 1',
        'y["a"][min([x for x in y["a"] if x > 1])] > 1',
        '1 / (y["a"][1.0] - y["a"][1.0] + (y["a"][1.0] > 1))',  # some divide by zero
        'not (y["a"][1.0] > 1 or y["a"][2.0] < 1)',
        'sorted([y["a"][1.0], y["a"][2.0], 1])[1]',
        'len([x for x in y["a"] if y["a"][x] > 1 and x > 1])',
        'y["a"][1.0] > 1 and y["b"][1.0] > 1',  # a series that some would not have asked for
    ],
)
def test_what_depends_on_values_is_answered_row_by_row(expression):
    rng = np.random.default_rng(2)
    many = {"a": {1.0: rng.lognormal(size=SIZE), 2.0: rng.lognormal(size=SIZE)}}
    together = resampling.evaluate_many(expression, many, SIZE)
    np.testing.assert_array_equal(
        together.astype(float), [resampling._one(expression, many, i) for i in range(SIZE)]
    )


PLANS = {"index_nested_loop": {"9.7.4": [3.0, 3.1, 2.9]}, "hash_join": {"9.7.4": [1.0, 1.1, 0.9]}}


def test_the_verdict_of_a_resample_is_the_verdict_of_a_run_with_its_rows():
    values = {
        "index_nested_loop": {"5.7": [3.0, 1.2, 2.0]},
        "hash_join": {"9.7": [1.0, 1.6, 0.9]},
        "reversed_order_without_hash": {"9.7": [1.1, 0.8, 2.0]},
    }
    run = run_of("fig-7-23", values)
    found = _resampled(run, judge(run))
    measured = cells(run.table, "series", "server", y="server_cpu_s")
    resamples = resampling.draw(measured, how="median", name="fig-7-23.live")
    for i in range(0, resampling.DRAWS, 37):
        drawn = {
            series: {place: values.reshape(4, -1)[1:, i].tolist()}
            for (series, place), values in resamples.items()
        }
        assert judge(run_of("fig-7-23", drawn)).verdict == found[i]
    assert len(set(found)) > 1


def test_values_far_from_every_boundary_are_stable_and_scattered_ones_are_not():
    clear = run_of("fig-7-22", PLANS)
    assert stability(clear, judge(clear), None) == 1
    scattered = run_of("fig-7-22", {**PLANS, "hash_join": {"9.7.4": [1.0, 3.0, 5.0]}})
    seen = stability(scattered, judge(scattered), None)
    assert 0 < seen < FRAGILE_BELOW
    assert stability(scattered, judge(scattered), None) == seen  # the same draws each time


def test_a_verdict_that_no_run_decides_has_no_stability():
    run = run_of("fig-7-22", PLANS, not_attributable="one core")
    assert stability(run, judge(run), None) is None


def test_of_a_varied_machine_no_more_than_the_share_of_variations_counts():
    subject = {"mtr_5_7": {1: [100.0]}, "mtr_8_0": {1: [200.0]}, "mtr_8_0_writer_threads_off": {1: [200.0]}}
    run = run_of("num-deg-3", subject, method="sim")
    other = run.table.assign(nanoseconds=[100.0, 50.0, 50.0])
    varied = [run.table.assign(parameter=f"p{i}", factor=0.5) for i in range(3)]
    varied.append(other.assign(parameter="p3", factor=0.5))
    run = replace(run, tables={"varied": pd.concat(varied)})
    assert fragile(run) == ("p3 x 0.5: contradicted",)
    assert stability(run, judge(run), fragile(run)) == 0.75
    assert fragile(replace(run, tables={})) is None


def test_a_flip_to_partly_is_told_like_any_other():
    """Three of four directions and shapes hold on the varied machine: the verdict is another, though not the opposite."""
    values = {
        "index_nested_loop": {"5.7": [4.0], "9.7": [3.0]},
        "hash_join": {"9.7": [1.0]},
        "reversed_order_without_hash": {"9.7": [2.0]},
    }
    run = run_of("fig-7-23", values, method="sim")
    slower = run.table.copy()
    slower.loc[slower["series"] == "reversed_order_without_hash", "server_cpu_s"] = 0.5
    run = replace(run, tables={"varied": slower.assign(parameter="rmw_ps", factor=1.5)})
    assert judge(run).verdict == "reproduced"
    assert fragile(run) == ("rmw_ps x 1.5: partly",)
    back = replace(run, table=slower, tables={"varied": run.table.assign(parameter="rmw_ps", factor=1.5)})
    assert fragile(back) == ("rmw_ps x 1.5: reproduced",)


def test_variations_of_one_seed_are_held_against_that_seed():
    """Its repeats leave the run undecided, which one seed alone never is."""
    values = {"index_nested_loop": {"9.7.4": [3.0, 1.0, 3.0]}, "hash_join": {"9.7.4": [2.0, 2.0, 2.0]}}
    run = run_of("fig-7-22", values, method="sim")
    first = run.table[run.table["repeat"] == 0]
    run = replace(run, tables={"varied": first.assign(parameter="rmw_ps", factor=0.5)})
    assert (judge(run).verdict, fragile(run)) == ("undecided", ())
