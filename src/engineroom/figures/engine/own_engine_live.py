"""Our own figure: throughput of the simulated engine over that of the live server that it models, from one client up."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Run, Words, as_found, rows_by, rows_over

_over = rows_over(
    "engine_over_server",
    "series == 'server'",
    "clients",
    "server",
    "distribution",
    of=rows_by("clients", "server", "distribution", y="tps", keep=()),
)
WHAT = "throughput, engine over server"
picture = Curves(labels=as_found("series"), x_label="clients", y_label=WHAT, y_log=False)


def rows(run: Run) -> Rows:
    """The engine's throughput over the server's median; a series is a server with the distribution of the rows that are drawn."""
    engine = _over(run).query("series == 'engine'")
    named = engine.assign(series=engine["server"] + ", " + engine["distribution"])
    return named.drop(columns=["server", "distribution"]).reset_index(drop=True)


def words(table: Rows) -> Words:
    """Each line, and how far the engine is off with one client and with more."""
    of = picture.values(table)
    alone, more = of.xs(1, level="clients"), of.drop(index=1, level="clients")
    return Words(
        alt=picture.alt(table),
        caption=f"With one client the engine is {alone.min():.2f} to {alone.max():.2f} times as fast as the server: the way of a message between "
        f"the two processes is left out. From two clients on it lies between {more.min():.2f} and {more.max():.2f}, half of the points within "
        f"{100 * (more - 1).abs().median():.0f} %.",
    )
