"""The chapter's names for what it compares, from the page to the kernel: a series of a recorded table, and the log behind it.

The kernel knows `DESIGNS` and nothing else. A series is named after the figure of the source that it stands beside, so one log has
several names there; what a name means is said here alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

DESIGNS = ("5.6", "5.7", "8.0", "8.0, writer threads off")


@dataclass(frozen=True)
class Design:
    """A log as the kernel knows it, and what differs from its defaults."""

    name: str
    log: Mapping[str, int] = field(default_factory=dict)


SERIES: Mapping[str, Design] = {
    # Before and after the new log, where a figure of the source has such columns or lines.
    "before": Design("5.7"),
    "after": Design("8.0"),
    "old_redo": Design("5.7"),
    "new_redo": Design("8.0"),
    # Figure 7-6: the source's curve is called by what it counts. Beside it ours.
    "flushes": Design("8.0"),
    "5.6": Design("5.6"),
    "writer_threads_off": Design("8.0, writer threads off"),
    "no_cpu_gate": Design("8.0", {"cpu_gate": 0}),
    # The degradation article's commits of mini-transactions.
    "mtr_5_7": Design("5.7"),
    "mtr_8_0": Design("8.0"),
    "mtr_8_0_writer_threads_off": Design("8.0, writer threads off"),
}

# The series of each kind of figure, in its order.
BUILDS = ("before", "after")
LOGS = ("old_redo", "new_redo")
FLUSHES = ("flushes", "old_redo", "5.6", "writer_threads_off", "no_cpu_gate")
COMMITS = ("mtr_5_7", "mtr_8_0", "mtr_8_0_writer_threads_off")
