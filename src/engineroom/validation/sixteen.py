"""Servers among up to 256 clients on sixteen real processors: what the chapters tell of the recording `own-crowd`."""

from __future__ import annotations

from engineroom.runs import newest
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
