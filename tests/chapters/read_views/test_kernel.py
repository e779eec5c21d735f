"""Read views from Python: the rules beside a slow reference, histories against the oracle, refused arguments."""

from __future__ import annotations

import numpy as np
import pytest

from engineroom._native import read_views as kernel
from engineroom.chapters.read_views.experiments.histories import DESIGNS, FAILURES


def slow_snapshot(seed: int) -> tuple[int, set[int], int, set[int]]:
    """A random past as a list of events: (the counter, ids still active, the reader's own id, ids committed)."""
    rng = np.random.default_rng(seed)
    counter, active, committed = 1, set[int](), set[int]()
    for _ in range(60):
        if not active or rng.random() < 0.5:
            active.add(counter)
        else:
            done = int(rng.choice(sorted(active)))
            active.remove(done)
            committed.add(done)  # its number takes a value of the counter, too
        counter += 1
    own = int(rng.choice(sorted(active))) if active and seed % 2 else 0
    return counter, active, own, committed


@pytest.mark.parametrize("seed", range(20))
def test_a_view_shows_what_had_been_committed_and_its_own_changes(seed: int) -> None:
    counter, active, own, committed = slow_snapshot(seed)
    ids = sorted(active | committed | set(range(counter, counter + 5)))
    shown = kernel.changes_visible(ids, low_limit_id=counter, active=sorted(active), creator_id=own)
    assert shown == [each in committed or each == own for each in ids]


def test_an_active_id_beyond_the_counter_is_refused() -> None:
    with pytest.raises(ValueError, match="an active id is 12 and low_limit_id is 10"):
        kernel.changes_visible([1], low_limit_id=10, active=[3, 12])


@pytest.mark.parametrize("name", DESIGNS)
def test_every_read_of_a_history_is_what_its_snapshot_says(name: str) -> None:
    design = DESIGNS[name]
    seen = kernel.histories({"runs": 60, "seed": 5_000}, latches=design.latches, views=design.views)
    assert seen["is_clean"], seen["first_failure"]
    assert [seen[failure] for failure in FAILURES] == [0] * len(FAILURES)
    assert seen["reads"] > 30_000
    assert seen["purged"] == seen["commits"]


def test_a_stale_view_that_is_used_again_is_found_and_named_by_its_seed() -> None:
    seen = kernel.histories({"runs": 40}, latches="5.7", mistake="reuses_stale")
    assert seen["wrong_reads"] > 0
    assert seen["first_failure"].startswith("seed ")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"latches": "5.6", "views": "removed", "mistake": "reuses_stale"}, "cannot make the mistake"),
        ({"latches": "4.0"}, "latches must be '5.6'"),
        ({"latches": "5.7", "config": {"runs": 0}}, "runs"),
    ],
)
def test_what_cannot_be_run_is_refused(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        kernel.histories(**arguments)


MACHINE = {"cores_per_socket": 8}
LOAD = {"clients": 8, "away_ns": 100_000, "write_percent": 20}


def simulated(views: str, **load: int) -> dict[str, int]:
    seen: dict[str, int] = kernel.simulate(
        parameters=MACHINE,
        load={**LOAD, **load},
        trx_sys={"latches": "5.7", "views": views},
        run_ns=5_000_000,
        warmup_ns=2_000_000,
    )
    return seen


def test_purge_walks_over_the_views_of_idle_sessions_unless_they_leave_the_list() -> None:
    kept, removed = (simulated(views, idle_clients=300) for views in ("kept", "removed_at_once"))
    assert kept["views_in_list"] >= 300
    assert kept["views_walked"] >= 290 * kept["clones"]
    assert removed["views_in_list"] <= 8
    assert removed["views_walked"] <= removed["clones"]


def test_where_nobody_writes_views_are_used_again_without_the_mutex() -> None:
    kept, removed = (simulated(views, write_percent=0) for views in ("kept", "removed_at_once"))
    assert kept["views_made"] == 0
    assert kept["views_reused"] > 100
    assert removed["views_reused"] == 0
    # Opening and closing, and purge that looks now and then.
    assert 1.9 < (removed["mutex"] - removed["clones"]) / removed["transactions"] < 2.1
