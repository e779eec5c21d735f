"""The chapter's experiments: what differs between the two series of each, and a small run."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from engineroom.chapters.trx_sys import experiments as trx_sys

WINDOW: dict[str, Any] = {"first_ms": 5, "longest_ms": 5, "warmup_ms": 5}


@pytest.mark.parametrize("designs", [trx_sys.TWO_MUTEXES, trx_sys.SHARDS], ids=["7-8", "7-9"])
def test_the_two_series_differ_in_the_transaction_systems_latches_alone(designs: Any) -> None:
    before, after = (asdict(designs[series]) for series in ("before", "after"))
    assert before.pop("latches") != after.pop("latches")
    assert before == after


def test_one_change_begins_where_the_other_ended() -> None:
    assert trx_sys.SHARDS["before"] == trx_sys.TWO_MUTEXES["after"]


def test_a_run_says_its_designs_and_who_was_waited_for() -> None:
    run = trx_sys.two_mutexes_sim(concurrency=(150,), seeds=(1,), **WINDOW)
    assert {name: of["latches"] for name, of in run.provenance["load"]["designs"].items()} == {
        "before": "8.0",
        "after": "8.0, split",
    }
    assert (run.table["transactions"] > 0).all()
    of = run.tables["latches"].groupby("series")["latch"].agg(set)
    assert "trx_sys_mutex" in of["before"] & of["after"]
    assert "trx_sys_serialisation_mutex" in of["after"] - of["before"]
