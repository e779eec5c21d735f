"""A `Run` is one measured or simulated table with its provenance; recorded runs are kept for ever.

A recorded run lies in `data/recorded/<chapter>/` as `<figure>.<method>.<n>.csv` with a `.json` of provenance beside it, and
`<figure>.<method>.<n>.<name>.csv` for each further table. Runs are added, never overwritten; a withdrawn run moves to the folder `withdrawn`
beside them, with the reason in its .json. A run of a published figure carries the hash of its protocol (`engineroom.runs.protocols`), and one that
was made on a busy machine (`engineroom.runs.quiet`) counts only where there is no other. The chapter's `datapackage.json` describes every column of
both folders and is written again on each save.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict, TypeVar

import pandas as pd
from filelock import FileLock

from engineroom import files, forms, paths
from engineroom.chapters import METHODS
from engineroom.errors import EngineRoomError
from engineroom.runs import protocols, provenance, quiet
from engineroom.runs.summary import SUMMARIES, values

__all__ = [
    "METHODS",
    "Run",
    "latest",
    "newest",
    "package",
    "recorded",
    "save",
    "withdraw",
]

T = TypeVar("T")

_LARGEST_CSV_BYTES = 1_000_000
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_KINDS = {"boolean": "boolean", "integer": "Int64", "number": "float64", "string": "str"}
_DESCRIPTIONS = {
    "series": "which of the compared things the row measures",
    "repeat": "the repeat, from 0; repeats of one x and series measure the same thing again",
}


class Column(TypedDict):
    """One column of a recorded table."""

    name: str
    type: Literal["boolean", "integer", "number", "string"]
    description: NotRequired[str]


class Recording(TypedDict):
    """What the .json of a recorded run holds."""

    figure: str
    method: str
    recorded_at: str
    summary: str
    not_attributable: str | None
    withdrawn: str | None
    protocol: NotRequired[str | None]
    provenance: dict[str, Any]
    tables: dict[str, list[Column]]


@dataclass(frozen=True)
class Run:
    """One run of an experiment for one figure by one method.

    `table` is tidy: the x column of the figure, `series`, the y column, `repeat` (from 0) and anything more. `summary` says
    which of the repeats counts as the value: `"median"`, `"min"` for CPU time, to which others' load only adds, `"max"` for a rate of it.
    `not_attributable` is the reason found by a rule that the experiment fixed before it ran, or `None`.
    `columns` describes the columns, further tables' too, for the reader of the CSV: `{"server_cpu_s": "CPU time ..."}`.
    """

    figure: str
    method: str
    table: pd.DataFrame
    provenance: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    not_attributable: str | None = None
    summary: str = "median"
    columns: Mapping[str, str] = field(default_factory=dict)
    origin: str = "live"
    recorded_at: str | None = None
    n: int | None = None
    withdrawn: str | None = None
    protocol: str | None = None

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method is {self.method!r}, not one of {', '.join(METHODS)}")
        if self.summary not in SUMMARIES:
            raise ValueError(f"summary is {self.summary!r}, not {' or '.join(SUMMARIES)}")
        for name in (self.figure, *self.tables):
            if not _NAME.fullmatch(name):
                raise ValueError(
                    f"{name!r} cannot be part of a file name: use lower case, digits and hyphens"
                )
        if "series" not in self.table.columns:
            raise ValueError(f"the table of {self.figure} has no column 'series'")

    @property
    def why_busy(self) -> str | None:
        """Why the machine was too busy for the run to decide a verdict, or None."""
        return quiet.why_busy(self.method, self.provenance)

    def with_table(self, table: pd.DataFrame) -> Run:
        """The same run over other rows of it, or over rows made of them."""
        return replace(self, table=table)

    def values(self, *by: str, y: str, table: str = "", where: str | None = None) -> pd.Series[Any]:
        """What counts of `y` in each cell `by`, as the run's summary says; of the rows `where`, or of a further table.

        run.values("series", "threads", y="nanoseconds")["mtr_5_7", 1]
        """
        rows = self.tables[table] if table else self.table
        return values(rows if where is None else rows.query(where), *by, y=y, how=self.summary)


def save(run: Run, *, chapter: str) -> Path:
    """Keep `run` under the next free number of its figure and method; return the path of its CSV.

    One saver at a time works on a chapter, and the CSV appears last, so that nobody reads half a run. Provenance passes
    `provenance.scrub` on its way.
    """
    folder = paths.data() / "recorded" / chapter
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"": _csv_text(run.table), **{name: _csv_text(table) for name, table in run.tables.items()}}
    for name, text in texts.items():
        if len(text) > _LARGEST_CSV_BYTES:
            raise EngineRoomError(
                f"the table {name or run.figure!r} is {len(text) / 1e6:.1f} MB as CSV, more than a recording may hold",
                remedy="record fewer rows: summarise in the experiment, or sample",
            )
    scrubbed = provenance.scrub(run.provenance)
    protocol = _protocol(run, scrubbed)
    meta = _json_text(
        {
            "figure": run.figure,
            "method": run.method,
            "recorded_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "summary": run.summary,
            "not_attributable": run.not_attributable,
            "withdrawn": None,
            "protocol": protocol and protocols.hash_of(protocol),
            "provenance": scrubbed,
            "tables": {
                name: _fields(table, run.columns)
                for name, table in {"": run.table, **dict(run.tables)}.items()
            },
        }
    )
    with _lock(chapter):
        names = f"{run.figure}.{run.method}.*.json"
        taken = [_number(path) for each in (folder, _archive(folder)) for path in each.glob(names)]
        stem = f"{run.figure}.{run.method}.{max(taken, default=0) + 1}"
        if protocol is not None:
            protocols.keep(protocol, chapter)
        files.write_whole(folder / f"{stem}.json", meta)
        for name, text in reversed(texts.items()):
            files.write_whole(folder / f"{stem}{'.' if name else ''}{name}.csv", text)
        files.write_whole(folder / "datapackage.json", _json_text(package(chapter)))
    return folder / f"{stem}.csv"


def _lock(chapter: str) -> FileLock:
    return FileLock(paths.build() / f"recorded-{chapter}.lock")


def _archive(folder: Path) -> Path:
    """Where a chapter's withdrawn runs lie."""
    return folder / "withdrawn"


