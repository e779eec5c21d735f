from __future__ import annotations

import pandas as pd

from engineroom.chapters.binlog import figures
from engineroom.chapters.binlog.numbers import over, surely_never_worth
from engineroom.runs import Run


def levels(**cheaper: float) -> Run:
    """Level 2 lies above the line from 1 to 3, and nothing after 3 saves more; in repeat 0 level 2 may be cheaper."""
    points = {1: (2.0, 0.5), 2: (5.0, 0.47), 3: (6.0, 0.4), 4: (30.0, 0.4), 19: (60.0, 0.41)}
    rows = [
        (kind, kind, level, repeat, ratio, cheaper.get(f"level_{level}", cpu) if repeat == 0 else cpu + 1)
        for kind in figures.KINDS_LEVELS
        for level, (cpu, ratio) in points.items()
        for repeat in (0, 1)
    ]
    columns = ["rows_kind", "series", "level", "repeat", "ratio", "cpu_ns_per_byte"]
    return Run("own-binlog-levels", "kernel", pd.DataFrame(rows, columns=columns), {}, summary="min")


def test_levels_off_the_hull_are_never_worth_it() -> None:
    rows = figures.own_binlog_levels.rows(levels())
    assert figures.worth(figures.points(rows, "orders")) == [0, 1, 3]
    assert figures.never_worth(rows) == surely_never_worth(levels()) == [2, 4, 19]


def test_a_level_is_surely_worth_nothing_if_no_repeat_is_needed_for_that() -> None:
    once = levels(level_2=1.0)  # cheaper than level 1
    assert figures.never_worth(figures.own_binlog_levels.rows(once)) == [1, 4, 19]
    assert surely_never_worth(once) == [4, 19]


def test_a_level_that_only_costs_is_not_worth_it() -> None:
    points = pd.DataFrame({"cpu_ns_per_byte": [0.0, 1.0], "ratio": [1.0, 1.01]}, index=[0, 1])
    assert figures.worth(points) == [0]


def test_throughput_is_over_the_plain_setting_with_as_many_clients() -> None:
    rows = [(n, series, 0, tpm * n) for series, tpm in (("full", 100), ("minimal", 102)) for n in (50, 2000)]
    table = pd.DataFrame(rows, columns=["concurrency", "series", "repeat", "tpmC"])
    ratio = over(Run("fig-7-28", "sim", table, {}), "full")
    assert ratio["minimal"].tolist() == [1.02, 1.02]
