"""Our own figure: throughput of a whole engine with purge, by its transaction system, over that of the same engine without purge."""

from __future__ import annotations

from engineroom.figures.parts import Dots, Rows, Run, Words, each, rows_by, valued, values

WITHOUT = ", no purge"
# The load has no autocommit reads, whose closed views alone stay in the list: those with views removed at once are the same runs.
_LEFT_OUT = ", views removed"
VERSIONS = ("5.6", "5.7", "8.0", "9.7")
picture = Dots(
    rows={version: version for version in VERSIONS},
    by="version",
    label="throughput over that without purge",
    line_at=1.0,
)
_tps = rows_by("concurrency", y="tps", keep=("half_width_percent",))


def rows(run: Run) -> Rows:
    """Each over the same latches without purge and with as many clients, which is the series here."""
    table = _tps(run)
    without = values(table, "series", "concurrency", y="tps")
    with_purge = table[~table["series"].str.endswith((WITHOUT, _LEFT_OUT))].rename(
        columns={"series": "version"}
    )
    keys = zip(with_purge["version"] + WITHOUT, with_purge["concurrency"], strict=True)
    ratios = [tps / without[key] for tps, key in zip(with_purge["tps"], keys, strict=True)]
    over = valued(with_purge, "throughput_over_none", ratios)
    clients = over.pop("concurrency")
    over.insert(0, "series", [f"{n:,} clients" for n in clients])
    return over.reset_index(drop=True)


def words(table: Rows) -> Words:
    """Each version, and those with most clients."""
    of = picture.values(table)
    most = table["series"].iloc[-1]
    widest = table.iloc[int(table["half_width_percent"].to_numpy().argmax())]
    return Words(
        alt=f"Dots of throughput with purge, the same engine without purge being 1. {picture.said(table)}.",
        caption=f"Throughput with purge over that without it, with {most}, by the version of the transaction system: "
        f"{each({version: of[most, version] for version in VERSIONS}, '{:.2f}')}. "
        f"The widest half interval of a run behind these is {widest['half_width_percent']:.0f} % of its throughput, on {widest['version']}.",
    )
