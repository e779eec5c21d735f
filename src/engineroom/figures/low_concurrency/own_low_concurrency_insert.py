"""Our own figure: CPU time per row of a large INSERT, parsed alone and stored, in four generations."""

from __future__ import annotations

from engineroom.experiments.low_concurrency.settings import EQUAL, INSTALLED, with_settings
from engineroom.figures.parts import Curves, Rows, Run, Words, by_release, ends, rows_by, values

Y, MOST = "server_cpu_us", "rows_per_statement == rows_per_statement.max()"
X_LABEL, Y_LABEL = "columns of a row", "CPU µs per row"
_rows = rows_by("columns", "rows_per_statement", "target", "settings", y=Y, where=MOST)
# Parsing alone, into a table that keeps nothing, with equal settings.
PARSED = f"target == 'blackhole' and settings == '{EQUAL}'"
picture = Curves(x="columns", labels=by_release, where=PARSED, x_label=X_LABEL, y_label=Y_LABEL)


def rows(run: Run) -> Rows:
    """The largest statements, with equal settings and as installed."""
    return _rows(run.with_table(with_settings(run.table)))


def words(table: Rows) -> Words:
    """The newest over 5.7, at both ends, parsed and stored, with each of the settings."""
    of = values(table, "settings", "target", "series", "columns", y=Y)
    servers = list(by_release(table))
    old, new = next((name for name in servers if name.startswith("5.7")), servers[0]), servers[-1]
    few, many = min(table["columns"]), max(table["columns"])

    def times(settings: str) -> str:
        sides = ("blackhole", "innodb")
        parsed, stored = (of[settings, side, new] / of[settings, side, old] for side in sides)
        return (
            f"{settings.capitalize()}: parsed and thrown away, a row of {few} column costs {new} {parsed[few]:.2f} times what it costs {old}, "
            f"one of {many} columns {parsed[many]:.2f} times; stored in InnoDB, {stored[few]:.2f} and {stored[many]:.2f} times."
        )

    return Words(
        alt=picture.alt(
            table, told=ends, more=f"{table['rows_per_statement'].iloc[0]} rows per statement, parsed alone."
        ),
        caption=" ".join(times(name) for name in (EQUAL, INSTALLED) if name in set(table["settings"])),
    )
