"""The judging of all figures: what the ledger's rows are made of."""

from __future__ import annotations

from engineroom import runs
from engineroom.ledger import history
from engineroom.ledger.claims import Figure, figures
from engineroom.ledger.rows import Row
from engineroom.ledger.sensitivity import rescheduled
from engineroom.ledger.verdicts import Judgement, fragile, judge, stability, variations

__all__ = ["judgements", "rows"]


def rows() -> list[Row]:
    """Every figure of the sources, in their order, judged."""
    return [row for each in figures().values() for row in _rows_of(each)]


def judgements(figure: str) -> list[tuple[runs.Run, Judgement]]:
    """The newest run that is not withdrawn of each method, with its judgement."""
    newest = (runs.latest(figure, method) for method in runs.METHODS)
    return [(run, judge(run, deciding=True)) for run in newest if run is not None]


def _rescheduled(run: runs.Run) -> str | None:
    found = rescheduled([run])
    flips = found[found["verdict"] != found["usual_verdict"]]
    return None if flips.empty else str(flips["verdict"].iloc[0])


def _rows_of(each: Figure) -> list[Row]:
    decided = [_row(each, run, judged) for run, judged in judgements(each.id)]
    undecided = "context" if each.context else "open"
    return decided or [Row(each.id, each.chapter, None, undecided, 0, each.claims_total, None, None)]


def _row(each: Figure, run: runs.Run, judged: Judgement) -> Row:
    flips = None if judged.reason else fragile(run)
    return Row(
        each.id,
        each.chapter,
        run.method,
        judged.verdict,
        judged.claims_held,
        judged.claims_total,
        run.origin,
        run.recorded_at,
        flips,
        stability(run, judged, flips),
        history.by_protocol(history.recordings(each.id, run.method)),
        judged.repeats,
        judged.reason,
        variations(run) if run.method == "sim" else None,
        _rescheduled(run),
    )
