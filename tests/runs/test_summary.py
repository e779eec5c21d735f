"""Repeats become one value in one place."""

from __future__ import annotations

import statistics
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engineroom.runs import Run
from engineroom.runs.summary import (
    SUMMARIES,
    cells,
    paired_ratio,
    several,
    summarise,
    summary_and_repeats,
    values,
    with_spread,
)

MEASURED = st.lists(
    st.tuples(
        st.sampled_from(["old", "new"]),
        st.sampled_from([1, 2, 16]),
        st.one_of(st.none(), st.floats(-1e9, 1e9, allow_subnormal=False)),
    ),
    max_size=30,
)


def table_of(measured: list[tuple[str, int, float | None]]) -> pd.DataFrame:
    """Repeats numbered from 0 in each cell, in the order given."""
    seen: dict[tuple[str, int], int] = defaultdict(int)
    rows = []
    for series, x, value in measured:
        rows.append({"series": series, "x": x, "y": value, "repeat": seen[series, x]})
        seen[series, x] += 1
    return pd.DataFrame(rows, columns=["series", "x", "y", "repeat"]).astype({"y": float})


def cells_of(measured: list[tuple[str, int, float | None]]) -> dict[tuple[str, int], list[float]]:
    found: dict[tuple[str, int], list[float]] = defaultdict(list)
    for series, x, value in measured:
        if value is not None:
            found[series, x].append(value)
    return found


@given(measured=MEASURED)
def test_a_summary_is_what_a_slow_reference_makes_of_each_cell(
    measured: list[tuple[str, int, float | None]],
) -> None:
    for how, statistic in (("median", statistics.median), ("min", min), ("max", max)):
        found = summarise(table_of(measured), "series", "x", y="y", how=how)
        cells = {
            (row.series, row.x): (row.y, row.median, row.least, row.most, row.repeats)
            for row in found.itertuples()
        }
        assert cells == {
            place: (
                pytest.approx(statistic(given)),
                pytest.approx(statistics.median(given)),
                min(given),
                max(given),
                len(given),
            )
            for place, given in cells_of(measured).items()
        }


@given(measured=MEASURED)
def test_repeat_k_is_the_kth_value_of_each_cell_in_turn(
    measured: list[tuple[str, int, float | None]],
) -> None:
    expected = cells_of(measured)
    found_cells = cells(table_of(measured), "series", "x", y="y")
    assert found_cells == expected
    most = max(map(len, expected.values()), default=0)
    for how, statistic in (("median", statistics.median), ("min", min), ("max", max)):
        summary, *found = summary_and_repeats(found_cells, how)
        assert summary == {place: statistic(given) for place, given in expected.items()}
        assert found == [
            {place: given[k % len(given)] for place, given in expected.items()} for k in range(most)
        ]


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_the_rows_changes_no_summary(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "series": random.choice(["a", "b"], 40),
            "x": random.integers(0, 3, 40),
            "y": random.normal(size=40),
            "repeat": range(40),
        }
    )
    shuffled = table.sample(frac=1, random_state=seed)
    for how in SUMMARIES:
        pd.testing.assert_frame_equal(
            summarise(table, "series", "x", y="y", how=how),
            summarise(shuffled, "series", "x", y="y", how=how),
        )


COSTS = pd.DataFrame(
    {
        "series": ["old", "old", "old", "new"],
        "x": [1, 1, 1, 1],
        "repeat": [0, 1, 2, 0],
        "ns": [30.0, 10.0, 11.0, 20.0],
    }
)


def test_the_value_of_cpu_time_is_the_least_and_of_all_else_the_median() -> None:
    assert values(COSTS, "series", y="ns", how="min").to_dict() == {"old": 10.0, "new": 20.0}
    assert values(COSTS, "series", "x", y="ns", how="median").to_dict() == {
        ("old", 1): 11.0,
        ("new", 1): 20.0,
    }


def test_rows_with_their_spread_say_which_of_it_is_the_value() -> None:
    rows = with_spread(COSTS, "series", y="ns", how="min")
    assert rows[["summary", "median", "least", "most"]].to_numpy().tolist() == [
        ["least", 11.0, 10.0, 30.0],
        ["least", 11.0, 10.0, 30.0],
        ["least", 11.0, 10.0, 30.0],
        ["least", 20.0, 20.0, 20.0],
    ]
    assert values(rows, "series", y="ns").to_dict() == {"old": 10.0, "new": 20.0}


def test_cells_can_keep_the_order_in_which_they_appear() -> None:
    assert summarise(COSTS, "series", y="ns", how="median", sort=False)["series"].tolist() == ["old", "new"]
    assert summarise(COSTS, "series", y="ns", how="median")["series"].tolist() == ["new", "old"]


def test_several_columns_are_summarised_alike_and_a_cell_without_a_value_stays_empty() -> None:
    table = pd.DataFrame(
        {"series": ["b", "a", "a", "a"], "ns": [7.0, 1.0, 2.0, 9.0], "waits": [None, 3.0, None, 5.0]}
    )
    found = several(table, "series", ys=["ns", "waits"], how="median")
    assert found.index.tolist() == ["a", "b"]
    assert found.loc["a"].tolist() == [2.0, 4.0]
    assert found["ns"]["b"] == 7.0
    assert np.isnan(found["waits"]["b"])
    pd.testing.assert_frame_equal(found, table.groupby("series")[["ns", "waits"]].median())


def test_an_unknown_summary_is_refused() -> None:
    with pytest.raises(KeyError):
        values(COSTS, "series", y="ns", how="mean")
    with pytest.raises(ValueError, match="not median or min or max"):
        Run("num-deg-3", "sim", COSTS, {}, summary="mean")


def test_a_run_gives_its_values_by_its_own_summary() -> None:
    run = Run(
        "num-deg-3", "kernel", COSTS, {}, tables={"again": COSTS.assign(ns=COSTS["ns"] * 2)}, summary="min"
    )
    assert run.values("series", y="ns").to_dict() == {"old": 10.0, "new": 20.0}
    assert run.values("series", y="ns", table="again").to_dict() == {"old": 20.0, "new": 40.0}
    assert run.values("x", y="ns", where="series == 'new'").to_dict() == {1: 20.0}


def test_a_paired_ratio_is_taken_turn_by_turn_so_that_a_slow_turn_does_not_matter():
    ratio = paired_ratio([2.0, 20.0, 2.2], [1.0, 10.0, 1.0])
    assert ratio.value == pytest.approx(2.0)
    assert ratio.low == pytest.approx(2.0)
    assert ratio.high == pytest.approx(2.2)
    assert ratio.times() == "2.00 times (2.00 to 2.20)"
    assert paired_ratio([0.9, 1.2], [1.0, 1.0]).times() == "1.05 times (0.90 to 1.20: equal within noise)"
