"""A run as one file: "my machine disagrees", ready to be attached to an issue, and read again by anybody.

The file is JSON: the tables, the provenance without anything private, and the verdict that the run got. Reading it back
judges the rows anew, so a verdict is never taken on trust.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

import engineroom
from engineroom import provenance, runs
from engineroom.errors import EngineRoomError, refuse_unwritable
from engineroom.ledger.verdicts import judge

__all__ = ["dump", "export", "load"]

_FORMAT = "engineroom-run-1"


def dump(run: runs.Run) -> dict[str, Any]:
    """A run as plain JSON values, with its verdict."""
    judged = judge(run)
    return {
        "format": _FORMAT,
        "engineroom": engineroom.__version__,
        "figure": run.figure,
        "method": run.method,
        "recorded_at": run.recorded_at,
        "summary": run.summary,
        "not_attributable": run.not_attributable,
        "verdict": judged.verdict,
        "claims_held": judged.claims_held,
        "claims_total": judged.claims_total,
        "provenance": provenance.scrub(run.provenance),
        "table": _plain(run.table),
        "tables": {name: _plain(table) for name, table in run.tables.items()},
    }


def export(figure: str, method: str, path: Path, *, n: int | None = None) -> runs.Run:
    """Write the newest recorded run of a figure by a method, or run `n`, to `path`; return it."""
    found = runs.recorded(figure, method)
    chosen = [run for run in found if (run.withdrawn is None if n is None else run.n == n)]
    if not chosen:
        have = ", ".join(str(run.n) for run in found) or "none"
        raise EngineRoomError(
            f"there is no recorded run{'' if n is None else f' {n}'} of {figure} by {method} (there are: {have})",
            remedy="measure it with `engineroom record`, then export again",
        )
    refuse_unwritable(path)
    text = json.dumps(dump(chosen[-1]), indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
    return chosen[-1]


def load(path: Path) -> runs.Run:
    """Read an exported run."""
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EngineRoomError(
            f"cannot read {path.name}: {error}", remedy="name a file that `engineroom ledger export` wrote"
        ) from error
    if not isinstance(held, dict) or held.get("format") != _FORMAT:
        raise EngineRoomError(
            f"{path.name} is not an exported run", remedy="name a file that `engineroom ledger export` wrote"
        )
    return runs.Run(
        figure=held["figure"],
        method=held["method"],
        table=pd.DataFrame(held["table"]),
        provenance=held["provenance"],
        tables={name: pd.DataFrame(table) for name, table in held["tables"].items()},
        not_attributable=held["not_attributable"],
        summary=held["summary"],
        origin="exported",
        recorded_at=held["recorded_at"],
    )


def _plain(table: pd.DataFrame) -> dict[str, list[Any]]:
    return {
        str(name): [None if pd.isna(value) else value for value in table[name].tolist()]
        for name in table.columns
    }
