"""What `engineroom whatif` predicted beside what live servers did, point by point."""

from __future__ import annotations

import pandas as pd

from engineroom.runs.summary import several

__all__ = ["beside_servers"]


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
