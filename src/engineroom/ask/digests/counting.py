"""Events of a slow log, counted by digest, user, host or database."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from engineroom.ask.digests.fingerprint import digest_of
from engineroom.ask.digests.slow_log import Event

__all__ = ["GROUPS", "Counted", "Group", "counted"]

GROUPS: dict[str, Callable[[Event], str]] = {
    "digest": lambda event: digest_of(event.statement),
    "user": lambda event: event.user or "(no user)",
    "host": lambda event: event.host or "(no host)",
    "db": lambda event: event.database or "(no database)",
}
_MOST_HELD = 64 * 2**20  # characters of all groups' names and statements
_OF_GROUP = 1000  # what a group takes besides


@dataclass
class Group:
    """Events that are counted together. `statement` is the one that took longest, `log_s` what all took in the log."""

    name: str
    statement: str = ""
    count: int = 0
    log_s: float = 0.0
    longest_s: float = -1.0
    lock_s: float = 0.0
    rows_sent: int = 0
    rows_examined: int = 0
    times: Counter[float] = field(default_factory=Counter, repr=False)  # by seconds to three digits

    def add(self, event: Event) -> None:
        """Count one event."""
        self.count += 1
        self.log_s += event.seconds
        self.lock_s += event.lock_s
        self.rows_sent += event.rows_sent
        self.rows_examined += event.rows_examined
        self.times[float(f"{event.seconds:.3g}")] += 1
        if event.seconds > self.longest_s:
            self.statement, self.longest_s = event.statement, event.seconds

    def within(self, share: float) -> float:
        """The seconds, to three digits, within which this share of the events ended."""
        left = math.ceil(share * self.count)
        for seconds in sorted(self.times):
            left -= self.times[seconds]
            if left <= 0:
                return min(seconds, self.longest_s)
        return self.longest_s


@dataclass
class Counted:
    """What a log holds: its groups, what took most time first, and what was left out."""

    by: str
    groups: list[Group] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    rare: Group = field(default_factory=lambda: Group("rare"))  # groups let go of, to bound memory
    events: int = 0
    log_s: float = 0.0
    first_at: str = ""
    last_at: str = ""
    one_of: int = 1  # what the server sampled the log from, at most

    def share(self, group: Group) -> float:
        """A group's part of the log's time."""
        return group.log_s / self.log_s if self.log_s else 0.0

    def json(self) -> dict[str, Any]:
        """Everything as plain JSON types."""
        return {
            "by": self.by,
            "events": self.events,
            "log_s": round(self.log_s, 6),
            "first_at": self.first_at or None,
            "last_at": self.last_at or None,
            "one_of": self.one_of,
            "skipped": dict(self.skipped),
            "rare": {"count": self.rare.count, "log_s": round(self.rare.log_s, 6)},
            "groups": [
                {
                    self.by: each.name,
                    "count": each.count,
                    "share": round(self.share(each), 6),
                    "log_s": round(each.log_s, 6),
                    "p50_s": each.within(0.5),
                    "p95_s": each.within(0.95),
                    "max_s": each.longest_s,
                    "lock_s": round(each.lock_s, 6),
                    "rows_sent": each.rows_sent,
                    "rows_examined": each.rows_examined,
                    "longest_statement": each.statement,
                }
                for each in self.groups
            ],
        }


def counted(
    found: Iterable[Event],
    skipped: Counter[str],
    *,
    by: str = "digest",
    numbered_names_apart: bool = False,
    since: str = "",
    until: str = "",
    most_held: int = _MOST_HELD,
) -> Counted:
    """Count events by one of GROUPS, those from `since` on and before `until`: texts as Event.at has them, or nothing."""
    name_of, groups, counted = GROUPS[by], dict[str, Group](), Counted(by, skipped=skipped)
    if numbered_names_apart:
        name_of = _numbered_names_apart
    held = 0
    for event in found:
        if since or until:
            if not event.at:
                skipped["an event without a time"] += 1
                continue
            if event.at < since or (until and event.at >= until):
                continue
        counted.events += 1
        counted.log_s += event.seconds
        counted.one_of = max(counted.one_of, event.one_of)
        if event.at:
            counted.first_at = min(counted.first_at or event.at, event.at)
            counted.last_at = max(counted.last_at, event.at)
        name = name_of(event)
        group = groups.get(name)
        if group is None:
            group = groups[name] = Group(name)
            held += _OF_GROUP + len(name)
        held -= len(group.statement)
        group.add(event)
        held += len(group.statement)
        if held > most_held:
            held -= _let_go(groups, counted.rare)
    counted.groups = sorted(groups.values(), key=lambda each: -each.log_s)
    return counted


def _numbered_names_apart(event: Event) -> str:
    return digest_of(event.statement, numbered_names_apart=True)


def _let_go(groups: dict[str, Group], rare: Group) -> int:
    """Count the half of the groups that took least time as one; what they held."""
    freed = 0
    for group in sorted(groups.values(), key=lambda each: each.log_s)[: len(groups) // 2]:
        del groups[group.name]
        freed += _OF_GROUP + len(group.name) + len(group.statement)
        rare.count += group.count
        rare.log_s += group.log_s
    return freed
