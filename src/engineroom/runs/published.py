"""The published rows of a figure, from `data/published`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NotRequired, TypedDict

import pandas as pd

from engineroom import files, forms, paths
from engineroom.errors import EngineRoomError

__all__ = ["Effect", "Shape", "columns", "entries", "entry", "in_our_columns", "rows"]


class Columns(TypedDict):
    """What a figure's rows are made of."""

    x: str
    x_type: Literal["number", "text"]
    series: list[str]
    optional_series: NotRequired[list[str]]
    y: str


@dataclass(frozen=True)
class Effect:
    """A ratio with a published value; it makes two claims, a direction and a magnitude."""

    id: str
    text: str
    expr: str
    published: float
    optional: bool = False
    published_rows: bool = True


@dataclass(frozen=True)
class Shape:
    """A sentence about the rows that holds or does not."""

    id: str
    text: str
    expr: str
    said_by_source: bool
    optional: bool = False
    published_rows: bool = True


class Entry(TypedDict):
    """A figure, table or statement of a source, as far as programs read it."""

    id: str
    source: str
    source_figure: str | None
    title: str
    kind: Literal["chart", "screenshot", "table", "statement"]
    chapter: str
    also: NotRequired[list[str]]
    context: NotRequired[bool]
    columns: Columns | None
    csv: str | None
    detail: NotRequired[str]
    effects: list[Effect]
    shapes: list[Shape]


class Catalogue(TypedDict):
    """figures.yaml."""

    figures: list[Entry]


def entries() -> dict[str, dict[str, Any]]:
    """All figures, tables and statements of the sources by id, in the order of `figures.yaml`."""
    return {entry["id"]: entry for entry in _catalogue()["figures"]}


def entry(figure: str) -> dict[str, Any]:
    """One figure's entry; raises EngineRoomError for an id that the sources do not have."""
    found = entries().get(figure)
    if found is None:
        raise EngineRoomError(
            f"the sources have no figure {figure!r}", remedy="`engineroom ledger` lists their ids"
        )
    return found


def rows(figure: str) -> pd.DataFrame:
    """The published rows in the entry's columns; x is text where `x_type` says so. Empty when the source gives none."""
    about = entry(figure)
    if not about.get("csv"):
        return pd.DataFrame()
    x = about["columns"]["x"]
    kinds = {x: str} if about["columns"].get("x_type") == "text" else {}
    return pd.read_csv(paths.data() / "published" / about["csv"], dtype=kinds)


# A time and a rate as instructions stand for them: the claims are ratios, in which their scale is gone.
_COUNTED = {"seconds": "instructions", "statements_per_second": "statements_per_billion_instructions"}


def columns(figure: str, method: str = "live") -> tuple[str, str]:
    """The x and the y column of a figure that a run delivers; of what its entry says about y, the first word is the column."""
    about = entry(figure)["columns"]
    if about is None:
        raise EngineRoomError(
            f"{figure} has no columns", remedy="only an entry with rows to measure has them"
        )
    y = str(about.get("y") or "value").split()[0]
    return about["x"], _COUNTED.get(y, y) if method == "instructions" else y


def in_our_columns(figure: str, method: str = "live") -> pd.DataFrame:
    """The published rows with y under the name that a run gives it, whatever the source's own word; empty where there are none."""
    table = rows(figure)
    if table.empty:
        return table
    x, y = columns(figure, method)
    its_x, _, its_y = table.columns[:3]
    return table.rename(columns={its_x: x, its_y: y})


@cache
def _catalogue() -> Any:
    remedy = "mend data/published/figures.yaml; its head says what each key means"
    loaded = files.read_yaml(paths.data() / "published" / "figures.yaml", "file of figures", remedy=remedy)
    return forms.require(Catalogue, loaded, file="figures.yaml", remedy=remedy)
