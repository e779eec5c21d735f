"""The fixed rule that turns a run into a verdict.

**Claims.** An effect makes two, its direction and its magnitude; a shape makes one. A figure's total is the number of all
three kinds that count.

- Direction: ours is on the same side of 1 as the published ratio. Published within 3 % of 1: ours is within 10 % of 1.
- Magnitude: ln(ours)/ln(published) lies in [0.5, 2]. Published within 3 % of 1: the same as the direction.
- Shape: its expression is true.

**Repeats.** The rows of a claim hold one value for each series and x, as `engineroom.summary` makes it of the repeats. Then the
claim is asked again on each repeat alone; repeat k of every series and x together, and a series or x with fewer repeats gives its
own in turn. If one repeat answers otherwise than the summary, the spread crosses the claim's boundary: the claim is *undecided*. A
run of one repeat has no spread.

**Outcomes.** Only `held` counts for a figure. `not held`, `undecided` and `missing` (the rows lack what the claim asks for)
count in the total and not as held. A missing claim that is marked optional is `left out`: it does not count at all.

**Verdict.** `not_attributable` if the experiment's own rule said so before the run; `context` if no claim counts;
`reproduced` if all directions and shapes hold and at least half of the magnitudes; `partly` if at least half of the
directions and shapes hold; `undecided` if fewer hold, and at least half would if all the undecided ones did; `contradicted`
otherwise. A figure without a run is `open`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from engineroom import side_by_side
from engineroom.ledger import expressions
from engineroom.ledger.claims import Effect, Figure, Shape, figure, to_rows
from engineroom.runs import Run
from engineroom.summary import each_repeat, summarise

__all__ = ["TOKENS", "Claim", "Judgement", "judge"]

# Each verdict with the sign that stands beside it, so that colour is never the only channel.
TOKENS = {
    "reproduced": "✓",
    "partly": "◐",
    "undecided": "≈",
    "contradicted": "✗",
    "not_attributable": "?",
    "context": "·",
    "open": "○",
}
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
    # Varied numbers of the simulated machine that give another verdict; None where none were varied.
    fragile: tuple[str, ...] | None = None

    @property
    def claims_held(self) -> int:
        return sum(claim.is_held for claim in self.claims)

    @property
    def claims_total(self) -> int:
        return sum(claim.counts for claim in self.claims)


def judge(run: Run) -> Judgement:
    """Ask every claim of the run's figure of its rows and pass the verdict (the rule is this module's docstring)."""
    subject = figure(run.figure)
    summary, repeats = _rows(subject, run)
    claims: list[Claim] = []
    for effect in subject.effects:
        claims += _ask_effect(effect, summary, repeats)
    claims += [_ask_shape(shape, summary, repeats) for shape in subject.shapes]
    return Judgement(
        figure=run.figure,
        method=run.method,
        verdict="not_attributable" if run.not_attributable else _verdict(claims),
        claims=tuple(claims),
        repeats=len(repeats),
        reason=run.not_attributable,
        fragile=_flips(run),
    )


def _flips(run: Run) -> tuple[str, ...] | None:
    """The varied machines (table `varied`) on which the figure would get another verdict than by the run itself."""
    if "varied" not in run.tables or run.not_attributable:
        return None
    alone = replace(run, tables={})
    usual = judge(alone).verdict
    by = run.tables["varied"].groupby(["parameter", "factor"], sort=False)
    found = {key: judge(replace(alone, table=table)).verdict for key, table in by}
    return tuple(
        f"{name} x {factor:g}: {verdict}" for (name, factor), verdict in found.items() if verdict != usual
    )


def direction_holds(ours: float, published: float) -> bool:
    """Whether our ratio is on the published side of 1."""
    if _is_near_one(published):
        return abs(ours - 1) <= _NEAR_ONE_OURS + _ROUNDING
    return (ours - 1) * (published - 1) > 0


def magnitude_holds(ours: float, published: float) -> bool:
    """Whether our ratio is of the published size, on a logarithmic scale."""
    if _is_near_one(published):
        return direction_holds(ours, published)
    return ours > 0 and 0.5 - _ROUNDING <= math.log(ours) / math.log(published) <= 2 + _ROUNDING


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
    if held == len(others) and 2 * sum(magnitudes) >= len(magnitudes):
        return "reproduced"
    if 2 * held >= len(others):
        return "partly"
    return "undecided" if 2 * could_hold >= len(others) else "contradicted"


def _ask_effect(effect: Effect, summary: expressions.Rows, repeats: list[expressions.Rows]) -> list[Claim]:
    parts: tuple[tuple[str, Callable[[float, float], bool]], ...] = (
        ("direction", direction_holds),
        ("magnitude", magnitude_holds),
    )

    def claim(part: str, ours: float | None, outcome: str, reason: str | None = None) -> Claim:
        return Claim(effect.id, part, effect.text, effect.published, ours, outcome, reason)

    try:
        ours = float(expressions.evaluate(effect.expr, summary))
        each = [float(expressions.evaluate(effect.expr, rows)) for rows in repeats]
    except expressions.MissingRowsError as error:
        outcome = "left out" if effect.optional else "missing"
        return [claim(part, None, outcome, str(error)) for part, _ in parts]
    return [
        claim(
            part,
            ours,
            _outcome(holds(ours, effect.published), [holds(value, effect.published) for value in each]),
        )
        for part, holds in parts
    ]


def _ask_shape(shape: Shape, summary: expressions.Rows, repeats: list[expressions.Rows]) -> Claim:
    try:
        ours = expressions.evaluate(shape.expr, summary) is True
        each = [expressions.evaluate(shape.expr, rows) is True for rows in repeats]
    except expressions.MissingRowsError as error:
        outcome = "left out" if shape.optional else "missing"
        return Claim(shape.id, "shape", shape.text, None, None, outcome, str(error))
    return Claim(shape.id, "shape", shape.text, None, ours, _outcome(ours, each))


def _outcome(answer: bool, repeats: list[bool]) -> str:
    if any(repeat != answer for repeat in repeats):
        return "undecided"
    return "held" if answer else "not held"


def _rows(subject: Figure, run: Run) -> tuple[expressions.Rows, list[expressions.Rows]]:
    """The summary of the run's rows, and the rows of each repeat."""
    x, y = subject.x, subject.y_column
    if x is None:
        return {}, []
    table = side_by_side.measured(run, "series", x, y=y)
    cells = summarise(table, "series", x, y=y, how=run.summary)
    return (
        to_rows(subject, cells, x=x, y=y),
        [to_rows(subject, each, x=x, y=y) for each in each_repeat(table, "series", x, y=y)],
    )
