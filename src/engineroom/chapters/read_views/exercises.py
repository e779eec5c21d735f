"""What the read views' exercises are made of and checked against: a script of three sessions, by seed, and what a reader sees."""

from __future__ import annotations

import random
from collections.abc import Sequence

from engineroom._native import read_views as kernel

__all__ = ["LEVELS", "Step", "is_script", "script", "seen"]

LEVELS = ("READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ")
# (session, what) or (session, "write", value): all of them use one row.
Step = tuple[int, str] | tuple[int, str, int]
READER, FIRST, SECOND = 1, 2, 3
MOST_STEPS = 14


def script(seed: int = 0) -> list[Step]:
    """Session 1 reads the only row three times in a transaction, while 2 and then 3 change it; 0 has inserted it.

    No two levels show the same, and somebody commits between the reader's BEGIN and its first read.
    """
    dice = random.Random(f"script-{seed}")
    before, first, second, third = dice.sample(range(10, 100), 4)
    while True:
        ends = dice.choice(("commit", "rollback"))
        writers: list[Step] = [
            (FIRST, "begin"), (FIRST, "write", first), (FIRST, ends),
            (SECOND, "begin"), (SECOND, "write", second), (SECOND, "write", third), (SECOND, "commit"),
        ]  # fmt: skip
        reader: list[Step] = [(READER, "begin"), *[(READER, "read")] * 3]
        places = sorted(dice.sample(range(len(writers) + len(reader)), len(reader)))
        merged = list(writers)
        for place, step in zip(places, reader, strict=True):
            merged.insert(place, step)
        made: list[Step] = [(0, "begin"), (0, "write", before), (0, "commit"), *merged, (READER, "commit")]
        begun, read = made.index((READER, "begin")), made.index((READER, "read"))
        if any(step[1] == "commit" for step in made[begun:read]) and (
            len({tuple(seen(made, level)) for level in LEVELS}) == len(LEVELS)
        ):
            return made


def seen(steps: Sequence[Step], level: str) -> list[int]:
    """The values that the kernel shows to the reader, one per read."""
    database = kernel.Database(level)
    for _ in range(4):
        database.connect()
    found = []
    for session, what, *value in steps:
        if what == "begin":
            database.begin(session)
        elif what == "write":
            database.write(session, 1, value[0])
        elif what == "read":
            found += [value for _, value in database.read(session, 1, 1)]
        elif what == "commit":
            database.commit(session)
        else:
            database.roll_back(session)
    return found


def is_script(steps: Sequence[Step]) -> bool:
    """Whether it begins with an insert, every step is in a transaction, all end, and no two write at the same time."""
    if len(steps) > MOST_STEPS or [step[:2] for step in steps[:3]] != [
        (0, "begin"),
        (0, "write"),
        (0, "commit"),
    ]:
        return False
    is_open: set[int] = set()
    writer = None
    for session, what, *value in steps:
        if session not in (0, READER, FIRST, SECOND) or (session in is_open) == (what == "begin"):
            return False
        if what == "begin":
            is_open.add(session)
        elif what == "write" and session != READER and writer in (None, session) and len(value) == 1:
            writer = session
        elif what in ("commit", "rollback"):
            is_open.discard(session)
            writer = None if writer == session else writer
        elif (session, what) != (READER, "read"):
            return False
    return not is_open
