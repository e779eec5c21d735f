"""Our rows and the published ones in one form."""

from __future__ import annotations

import pandas as pd
import pytest

from engineroom import runs
from engineroom.errors import EngineRoomError
from engineroom.ledger.claims import figures
from engineroom.ledger.verdicts import judge
from engineroom.runs import Run, published, side_by_side
from engineroom.runs.summary import values

LOADED = pd.DataFrame(
    {
        "build": ["before", "before", "after", "after"],
        "series": "load_time",
        "repeat": [0, 1, 0, 1],
        "load_time_minutes": [10.0, 12.0, 2.0, 3.0],
        "commits": [5, 5, 5, 5],
    }
)
COLUMNS = ["repeat", "load_time_minutes", "source", "method", "summary", "median", "least", "most"]


def test_published_rows_follow_ours_in_the_same_columns() -> None:
    table = side_by_side.rows(Run("fig-7-02", "sim", LOADED, {}))
    assert list(table.columns) == ["build", "series", *COLUMNS]
    assert table["source"].tolist() == ["ours"] * 4 + ["published"] * 2
    of = values(table, "source", "build", y="load_time_minutes")
    assert of.to_dict() == {
        ("ours", "after"): 2.5,
        ("ours", "before"): 11.0,
        ("published", "after"): 16.0,
        ("published", "before"): 77.0,
    }


def test_the_sources_own_word_for_y_becomes_ours() -> None:
    assert published.rows("num-fs-2").columns[-1] == "count"
    theirs = published.in_our_columns("num-fs-2")
    assert list(theirs.columns) == ["query", "series", published.columns("num-fs-2")[1]]


def test_further_columns_are_taken_along_and_empty_where_the_source_has_none() -> None:
    table = side_by_side.rows(Run("fig-7-02", "sim", LOADED, {}), keep=["commits"], where="build == 'after'")
    assert table["commits"].tolist() == [5, 5, ""]


def test_a_figure_of_our_own_has_rows_without_published_ones() -> None:
    run = Run("own-loads", "sim", LOADED, {})
    table = side_by_side.rows(run, by=("build", "series"), y="load_time_minutes")
    assert list(table.columns) == ["build", "series", *COLUMNS[:2], "commits", *COLUMNS[2:]]
    assert set(table["source"]) == {"ours"}


def test_a_cell_measured_twice_in_one_repeat_is_refused() -> None:
    with pytest.raises(EngineRoomError, match="twice in one repeat"):
        side_by_side.rows(Run("fig-7-02", "sim", LOADED.assign(repeat=0), {}))


@pytest.mark.parametrize(
    "figure", [id for id in figures() if any(runs.latest(id, method) for method in runs.METHODS)]
)
def test_what_is_drawn_beside_the_published_rows_is_what_was_judged(figure: str) -> None:
    for method in runs.METHODS:
        x, y = published.columns(figure, method)
        run = runs.latest(figure, method)
        if run is None:
            continue
        table = side_by_side.rows(run)
        drawn = values(table[table["source"] == "ours"], "series", x, y=y)
        assert drawn.equals(run.values("series", x, y=y))
        assert judge(run).repeats == table[table["source"] == "ours"].groupby(["series", x]).size().max()


def test_the_value_of_a_cell_is_found_by_its_place_series_first() -> None:
    table = side_by_side.rows(Run("fig-7-02", "sim", LOADED, {}))
    assert side_by_side.cell(table) == (("build", "series"), "load_time_minutes")
    assert side_by_side.ours(table).to_dict() == {
        ("load_time", "after"): 2.5,
        ("load_time", "before"): 11.0,
    }
    assert side_by_side.theirs(table)["load_time", "before"] == 77.0


@pytest.mark.parametrize(("summary", "of_after"), [("median", 2.5), ("min", 2.0)])
def test_values_over_a_reference_are_ratios_within_each_source(summary: str, of_after: float) -> None:
    table = side_by_side.rows(Run("fig-7-02", "live", LOADED, {}, summary=summary))
    ratios = side_by_side.over(table, "times", "build == 'after'")
    assert side_by_side.cell(ratios) == (("build", "series"), "times")
    assert ratios["times"].tolist() == pytest.approx(
        [10 / of_after, 12 / of_after, 2 / of_after, 3 / of_after, 77 / 16, 1]
    )
    assert ratios["load_time_minutes"].equals(table["load_time_minutes"])
    assert ratios[ratios["build"] == "before"]["least"].tolist() == pytest.approx(
        [10 / of_after, 10 / of_after, 77 / 16]
    )


def test_a_reference_can_be_another_one_in_each_part() -> None:
    costs = pd.DataFrame(
        {
            "operation": ["a", "a", "b", "b"],
            "series": ["old", "new"] * 2,
            "repeat": 0,
            "us": [2.0, 3.0, 10.0, 5.0],
        }
    )
    table = side_by_side.rows(Run("own-costs", "live", costs, {}), by=("operation", "series"), y="us")
    times = side_by_side.over(table, "times", "series == 'old'", "operation")
    assert times["times"].tolist() == [1.0, 1.5, 1.0, 0.5]
