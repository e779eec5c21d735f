"""What the statements of a reader's transactions ask for, as it is measured, kept in a file, and given to the engine's kernel."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from engineroom import files
from engineroom.errors import EngineRoomError

__all__ = ["MEDIAN", "Asked", "Demands", "Kind", "load"]

_FORMAT = 1
_FEWEST_MTRS, _USUAL_BYTES, _MOST_ROWS = 0.01, 150, 1000
# By a field's annotation.
_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str),
    "str | None": lambda value: value is None or isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "float": lambda value: (
        isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf
    ),
}
MEDIAN = 1.0  # of the CPU times of a statement, as `Asked.demand` takes it
_REMEDY = "measure them again: engineroom whatif FILE --dsn ... --save DEMANDS"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One execution of a statement, or of a commit: CPU time as the least of the batches' means and as their median, and counts."""

    sql: str
    cpu_us: float
    cpu_us_median: float
    mtrs: float
    redo_bytes: float
    row_locks: float = 0.0
    access: str = "computes"
    shared: bool = False
    table: str = ""
    value: str | None = None

    def demand(self, slower: float) -> dict[str, Any]:
        """As the kernel takes it; `slower` goes from the least CPU time, 0, over the median, 1, to as far above that, 2."""
        writes = self.mtrs >= _FEWEST_MTRS
        return {
            "computing_ns": round(1000 * (self.cpu_us + slower * (self.cpu_us_median - self.cpu_us))),
            "mtrs_permille": round(1000 * self.mtrs) if writes else 0,
            "mtr_bytes": max(1, round(self.redo_bytes / self.mtrs)) if writes else _USUAL_BYTES,
        }


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of transaction; `values` has for each name its rows and their distribution."""

    name: str
    weight: int
    autocommit: bool
    values: Mapping[str, Mapping[str, Any]]
    statements: tuple[Asked, ...]
    commit: Asked


@dataclass(frozen=True, kw_only=True)
class Demands:
    """All kinds, and the server on which they were measured."""

    server: str
    isolation: str
    has_binlog: bool
    flushes_each_commit: bool
    measured_at: str
    kinds: tuple[Kind, ...]

    def mix(self, slower: float = MEDIAN) -> list[dict[str, Any]]:
        """As `simulate_mix` takes them."""
        named = {each.table for kind in self.kinds for each in kind.statements if each.table}
        tables = {table: i for i, table in enumerate(sorted(named))}
        return [_mixed(kind, tables, slower) for kind in self.kinds]

    def save(self, file: Path) -> None:
        """Write them into a file."""
        text = json.dumps({"format": _FORMAT, **asdict(self)}, indent=1)
        try:
            file.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise EngineRoomError(
                f"{file} cannot be written: {error.strerror}",
                remedy="name a file in a folder that you may write to",
            ) from error


def _mixed(kind: Kind, tables: Mapping[str, int], slower: float) -> dict[str, Any]:
    names = list(kind.values)
    # Behind the named values the one that every statement without a value means.
    draws = [dict(kind.values[name]) for name in names] + [{"rows": 1}]
    return {
        "weight": kind.weight,
        "sends_commit": not kind.autocommit,
        "commit": kind.commit.demand(slower),
        "draws": draws,
        "statements": [
            {
                **each.demand(slower),
                "access": each.access,
                "shared": each.shared,
                "table": tables.get(each.table, 0),
                "draw": names.index(each.value) if each.value is not None else len(names),
                "rows": min(_MOST_ROWS, max(1, round(each.row_locks))),
            }
            for each in kind.statements
        ],
    }


def load(file: Path) -> Demands:
    """The demands of a file. EngineRoomError for one that holds none."""
    read = files.read_json(file, "file of demands", remedy=_REMEDY)
    try:
        if read.pop("format") != _FORMAT:
            raise ValueError("it is of another format")
        kinds = tuple(
            Kind(
                **{
                    **kind,
                    "statements": tuple(Asked(**each) for each in kind["statements"]),
                    "commit": Asked(**kind["commit"]),
                }
            )
            for kind in read.pop("kinds")
        )
        made = Demands(**read, kinds=kinds)
        _refuse_impossible(made)
    except (ArithmeticError, AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
        raise EngineRoomError(f"{file.name} holds no demands: {error}", remedy=_REMEDY) from error
    return made


def _refuse_impossible(made: Demands) -> None:
    """Fields of another type, and what the kernel itself would refuse, before hundreds of runs are begun."""
    from engineroom._native import engine

    asked = [each for kind in made.kinds for each in (kind.commit, *kind.statements)]
    everything: list[Demands | Kind | Asked] = [made, *made.kinds, *asked]
    for each in everything:
        for field in fields(each):
            value, known = getattr(each, field.name), _TYPES.get(str(field.type))
            if known is not None and not known(value):
                raise ValueError(f"{field.name} is {value!r}")
    engine.simulate_mix(
        parameters={},
        mix=made.mix(),
        load={"clients": 1, "away_ns": 1000},
        run_ns=1,
    )
