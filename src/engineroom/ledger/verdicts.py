"""The fixed rule that turns a run into a verdict.

**Claims.** An effect makes two, its direction and its magnitude; a shape makes one. A figure's total is the number of all
three kinds that count.

- Direction: ours is on the same side of 1 as the published ratio. Published within 3 % of 1: ours is within 10 % of 1.
- Magnitude: ln(ours)/ln(published) lies in [0.5, 2]. Published within 3 % of 1: the same as the direction.
- Shape: its expression is true.

**Repeats.** The rows of a claim hold one value for each series and x, as `engineroom.runs.summary` makes it of the repeats. Then the
claim is asked again on each repeat alone; repeat k of every series and x together, and a series or x with fewer repeats gives its
own in turn. If one repeat answers otherwise than the summary, the spread crosses the claim's boundary: the claim is *undecided*. A
run of one repeat has no spread.

**Outcomes.** Only `held` counts for a figure. `not held`, `undecided` and `missing` (the rows lack what the claim asks for)
count in the total and not as held. A missing claim that is marked optional is `left out`: it does not count at all.

**Verdict.** `not_attributable` if the experiment's own rule said so before the run, or if a run that is to decide was made on a busy
machine (`engineroom.runs.quiet`); `context` if no claim counts;
`reproduced` if all directions and shapes hold and at least half of the magnitudes; `partly` if at least half of the
directions and shapes hold; `undecided` if fewer hold, and those that hold or are undecided are more than those that do not; `contradicted`
otherwise. A figure without a run is `open`.

**Stability.** The share of 2,000 resamples of the raw repeats (`engineroom.ledger.resampling`) that this whole rule gives the same verdict;
of a simulated run with varied numbers, no more than the share of the variations that do. Below 0.8 the verdict is called fragile.
A simulated run without varied numbers is marked as not varied.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engineroom.ledger import expressions, resampling
from engineroom.ledger.claims import Effect, Figure, Shape, figure, to_key, to_rows
from engineroom.runs import Run, side_by_side
from engineroom.runs.summary import Cells, cells, summary_and_repeats

__all__ = ["Claim", "Judgement", "fragile", "judge", "stability", "variations"]

_NEAR_ONE_PUBLISHED, _NEAR_ONE_OURS, _ROUNDING = 0.03, 0.10, 1e-9


@dataclass(frozen=True)
class Claim:
    """One claim asked of one run: `ours` is the ratio of an effect, or the truth of a shape, `None` when missing."""

    id: str
    part: str  # direction | magnitude | shape
    text: str
    published: float | None
    ours: float | bool | None
    outcome: str  # held | not held | undecided | missing | left out
    reason: str | None = None

    @property
    def ours_said(self) -> str:
        """Our value for a table; nothing where it is missing."""
        if isinstance(self.ours, bool):
            return "true" if self.ours else "false"
        return "" if self.ours is None else f"{self.ours:.3g}"

    @property
    def counts(self) -> bool:
        return self.outcome != "left out"

    @property
    def is_held(self) -> bool:
        return self.outcome == "held"


@dataclass(frozen=True)
class Judgement:
    """All claims of a figure asked of one run, and the verdict that follows from them."""

    figure: str
    method: str
    verdict: str
    claims: tuple[Claim, ...]
    repeats: int
    reason: str | None = None

    @property
    def claims_held(self) -> int:
        return sum(claim.is_held for claim in self.claims)

    @property
    def claims_total(self) -> int:
        return sum(claim.counts for claim in self.claims)


def judge(run: Run, *, deciding: bool = False) -> Judgement:
    """Ask every claim of the run's figure of its rows and pass the verdict (the rule is this module's docstring).

    `deciding` asks whether the run may decide the figure: what was measured on a busy machine says what it says, and decides nothing.
    """
    reason = run.not_attributable or (run.why_busy if deciding else None)
    subject = figure(run.figure)
    each = summary_and_repeats(_cells(subject, run), run.summary)
    rows = [to_rows(subject, cells) for cells in each]
    claims = [claim for asked in subject.claims for claim in _ask(asked, rows)]
    return Judgement(
        figure=run.figure,
        method=run.method,
        verdict="not_attributable" if reason else _verdict(claims),
        claims=tuple(claims),
        repeats=len(rows) - 1,
        reason=reason,
    )


def fragile(run: Run) -> tuple[str, ...] | None:
    """The varied machines and loads (table `varied`) on which the figure would get another verdict; None where none were varied.

    They were simulated by the first seed alone, so they are held against what the same seeds give on the usual machine.
    """
    if "varied" not in run.tables:
        return None
    varied = run.tables["varied"]
    usual = judge(run.with_table(run.table[run.table["repeat"].isin(varied["repeat"].unique())])).verdict
    by = varied.groupby(["parameter", "factor"], sort=False)
    found = [(key, judge(run.with_table(table)).verdict) for key, table in by]
    return tuple(f"{name} x {factor:g}: {verdict}" for (name, factor), verdict in found if verdict != usual)


def stability(run: Run, judged: Judgement, fragile: Sequence[str] | None) -> float | None:
    """From 0 to 1: how often the run gives its verdict again (the module's docstring); None where it has none of its own."""
    if judged.verdict in ("not_attributable", "context"):
        return None
    share = float(np.mean(_resampled(run, judged) == judged.verdict))
    if fragile is not None:
        share = min(share, 1 - len(fragile) / variations(run))
    return round(share, 4)


def variations(run: Run) -> int:
    """On how many machines and loads a simulated run was tried beside its own, one number of each changed."""
    return run.tables["varied"].groupby(["parameter", "factor"]).ngroups if "varied" in run.tables else 0


def _resampled(run: Run, judged: Judgement) -> NDArray[Any]:
    """The verdict of each resample."""
    subject = figure(run.figure)
    drawn = resampling.draw(_cells(subject, run), how=run.summary, name=f"{run.figure}.{run.method}")
    rows: dict[str, dict[expressions.Key, NDArray[Any]]] = {}
    for (series, place), values in drawn.items():
        rows.setdefault(str(series), {})[to_key(subject, place)] = values
    shape = (1 + judged.repeats, resampling.DRAWS)
    zero = np.zeros(resampling.DRAWS, dtype=int)
    others, held, could, magnitudes, magnitudes_held = zero, zero, zero, zero, zero
    of = {claim.id: claim for claim in subject.claims}
    for claim in judged.claims:
        if claim.outcome in ("missing", "left out"):
            answers = np.full(shape, np.nan)
        else:
            expr = of[claim.id].expr
            answers = _answers(claim, resampling.evaluate_many(expr, rows, shape[0] * shape[1])).reshape(
                shape
            )
        is_missing = np.isnan(answers).any(axis=0)
        is_decided = (answers == answers[0]).all(axis=0)
        counts = ~is_missing | (not of[claim.id].optional)
        if claim.part == "magnitude":
            magnitudes = magnitudes + counts
            magnitudes_held = magnitudes_held + (is_decided & (answers[0] == 1))
        else:
            others = others + counts
            held = held + (is_decided & (answers[0] == 1))
            could = could + (~is_missing & (~is_decided | (answers[0] == 1)))
    return _passed(held, could, others, magnitudes_held, magnitudes)


def _answers(claim: Claim, values: NDArray[Any]) -> NDArray[np.float64]:
    """1 where the claim is granted, 0 where not, nan where rows are missing."""
    values = np.asarray(values, dtype=float)
    return np.where(np.isnan(values), np.nan, _PARTS[claim.part](values, claim.published))


def direction_holds(ours: Any, published: float) -> Any:
    """Whether our ratio, or each of many, is on the published side of 1."""
    if _is_near_one(published):
        return abs(ours - 1) <= _NEAR_ONE_OURS + _ROUNDING
    return (ours - 1) * (published - 1) > 0


def magnitude_holds(ours: Any, published: float) -> Any:
    """Whether our ratio, or each of many, is of the published size, on a logarithmic scale."""
    if _is_near_one(published):
        return direction_holds(ours, published)
    # What is not above 0 is as far from any published ratio as a number can be.
    share = np.log(np.maximum(ours, np.finfo(float).tiny)) / math.log(published)
    return (share >= 0.5 - _ROUNDING) & (share <= 2 + _ROUNDING)


def _shape_holds(ours: Any, _: None) -> Any:
    return ours == 1


# What a claim is granted by, from our value, or many of them, and the published one.
_PARTS: Mapping[str, Callable[[Any, Any], Any]] = {
    "direction": direction_holds,
    "magnitude": magnitude_holds,
    "shape": _shape_holds,
}


def _is_near_one(published: float) -> bool:
    return abs(published - 1) <= _NEAR_ONE_PUBLISHED + _ROUNDING


def _verdict(claims: Iterable[Claim]) -> str:
    counted = [claim for claim in claims if claim.counts]
    if not counted:
        return "context"
    magnitudes = [claim.is_held for claim in counted if claim.part == "magnitude"]
    others = [claim for claim in counted if claim.part != "magnitude"]
    held = sum(claim.is_held for claim in others)
    could_hold = held + sum(claim.outcome == "undecided" for claim in others)
    return str(_passed(held, could_hold, len(others), sum(magnitudes), len(magnitudes)))


def _passed(held: Any, could_hold: Any, others: Any, magnitudes_held: Any, magnitudes: Any) -> NDArray[Any]:
    """The verdict, or the verdicts of many at once: directions and shapes that hold, that could, and all; then the magnitudes."""
    return np.select(
        [
            np.asarray(others + magnitudes == 0),
            np.asarray((held == others) & (2 * magnitudes_held >= magnitudes)),
            np.asarray(2 * held >= others),
            np.asarray(2 * could_hold > others),
        ],
        ["context", "reproduced", "partly", "undecided"],
        "contradicted",
    )


def _ask(asked: Effect | Shape, rows: Sequence[expressions.Rows]) -> list[Claim]:
    """An effect as its direction and its magnitude, a shape as itself, of the summary and each repeat."""
    published = asked.published if isinstance(asked, Effect) else None
    parts = ("shape",) if published is None else ("direction", "magnitude")
    try:
        values = [expressions.evaluate(asked.expr, each) for each in rows]
    except expressions.MissingRowsError as error:
        outcome = "left out" if asked.optional else "missing"
        return [Claim(asked.id, part, asked.text, published, None, outcome, str(error)) for part in parts]
    values = [value is True if published is None else float(value) for value in values]
    claims = []
    for part in parts:
        answers = {bool(_PARTS[part](value, published)) for value in values}
        outcome = "undecided" if len(answers) > 1 else "held" if answers == {True} else "not held"
        claims.append(Claim(asked.id, part, asked.text, published, values[0], outcome))
    return claims


def _cells(subject: Figure, run: Run) -> Cells:
    """The repeats by series and x; none of a figure that has no rows."""
    if subject.x is None:
        return {}
    x, y = subject.x, subject.y_column(run.method)
    return cells(side_by_side.measured(run, "series", x, y=y), "series", x, y=y)
