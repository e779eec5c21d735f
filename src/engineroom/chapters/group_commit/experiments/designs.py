"""The chapter's names for what it compares, from the page to the kernel: a series of a recorded table, and the two logs behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

DESIGNS = ("5.5", "5.6", "5.7.6")


@dataclass(frozen=True)
class Design:
    """How transactions commit, and over which redo log."""

    commit: str
    redo: str


SERIES: Mapping[str, Design] = {
    "serialised": Design("5.5", "5.6"),
    # The source's table: 5.6, and 5.6 with its change.
    "original": Design("5.6", "5.6"),
    "modified": Design("5.7.6", "5.6"),
}

# The live servers, as the kernel can stand for them. 9.7 has its log threads off where CPUs are few and the binlog is on.
SERVERS: Mapping[str, Design] = {
    "5.6": Design("5.6", "5.6"),
    "5.7": Design("5.7.6", "5.7"),
    "8.0.15": Design("5.7.6", "8.0"),
    "8.0.31": Design("5.7.6", "8.0"),
    "9.7": Design("5.7.6", "8.0, writer threads off"),
}
