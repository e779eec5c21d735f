"""A run as one file: "my machine disagrees", ready to be attached to an issue, and read again by anybody.

The file is JSON: the tables, the provenance without anything private, and the verdict that the run got. Reading it back
judges the rows anew, so a verdict is never taken on trust.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, TypedDict

import pandas as pd

import engineroom
from engineroom import files, forms, runs
from engineroom.errors import EngineRoomError, refuse_unwritable
from engineroom.ledger.claims import figure
from engineroom.ledger.verdicts import judge
from engineroom.runs import provenance

__all__ = ["dump", "export", "load"]

_FORMAT = "engineroom-run-1"

Table = dict[str, list[str | int | float | bool | None]]


class Exported(TypedDict):
    """What the file of an exported run holds."""

    format: Literal["engineroom-run-1"]
    figure: str
    method: str
    recorded_at: str | None
    summary: str
    not_attributable: str | None
    provenance: dict[str, Any]
    table: Table
    tables: dict[str, Table]


def dump(run: runs.Run) -> dict[str, Any]:
    """A run as plain JSON values, with its verdict."""
    judged = judge(run, deciding=True)
    return {
        "format": _FORMAT,
        "engineroom": engineroom.__version__,
        "figure": run.figure,
        "method": run.method,
        "recorded_at": run.recorded_at,
        "summary": run.summary,
        "not_attributable": run.not_attributable,
        "protocol": run.protocol,
        "verdict": judged.verdict,
        "claims_held": judged.claims_held,
        "claims_total": judged.claims_total,
        "provenance": provenance.scrub(run.provenance),
        "table": _plain(run.table),
        "tables": {name: _plain(table) for name, table in run.tables.items()},
    }


def export(figure_id: str, method: str, path: Path, *, n: int | None = None) -> runs.Run:
    """Write the newest recorded run of a figure by a method, or run `n`, to `path`; return it."""
    found = runs.recorded(figure_id, method)
    chosen = [run for run in found if (run.withdrawn is None if n is None else run.n == n)]
    if not chosen:
        have = ", ".join(str(run.n) for run in found) or "none"
        raise EngineRoomError(
            f"there is no recorded run{'' if n is None else f' {n}'} of {figure_id} by {method} (there are: {have})",
            remedy="measure it with `engineroom record`, then export again",
        )
    refuse_unwritable(path)
    text = json.dumps(dump(chosen[-1]), indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
    return chosen[-1]


def load(path: Path) -> runs.Run:
    """Read an exported run."""
    remedy = "name a file that `engineroom ledger export` wrote"
    name = path.name if path.name.isprintable() else repr(path.name)
    held = forms.require(
        Exported,
        files.read_json(path, "exported run", remedy=remedy),
        file=f"{name} is not an exported run",
        remedy=remedy,
    )
    subject = figure(held["figure"])
    try:
        run = runs.Run(
            figure=subject.id,
            method=held["method"],
            table=_table("table", held["table"]),
            provenance=held["provenance"],
            tables={name: _table(name, table) for name, table in held["tables"].items()},
            not_attributable=held["not_attributable"],
            summary=held["summary"],
            origin="exported",
            recorded_at=held["recorded_at"],
        )
        numbers = {"repeat", subject.y_column(run.method)} if subject.x is not None else {"repeat"}
        for column in sorted(numbers & set(run.table.columns)):
            if not pd.api.types.is_numeric_dtype(run.table[column]):
                raise ValueError(f"column {column} of its table holds something else than numbers")
    except ValueError as error:
        raise EngineRoomError(f"{name} is not a whole exported run: {error}", remedy=remedy) from error
    return run


def _table(name: str, columns: Table) -> pd.DataFrame:
    """A table from lists of plain values, all of one length."""
    if len({len(values) for values in columns.values()}) > 1:
        raise ValueError(f"{name} is no table: columns of equal length are needed")
    return pd.DataFrame(columns)


def _plain(table: pd.DataFrame) -> dict[str, list[Any]]:
    return {
        str(name): [None if pd.isna(value) else value for value in table[name].tolist()]
        for name in table.columns
    }