def recorded(figure: str, method: str) -> list[Run]:
    """All recorded runs of a figure by a method, newest last; the withdrawn ones carry their reason.

    One that cannot be read is left out, and said on stderr: it stops nothing but itself.
    """
    every = (_readable(_read, meta) for _, meta in sorted(_found(figure, method)))
    return [run for run in every if run is not None]


def _found(figure: str, method: str) -> Iterator[tuple[int, Path]]:
    """Number and .json of each complete run."""
    for folder in (paths.data() / "recorded").glob("*/"):
        for meta in _complete(folder, f"{figure}.{method}."):
            yield _number(meta), meta


def _complete(folder: Path, begins: str = "") -> Iterator[Path]:
    """The .json of each run of a chapter that is whole, the CSV coming last, the withdrawn ones too.

    Names are compared as they are: patterns for all of a thousand files take far longer.
    """
    for each in (folder, _archive(folder)):
        names = {entry.name for entry in os.scandir(each)} if each.is_dir() else set()
        for name in names:
            stem, _, ending = name.rpartition(".")
            is_of_run = name.startswith(begins) and ending == "json" and f"{stem}.csv" in names
            if is_of_run and stem.rpartition(".")[2].isdecimal():
                yield each / name


def _number(meta: Path) -> int:
    return int(meta.stem.rpartition(".")[2])


def latest(figure: str, method: str) -> Run | None:
    """The newest recorded run that counts, or `None`: not withdrawn, and made on a quiet machine where there is such a one."""
    newest_busy = None
    for _, meta in sorted(_found(figure, method), reverse=True):
        run = _readable(_read, meta)
        if run is None or run.withdrawn is not None:
            continue
        if run.why_busy is None:
            return run
        newest_busy = newest_busy or run
    return newest_busy


