"""What one deadlock adds to the error log, with innodb_print_all_deadlocks on and off: lines, and beside each server's name bytes."""

from __future__ import annotations

from engineroom.figures.parts import Dots, Rows, Run, Words, ours, rows_by, values

SETTING = "innodb_print_all_deadlocks"
ON = "on"
_rows = rows_by("server", y="lines", keep=["bytes", "deadlocks"])


def rows(run: Run) -> Rows:
    """All repeats; the series is the setting, the place the server's release. No number of lines is published."""
    return _rows(run.with_table(run.table.drop(columns="series").rename(columns={SETTING: "series"})))


def _bytes(table: Rows) -> dict[str, float]:
    """Bytes per deadlock with the setting on, by server."""
    on = table[table["series"] == ON]
    return {str(server): float(each) for server, each in values(on, "server", y="bytes").items()}


def _named(table: Rows) -> dict[str, str]:
    return {server: f"MySQL {server}\n{each:,.0f} bytes" for server, each in _bytes(table).items()}


SERIES, LABEL = {ON: f"{SETTING} = ON", "off": "OFF"}, "lines of error log per deadlock"
picture = Dots(by="server", rows=_named, series=SERIES, label=LABEL)


def words(table: Rows) -> Words:
    """Lines and bytes of each server with the setting on, and the most lines with it off."""
    on, size, quiet = ours(table)[ON], _bytes(table), f"{ours(table)['off'].max():,.3g}"
    said = ", ".join(
        f"{server} {on[server]:,.0f} lines and {each:,.0f} bytes" for server, each in size.items()
    )
    return Words(
        alt=f"Dots of lines that one deadlock adds to the error log of a MySQL server. On: {said}. Off: at most {quiet} lines.",
        caption=f"A deadlock of two sessions over two rows adds {on.min():,.0f} to {on.max():,.0f} lines, {min(size.values()):,.0f} to "
        f"{max(size.values()):,.0f} bytes, to the error log when {SETTING} is on, and {quiet} when it is off.",
    )
