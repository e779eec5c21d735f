"""A small sitting of the hash join's bench, and what ends one."""

from __future__ import annotations

import itertools

import pytest

from engineroom.bench import Sitting
from engineroom.bench.engines import KEYS, Measured, Task
from engineroom.errors import EngineRoomError


@pytest.mark.slow
def test_a_small_sitting_of_the_hash_join_compares_all_engines(monkeypatch):
    """Every engine gives the same answer; which goals hold is not for a test to say."""
    hash_join = pytest.importorskip("engineroom.chapters.hash_join.bench")
    for package in hash_join.PACKAGES:
        pytest.importorskip(package)
    small = tuple((keys, 20_000, 50_000) for keys in KEYS)
    monkeypatch.setattr(hash_join, "DISTRIBUTIONS", small)
    monkeypatch.setattr(hash_join, "SIZES", ((50_000, 100_000, 3.0), (100_000, 100_000, 4.0)))
    monkeypatch.setattr(hash_join, "REPEATS", 1)
    monkeypatch.setattr(hash_join, "MILLION", 1)
    rows = hash_join.bench(Sitting("hash_join"))
    against = rows[: 4 + len(small)]
    assert len(rows) == len(against) + 2 + 2 + 2
    assert all(a_row.name.startswith("join ") and a_row.unit == "CPU s" for a_row in against)
    assert {a_row.peer.split()[0] for a_row in against} <= set(hash_join.PEERS)
    assert [a_row.peer for a_row in rows[len(against) :]] == [None] * 6


def test_one_wrong_answer_among_the_repeats_ends_the_sitting(monkeypatch):
    hash_join = pytest.importorskip("engineroom.chapters.hash_join.bench")
    turns = itertools.count()

    class Engine:
        def __init__(self, name: str, task: Task) -> None:  # noqa: ARG002
            self.name = name

        def __enter__(self):
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def fastest_variant(self) -> str:
            return "only"

        def run(self, variant: str) -> Measured:
            answer = 8 if next(turns) == 5 else 7
            return Measured(cpu_s=1.0, wall_s=1.0, count=answer, sum=0, variant=variant, counters={})

    monkeypatch.setattr(hash_join, "Engine", Engine)
    with pytest.raises(EngineRoomError, match="engines disagree"):
        hash_join._against_peers(Sitting("hash_join"), Task(1, 1, 1))
