"""How long a reader waits for a simulated figure."""

from __future__ import annotations

import functools

import pytest

from engineroom.bench import Sitting
from engineroom.chapters.redo_log.experiments.simulated import flushes_sim


def test_the_time_of_a_figure_is_its_row_and_what_its_processes_took_its_note(monkeypatch):
    redo_log = pytest.importorskip("engineroom.chapters.redo_log.bench")
    short = functools.partial(flushes_sim, concurrency=(1, 2), first_ms=5, longest_ms=5)
    monkeypatch.setattr(redo_log, "FIGURES", {"7-6": short})
    sitting = Sitting("redo_log")
    (row,) = redo_log._figures(sitting)
    assert "figure 7-6" in row.name
    assert row.goal == "<= 30"
    assert row.ours == pytest.approx(row.ratio, abs=0.01)
    # Two processes at most, and each of them computes.
    assert 0 < sitting.notes["simulated figures, CPU s"]["7-6"] <= 2.5 * row.ours
