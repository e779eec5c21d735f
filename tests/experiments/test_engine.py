"""The chapter's experiments: small runs of each, and live servers against the kernel."""

from __future__ import annotations

from engineroom.experiments import engine


def test_nothing_is_recorded_as_long_as_no_experiment_is_tested():
    assert dict(engine.RECORD) == {}
