"""Small runs made by hand, so that a test of facts does not depend on what was recorded last."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import pytest

from engineroom.runs import Run

MADE_ON = {"date": "2026-01-02T00:00:00", "cores": 2, "cpu": "a processor"}


@pytest.fixture
def made() -> Callable[..., Run]:
    def run(
        figure: str,
        method: str,
        columns: str,
        *rows: Sequence[Any],
        provenance: Mapping[str, Any] | None = None,
        tables: Mapping[str, pd.DataFrame] | None = None,
        **more: Any,
    ) -> Run:
        """A recorded run with rows under `columns`, "series repeat x"."""
        table = pd.DataFrame([*rows], columns=columns.split())
        recorded = {"origin": "recorded", "recorded_at": "2026-01-02T00:00:00", "n": 1}
        return Run(
            figure, method, table, {**MADE_ON, **(provenance or {})}, tables or {}, **{**recorded, **more}
        )

    return run
