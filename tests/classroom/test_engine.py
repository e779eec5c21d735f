"""What the engine's exercises are checked against."""

from __future__ import annotations

import pytest

from engineroom.classroom import engine as classroom


@pytest.mark.parametrize("seed", [1, 2])
def test_what_helps_depends_on_the_load_and_not_on_the_seed(seed: int) -> None:
    found = {load: classroom.what_helps(load, seed=seed) for load in classroom.LOADS}
    assert found == {"small": "redo", "hot": "neither", "reads": "neither", "bulk": "both"}


def test_of_three_old_parts_the_last_one_decides_for_changes_of_many_rows() -> None:
    mix, parts = classroom.LOADS["bulk"], set(classroom.PARTS)
    old = classroom.throughput(mix)
    assert all(classroom.throughput(mix, parts - {part}) < 1.3 * old for part in parts)
    assert classroom.throughput(mix, parts) > 2 * old


def test_one_client_waits_for_no_latch() -> None:
    seen = classroom.simulated(classroom.LOADS["small"], clients=1)
    latches = [wait["total_ns"] for wait in seen["waits"] if wait["name"].endswith("_mutex")]
    assert sum(latches) < 0.05 * seen["transactions"] * 1000
