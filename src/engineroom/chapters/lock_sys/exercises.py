"""What the lock system's exercises are made of and checked against: waits, jobs and reads, by seed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from engineroom._native import lock_sys as kernel

__all__ = ["blocked", "can_deadlock", "jobs", "locks", "reads"]


def reads(seed: int = 0) -> dict[str, dict[str, Any]]:
    """Four reads A to D: a range that begins at a row, one that ends at one, a single id that is not there, and READ COMMITTED."""
    dice = random.Random(f"reads-{seed}")

    def table() -> list[int]:
        return sorted(dice.sample(range(10, 90, 2), 5))

    one, two, three, four = table(), table(), table(), table()
    between = dice.choice(three[1:]) - 1  # odd, so that no row has it
    made: list[dict[str, Any]] = [
        {"rows": rows, "low": low, "high": high, "level": level}
        for rows, low, high, level in (
            (one, one[1], one[3] - 1, "REPEATABLE READ"),
            (two, two[0] + 1, two[3], "REPEATABLE READ"),
            (three, between, between, "REPEATABLE READ"),
            (four, four[0], four[3] - 1, "READ COMMITTED"),
        )
    ]
    dice.shuffle(made)
    return dict(zip("ABCD", made, strict=True))


def locks(read: Mapping[str, Any]) -> dict[int, str]:
    """LOCK_MODE of each record that the kernel of 9.7 locks, by its id, as performance_schema.data_locks shows it."""
    table = kernel.Playground(
        design="9.7",
        reads_committed=[read["level"] == "READ COMMITTED"],
        columns=1,
        rows=[[row] for row in read["rows"]],
    )
    table.read(0, low=read["low"], high=read["high"])
    return {int(data): mode for _, index, mode, data, _ in table.locks() if index == 0}


def blocked(seed: int = 0) -> list[tuple[int, int]]:
    """Waits of a server, as pairs of a waiting and a blocking session: two queues or more, of any shape, one of them the longest.

    Mostly another session than its head blocks more of them directly. Some wait for several that are ahead of them.
    """
    dice = random.Random(f"blocked-{seed}")
    while True:
        sessions, heads = dice.sample(range(10, 999), dice.randint(7, 18)), dice.randint(2, 4)
        reach = dice.choice((1, 2, 4, 18))  # how far ahead one is for whom another waits: 1 is a chain
        waits = {
            (sessions[place], sessions[dice.randrange(max(0, place - reach), place)])
            for place in range(heads, len(sessions))
            for _ in range(dice.choice((1, 1, 1, 2, 3)))
        }
        waits |= {(dice.choice(sessions[heads:]), head) for head in sessions[:heads]}
        behind = {head: _behind(waits, head) for head in sessions[:heads]}
        direct = Counter(other for _, other in waits)
        longest = max(behind, key=lambda head: behind[head])
        is_plain = direct[longest] == max(direct.values())
        if list(behind.values()).count(behind[longest]) == 1 and (not is_plain or dice.random() < 0.2):
            return dice.sample(sorted(waits), len(waits))


def _behind(waits: set[tuple[int, int]], head: int) -> int:
    found: set[int] = set()
    new = {head}
    while new:
        new = {one for one, other in waits if other in new} - found
        found |= new
    return len(found)


def jobs(seed: int = 0) -> list[dict[str, Any]]:
    """Transactions: the rows that each updates, and of two of them which comes `first` and which `then`.

    There is an order of all rows that suits them; that of the keys does not, nor each job for itself.
    """
    dice = random.Random(f"jobs-{seed}")
    while True:
        whole = dice.sample(range(1, 100), 6)
        made: list[dict[str, Any]] = []
        for name in "ABCDE"[: dice.randint(3, 5)]:
            rows = sorted(dice.sample(whole, dice.choice((2, 3, 4))), key=whole.index)
            first, then = sorted(dice.sample(rows, 2), key=whole.index)
            made.append({"name": name, "rows": sorted(rows), "first": first, "then": then})
        if any(job["first"] > job["then"] for job in made) and can_deadlock(
            {job["name"]: _alone(job) for job in made}
        ):
            return made


def _alone(job: Mapping[str, Any]) -> list[int]:
    """By the key, but what must come first stands just before the other."""
    rows = [row for row in job["rows"] if row != job["first"]]
    rows.insert(rows.index(job["then"]), job["first"])
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
