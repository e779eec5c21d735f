"""What a kit measured elsewhere: its folder as a run, beside the book's recording with as many clients per processor."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any, Literal, TypedDict

import pandas as pd

from engineroom import files, forms, listing
from engineroom.ask.kit.runner import FORMAT, HOT, LATCHES, ROWS, USUAL
from engineroom.ask.pages import templates
from engineroom.errors import EngineRoomError
from engineroom.runs import Run, provenance, quiet
from engineroom.servers import manifest
from engineroom.servers.catalogue import series_of

__all__ = ["HEAD", "beside", "html", "read", "remarks", "text"]

REMEDY = "name the whole folder that `./run` of a kit wrote, as it wrote it"
HEAD = ["load", "server", "clients", "here", "clients, book", "book", "here/book"]
_TEXTS, _WHOLE = (
    ("series", "load", "setting", "latch", "server"),
    ("clients", "repeat", "redo_bytes", "pages_flushed_per_s"),
)
_NEEDED = {
    ROWS: (
        "clients",
        "series",
        "load",
        "setting",
        "tps",
        "server_cpus",
        "cpu_us",
        "row_lock_ms",
        "server",
        "repeat",
    ),
    LATCHES: ("clients", "series", "load", "latch", "acquisitions", "wait_us", "clients_waiting", "tps"),
}


class _About(TypedDict):
    cores: int
    cpu: str | None
    date: str
    storage: str
    server_processors: list[int]
    before: dict[str, float]
    during: dict[str, float]
    servers: dict[str, Any]
    left_out: dict[str, str]
    options: dict[str, Any]
    processor_quota: str | None


class _Held(TypedDict):
    """crowd.json: the sums of the tables, and where and how they were measured."""

    format: Literal["engineroom-crowd-1"]
    sums: dict[str, str]
    provenance: _About


def read(folder: Path) -> Run:
    """The folder as a run of the figure `own-crowd`; EngineRoomError for one that is foreign or damaged."""
    file = folder / "crowd.json"
    if not file.is_file():
        raise EngineRoomError(f"{folder} has no crowd.json: it is no folder of results", remedy=REMEDY)
    held = files.read_json(file, "file of results", remedy=REMEDY)
    if not isinstance(held, dict) or held.get("format") != FORMAT:
        raise EngineRoomError(f"{file} is not of the form {FORMAT}: another program wrote it", remedy=REMEDY)
    about = forms.require(_Held, held, file=str(file), remedy=REMEDY)
    tables = {name: _table(folder / name, about["sums"].get(name, "")) for name in (ROWS, LATCHES)}
    if about["provenance"]["cores"] < 1 or tables[ROWS].empty:
        raise EngineRoomError(f"{folder} holds no measurement", remedy=REMEDY)
    return Run(
        figure="own-crowd",
        method="live",
        table=tables[ROWS],
        tables={"latches": tables[LATCHES]},
        provenance=provenance.scrub(about["provenance"]),
        origin="kit",
        recorded_at=about["provenance"]["date"],
    )


def _table(file: Path, sum_: str) -> pd.DataFrame:
    """A table whose sum is the one that was noted, with the columns and the kinds of value that are read."""
    try:
        if not file.is_file() or manifest.sha256(file) != sum_:
            raise ValueError("it is not what was written" if file.is_file() else "it is missing")
        if not file.read_bytes().strip():  # no latch was waited for
            return pd.DataFrame({name: pd.Series(dtype="float64") for name in _NEEDED[file.name]})
        table = pd.read_csv(file, dtype=dict.fromkeys(_TEXTS, "str"), keep_default_na=False, na_values=[""])
        if lacking := [name for name in _NEEDED[file.name] if name not in table]:
            raise ValueError(f"it has no column {', '.join(lacking)}")
        for name in table.columns:
            if name not in _TEXTS:
                table[name] = pd.to_numeric(table[name]).astype("int64" if name in _WHOLE else "float64")
        needed = [name for name in _NEEDED[file.name] if name not in _TEXTS]
        if not table[needed].map(lambda value: math.isfinite(value) and value >= 0).all(axis=None):
            raise ValueError("a number in it is none, infinite or negative")
    except (OSError, ValueError, TypeError, OverflowError) as error:
        raise EngineRoomError(f"{file} is damaged: {files.visible(str(error))}", remedy=REMEDY) from error
    return table


def beside(run: Run, book: Run | None) -> list[list[str]]:
    """Rows of cells under HEAD: transactions per second here, and in the book with as many clients per processor."""
    known = {} if book is None else _throughput(book)
    theirs = {(load, series_of(server), n): tps for (load, server, n), tps in known.items()}
    rows = []
    for (load, series, clients), tps in _throughput(run).items():
        n = _paired(clients, run, book)
        found = theirs.get((load, series_of(series), n))
        told = [f"{n:,}", f"{found:,.0f}", f"{tps / found:.2f}"] if found else ["", "", ""]
        rows.append([load, series, f"{clients:,}", f"{tps:,.0f}", *told])
    return rows


def _throughput(run: Run) -> dict[tuple[str, str, int], float]:
    of = run.values("load", "series", "clients", y="tps", where=f"setting == '{USUAL}'").reset_index()
    return {(row["load"], row["series"], row["clients"]): row["tps"] for row in of.to_dict("records")}


def _paired(clients: int, run: Run, book: Run | None) -> int:
    """As many clients per processor in the book; a single one stays alone."""
    if book is None or clients == 1:
        return clients
    cores: int = book.provenance["cores"]
    return round(clients * cores / int(run.provenance["cores"]))


def remarks(run: Run, book: Run | None) -> list[str]:
    """Where it was measured, what a crowd leaves, who waits for what, and what tells against the numbers."""
    about = run.provenance
    during = about["during"]
    at = f"{about['cores']} processors ({about['cpu'] or 'unknown CPU'}), {len(about['server_processors'])} of them the server's"
    others = f"load {during.get('load_before', 0):g} before, {during.get('steal_percent', 0):g} % of the time withheld"
    said = [f"Measured {about['date'][:10]} on {at}; data on {about['storage']}; {others}."]
    hot = run.values("series", "clients", y="tps", where=f"setting == '{USUAL}' and load == '{HOT}'")
    for series in dict.fromkeys(hot.index.get_level_values(0)):
        line = hot[series]
        said.append(
            f"{series}, {HOT}: {line.index[-1]:,} clients leave {100 * line.iloc[-1] / line.max():.0f} % of its best throughput."
        )
    waits = _longest(run)
    known = (
        {}
        if book is None
        else {(load, series_of(server), n): at for (load, server, n), at in _longest(book).items()}
    )
    for (load, series, clients), (latch, waiting) in waits.items():
        n = _paired(clients, run, book)
        theirs = known.get((load, series_of(series), n))
        there = f"; in the book, with {n:,}, {theirs[1]:.2g} for {theirs[0]}" if theirs else ""
        said.append(
            f"{series}, {load}, longest waits for a latch: with {clients:,} clients {waiting:.2g} threads wait for {latch}{there}."
        )
    if book is not None and about["storage"] not in book.provenance["storage"]:
        said.append(
            f"In the book data lay on {book.provenance['storage'].partition(':')[0]}; here each fsync took the time of {about['storage']}."
        )
    rows, megabytes = (about["options"].get(name) for name in ("rows", "megabytes"))
    if (rows, megabytes) != (100_000, 2048):
        said.append(
            f"Tables had {rows} rows, buffer pool and redo log {megabytes} MB: the book's 100000 and 2048 are another load."
        )
    if (about["processor_quota"] or "max").split()[0] != "max":
        said.append(f"A quota held the processors back (cpu.max {about['processor_quota']}).")
    if why := quiet.why_busy(run.method, about):
        said.append(f"Take the numbers with caution: {why}.")
    return [*said, *(f"Left out: {what}: {why}." for what, why in about["left_out"].items())]


def _longest(run: Run) -> dict[tuple[str, str, int], tuple[str, float]]:
    """By load, server and clients the latch for which most threads wait in the mean, and how many."""
    by = ["load", "series", "clients"]
    found = run.tables["latches"].sort_values("clients_waiting").groupby(by).last().reset_index()
    return {
        (row["load"], row["series"], row["clients"]): (row["latch"], row["clients_waiting"])
        for row in found.to_dict("records")
    }


def text(run: Run, book: Run | None) -> str:
    """For a terminal."""
    said = [files.visible(each) for each in remarks(run, book)]
    lines = [files.visible(line) for line in listing.table(HEAD, beside(run, book))]
    return "\n".join(
        [*lines, "", "Transactions per second; the book's with as many clients per processor.", *said]
    )


def html(run: Run, book: Run | None) -> str:
    """One page that loads nothing: the table, and the book's figure drawn from either."""
    from engineroom.show.curves import Curves
    from engineroom.show.drawing import draw, show
    from engineroom.show.figure import figure_of
    from engineroom.show.names import as_found
    from engineroom.show.wording import Words

    figure = figure_of("own-crowd")
    drawings = []
    if ((run.table["load"] == HOT) & (run.table["setting"] == USUAL)).any():
        table = figure.rows(run)
        n = len(run.provenance["server_processors"])
        assert isinstance(figure.picture, Curves)
        picture = dataclasses.replace(figure.picture, labels=as_found("series"))
        caption = f"Here: updates of hot rows per second. Processors for the server: {n}."
        words = Words(alt=picture.alt(table, "{:,.0f}"), caption=caption)
        drawings.append(draw("own-crowd-kit", table, picture, words, origin=remarks(run, book)[0]))
    if book is not None:
        drawings.append(show("own-crowd", book))
    page = templates(Path(__file__).parent).get_template("page.html.jinja")
    return page.render(head=HEAD, rows=beside(run, book), remarks=remarks(run, book), drawings=drawings)
