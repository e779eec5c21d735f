"""The facts of `book/ledger.md`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engineroom.facts import Facts, fact
from engineroom.ledger import Row, page, resampling, rows
from engineroom.runs import quiet

__all__ = ["LedgerFacts", "facts"]


@dataclass(frozen=True, kw_only=True)
class LedgerFacts(Facts):
    """How many figures and statements there are, and how many of them have a run."""

    figures: int = fact()
    decided: int = fact()
    undecided_rows: str = fact()
    busy_rows: str = fact()
    fragile_rows: str = fact()
    rescheduled_rows: str = fact()
    held_longer_rows: str = fact()
    quiet_load: float = fact("{:g}")
    quiet_steal_percent: float = fact("{:g}")
    draws: int = fact("{:,}")

    @classmethod
    def of(cls, summary: Mapping[str, int], found: Iterable[Row]) -> LedgerFacts:
        rows = [row for row in found if row.method is not None]
        undecided = [_name(row) for row in rows if _newest(row)["verdict"] == "undecided"]
        fragile = [f"{_name(row)} ({row.stability:.2f})" for row in rows if row.is_fragile]
        return cls(
            figures=summary["figures"],
            decided=summary["decided"],
            undecided_rows=_listed(undecided),
            busy_rows=_listed([_busy(row) for row in rows if _is_busy(_newest(row))]),
            fragile_rows=_listed(fragile),
            rescheduled_rows=_listed(
                [f"{_name(row)} ({row.rescheduled.replace('_', ' ')})" for row in rows if row.rescheduled]
            ),
            held_longer_rows=_listed(
                [f"{_name(row)} ({row.held_longer.replace('_', ' ')})" for row in rows if row.held_longer]
            ),
            quiet_load=quiet.LOAD,
            quiet_steal_percent=quiet.STEAL_PERCENT,
            draws=resampling.DRAWS,
        )


def _name(row: Row) -> str:
    return f"{row.figure} by {row.method}"


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "no row"
    return f"{len(names)} {'rows' if len(names) > 1 else 'row'}: {', '.join(names)}"


def _newest(row: Row) -> Mapping[str, Any]:
    """The newest recording that is not withdrawn."""
    recordings = [each for protocol in row.protocols for each in protocol["recordings"]]
    return max((each for each in recordings if not _is_withdrawn(each)), key=lambda each: each["n"])


def _is_withdrawn(recording: Mapping[str, Any]) -> bool:
    return str(recording["set_aside"]).startswith("withdrawn")


def _is_busy(recording: Mapping[str, Any]) -> bool:
    return recording["set_aside"] is not None and not _is_withdrawn(recording)


def _busy(row: Row) -> str:
    """Which verdict the newest recording of a row would have, and what decides instead."""
    newest = _newest(row)
    why = str(newest["set_aside"]).removeprefix("the machine was busy: ")
    instead = "none decides" if row.stability is None else "an earlier recording decides"
    return f"{_name(row)} (recording {newest['n']}, {newest['verdict'].replace('_', ' ')}: {why}; {instead})"


def facts() -> LedgerFacts:
    """From the ledger as it stands."""
    return LedgerFacts.of(page.summary(), rows())
