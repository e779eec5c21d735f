"""Primitives that are measured on this machine."""

from __future__ import annotations

import pytest

native = pytest.importorskip("engineroom._native").machine


def test_copying_and_writing_64_kib_take_times_that_this_machine_can_measure():
    copy_ns, write_ns = native.copy_beside_write()
    assert 100 < copy_ns < 1e6
    assert 100 < write_ns < 1e6


def test_a_line_is_handed_over_in_a_time_that_this_machine_can_measure():
    assert 1 < native.line_transfer(hand_overs=1000) < 1e6
    with pytest.raises(ValueError, match="hand_overs must be at least 1, got 0"):
        native.line_transfer(hand_overs=0)
