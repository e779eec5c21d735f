"""`engineroom join-order`: enumerate a graph, and explain a statement on a running server."""

from __future__ import annotations

import json
import sys

import click

from engineroom.errors import EngineRoomError
from engineroom.join_order import graphs

__all__ = ["join_order"]


@click.group("join-order")
def join_order() -> None:
    """Join enumeration and join order."""


@join_order.command("enumerate")
@click.argument("graph")
@click.option("--algorithm", type=click.Choice(graphs.ALGORITHMS), default="faithful", show_default=True)
@click.option("--quiet", is_flag=True, help="Print the totals alone.")
def enumerate_graph(graph: str, algorithm: str, quiet: bool) -> None:
    """Print every event of an enumeration of GRAPH (a file, or - for standard input), then the totals."""
    from engineroom._native import join_order as kernel

    loaded = graphs.read(graph)
    try:
        found = kernel.enumerate(loaded, algorithm=algorithm, events=not quiet)
    except ValueError as error:
        problem, _, remedy = str(error).rpartition("; ")
        raise EngineRoomError(problem or remedy, remedy=remedy) from None
    if not quiet:
        for line in graphs.event_lines(found, one_line_a_pair=algorithm != "faithful"):
            sys.stdout.write(line + "\n")
    sys.stdout.write(json.dumps(found.counters) + "\n")
