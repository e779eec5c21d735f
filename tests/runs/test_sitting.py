"""A sitting: what its runs say of the machine, and that they are made when it has ended."""

from __future__ import annotations

import pandas as pd
import pytest

from engineroom.runs.sitting import Sitting

ROWS = [{"series": "a", "ns": 1.0}]


def test_the_runs_of_a_sitting_say_the_same_of_the_machine_and_each_its_own() -> None:
    with Sitting("kernel", seed=7) as sitting:
        pass
    one = sitting.run("num-deg-1", ROWS, columns={"ns": "made up"}, threads=2)
    two = sitting.run("num-deg-2", pd.DataFrame(ROWS), columns={}, summary="min", tables={"more": ROWS})
    assert (one.provenance["seed"], one.provenance["threads"]) == (7, 2)
    assert {**two.provenance, "threads": 2} == one.provenance
    assert two.provenance["during"]["wall_s"] >= 0
    assert (one.summary, two.summary) == ("median", "min")
    assert one.method == two.method == "kernel"
    pd.testing.assert_frame_equal(one.table, two.tables["more"])
    assert one.columns == {"ns": "made up"}


def test_a_run_is_not_made_before_the_sitting_has_ended() -> None:
    with Sitting("kernel") as sitting, pytest.raises(RuntimeError, match="make the run after its block"):
        sitting.run("num-deg-1", ROWS, columns={})


def test_an_error_in_a_sitting_comes_out_of_it() -> None:
    with pytest.raises(ValueError, match="made up"), Sitting("kernel"):
        raise ValueError("made up")
