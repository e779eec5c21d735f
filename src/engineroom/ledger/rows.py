"""The ledger's rows: one for each figure and method that has a recorded run, one for each figure without."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from engineroom import paths, runs
from engineroom.ledger import history
from engineroom.ledger.claims import Figure, figures
from engineroom.ledger.resampling import FRAGILE_BELOW
from engineroom.ledger.sensitivity import rescheduled, verdicts_by_way
from engineroom.ledger.verdicts import Judgement, judge, stability, variations

__all__ = ["Row", "judgements", "rows"]


@dataclass(frozen=True)
class Row:
    """One line of the ledger, in the words of its JSON.

    `stability` is from 0 to 1, None where there is no verdict of a run; `protocols` has an entry for each that the figure has had, with its
    recordings and the verdict of each; `fragile` the varied numbers of a simulated machine that change the verdict; `varied` on how many
    machines and loads a simulated run was tried beside its own, 0 where it was never varied and None for other methods; `rescheduled` the
    verdict that one seed gives with the scheduling held against real threads, if the same seed gives another without; `held_longer` that of an
    engine whose latches are held as long as a server's at most, if it is another; else None.
    """

    figure: str
    chapter: str
    method: str | None
    verdict: str
    claims_held: int
    claims_total: int
    origin: str | None
    recorded_at: str | None
    fragile: tuple[str, ...] | None = None
    stability: float | None = None
    protocols: list[dict[str, Any]] = field(default_factory=list)
    repeats: int = 0
    reason: str | None = None
    varied: int | None = None
    rescheduled: str | None = None
    held_longer: str | None = None

    @property
    def is_fragile(self) -> bool:
        """Whether too few resamples and variations of the run say the same."""
        return self.stability is not None and self.stability < FRAGILE_BELOW

    def json(self) -> dict[str, Any]:
        """The row as a program reads it."""
        return asdict(self)


def rows(*, chapter: str | None = None) -> list[Row]:
    """Every figure of the sources, in their order; all, or those that a chapter owns."""
    found: list[Row] = []
    for each in figures().values():
        if chapter is None or each.chapter == chapter:
            found += _rows_of(each)
    return found


def judgements(figure: str) -> list[tuple[runs.Run, Judgement]]:
    """The newest run that is not withdrawn of each method, with its judgement."""
    newest = (runs.latest(figure, method) for method in runs.METHODS)
    return [(run, judge(run, deciding=True)) for run in newest if run is not None]


# Of figures whose recordings are as they were, with their state: a page asks for all rows three times.
_kept: dict[str, tuple[object, list[Row]]] = {}


def _rows_of(each: Figure) -> list[Row]:
    state = runs.state(each.id)
    if state is None:
        return _judged(each)
    if each.id not in _kept or _kept[each.id][0] != (paths.root(), state):
        _kept[each.id] = (paths.root(), state), _judged(each)
    return _kept[each.id][1]


def _rescheduled(run: runs.Run) -> str | None:
    found = rescheduled([run])
    flips = found[found["verdict"] != found["usual_verdict"]]
    return None if flips.empty else str(flips["verdict"].iloc[0])


def _held_longer(run: runs.Run, judged: Judgement) -> str | None:
    verdict = next(iter(verdicts_by_way(run).values()), judged.verdict)
    return None if verdict == judged.verdict else verdict


def _judged(each: Figure) -> list[Row]:
    decided = [
        Row(
            each.id,
            each.chapter,
            run.method,
            judged.verdict,
            judged.claims_held,
            judged.claims_total,
            run.origin,
            run.recorded_at,
            judged.fragile,
            stability(run, judged),
            history.by_protocol(history.recordings(each.id, run.method)),
            judged.repeats,
            judged.reason,
            variations(run) if run.method == "sim" else None,
            _rescheduled(run),
            _held_longer(run, judged),
        )
        for run, judged in judgements(each.id)
    ]
    undecided = "context" if each.context else "open"
    return decided or [Row(each.id, each.chapter, None, undecided, 0, each.claims_total, None, None)]
