"""Servers among up to 256 clients on sixteen real processors: what the chapters tell of the recording `own-crowd`."""

from __future__ import annotations

import pandas as pd

from engineroom.runs import Run, newest
from engineroom.runs.summary import values

run = newest("own-crowd", "live")
# load ("uniform", "hot rows"), server, clients
tps, fsyncs, cpu_us = (
    run.values("load", "series", "clients", y=y, where="setting == 'usual'")
    for y in ("tps", "fsyncs", "cpu_us")
)
# load, server, clients (64, 256), latch: clients that wait for it, in the mean
waiting = values(
    run.tables["latches"], "load", "series", "clients", "latch", y="clients_waiting", how="median"
)


def kept_percent(server: str, clients: int = 256, load: str = "hot rows") -> float:
    """Of a server's best throughput, what it has with so many clients."""
    mine = tps[load, server]
    return float(100 * mine[clients] / mine.max())


def live() -> Run:
    """The servers, by load, series and clients, at their usual settings."""
    return run.with_table(run.table[run.table["setting"] == "usual"])


def paired(engines: Run) -> Run:
    """The engines' run with the servers' rows, in the columns of a comparison: series (server, engine), server, distribution (the load)."""
    both = [live().table.assign(side="server"), engines.table.assign(side="engine")]
    table = pd.concat([each[["clients", "side", "repeat", "series", "load", "tps"]] for each in both])
    named = {"series": "server", "load": "distribution", "side": "series"}
    return engines.with_table(table.rename(columns=named).reset_index(drop=True))


def factors(engines: Run) -> pd.Series[float]:
    """The engine's throughput over its server's: load, series, clients."""
    return (engines.values("load", "series", "clients", y="tps") / tps).dropna()


def waiting_on_both(engines: Run) -> pd.DataFrame:
    """Clients that wait for latches that both sides name, by load, series, clients and latch: server, engine."""
    of = values(
        engines.tables["latches"],
        "load",
        "series",
        "clients",
        "latch",
        y="clients_waiting",
        how="median",
    )
    return pd.DataFrame({"server": waiting, "engine": of}).dropna()


def left_by_most(tps: pd.Series[float]) -> pd.Series[float]:
    """With the most clients over the best, by load and series."""
    by = tps.groupby(level=["load", "series"])
    return by.last() / by.max()
