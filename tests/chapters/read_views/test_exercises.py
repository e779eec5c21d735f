"""A script of sessions is one only if its transactions are."""

from __future__ import annotations

import pytest

from engineroom.chapters.read_views import exercises as read_views

INSERT = [(0, "begin"), (0, "write", 10), (0, "commit")]


def test_scripts_by_seed_are_scripts_but_for_their_length(monkeypatch):
    monkeypatch.setattr(read_views, "MOST_STEPS", 99)
    assert all(read_views.is_script(read_views.script(seed)) for seed in range(20))


@pytest.mark.parametrize(
    "steps",
    [
        [],
        [*INSERT, (1, "read")],
        [*INSERT, (1, "begin")],
        [*INSERT, (1, "begin"), (1, "write", 3), (1, "commit")],
        [*INSERT, (2, "begin"), (2, "read"), (2, "commit")],
        [*INSERT, (2, "begin"), (3, "begin"), (2, "write", 3), (3, "write", 4), (2, "commit"), (3, "commit")],
        [*INSERT, (1, "begin"), *[(1, "read")] * 10, (1, "commit")],
    ],
)
def test_what_is_no_script_is_told(steps):
    assert not read_views.is_script(steps)
