"""What the engine's exercises are checked against."""

from __future__ import annotations

import random

import numpy as np
import pytest

from engineroom.chapters.engine import exercises as classroom
from engineroom.chapters.engine import loads


@pytest.mark.parametrize("seed", [1, 2])
def test_what_helps_depends_on_the_load_and_not_on_the_seed(seed: int) -> None:
    found = {load: classroom.what_helps(load, seed=seed) for load in loads.LOADS}
    assert found == {"small": "redo", "hot": "neither", "reads": "neither", "bulk": "both"}


def test_of_three_old_parts_the_last_one_decides_for_changes_of_many_rows() -> None:
    mix, parts = loads.LOADS["bulk"], set(loads.PARTS)
    old = loads.throughput(mix)
    assert all(loads.throughput(mix, parts - {part}) < 1.3 * old for part in parts)
    assert loads.throughput(mix, parts) > 2 * old


def test_one_client_waits_for_no_latch() -> None:
    seen = loads.simulated(loads.LOADS["small"], clients=1)
    latches = [wait["total_ns"] for wait in seen["waits"] if wait["name"].endswith("_mutex")]
    assert sum(latches) < 0.05 * seen["transactions"] * 1000


@pytest.mark.parametrize("number", range(20))
def test_a_crowd_has_one_peak_and_behind_it_more_clients_do_no_more(number: int) -> None:
    server = classroom.crowd(random.Random(number))
    per_second = np.array([server.throughput(n) for n in range(1, classroom.MOST_CLIENTS + 1)])
    peak = per_second.argmax()
    assert per_second.max() == pytest.approx(server.most)
    assert (np.diff(per_second[: peak + 1]) > -1e-6).all()
    assert (np.diff(per_second[peak:]) < 1e-6).all()
    assert (per_second[-1] < 0.5 * per_second.max()) == (server.slowed > 0 and peak < 512)


def test_a_crowd_of_one_waits_for_nobody() -> None:
    assert classroom.Crowd(20, 180, 0.1).throughput(1) == pytest.approx(5_000)
    with pytest.raises(ValueError, match="not 0"):
        classroom.Crowd(20, 180, 0.1).throughput(0)


def test_a_crowd_s_throughput_is_what_clients_do_that_are_played_one_by_one() -> None:
    server, clients, dice = classroom.Crowd(20, 180, 0.05), 12, random.Random(7)
    there, now_us, done = 0, 0.0, 0
    while done < 40_000:
        comes = (clients - there) / server.away_us
        goes = 1 / (server.held_us * (1 + server.slowed * (there - 1))) if there else 0
        now_us += dice.expovariate(comes + goes)
        is_done = dice.random() < goes / (comes + goes)
        there += -1 if is_done else 1
        done += is_done
    assert 1_000_000 * done / now_us == pytest.approx(server.throughput(clients), rel=0.03)


@pytest.mark.parametrize("clients", [1, 20, 50])
def test_the_engine_stays_below_the_bounds_that_the_exercises_estimate(clients: int) -> None:
    cycle_us, widest = 33 + 20, 88 / 20  # away and at one of 88 processors
    bound = 1_000_000 * min(clients / cycle_us, widest)
    assert loads.throughput(loads.LOADS["reads"], clients=clients) <= 1.05 * bound
