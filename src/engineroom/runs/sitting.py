"""A sitting: the time in which something is measured, and the runs that come of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

import pandas as pd

from engineroom.runs import Run, provenance

__all__ = ["Rows", "Sitting"]

# A table, or its rows by the names of the columns.
Rows = pd.DataFrame | Iterable[Mapping[str, Any]]


class Sitting:
    """Watches what others do to the machine for the time of the block; makes runs of what was measured when it has ended.

    with Sitting("kernel", seed=1) as sitting:
        rows = [...]
    return sitting.run("num-deg-1", rows, columns=COLUMNS, queries=QUERIES)
    """

    def __init__(self, method: str, *, seed: int | None = None) -> None:
        self.method = method
        self._seed = seed
        self._provenance: dict[str, Any] = {}
        self._watching = ExitStack()

    def __enter__(self) -> Self:
        self._during = self._watching.enter_context(provenance.watch())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._watching.close()
        self._provenance = {**provenance.machine(seed=self._seed), "during": self._during}

    def run(
        self,
        figure: str,
        rows: Rows,
        *,
        columns: Mapping[str, str],
        summary: str = "median",
        tables: Mapping[str, Rows] | None = None,
        not_attributable: str | None = None,
        **about: Any,
    ) -> Run:
        """The run of a figure. `about` is what else its rows need beside them to be believed."""
        if not self._provenance:
            raise RuntimeError(
                f"the sitting in which {figure} is measured has not ended: make the run after its block"
            )
        return Run(
            figure=figure,
            method=self.method,
            table=_table(rows),
            tables={name: _table(more) for name, more in (tables or {}).items()},
            provenance={**self._provenance, **about},
            not_attributable=not_attributable,
            summary=summary,
            columns=columns,
        )


def _table(rows: Rows) -> pd.DataFrame:
    return rows if isinstance(rows, pd.DataFrame) else pd.DataFrame([*rows])
