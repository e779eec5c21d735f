"""Every claim in figures.yaml: it reads its rows, says what the source published, and can fail."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engineroom import chapters
from engineroom.ledger.claims import Effect, Figure, Shape, figure, figures
from engineroom.ledger.expressions import Key, MissingRowsError, evaluate

ALL = [(each, claim) for each in figures().values() for claim in each.claims]
ON_PUBLISHED_ROWS = [(each, claim) for each, claim in ALL if claim.published_rows]


def name(value: object) -> str:
    return value.id if isinstance(value, Figure | Effect | Shape) else str(value)


def on(claims: list[tuple[Figure, Effect | Shape]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("each", "claim"), claims, ids=name)


def test_all_figures_and_statements_of_the_sources_are_there() -> None:
    assert len(figures()) == 48
    assert len([id for id in figures() if id.startswith("fig-7-")]) == 29


def test_every_figure_belongs_to_declared_chapters() -> None:
    named = {word for each in figures().values() for word in (each.chapter, *each.also)}
    assert named <= {each.word for each in chapters.book().chapters}, "declare it in chapters.toml"


def test_a_claim_has_one_id_in_its_figure() -> None:
    for each in figures().values():
        ids = [claim.id for claim in each.claims]
        assert len(ids) == len(set(ids))


@on(ON_PUBLISHED_ROWS)
def test_a_claim_holds_on_the_published_rows(each: Figure, claim: Effect | Shape) -> None:
    value = evaluate(claim.expr, each.published_rows())
    if isinstance(claim, Effect):
        assert value == pytest.approx(claim.published, abs=0.0006)
    else:
        assert value is True


@on(ALL)
def test_a_claim_is_never_true_for_want_of_rows(each: Figure, claim: Effect | Shape) -> None:
    """No series at all, and series without rows: a claim is missing or false."""
    empty: dict[str, dict[Key, float]] = {series: {} for series in each.series + each.optional_series}
    for rows in ({}, empty):
        with contextlib.suppress(MissingRowsError):
            assert evaluate(claim.expr, rows) is False


@on([(each, claim) for each, claim in ALL if not claim.published_rows])
def test_a_claim_without_published_rows_can_be_true_and_false(each: Figure, claim: Effect | Shape) -> None:
    rng = np.random.default_rng(0)
    answers: set[object] = set()
    for _ in range(2000):
        with contextlib.suppress(MissingRowsError):
            answers.add(evaluate(claim.expr, made_up_rows(each, rng)))
        if answers == {True, False}:
            return
    pytest.fail(f"{each.id} {claim.id} answered only {answers}")


def made_up_rows(each: Figure, rng: np.random.Generator) -> dict[str, dict[Key, float]]:
    """Values over three orders of size, at the x that the figure's claims name and at some of its own."""
    series = each.series + each.optional_series
    if each.x_type == "text":
        named = {part for claim in each.claims for part in claim.expr.split('"')[1::2]} - set(series)
        xs: list[Key] = [*sorted(named), "other", "another"]
    else:
        xs = [1.0, 3.0, 20.0, 200.0, 500.0]
    return {s: {x: float(10 ** rng.uniform(0, 3)) for x in xs} for s in series}


FACTORS = st.one_of(st.floats(0.05, 0.8), st.floats(1.25, 20))


@pytest.mark.parametrize("each", [each for each in figures().values() if each.effects], ids=name)
@settings(max_examples=10, derandomize=True, deadline=None)
@given(factor=FACTORS)
def test_an_effect_moves_when_a_row_that_it_reads_moves(each: Figure, factor: float) -> None:
    rows = each.published_rows()
    for effect in each.effects:
        moved = [
            evaluate(effect.expr, {**rows, series: {**values, x: values[x] * factor}})
            != pytest.approx(effect.published, abs=0.0006)
            for series, values in rows.items()
            for x in values
        ]
        assert any(moved), (each.id, effect.id)


@on([pair for pair in ON_PUBLISHED_ROWS if isinstance(pair[1], Shape)])
def test_a_shape_fails_on_some_perturbation_of_the_published_rows(each: Figure, claim: Shape) -> None:
    rows = each.published_rows()
    for series, values in rows.items():
        for chosen in [list(values), *([x] for x in values)]:
            for change in (lambda v: 0.001 * v, lambda v: 0.6 * v, lambda v: 1.4 * v, lambda _: 1e9):
                changed = {x: change(v) if x in chosen else v for x, v in values.items()}
                if evaluate(claim.expr, {**rows, series: changed}) is False:
                    return
    pytest.fail(f"{each.id} {claim.id} stays true whatever is done to its rows")


def test_the_total_counts_two_claims_an_effect_and_one_a_shape() -> None:
    assert figure("fig-7-22").claims_total == 1
    assert figure("fig-7-23").claims_total == 2 + 2
    assert figure("fig-7-06").claims_total == 2 * 3 + 4  # one more is optional
    assert figure("fig-7-14").claims_total == 0
