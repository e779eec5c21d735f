"""The engine chapters' figures are simulated again by the code that recorded them, and judged by processor time."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from engineroom.bench import Sitting
from engineroom.bench.figures import Took
from engineroom.chapters.engine import bench as engine_bench
from engineroom.recording import made_together, recipes


def test_each_figure_is_simulated_by_what_records_it() -> None:
    assert {(*figure, "sim") for figure in engine_bench.FIGURES.values()} <= recipes().keys()
    for name, (chapter, figure) in engine_bench.FIGURES.items():
        of_number = "fig-{}-{:02}".format(*map(int, name.split("-")))
        assert of_number in {figure, *made_together().get((chapter, figure, "sim"), ())}


def test_a_figure_is_judged_by_processor_time_over_two_and_the_explorable_if_nobody_else_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    took = {"7-9": Took(900.0, 118.0), "7-18": Took(10.0, 122.0), "7-19": Took(1.0, 350.0)}
    monkeypatch.setattr(engine_bench, "simulated_again", lambda _sitting, _figures: took)
    monkeypatch.setattr(engine_bench, "quiet_browser", nullcontext)
    monkeypatch.setattr(
        engine_bench, "settings_ms", lambda _browser, _word, settings: [*[5.0] * (settings - 1), 301.0]
    )
    explorable, *rows = engine_bench.bench(Sitting("engine", load_before=9.0))
    quiet, *_ = engine_bench.bench(Sitting("engine", load_before=0.0))
    assert [(each.ours, each.goal, each.holds) for each in rows] == [
        (59.0, "<= 60", True),
        (61.0, "<= 60", False),
        (175.0, "<= 180", True),
    ]
    assert {each.unit for each in rows} == {"CPU s of each"}
    assert (explorable.ours, explorable.goal, explorable.holds) == (301, "<= 300", None)
    assert quiet.holds is False
