"""A client on one processor and the thread that serves it on another, so that neither moves, and neither takes the other's turn."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["apart", "on_processor"]


def apart() -> tuple[int, int]:
    """The numbers of a processor for the server's thread and of one for its client: the same one where the computer has no other."""
    ours = os.sched_getaffinity(0)
    return min(ours), max(ours)


@contextmanager
def on_processor(number: int) -> Iterator[None]:
    """This thread, and the programs that it starts in the block, run on that processor alone.

    OSError for a number that this computer does not have.
    """
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {number})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
