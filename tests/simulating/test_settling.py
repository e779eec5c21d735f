"""One run whose window grows until it is long enough."""

from __future__ import annotations

from functools import partial

import pytest

from engineroom import _native
from engineroom.simulating.settling import WINDOW, settled

LOAD = {"clients": 4, "statements": 1, "statement_ns": 100_000, "commit_mtrs": 2, "mtr_bytes": 100}


def simulated(**load):
    return partial(
        _native.redo_log.simulate, design="5.7", parameters={"cores_per_socket": 4}, load={**LOAD, **load}
    )


def test_a_steady_load_is_settled_soon():
    seen = settled(simulated())
    assert seen["is_settled"]
    assert seen["half_width_percent"] <= 2
    assert WINDOW["first_ms"] <= seen["window_ms"] < 1000
    assert seen["transactions"] >= 5 * LOAD["clients"]


def test_rare_transactions_take_a_longer_window():
    soon, late = settled(simulated(), first_ms=10), settled(simulated(away_ns=500_000), first_ms=10)
    assert late["window_ms"] > soon["window_ms"]
    assert late["is_settled"]


def test_a_point_that_is_not_settled_says_so():
    seen = settled(simulated(away_ns=200_000_000), first_ms=10, longest_ms=20)
    assert not seen["is_settled"]
    assert seen["window_ms"] == 20


def test_the_window_is_the_same_run_however_it_grew():
    """What a window of that length counts from its start, the first of them included."""
    grown = settled(simulated(), first_ms=10)
    again = simulated()(run_ns=grown["window_ns"], warmup_ns=210_000_000)
    assert (again["transactions"], again["fsyncs"]) == (grown["transactions"], grown["fsyncs"])
    assert again["waits"] == grown["waits"]


@pytest.mark.parametrize("warmup_ms", [0, 50])
def test_neither_the_warmup_nor_the_end_is_counted(warmup_ms):
    """Times of all threads are as many windows as there are threads, whatever lies before."""
    seen = simulated()(run_ns=20_000_000, warmup_ns=warmup_ms * 1_000_000)
    by_client = sum(ps for path, _, ps in seen["activities"] if path[0] == "client")
    assert by_client / 1e12 == pytest.approx(LOAD["clients"] * 0.02, rel=0.02)
    assert sum(map(sum, seen["core_ps"].tolist())) / 1e12 == pytest.approx(4 * 0.02, rel=0.02)
