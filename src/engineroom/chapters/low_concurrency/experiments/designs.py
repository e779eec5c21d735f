"""The chapter's names for what its kernels compare."""

from __future__ import annotations

CONTAINERS = ("list_5_7", "deque_8_0", "deque_9_7", "reserved")
DECODERS = ("v57", "v80", "hoisted", "by_state")
FATAL_PATHS = ("none", "inline_stream", "cold_call", "expect")
