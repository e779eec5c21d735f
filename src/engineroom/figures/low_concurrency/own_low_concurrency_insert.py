"""Our own figure: CPU time per row of a large INSERT, parsed alone and stored, in four generations."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, by_release, ends, rows_by, values

Y, MOST = "server_cpu_us", "rows_per_statement == rows_per_statement.max()"
X_LABEL, Y_LABEL = "columns of a row", "CPU µs per row"
rows = rows_by("columns", "rows_per_statement", "target", y=Y, where=MOST)
# Parsing alone, into a table that keeps nothing.
PARSED = "target == 'blackhole'"
picture = Curves(x="columns", labels=by_release, where=PARSED, x_label=X_LABEL, y_label=Y_LABEL)


def words(table: Rows) -> Words:
    """The newest over 5.7, at both ends, parsed and stored."""
    of = values(table, "target", "series", "columns", y=Y)
    servers = list(by_release(table))
    old, new = next((name for name in servers if name.startswith("5.7")), servers[0]), servers[-1]
    parsed, stored = (of[target, new] / of[target, old] for target in ("blackhole", "innodb"))
    few, many = min(table["columns"]), max(table["columns"])
    return Words(
        alt=picture.alt(
            table, told=ends, more=f"{table['rows_per_statement'].iloc[0]} rows per statement, parsed alone."
        ),
        caption=f"Parsed and thrown away, a row of {few} column costs {new} {parsed[few]:.2f} times what it costs {old}, one of {many} "
        f"columns {parsed[many]:.2f} times; stored in InnoDB, {stored[few]:.2f} and {stored[many]:.2f} times.",
    )
