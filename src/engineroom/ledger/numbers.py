"""What the front page and the ledger's page tell: how many figures have which verdict, and which rows need a word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engineroom.ledger import page, resampling
from engineroom.ledger.rows import Row, rows
from engineroom.runs import newest, quiet
from engineroom.servers.catalogue import release
from engineroom.show.crowd import Crowd

summary = page.summary()
draws = resampling.DRAWS
quiet_load, quiet_steal_percent = quiet.LOAD, quiet.STEAL_PERCENT


def no_index_ratio() -> float:
    """CPU time of the slowest over the fastest server that joins two tables without an index, at the most rows."""
    run = newest("own-hash-join-no-index", "live")
    cpu_s = run.values("rows_per_table", "series", y="server_cpu_s")[int(run.table["rows_per_table"].max())]
    return float(cpu_s.max() / cpu_s.min())


def waiting(*latches: str) -> Crowd:
    """Of the most clients of a read-write load on real servers, those that wait for a latch whose name begins so, on the oldest and the newest."""
    found = newest("own-crowd", "live").tables["latches"].query("load == 'uniform'")
    crowd = found[(found["clients"] == found["clients"].max()) & found["latch"].str.startswith(latches)]
    of = crowd.groupby("series")["clients_waiting"].sum()
    servers = sorted(of.index, key=release)
    return Crowd({server: round(of[server]) for server in (servers[0], servers[-1])})


def undecided_rows(found: Sequence[Row] | None = None) -> str:
    """The rows whose newest recording is undecided."""
    return _counted(_name(row) for row in _decided(found) if _newest(row)["verdict"] == "undecided")


def fragile_rows() -> str:
    """The rows whose verdict fewer than 80 % of the resamples give again."""
    return _counted(f"{_name(row)} ({row.stability:.2f})" for row in _decided() if row.is_fragile)


def rescheduled_rows() -> str:
    """The rows that have another verdict when rescheduled."""
    found = ((row, row.rescheduled) for row in _decided())
    return _counted(f"{_name(row)} ({other.replace('_', ' ')})" for row, other in found if other)


def busy_rows(found: Sequence[Row] | None = None) -> str:
    """The rows whose newest recording decides nothing, since the machine was busy, and what decides instead."""
    said = []
    for row in _decided(found):
        newest, why = _newest(row), str(_newest(row)["set_aside"])
        if not why.startswith("the machine was busy: "):
            continue
        instead = "none decides" if row.stability is None else "an earlier recording decides"
        verdict = newest["verdict"].replace("_", " ")
        why = why.removeprefix("the machine was busy: ")
        said.append(f"{_name(row)} (recording {newest['n']}, {verdict}: {why}; {instead})")
    return _counted(said)


def _decided(found: Sequence[Row] | None = None) -> list[Row]:
    return [row for row in (rows() if found is None else found) if row.method is not None]


def _newest(row: Row) -> Mapping[str, Any]:
    """The newest recording that is not withdrawn."""
    recordings = [each for protocol in row.protocols for each in protocol["recordings"]]
    kept = (each for each in recordings if not str(each["set_aside"]).startswith("withdrawn"))
    return max(kept, key=lambda each: each["n"])


def _name(row: Row) -> str:
    return f"{row.figure} by {row.method}"


def _counted(names: Any) -> str:
    found = list(names)
    return f"{len(found)} row{'s' * (len(found) > 1)}: {', '.join(found)}" if found else "no row"
