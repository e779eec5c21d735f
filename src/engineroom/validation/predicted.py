"""What `engineroom whatif` predicted and what engines did, beside what live servers did."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from engineroom.runs import Run, newest
from engineroom.runs.summary import several

__all__ = ["beside_servers", "compared", "pair"]


def beside_servers(table: pd.DataFrame) -> pd.DataFrame:
    """A row per server, load and clients: ratio, the prediction over the server's median throughput, whether that lies in its range, and row_waiters of both."""
    by = ["server", "load", "clients"]
    server, made = (
        several(
            table[table["series"] == series],
            *by,
            ys=["tps", "lowest_tps", "highest_tps", "row_waiters"],
            how="median",
        )
        for series in ("server", "predicted")
    )
    return pd.DataFrame(
        {
            "ratio": made["tps"] / server["tps"],
            "is_in_range": server["tps"].between(made["lowest_tps"], made["highest_tps"]),
            "tps": server["tps"],
            "predicted_tps": made["tps"],
            "row_waiters": server["row_waiters"],
            "predicted_row_waiters": made["row_waiters"],
        }
    )


def pair(servers: Run, engines: Run) -> Run:
    """Both as one run: that of the servers, with the engines' rows."""

    def both(of: pd.DataFrame, more: pd.DataFrame) -> pd.DataFrame:
        return pd.concat([of[of["series"] == "server"], more], ignore_index=True)

    tables = {name: both(servers.tables[name], more) for name, more in engines.tables.items()}
    return replace(servers, table=both(servers.table, engines.table), tables=tables)


def compared(figure: str) -> Run:
    """The newest recordings of a comparison, as one run."""
    return pair(newest(figure, "live"), newest(figure, "sim"))
