"""What an intention lock looks at, on live servers and in engines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from engineroom.chapters.engine.experiments import table_locks
from engineroom.machine.presets import parameters
from engineroom.runs import newest
from engineroom.simulating.engine import of_design
from engineroom.simulating.experiment import Given

SHORT = {"first_ms": 5, "longest_ms": 5, "warmup_ms": 5}


def test_engines_look_at_locks_as_their_servers_do_and_else_as_the_figures() -> None:
    given = Given(machine=parameters(table_locks.table_locks_sim.machine), load=table_locks._loads(), seed=1)
    for series, design in table_locks.DESIGNS.items():
        point = {"series": series, "concurrency": 60}
        seen = {
            looks: table_locks._measure({**point, "looks": looks}, given, **SHORT).rows[0]["tps"]
            for looks in ("flat", "as its server")
        }
        load = given.load["of"]["5.7.22" if series == "5.7" else "8.0.31"]
        (usual,) = of_design(point, Given(machine=given.machine, load=load, seed=1), **SHORT).rows
        assert seen["flat"] == usual["tps"]
        assert seen["as its server"] > 0
        assert load["designs"][series]["lock_design"] == design.lock_design


def test_what_each_lock_costs_is_the_difference_between_two_tables_over_the_locks() -> None:
    run = newest("own-table-locks", "live")
    # Two rounds: 8 and 24 us longer on the same table, with 800 others; with fewer nothing is read.
    rows = [
        {
            "series": "9.7.4",
            "server": "9.7.4",
            "where": where,
            "others": others,
            "repeat": repeat,
            "cpu_us": us,
        }
        for others, repeat, where, us in (
            (800, 0, "the same table", 108.0),
            (800, 0, "another table", 100.0),
            (800, 1, "the same table", 64.0),
            (800, 1, "another table", 40.0),
            (200, 0, "the same table", 500.0),
            (200, 0, "another table", 40.0),
        )
    ]
    found = table_locks.each_ns(run.with_table(pd.DataFrame(rows)))
    assert found.to_dict() == {"9.7.4": pytest.approx(20)}


@pytest.mark.parametrize(("slope_ns", "came_out"), [(12, True), (2, False)])
def test_the_expectation_hangs_on_what_5_7_and_8_0_15_compute(slope_ns: float, came_out: bool) -> None:
    run = newest("own-table-locks", "live")
    table = run.table.copy()
    is_old = table["server"].isin(["5.7.22", "8.0.15"])
    is_same: Any = table["where"] == "the same table"
    table["cpu_us"] = 100.0 + np.where(is_old & is_same, slope_ns * table["others"] / 1000, 0.0)
    assert [is_so(run.with_table(table)) for is_so in table_locks.CLAIMS.values()] == [came_out, True]


@pytest.mark.live
def test_each_round_has_both_tables_and_both_numbers_of_idle_transactions() -> None:
    run = table_locks.table_locks_live(versions=["9.7.4"], others=(2, 5), rounds=2)
    counts = run.table.groupby(["others", "where"]).size()
    assert counts.to_dict() == dict.fromkeys([(n, where) for n in (2, 5) for where in table_locks.PLACES], 2)
    assert run.table["cpu_us"].between(5, 5_000).all()