def newest(figure: str, method: str) -> Run:
    """The newest recorded run that counts, as `latest`; raises EngineRoomError where there is none.

    >>> newest("fig-7-22", "live").origin
    'recorded'
    """
    run = latest(figure, method)
    if run is None:
        raise EngineRoomError(
            f"no run of {figure} by {method} is recorded",
            remedy=f"engineroom record {figure} --method {method}",
        )
    return run


def withdraw(figure: str, method: str, n: int, *, reason: str) -> Path:
    """Move a recorded run to its chapter's withdrawn ones, with the reason; return the path of its `.json` there."""
    meta = next((meta for number, meta in _found(figure, method) if number == n), None)
    if meta is None:
        raise EngineRoomError(
            f"there is no recorded run {n} of {figure[:100]!r} by {method}",
            remedy="look into data/recorded for figures and numbers",
        )
    folder = meta.parent.parent if meta.parent.name == "withdrawn" else meta.parent
    archived = _archive(folder) / meta.name
    archived.parent.mkdir(exist_ok=True)
    with _lock(folder.name):
        files.write_whole(archived, _json_text({**_recording(meta), "withdrawn": reason}))
        if archived != meta:
            for csv in sorted(folder.glob(f"{meta.stem}.*csv"), reverse=True):
                csv.rename(archived.with_name(csv.name))
            meta.unlink()
        files.write_whole(folder / "datapackage.json", _json_text(package(folder.name)))
    return archived


def _protocol(run: Run, scrubbed: Mapping[str, Any]) -> protocols.Content | None:
    return protocols.content(
        run.figure, run.method, table=run.table, summary=run.summary, provenance=scrubbed
    )


def package(chapter: str) -> dict[str, Any]:
    """The data package of a chapter's recordings: one resource a CSV, with each column's type and description."""
    folder = paths.data() / "recorded" / chapter
    resources = []
    for file, meta in _metas(folder):
        for name, fields in meta["tables"].items():
            path = f"{file.with_suffix('').relative_to(folder).as_posix()}{'.' if name else ''}{name}.csv"
            resources.append(
                {
                    "name": file.stem + (f".{name}" if name else ""),
                    "path": path,
                    "title": f"{meta['figure']} by {meta['method']}, recorded {meta['recorded_at']}"
                    + (f": {name}" if name else ""),
                    "format": "csv",
                    "mediatype": "text/csv",
                    "encoding": "utf-8",
                    "schema": {"fields": fields, "missingValues": [""]},
                }
            )
    return {
        "name": f"recorded-{chapter.replace('_', '-')}",
        "title": f"Recorded runs of the chapter {chapter}",
        "description": "One CSV a table, with the provenance of its run in the .json of the same name. Runs are added, never changed.",
        "licenses": [{"name": "CC-BY-4.0", "path": "https://creativecommons.org/licenses/by/4.0/"}],
        "resources": resources,
    }


def _metas(folder: Path) -> Iterator[tuple[Path, Recording]]:
    """The .json of every complete run of a chapter, and what it holds, in a stable order."""
    for path in sorted(_complete(folder), key=lambda path: (path.stem.split(".")[:2], _number(path))):
        meta = _readable(_recording, path)
        if meta is not None:
            yield path, meta


def _recording(path: Path) -> Recording:
    """What a run's .json holds; EngineRoomError names the file and the place that is wrong."""
    remedy = "bring the recorded file back (`git checkout`): runs are added, never changed"
    name = path.relative_to(paths.root()).as_posix()
    held = files.read_json(_file(path), "recorded run", remedy=remedy)
    return forms.require(Recording, held, file=f"the recorded run {name}", remedy=remedy)


