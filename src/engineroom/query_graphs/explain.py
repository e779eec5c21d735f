"""What the hypergraph optimizer makes of a statement on a running server, beside what our kernels make of it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from engineroom.errors import EngineRoomError
from engineroom.measuring.statement import plan as plan_of
from engineroom.query_graphs import graphs
from engineroom.query_graphs.build import build
from engineroom.query_graphs.trace import read_trace, traced

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["explain", "refuse_without_hypergraph", "text", "tree", "tree_lines"]

MOST_PAIRS_SHOWN = 40


def refuse_without_hypergraph(server: Server) -> None:
    """Raise EngineRoomError for a server whose ordinary builds cannot switch the hypergraph optimizer on."""
    if not server.supports("hypergraph_optimizer"):
        raise EngineRoomError(
            f"MySQL {server.version} has no hypergraph optimizer that can be switched on",
            remedy="use MySQL 9.7: leave --version out, or say --version 9.7",
        )


def explain(server: Server, sql: str, database: str) -> dict[str, Any]:
    """The hypergraph, all pairs, our plan and the server's, as plain JSON types.

    The hypergraph, the rows of the tables and the selectivities are the server's own. Our plan is the cheapest of hash joins over
    them; the server knows indexes and sort orders, too.
    """
    import mysql.connector

    from engineroom._native import join_order as kernel

    refuse_without_hypergraph(server)
    try:
        with (
            contextlib.closing(server.connect(database)) as connection,
            traced(connection, most_pairs=2**31 - 1) as cursor,
        ):
            blocks = read_trace(cursor, sql)
            plan = plan_of(server, connection, sql)
    except mysql.connector.Error as error:
        remedy = f"correct the statement for the database {database}"
        if error.errno == mysql.connector.errorcode.ER_BAD_DB_ERROR:
            remedy = (
                f"make the database {database} on a shared server (engineroom server start {server.series}), name another one, "
                "or leave --database out for the tables of this chapter"
            )
        raise EngineRoomError(f"MySQL {server.version} says: {error}", remedy=remedy) from error
    if not blocks or len(blocks[0].tables) < 2:
        raise EngineRoomError("the statement joins nothing", remedy="give a SELECT over at least two tables")
    planned = blocks[0]
    graph = graphs.from_json(planned.graph())
    found = kernel.enumerate(graph)
    rows = [max(1.0, planned.rows[node]) for node in range(len(planned.tables))]
    selectivity = [min(1.0, max(1e-12, edge.selectivity)) for edge in planned.graphs[-1]]
    ours = kernel.best_plan(
        graph, rows, selectivity, cost="hash_join", kinds=[edge.kind for edge in planned.graphs[-1]]
    )
    try:
        is_built = build(sql).graph == planned.graph(0)
    except (EngineRoomError, KeyError):
        is_built = None
    return {
        "server": server.version,
        "tables": [{"name": name, "rows": rows[i]} for i, name in enumerate(planned.tables)],
        "edges": [
            {**edge, "condition": known.condition, "selectivity": known.selectivity}
            for edge, known in zip(planned.graph()["edges"], planned.graphs[-1], strict=True)
        ],
        "graph_built_by_us_is_equal": is_built,
        "events_equal": [tuple(event) for event in found.events.tolist()] == planned.named_events(),
        "counters": {name: int(value) for name, value in found.counters.items()},
        "pairs": [
            {"left": graphs.nodes_of(left), "right": graphs.nodes_of(right), "edge": edge}
            for left, right, edge in found.events.tolist()
            if edge >= 0
        ],
        "our_plan": {"cost": ours.cost, "tree": tree(ours.nodes, planned.tables)},
        "server_plan": {"cost": planned.cost, "text": plan},
    }


def tree(nodes: Any, tables: Sequence[str], at: int = -1) -> dict[str, Any]:
    """A plan of the kernels with the tables' names."""
    node = nodes[at]
    if node["left"] < 0:
        return {"table": tables[int(node["tables"]).bit_length() - 1], "rows": float(node["rows"])}
    return {
        "rows": float(node["rows"]),
        "cost": float(node["cost"]),
        "inputs": [tree(nodes, tables, int(node[side])) for side in ("left", "right")],
    }


def tree_lines(tree: dict[str, Any], depth: int = 0) -> list[str]:
    """A plan as indented lines, like the server's."""
    indent = "    " * depth
    if "table" in tree:
        return [f"{indent}-> {tree['table']}  (rows={tree['rows']:.4g})"]
    head = f"{indent}-> join  (cost={tree['cost']:.4g} rows={tree['rows']:.4g})"
    return [head, *(line for each in tree["inputs"] for line in tree_lines(each, depth + 1))]


def text(explained: dict[str, Any]) -> str:
    """The whole for people."""
    names = [table["name"] for table in explained["tables"]]

    def named(nodes: list[int]) -> str:
        return "{" + ",".join(names[node] for node in nodes) + "}"

    lines = [f"MySQL {explained['server']}", "", "Tables:"]
    lines += [
        f"  {i}  {table['name']}  {table['rows']:g} rows" for i, table in enumerate(explained["tables"])
    ]
    lines += ["", "Edges:"]
    lines += [
        f"  {k}  {named(edge['left'])} - {named(edge['right'])}  {edge['condition']}  (selectivity {edge['selectivity']:g})"
        for k, edge in enumerate(explained["edges"])
    ]
    equal = {
        True: "equal",
        False: "NOT equal",
        None: "not built (the statement is more than our reader knows)",
    }
    lines += ["", f"Hypergraph built by us: {equal[explained['graph_built_by_us_is_equal']]}"]
    lines += [f"Events of our enumerator and of the trace: {equal[explained['events_equal']]}"]
    counters = explained["counters"]
    lines += ["", f"{counters['connected_subgraphs']} connected sets, {counters['csg_cmp_pairs']} pairs:"]
    shown = explained["pairs"][:MOST_PAIRS_SHOWN]
    lines += [f"  {named(pair['left'])} and {named(pair['right'])} by edge {pair['edge']}" for pair in shown]
    if len(explained["pairs"]) > len(shown):
        lines.append(f"  ... {len(explained['pairs']) - len(shown)} more; --format json has all")
    lines += ["", "Our plan (hash joins only):", *tree_lines(explained["our_plan"]["tree"])]
    lines += [
        "",
        f"The server's plan (cost {explained['server_plan']['cost']:g}):",
        explained["server_plan"]["text"],
    ]
    return "\n".join(lines)
