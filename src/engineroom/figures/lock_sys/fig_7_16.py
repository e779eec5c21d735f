"""What one deadlock adds to the error log, with innodb_print_all_deadlocks on and off: lines, and beside each server's name bytes."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.dots import Dots
from engineroom.figures.wording import Words
from engineroom.runs import Run
from engineroom.side_by_side import ours
from engineroom.summary import values

__all__ = ["picture", "rows", "words"]

SETTING = "innodb_print_all_deadlocks"
ON = "on"


def rows(run: Run) -> pd.DataFrame:
    """All repeats; the series is the setting, the place the server's release. No number of lines is published."""
    by_setting = run.table.drop(columns="series").rename(columns={SETTING: "series"})
    return side_by_side.rows(
        replace(run, table=by_setting), by=("server", "series"), y="lines", keep=["bytes", "deadlocks"]
    )


def _bytes(table: pd.DataFrame) -> dict[str, float]:
    """Bytes per deadlock with the setting on, by server."""
    on = table[table["series"] == ON]
    return {str(server): float(each) for server, each in values(on, "server", y="bytes").items()}


def _named(table: pd.DataFrame) -> dict[str, str]:
    return {server: f"MySQL {server}\n{each:,.0f} bytes" for server, each in _bytes(table).items()}


picture = Dots(
    by="server",
    rows=_named,
    series={ON: f"{SETTING} = ON", "off": "OFF"},
    label="lines of error log per deadlock",
)


def words(table: pd.DataFrame) -> Words:
    """Lines and bytes of each server with the setting on, and the most lines with it off."""
    lines = ours(table)
    of_log = _bytes(table)
    said = ", ".join(
        f"{server} {lines[ON, server]:,.0f} lines and {each:,.0f} bytes" for server, each in of_log.items()
    )
    on = lines[ON]
    quiet = f"{lines['off'].max():,.3g}"
    return Words(
        alt=f"Dots of lines that one deadlock adds to the error log of a MySQL server. On: {said}. Off: at most {quiet} lines.",
        caption=f"A deadlock of two sessions over two rows adds {on.min():,.0f} to {on.max():,.0f} lines, "
        f"{min(of_log.values()):,.0f} to {max(of_log.values()):,.0f} bytes, to the error log when {SETTING} is on, and {quiet} when it is off.",
    )
