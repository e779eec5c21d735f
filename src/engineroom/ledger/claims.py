"""The published figures and their claims, as `data/published/figures.yaml` states them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import pandas as pd

from engineroom.errors import EngineRoomError
from engineroom.ledger import expressions
from engineroom.runs import published
from engineroom.runs.published import Effect, Shape

__all__ = ["Effect", "Figure", "Shape", "figure", "figures", "to_key", "to_rows"]


@dataclass(frozen=True)
class Figure:
    """One figure, table or statement of a source."""

    id: str
    source: str
    source_figure: str | None
    title: str
    kind: str
    chapter: str
    also: tuple[str, ...] = ()
    context: bool = False
    x: str | None = None
    x_type: str | None = None
    y: str | None = None
    series: tuple[str, ...] = ()
    optional_series: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    shapes: tuple[Shape, ...] = ()

    @property
    def claims(self) -> tuple[Effect | Shape, ...]:
        """Effects, then shapes."""
        return (*self.effects, *self.shapes)

    def y_column(self, method: str) -> str:
        """The name of the column that a run of this method delivers."""
        return published.columns(self.id, method)[1]

    @property
    def claims_total(self) -> int:
        """How many claims a run must answer: two an effect, one a shape, the optional ones left out."""
        return 2 * sum(not effect.optional for effect in self.effects) + sum(
            not shape.optional for shape in self.shapes
        )

    def asks(self) -> dict[str, frozenset[expressions.Key] | None] | None:
        """What the claims can read, the optional ones too: x by series, None for all x; None alone for every row."""
        asked: dict[str, frozenset[expressions.Key] | None] = {}
        for claim in self.claims:
            of_claim = expressions.reads(claim.expr)
            if of_claim is None:
                return None
            for series, x in of_claim.items():
                known = asked.get(series, frozenset())
                asked[series] = (
                    None if x is None or known is None else known | {to_key(self, each) for each in x}
                )
        return asked

    def published_rows(self) -> dict[str, dict[expressions.Key, float]]:
        """The published rows as the claims read them, empty where the source has none."""
        table = published.in_our_columns(self.id)
        if table.empty:
            return {}
        x, y = published.columns(self.id)
        cells = zip(zip(table["series"], table[x], strict=True), table[y], strict=True)
        return to_rows(self, dict(cells))


def to_rows(
    figure: Figure, cells: Mapping[tuple[Any, ...], float]
) -> dict[str, dict[expressions.Key, float]]:
    """The values by series and x as `{series: {x: value}}`, x typed as the figure says; cells without a value dropped."""
    rows: dict[str, dict[expressions.Key, float]] = {}
    for (series, x), value in cells.items():
        if not pd.isna(value):
            rows.setdefault(str(series), {})[to_key(figure, x)] = float(value)
    return rows


def to_key(figure: Figure, x: object) -> expressions.Key:
    """An x as the claims name it: a text or a number, as the figure says."""
    if figure.x_type == "text":
        return str(x)
    try:
        return float(x)  # type: ignore[arg-type]
    except ValueError as error:
        raise EngineRoomError(
            f"{figure.id} takes numbers for {figure.x}, and a row has {x!r}",
            remedy=f"give {figure.x} as a number, as figures.yaml says",
        ) from error


@functools.cache
def figures() -> dict[str, Figure]:
    """Every figure, table and statement of the sources by id, in the order of `figures.yaml`; expressions are checked."""
    found = {}
    for entry in published.entries().values():
        said = {
            **entry,
            **(entry["columns"] or {}),
            "effects": [Effect(**effect) for effect in entry["effects"]],
            "shapes": [Shape(**shape) for shape in entry["shapes"]],
        }
        known: dict[str, Any] = {each.name: said[each.name] for each in fields(Figure) if each.name in said}
        lists = {name: tuple(value) for name, value in known.items() if isinstance(value, list)}
        found[entry["id"]] = Figure(**known | lists)
        for claim in found[entry["id"]].claims:
            try:
                expressions.check(claim.expr)
            except expressions.ExpressionError as error:
                raise EngineRoomError(
                    f"figures.yaml: the claim {claim.id} of {entry['id']}: {error.problem}",
                    remedy=error.remedy,
                ) from error
    return found


def figure(id: str) -> Figure:
    """One figure by its id in `figures.yaml`."""
    try:
        return figures()[id]
    except KeyError:
        raise EngineRoomError(
            f"no figure of the sources is called {id!r}",
            remedy="`engineroom ledger` lists all ids, such as fig-7-22",
        ) from None
