"""The published rows of a figure, from `data/published`."""

from __future__ import annotations

from functools import cache
from typing import Any

import pandas as pd
import yaml

from engineroom import paths
from engineroom.errors import EngineRoomError

__all__ = ["entries", "entry", "rows"]


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


@cache
def _catalogue() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(
        (paths.data() / "published" / "figures.yaml").read_text(encoding="utf-8")
    )
    return loaded
