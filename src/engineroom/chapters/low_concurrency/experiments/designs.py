"""The chapter's names for what its kernels compare, and the variants that stand for the server of 5.7 and of 9.7."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

CONTAINERS = ("list_5_7", "deque_8_0", "deque_9_7", "reserved")
DECODERS = ("v57", "v80", "hoisted", "by_state")
FATAL_PATHS = ("none", "inline_stream", "cold_call", "expect")


@dataclass(frozen=True)
class Generation:
    """What a server of some versions has of each cause, by the names of the kernels."""

    container: str  # of the value lists
    decoder: str  # of the record offsets
    fatal_path: str
    commit: str  # of a mini-transaction (the redo log's kernel)


GENERATIONS: Mapping[str, Generation] = {
    "old": Generation("list_5_7", "v57", "none", "5.7"),
    # Writer threads off: the default of 9.7 on a machine of few processors, as the servers here run it.
    "new": Generation("deque_9_7", "v80", "inline_stream", "8.0, writer threads off"),
}
