"""What limits a crowd: expectations over rows made by hand, and a crowd of few on a live server."""

from __future__ import annotations

import shutil

import pandas as pd
import pytest

from engineroom.chapters.engine.experiments import cures
from engineroom.chapters.engine.figures import own_engine_cures
from engineroom.errors import EngineRoomError
from engineroom.runs import Run


def crowd(**limited: float) -> Run:
    """A server with a pool and one without; `limited` are ratios of the pool with a limit, on hot rows in a crowd, to none."""
    rows = [
        {
            "clients": n,
            "series": load,
            "setting": setting,
            "server": server,
            "repeat": repeat,
            **dict.fromkeys(("tps", "lock_waits_per_1000"), 100.0 * n),
            "switches": 2.0 if setting in cures.CONCURRENCY else 1.0,
            **(
                {name: 100.0 * n * ratio for name, ratio in limited.items()}
                if (setting, load, n) == (cures.LIMITED, cures.HOT, 64)
                else {}
            ),
        }
        for server, settings in {
            "5.7.22": cures.CONCURRENCY,
            "9.7.4": cures.CONCURRENCY | cures.POOLS,
        }.items()
        for setting in settings
        for load in cures.LOADS
        for n in (1, 64)
        for repeat in range(3)
    ]
    return Run(cures.FIGURE, "live", pd.DataFrame(rows), {})


def test_a_cure_is_over_the_same_server_with_as_many_clients_and_servers_without_it_are_left_out():
    run = crowd(tps=1.5)
    assert cures.in_crowd(run, "tps", cures.HOT, cures.LIMITED).to_dict() == {"9.7.4": 1.5}
    assert cures.in_crowd(run, "tps", cures.HOT, cures.THROTTLED).to_dict() == {"5.7.22": 1, "9.7.4": 1}


@pytest.mark.parametrize(
    ("limited", "came_out"),
    [
        ({"tps": 1.5, "lock_waits_per_1000": 0.2}, [True, True, True, True, True]),
        ({"tps": 1.05, "lock_waits_per_1000": 0.2}, [True, True, False, True, True]),
        ({"tps": 1.5, "lock_waits_per_1000": 0.7}, [True, False, True, True, True]),
    ],
)
def test_an_expectation_fails_with_the_count_that_it_is_about(limited, came_out):
    run = crowd(**limited)
    assert [is_so(run) for is_so in cures.CLAIMS.values()] == came_out


def test_the_figure_has_a_row_per_server_and_cure_of_the_largest_crowd():
    table = own_engine_cures.rows(crowd(tps=1.5))
    assert list(dict.fromkeys(table["cured"])) == [
        "5.7.22, thread concurrency",
        "9.7.4, thread concurrency",
        "9.7.4, pool",
        "9.7.4, pool, limit",
    ]
    words = own_engine_cures.words(table)
    assert "With 64 clients" in words.caption
    assert "9.7.4, pool: 1.00 and 1.00 times; 9.7.4, pool, limit: 1.50 and 1.00 times." in words.caption


def test_without_sysbench_the_reader_is_told(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(EngineRoomError, match="sysbench"):
        cures.cures_live()


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("sysbench") is None, reason="sysbench is not installed: apt-get install sysbench"
)
def test_each_cure_lets_a_crowd_of_9_7_work_and_hot_rows_are_waited_for():
    # With few rows, sixteen transactions meet on evenly drawn ones, too.
    run = cures.cures_live(versions=["9.7"], clients=(16,), repeats=1, table_rows=20_000)
    seen = run.table.set_index(["series", "setting"])
    assert set(seen.index) == {
        (load, setting) for load in cures.LOADS for setting in (*cures.CONCURRENCY, *cures.POOLS)
    }
    assert (seen[["transactions", "cpu_us", "switches"]] > 0).all(axis=None)
    waits = seen["lock_waits_per_1000"]
    assert waits[cures.HOT, cures.NONE] > waits[cures.UNIFORM, cures.NONE]
