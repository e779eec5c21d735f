"""What the hash join exercises are made of and checked against: cases by seed, and the kernels' own counts."""

from __future__ import annotations

import functools
import importlib.resources
import random
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from engineroom import _native

__all__ = [
    "ALGORITHMS",
    "Case",
    "Plan",
    "cases",
    "columns",
    "counted_work",
    "plans",
    "reference_join",
    "work",
]

Algorithm = Literal["index", "block", "hash"]
ALGORITHMS: tuple[Algorithm, ...] = ("index", "block", "hash")

# Counters that make up `work`: two keys compared, one look-up in a hash table, one row read.
WORK = ("comparisons", "hash_probes", "build_rows_read", "probe_rows_read")


@dataclass(frozen=True)
class Case:
    """One join: every outer row has one match among the inner rows, whose keys are distinct."""

    outer_rows: int
    inner_rows: int
    is_indexed: bool  # is there an index on the inner rows' key?
    join_buffer_bytes: int = 262_144

    def algorithms(self) -> tuple[Algorithm, ...]:
        """The algorithms that can run it."""
        return ALGORITHMS if self.is_indexed else ALGORITHMS[1:]


BOOK_CASES = (
    Case(20, 100_000, is_indexed=True),
    Case(10_000, 1_000, is_indexed=True),
    Case(5_000, 1, is_indexed=False),
    Case(4_000, 4_000, is_indexed=False, join_buffer_bytes=16_384),
    Case(1_000, 100_000, is_indexed=True),
    Case(6_000, 10_000, is_indexed=True),
)


def cases(seed: int = 0) -> dict[str, Case]:
    """The six joins to predict, called A to F. Seed 0 gives the book's; another one other sizes in another order."""
    chosen = list(BOOK_CASES)
    if seed:
        dice = random.Random(seed)
        chosen = [
            Case(
                round(case.outer_rows * dice.uniform(0.8, 1.25)),
                round(case.inner_rows * dice.uniform(0.8, 1.25)),
                case.is_indexed,
                case.join_buffer_bytes,
            )
            for case in chosen
        ]
        dice.shuffle(chosen)
    return dict(zip("ABCDEF", chosen, strict=True))


@functools.cache
def work(case: Case, algorithm: Algorithm) -> int:
    """Runs `case` in a kernel and returns its counted work: rows read, keys compared, hash tables looked into."""
    if algorithm not in case.algorithms():
        raise ValueError(f"algorithm={algorithm!r}: choose one of {case.algorithms()}")
    dice = np.random.default_rng(case.outer_rows)
    inner = dice.permutation(case.inner_rows).astype(np.int64)
    outer = dice.integers(case.inner_rows, size=case.outer_rows, dtype=np.int64)
    kernels = _native.hash_join
    if algorithm == "index":
        result = kernels.index_nested_loop(inner, outer, output="count")
    elif algorithm == "block":
        result = kernels.block_nested_loop(
            inner, outer, join_buffer_bytes=case.join_buffer_bytes, output="count"
        )
    else:
        result = kernels.hybrid(inner, outer, join_buffer_bytes=case.join_buffer_bytes, output="count")
    return counted_work(result.counters)


def counted_work(counters: dict[str, int]) -> int:
    """The counters of `WORK`, added up."""
    return sum(counters[name] for name in WORK)


def columns(keys: Sequence[int | None]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """A list of keys with None for NULL, as the kernels want it: the values, and which of them are NULL."""
    is_null = np.array([key is None for key in keys], dtype=bool)
    values = np.array([0 if key is None else key for key in keys], dtype=np.int64)
    return values, is_null


def reference_join(
    build: Sequence[int | None], probe: Sequence[int | None], join: str = "inner"
) -> list[tuple[int | None, int]]:
    """The nested loop kernel's result as (build row, probe row), in probe order; None for a missing build row."""
    build_key, build_null = columns(build)
    probe_key, probe_null = columns(probe)
    nested_loop = cast(Callable[..., Any], _native.hash_join.nested_loop)
    rows = nested_loop(build_key, probe_key, join=join, build_null=build_null, probe_null=probe_null).rows
    return [(None if row["build_row"] < 0 else int(row["build_row"]), int(row["probe_row"])) for row in rows]


@dataclass(frozen=True)
class Plan:
    """A statement and what `EXPLAIN FORMAT=TREE` printed for it on MySQL 9.7.4."""

    sql: str
    text: str


def plans(*, hidden: bool = False) -> dict[str, Plan]:
    """The recorded plans by their letter; with `hidden`, those for the hidden tests, too."""
    recorded = tomllib.loads(importlib.resources.files(__package__).joinpath("plans.toml").read_text())
    chosen = recorded["shown"] | (recorded["hidden"] if hidden else {})
    return {letter: Plan(plan["sql"], plan["plan"]) for letter, plan in chosen.items()}
