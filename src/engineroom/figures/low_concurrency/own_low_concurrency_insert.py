"""Our own figure: CPU time a row of a large INSERT, parsed alone and stored, in four generations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.lines import is_narrow, label_ends, lines
from engineroom.servers.catalogue import release

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]


def rows(run: Run) -> pd.DataFrame:
    """The largest statements."""
    largest = run.table["rows_per_statement"].max()
    return pd.DataFrame(run.table[run.table["rows_per_statement"] == largest])


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Parsing alone (into a table that keeps nothing), one line a server."""
    servers = sorted(set(table["series"]), key=release)
    ends = lines(
        table[table["target"] == "blackhole"],
        ax,
        x="columns",
        y="server_cpu_us",
        labels={server: server for server in servers},
        summary="min",
    )
    ax.set_xscale("log")
    ax.set_yscale("log")
    at = sorted(set(table["columns"]))
    ax.set_xlim(at[0] / 1.2, at[-1] * (4 if is_narrow(ax) else 2))
    ax.set_xticks(at, [f"{value:g}" for value in at])
    ax.minorticks_off()
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    ax.set_xlabel("columns of a row, log scale")
    ax.set_ylabel("CPU µs a row, log scale")
    label_ends(ax, ends)


def words(table: pd.DataFrame) -> Words:
    """The newest over 5.7, at both ends, parsed and stored."""
    best = table.groupby(["target", "series", "columns"])["server_cpu_us"].min()
    servers = sorted(set(table["series"]), key=release)
    few, many = min(table["columns"]), max(table["columns"])
    old = next((server for server in servers if server.startswith("5.7")), servers[0])
    new = servers[-1]

    def ratio(target: str, columns: int) -> float:
        return float(best[target, new, columns] / best[target, old, columns])

    said = "; ".join(
        f"{server}: {best['blackhole', server, few]:.2f} at {few}, {best['blackhole', server, many]:.2f} at {many}"
        for server in servers
    )
    return Words(
        alt=f"Log-log line chart of server CPU microseconds a parsed row against columns, {table['rows_per_statement'].iloc[0]} rows a statement. {said}.",
        caption=(
            f"Parsed and thrown away, a row of {few} column costs {new} {ratio('blackhole', few):.2f} times what it costs {old}, one of {many} columns "
            f"{ratio('blackhole', many):.2f} times; stored in InnoDB, {ratio('innodb', few):.2f} and {ratio('innodb', many):.2f} times."
        ),
    )
