"""Our enumerator and our hypergraphs against a running server, query by query and event by event.

Two comparisons, counted apart. `enumeration`: the hypergraph is read from the trace, and `faithful` must report exactly the
trace's events. `whole`: the hypergraph is built by us from the SQL, must have the same nodes and edges in the same order, and its
events must be the trace's.
"""

from __future__ import annotations

import collections
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engineroom.ask.query_graphs import graphs
from engineroom.ask.query_graphs.build import build
from engineroom.ask.query_graphs.queries import Query, schema
from engineroom.ask.query_graphs.trace import Planned, read_trace, traced

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["DATABASE", "Compared", "compare", "compare_all", "load"]

DATABASE = "join_order"


@dataclass(frozen=True)
class Compared:
    """What came of one query; `nodes` are its tables by node. The last five are None when the server did not simplify."""

    query: str
    family: str
    nodes: tuple[str, ...]
    is_special: bool
    events: int
    enumeration_equal: bool
    whole_equal: bool
    first_difference: str
    simplified_pairs_equal: bool | None
    simplified_events_equal: bool | None
    server_steps: int | None
    our_steps: int | None
    our_graph_equal: bool | None

    @property
    def tables(self) -> int:
        """How many tables it joins."""
        return len(self.nodes)


def load(server: Server) -> None:
    """Make the tables of the queries in a database of their own, once."""
    if (DATABASE,) not in server.query("SHOW DATABASES"):
        server.execute(f"CREATE DATABASE {DATABASE}")
        server.execute(*schema(), database=DATABASE)


def compare_all(server: Server, some: Iterable[Query], *, most_pairs: int) -> Iterator[Compared]:
    """Compare each query; `most_pairs` is optimizer_max_subgraph_pairs, beyond which the server simplifies."""
    load(server)
    connection = server.connect(DATABASE)
    try:
        with traced(connection, most_pairs=most_pairs) as cursor:
            for query in some:
                yield compare(query, read_trace(cursor, query.sql)[0], most_pairs=most_pairs)
    finally:
        connection.close()


def compare(query: Query, planned: Planned, *, most_pairs: int) -> Compared:
    """Compare one query's trace with our events."""
    from engineroom._native import join_order as kernel

    theirs = planned.named_events(0)
    forced = planned.forced_edges
    ours = _events(kernel.enumerate(graphs.from_json(planned.graph(0)), most_calls=most_pairs), forced)
    built = build(query.sql)
    straight = {k for k, kind in enumerate(built.kinds) if kind == "straight"}
    ours_whole = _events(kernel.enumerate(graphs.from_json(built.graph), most_calls=most_pairs), straight)
    is_same_graph = built.tables == planned.tables and built.graph == planned.graph(0)
    simplified: tuple[Any, ...] = (None,) * 5
    if planned.steps is not None:
        graph = graphs.from_json(planned.graph())
        found = kernel.enumerate(graph)
        simple, steps, _, _ = kernel.simplify(
            graphs.from_json(planned.graph(0)),
            [max(1.0, planned.rows[node]) for node in range(len(planned.tables))],
            [edge.selectivity for edge in planned.graphs[0]],
            most_calls=most_pairs,
            kinds=[edge.kind for edge in planned.graphs[0]],
        )
        simplified = (
            found.counters["calls"] == planned.pairs_after_steps,
            # As a set: the order of a graph's edges at its nodes depends on the way by which it was simplified.
            collections.Counter(_events(found, forced)) == collections.Counter(planned.named_events()),
            planned.steps,
            steps,
            simple.edges == graph.edges,
        )
    return Compared(
        query.name,
        query.family,
        tuple(planned.tables),
        query.special,
        len(theirs),
        ours == theirs,
        is_same_graph and ours_whole == theirs,
        _first_difference(ours, theirs, planned.tables),
        *simplified,
    )


def _events(found: Any, forced: Collection[int]) -> list[tuple[int, int, int]]:
    return graphs.as_reported(map(tuple, found.events.tolist()), forced)


def _first_difference(ours: list[Any], theirs: list[Any], tables: list[str]) -> str:
    for i in range(max(len(ours), len(theirs))):
        a, b = (_text(events[i], tables) if i < len(events) else "the end" for events in (ours, theirs))
        if a != b:
            return f"event {i}: {a}, the server {b}"
    return ""


def _text(event: tuple[int, int, int], tables: list[str]) -> str:
    left, right = ("{" + ",".join(tables[node] for node in graphs.nodes_of(side)) + "}" for side in event[:2])
    return f"node {left}" if event[2] < 0 else f"{left} and {right} by edge {event[2]}"
