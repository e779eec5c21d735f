"""Names that are taken from the rows: in the order in which they come, or in the order of the servers' releases."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from engineroom.servers.catalogue import release

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["as_found", "by_release"]


def as_found(column: str, *shorter: tuple[str, str]) -> Callable[[pd.DataFrame], dict[str, str]]:
    """What stands in `column`, in its order; of each pair in `shorter` the second is written for the first."""

    def names(table: pd.DataFrame) -> dict[str, str]:
        found = {str(name): str(name) for name in dict.fromkeys(table[column])}
        for long, short in shorter:
            found = {name: said.replace(long, short) for name, said in found.items()}
        return found

    return names


def by_release(table: pd.DataFrame) -> dict[str, str]:
    """The servers that are the series, the oldest first."""
    return {server: server for server in sorted(set(table["series"].astype(str)), key=release)}
