"""The recordings of a figure by a method, withdrawn ones too: which protocol each follows, and the verdict of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engineroom import runs
from engineroom.ledger.verdicts import judge
from engineroom.runs import protocols

__all__ = ["Recording", "by_protocol", "recordings"]


@dataclass(frozen=True)
class Recording:
    """One recording. `verdict` is of its rows alone, whatever became of it; `set_aside` says why it does not count, if it does not."""

    n: int
    recorded_at: str
    protocol: str
    number: int  # of the protocol, from 1, in the order in which the figure has had them
    changes: tuple[str, ...]  # against the recording before
    verdict: str
    claims_held: int
    claims_total: int
    set_aside: str | None


def recordings(figure: str, method: str) -> list[Recording]:
    """Oldest first."""
    found: list[Recording] = []
    order: list[str] = []
    before: protocols.Content | None = None
    for run in runs.recorded(figure, method):
        assert run.protocol is not None, f"{figure} makes no claim"
        name = run.protocol
        protocol = protocols.read(name)
        if name not in order:
            order.append(name)
        judged = judge(run)
        found.append(
            Recording(
                n=run.n or 0,
                recorded_at=run.recorded_at or "",
                protocol=name,
                number=order.index(name) + 1,
                changes=tuple(protocols.changes(before, protocol)) if before else (),
                verdict=judged.verdict,
                claims_held=judged.claims_held,
                claims_total=judged.claims_total,
                set_aside=f"withdrawn: {run.withdrawn}" if run.withdrawn else run.why_busy,
            )
        )
        before = protocol
    return found


def by_protocol(found: list[Recording]) -> list[dict[str, Any]]:
    """One entry per protocol, oldest first, in plain JSON values: its hash, its recordings and the verdict of each."""
    names = list(dict.fromkeys(each.protocol for each in found))
    return [
        {
            "protocol": name,
            "recordings": [
                {"n": each.n, "verdict": each.verdict, "set_aside": each.set_aside}
                for each in found
                if each.protocol == name
            ],
        }
        for name in names
    ]
