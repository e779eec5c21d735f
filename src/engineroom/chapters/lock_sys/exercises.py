"""What the lock system's exercises are made of and checked against: ranges, waits and jobs, by seed."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engineroom._native import lock_sys as kernel

__all__ = ["Job", "Read", "blocked", "can_deadlock", "inserts_that_wait", "jobs", "locks", "ranged", "reads"]


def ranged(seed: int = 0) -> tuple[list[int], int, int]:
    """Ids of a table, and a range whose ends are rows or not; `high` is never the last row, behind which the end would be locked, too."""
    dice = random.Random(f"range-{seed}")
    rows = sorted(dice.sample(range(10, 90), 5))
    low, high = sorted(dice.sample(sorted({*rows[:-1], *dice.sample(range(5, rows[-1]), 6)}), 2))
    return rows, low, high


def inserts_that_wait(rows: Sequence[int], low: int, high: int, level: str) -> list[int]:
    """The ids from 1 to 99 that the kernel of 9.7 lets nobody insert behind a locking read of the range."""

    def waits(number: int) -> bool:
        table = kernel.Playground(
            design="9.7",
            reads_committed=[level == "READ COMMITTED", False],
            columns=1,
            rows=[[row] for row in rows],
        )
        table.read(0, low=low, high=high)
        return table.insert(1, [number]) == "waits"

    return [number for number in range(1, 100) if number not in rows and waits(number)]


@dataclass(frozen=True)
class Read:
    """SELECT ... WHERE id BETWEEN low AND high FOR UPDATE, on a table with these ids."""

    rows: tuple[int, ...]
    low: int
    high: int
    level: str


def reads(seed: int = 0) -> dict[str, Read]:
    """Four reads A to D: a range that begins at a row, one that ends at one, a single id that is not there, and READ COMMITTED."""
    dice = random.Random(f"reads-{seed}")

    def table() -> tuple[int, ...]:
        return tuple(sorted(dice.sample(range(10, 90, 2), 5)))

    one, two, three, four = table(), table(), table(), table()
    between = dice.choice(three[1:]) - 1  # odd, so that no row has it
    made = [
        Read(one, one[1], one[3] - 1, "REPEATABLE READ"),
        Read(two, two[0] + 1, two[3], "REPEATABLE READ"),
        Read(three, between, between, "REPEATABLE READ"),
        Read(four, four[0], four[3] - 1, "READ COMMITTED"),
    ]
    dice.shuffle(made)
    return dict(zip("ABCD", made, strict=True))


def locks(read: Read) -> dict[int, str]:
    """LOCK_MODE of each record that the kernel of 9.7 locks, by its id, as performance_schema.data_locks shows it."""
    table = kernel.Playground(
        design="9.7",
        reads_committed=[read.level == "READ COMMITTED"],
        columns=1,
        rows=[[row] for row in read.rows],
    )
    table.read(0, low=read.low, high=read.high)
    return {int(data): mode for _, index, mode, data, _ in table.locks() if index == 0}


def blocked(seed: int = 0) -> tuple[list[tuple[int, int]], int]:
    """Waits of a server, as pairs of a waiting and a blocking session, and the session whose transaction has to end.

    A long queue behind one session, and a short one whose head blocks more sessions directly.
    """
    dice = random.Random(f"blocked-{seed}")
    numbers = dice.sample(range(10, 99), 14)
    long, other = numbers[:8], numbers[8:]
    waits = [(behind, ahead) for ahead, behind in itertools.pairwise(long[:5])]
    # At the end of the long queue two wait beside each other, so that no session of it blocks as many as the short one's head.
    waits += [(long[5], long[4]), (long[6], long[4]), (long[7], long[5])]
    waits += [(behind, other[0]) for behind in other[1:5]]
    dice.shuffle(waits)
    return waits, long[0]


@dataclass(frozen=True)
class Job:
    """A transaction: the rows that it updates, and of two of them which comes first."""

    name: str
    rows: tuple[int, ...]
    first: int
    then: int


def jobs(seed: int = 0) -> list[Job]:
    """Four jobs over six rows. There is an order of all rows that suits them; that of the keys does not, nor each job for itself."""
    dice = random.Random(f"jobs-{seed}")
    while True:
        whole = dice.sample(range(1, 7), 6)
        made = []
        for name in "ABCD":
            rows = sorted(dice.sample(whole, dice.choice((3, 4))), key=whole.index)
            first, then = sorted(dice.sample(rows, 2), key=whole.index)
            made.append(Job(name, tuple(sorted(rows)), first, then))
        if any(job.first > job.then for job in made) and can_deadlock(
            {job.name: _alone(job) for job in made}
        ):
            return made


def _alone(job: Job) -> list[int]:
    """By the key, but what must come first stands just before the other."""
    rows = [row for row in job.rows if row != job.first]
    rows.insert(rows.index(job.then), job.first)
    return rows


def can_deadlock(orders: Mapping[str, Sequence[int]]) -> bool:
    """Whether transactions that lock their rows for writing in these orders, and let go at their end, can be a deadlock.

    Tries every interleaving: a state is how many rows each has locked.
    """
    each = [list(order) for order in orders.values()]
    start = (0,) * len(each)
    seen, new = {start}, [start]
    while new:
        state = new.pop()
        held = {row for order, n in zip(each, state, strict=True) if n < len(order) for row in order[:n]}
        going = [i for i, order in enumerate(each) if state[i] < len(order)]
        free = [i for i in going if each[i][state[i]] not in held]
        if going and not free:
            return True
        for i in free:
            after = (*state[:i], state[i] + 1, *state[i + 1 :])
            if after not in seen:
                seen.add(after)
                new.append(after)
    return False