def _file(path: Path) -> Path:
    """`path`, unless it is a pipe or a device, of which reading might never end."""
    if path.exists() and not path.is_file():
        raise EngineRoomError(
            f"the recorded {path.relative_to(paths.root()).as_posix()} is no file",
            remedy="bring the recorded file back (`git checkout`): runs are added, never changed",
        )
    return path


def _readable(read: Callable[[Path], T], path: Path) -> T | None:
    """What `read` makes of a recording, or None, having said why."""
    try:
        return read(path)
    except EngineRoomError as error:
        _tell(str(error))
        return None


@functools.cache  # once, however many ask for the run
def _tell(problem: str) -> None:
    print(files.visible(f"left out: {problem}"), file=sys.stderr)


def _read(path: Path) -> Run:
    """The run whose .json is at `path`, its tables the caller's own: pandas copies on write."""
    held = b""
    with contextlib.suppress(OSError):  # which `_recording` says
        held = _file(path).read_bytes()
    run = _parsed(path, held)
    tables = {name: table.copy(deep=False) for name, table in run.tables.items()}
    return replace(run, table=run.table.copy(deep=False), tables=tables)


@functools.cache
def _parsed(path: Path, _: bytes) -> Run:
    """Once for what the .json holds: of a recording nothing else ever changes."""
    meta = _recording(path)
    try:
        tables = {
            name: _read_csv(path.with_name(f"{path.stem}{'.' if name else ''}{name}.csv"), fields)
            for name, fields in meta["tables"].items()
        }
        return Run(
            figure=meta["figure"],
            method=meta["method"],
            table=tables.pop(""),
            provenance=meta["provenance"],
            tables=tables,
            not_attributable=meta["not_attributable"],
            summary=meta["summary"],
            columns={
                field["name"]: field["description"]
                for fields in meta["tables"].values()
                for field in fields
                if "description" in field
            },
            origin="recorded",
            recorded_at=meta["recorded_at"],
            n=_number(path),
            withdrawn=meta["withdrawn"],
            protocol=meta.get("protocol"),
        )
    except (OSError, ValueError, KeyError) as error:  # a table that is missing, or is another than described
        raise EngineRoomError(
            f"the recorded run {path.relative_to(paths.root()).as_posix()} makes no run ({error})",
            remedy="bring the recorded files back (`git checkout`): runs are added, never changed",
        ) from error


def _read_csv(path: Path, fields: list[Column]) -> pd.DataFrame:
    """Read with the written types, so that the server "5.7" stays a text. Raises ValueError where a column holds another type."""
    try:
        table = pd.read_csv(
            _file(path),
            dtype={field["name"]: _KINDS[field["type"]] for field in fields},
            keep_default_na=False,
            na_values={field["name"]: [""] for field in fields},
        )
    except (TypeError, OverflowError) as error:  # 0.5 or infinity among whole numbers
        raise ValueError(f"{path.name}: {error}") from error
    for each in fields:
        column = table[each["name"]]
        if each["type"] == "integer" and not column.isna().any():
            table[each["name"]] = column.astype("int64")
        elif each["type"] == "boolean" and not column.isna().any():
            table[each["name"]] = column.astype("bool")
    return table


def _fields(table: pd.DataFrame, descriptions: Mapping[str, str]) -> list[dict[str, str]]:
    """The columns as a table schema: name, type and, where known, the description."""
    fields = []
    for name in table.columns:
        column = table[name]
        if pd.api.types.is_bool_dtype(column):
            kind = "boolean"
        elif pd.api.types.is_integer_dtype(column):
            kind = "integer"
        elif pd.api.types.is_float_dtype(column):
            kind = "number"
        else:
            kind = "string"
        described = {"name": str(name), "type": kind}
        description = descriptions.get(str(name)) or _DESCRIPTIONS.get(str(name))
        fields.append({**described, "description": description} if description else described)
    return fields


def _csv_text(table: pd.DataFrame) -> str:
    text: str = table.to_csv(index=False, lineterminator="\n", float_format="%.12g")
    return text


def _json_text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
