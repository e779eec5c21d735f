"""`engineroom join-order`: enumerate a graph, and explain a statement on a running server."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engineroom import files, progress, sql_text
from engineroom.ask.query_graphs import graphs
from engineroom.errors import EngineRoomError
from engineroom.servers.providers import dsn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["join_order"]

MOST_PRINTED, MOST_COUNTED = 10_000_000, 1_000_000_000


@click.group("join-order")
def join_order() -> None:
    """Join enumeration and join order."""


@join_order.command("enumerate")
@click.argument("graph")
@click.option("--algorithm", type=click.Choice(graphs.ALGORITHMS), default="faithful", show_default=True)
@click.option("--quiet", is_flag=True, help="Print only the totals.")
@click.option(
    "--limit",
    type=click.IntRange(0),
    help=f"End after about so many pairs; 0 for no limit. By default {MOST_PRINTED:,}, and {MOST_COUNTED:,} with --quiet.",
)
def enumerate_graph(graph: str, algorithm: str, quiet: bool, limit: int | None) -> None:
    """Print every event of an enumeration of GRAPH (a file, or - for standard input), then the totals.

    FILE#NAME is one graph of a file that holds many: data/querygraphs/job.json#29a is query 29a of the Join Order Benchmark. Its
    edges are then plain ones, also where the query has an outer, semi or anti join; `explain` knows those.

    A clique of n tables has (3^n - 2^(n+1) + 1) / 2 pairs: 30 tables would take days.
    """
    from engineroom._native import join_order as kernel

    loaded = graphs.read(graph)
    most = (MOST_COUNTED if quiet else MOST_PRINTED) if limit is None else limit
    try:
        with progress.bar(desc="Enumerating", unit="pair", unit_scale=True) as shown:

            def follow(pairs: int) -> None:
                shown.update(pairs - shown.n)
                if 0 < most < pairs:
                    raise EngineRoomError(
                        f"the graph has more than {most:,} pairs",
                        remedy="--limit 0 lifts the limit; --quiet counts them and prints none",
                    )

            def write(events: NDArray[np.void]) -> None:
                for line in graphs.event_lines(events, one_line_a_pair=algorithm != "faithful"):
                    sys.stdout.write(line + "\n")

            found = kernel.enumerate(
                loaded, algorithm=algorithm, events=not quiet, progress=follow, take=write
            )
    except ValueError as error:
        problem, _, remedy = str(error).rpartition("; ")
        raise EngineRoomError(problem or remedy, remedy=remedy) from None
    sys.stdout.write(json.dumps(found.counters) + "\n")


@join_order.command()
@click.argument("statement", required=False)
@click.option("--database", help="The schema of the statement; by default the comparison's own tables.")
@click.option("--version", default="9.7", show_default=True, help="Which running server.")
@dsn.option(
    "A server of your own, which is only read: mysql://user:password@host:port/database, or"
    " mysql://user:password@/database?socket=/path.",
    envvar="ENGINEROOM_EXPLAIN_DSN",
)
@click.option(
    "--trace",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Explain this optimizer trace of MySQL 9.7 instead, and ask no server.",
)
@click.option(
    "--plan",
    "pasted",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Read what EXPLAIN ANALYZE (of MariaDB: ANALYZE FORMAT=JSON) said, as a tree or as JSON, from this file (- for standard input), and ask no server.",
)
@click.option(
    "--pairs",
    type=click.IntRange(1),
    help="How many pairs the optimizer may look at; by default as many as the server allows. A star of 15 tables has 114,688.",
)
@click.option(
    "--run",
    "run_s",
    type=click.IntRange(1),
    metavar="SECONDS",
    help="Run the statement once per plan, each for at most this time, to show actual rows beside the estimated ones.",
)
@click.option("--format", "form", type=click.Choice(["text", "json", "dot", "html"]), default="text")
def explain(  # noqa: PLR0917 - click gives them by name
    statement: str | None,
    database: str | None,
    version: str,
    address: str | None,
    defaults_file: Path | None,
    trace: Path | None,
    pasted: Path | None,
    pairs: int | None,
    run_s: int | None,
    form: str,
) -> None:
    """Show the hypergraph of each query block of STATEMENT, its pairs, our plan and the server's.

    A shared server of the version is used (engineroom server start, or ENGINEROOM_DSN for your own), else one for this statement
    alone; the statement is explained, and run with --run alone. STATEMENT may be the name of a file that holds it. Without --database it is about the tables of data/join_order/schema.sql: t00 to t19
    with columns c0 to c11. --format dot is for Graphviz: pipe it into `dot -Tsvg`. --format html is one page for a browser, with
    the graph drawn and nothing loaded from elsewhere.

    With --dsn nothing is made on the server and the statement is never run: it is explained in a session that may only read, and a
    statement that writes or locks is refused. Planning costs the server memory and time; the star of 15 tables takes seconds.

    With --plan: each step's own time, its rows estimated and found, and where the estimates went wrong first.

    For --trace, on a server of 9.7: SET optimizer_switch = 'hypergraph_optimizer=on', optimizer_trace = 'enabled=on'; then
    EXPLAIN FORMAT=TREE the statement, and keep SELECT trace FROM information_schema.optimizer_trace.
    """
    from engineroom.ask.query_graphs.dot import dot
    from engineroom.ask.query_graphs.explain import MOST_TRACE_BYTES, of_trace, text
    from engineroom.ask.query_graphs.page import page

    if [statement, trace, pasted].count(None) != 2:
        raise click.UsageError(
            "give a STATEMENT, or the file of a trace with --trace, or of a plan with --plan"
        )
    if pasted is not None:
        _show_plan(pasted, form)
        return
    if trace is not None:
        if run_s is not None:
            raise click.UsageError("a trace has no server that could run its statement; leave --run out")
        with trace.open("rb") as file:
            held = file.read(MOST_TRACE_BYTES + 1)
        if len(held) > MOST_TRACE_BYTES:
            raise EngineRoomError(
                f"the trace has more than {MOST_TRACE_BYTES // 10**6} MB",
                remedy="let the optimizer look at fewer pairs, or trace a part of the statement",
            )
        blocks = of_trace(held.decode(errors="replace"))
        found: dict[str, Any] = {"server": None, "pair_limit": None, "blocks": blocks}
    else:
        sql = _text_of(str(statement))
        if address is None and defaults_file is None:
            found = _explained(sql, database, version, pairs, run_s)
        elif run_s is not None:
            raise click.UsageError("with --dsn a statement is explained and never run; leave --run out")
        else:
            found = _explained_on_own(sql, address, defaults_file, database, pairs)
    forms = {
        "json": lambda: json.dumps(found, indent=2),
        "dot": lambda: files.visible(dot(found)),
        "html": lambda: page(found),
        "text": lambda: files.visible(text(found)),
    }
    click.echo(forms[form]())


def _show_plan(file: Path, form: str) -> None:
    from engineroom.ask.query_graphs import plan

    if form not in ("text", "json"):
        raise click.UsageError("a plan is shown as text or as JSON")
    is_stdin = str(file) == "-"
    given = files.read_text(None if is_stdin else file, "plan")
    found = plan.read(given, "standard input" if is_stdin else file.name)
    click.echo(
        files.visible(plan.text(found)) if form == "text" else json.dumps(plan.as_json(found), indent=2)
    )


def _text_of(statement: str) -> str:
    """The statement, or what the file of that name holds."""
    return sql_text.read(Path(statement), "statement") if graphs.exists(statement) else statement


def _explained_on_own(
    sql: str, address: str | None, defaults_file: Path | None, database: str | None, pairs: int | None
) -> dict[str, Any]:
    from engineroom.ask.query_graphs.explain import explain as explained

    server = dsn.attach(address, "--dsn", defaults_file=defaults_file)
    return explained(server, sql, database or dsn.database(address), most_pairs=pairs, only_reads=True)


def _explained(
    statement: str, database: str | None, version: str, pairs: int | None, run_s: int | None
) -> dict[str, Any]:
    from engineroom.ask.query_graphs import compare
    from engineroom.ask.query_graphs.explain import explain as explained
    from engineroom.ask.query_graphs.explain import refuse_without_hypergraph
    from engineroom.servers import lifecycle

    running = lifecycle.chosen(version)
    if running is None:
        click.echo(f"no shared {version} server runs; this statement gets one of its own", err=True)
    with (
        contextlib.nullcontext(running)
        if running is not None
        else lifecycle.start(version, confined=True) as server
    ):
        refuse_without_hypergraph(server)  # before the tables, which an older server cannot make
        if database is None:
            compare.load(server)
        return explained(server, statement, database or compare.DATABASE, most_pairs=pairs, run_s=run_s)
