"""What the hypergraph optimizer makes of a statement on a running server, beside what our kernels make of it."""

from __future__ import annotations

import contextlib
import itertools
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engineroom import sql_text
from engineroom.ask.query_graphs import graphs
from engineroom.ask.query_graphs.build import build
from engineroom.ask.query_graphs.trace import (
    SWITCH,
    Edge,
    Planned,
    TraceError,
    TraceHiddenError,
    TraceTooLongError,
    blocks,
    settings,
    trace_of,
    traced,
)
from engineroom.ask.query_graphs.trees import hashes_others, hint_of, hinted, joined_sets, leaves, tree_of
from engineroom.errors import EngineRoomError
from engineroom.measuring.statement import plan as plan_of
from engineroom.servers.server import ONE_STATEMENT

if TYPE_CHECKING:
    from engineroom._native.join_order import Graph
    from engineroom.servers import Server

__all__ = [
    "explain",
    "hashed_tree",
    "is_order_of",
    "of_trace",
    "refuse_unless_it_only_reads",
    "refuse_without_hypergraph",
    "text",
    "tree",
    "tree_lines",
]

MOST_PAIRS_SHOWN = 40
MOST_TRACE_BYTES = 100_000_000
NO_JOIN = "The statement joins nothing: there is no graph, and no order to choose."


class JoinsNothingError(EngineRoomError):
    """A trace without a join."""


_EXPLAIN = re.compile(
    r"(?:EXPLAIN|DESCRIBE|DESC)\b(?:\s+(?:ANALYZE|EXTENDED|PARTITIONS|FORMAT\s*=\s*\w+|INTO\s+@\w+))*"
    r"\s*(?=\(|(?:SELECT|WITH|TABLE|VALUES|INSERT|UPDATE|DELETE|REPLACE)\b)",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"\?|(?<![\w:@]):[A-Za-z_]\w*|(?:(?<=[=(,<>])\s*|\b(?:like|limit|offset|between|and|or|in|values|set)\s+)%s\b"
    r"|%\(\w+\)s|(?<!\w)\$\d+\b|[\0$]\{[^{}]*\}|\{+\s*\w[\w.]*\s*\}+|\(\s*\.\.\.\s*\)",
    re.IGNORECASE,
)


def asked(text: str) -> str:
    """The one statement of a text that was pasted: without a prompt and EXPLAIN before it and \\G behind. Raises EngineRoomError for placeholders."""
    if prompt := re.match(r"\s*(?:mysql|MySQL|MariaDB)[^\n>]{0,60}>", text):
        text = re.sub(r"(?m)^ +[-'\"`]>", "", text[prompt.end() :])
    text = text.replace("#{", "\0{")  # of MyBatis; a server takes # for a remark
    sql = sql_text.one_statement(re.sub(r"\\[gG][\s;]*+\Z", "", text), "the text")
    sql = sql[found.end() :] if (found := _EXPLAIN.match(sql)) else sql
    if holders := [
        re.sub(r"^\w+\s+", "", each.strip()).replace("\0", "#")
        for each in _PLACEHOLDER.findall(sql_text.without_texts(sql))
    ]:
        raise EngineRoomError(
            f"the statement has placeholders in place of values: {', '.join(dict.fromkeys(holders))} ({len(holders)} in all)",
            remedy="write values that the statement ran with, as they stand in a slow log: a plan depends on them",
        )
    return sql.replace("\0{", "#{")


def refuse_without_hypergraph(server: Server, *, is_own: bool = False) -> None:
    """Raise EngineRoomError for a server whose ordinary builds cannot switch the hypergraph optimizer on."""
    if not server.supports("hypergraph_optimizer"):
        raise EngineRoomError(
            f"MySQL {server.version} has no hypergraph optimizer that can be switched on",
            remedy="copy the tables' definitions and statistics to a 9.7, or explain the trace of another server with --trace"
            if is_own
            else "use MySQL 9.7: leave --version out, or say --version 9.7",
        )


def explain(
    server: Server,
    sql: str,
    database: str | None,
    *,
    most_pairs: int | None = None,
    run_s: int | None = None,
    only_reads: bool = False,
) -> dict[str, Any]:
    """Every query block of `sql` as `of_trace` has it, the plans of both optimizers, and the limit of pairs, as plain JSON types.

    most_pairs: optimizer_max_subgraph_pairs; None: the server's own. run_s: run the statement, too, for at most so many seconds
    per plan; the plans then have actual rows beside the estimated ones. only_reads: in a session whose transactions may only read,
    since the optimizer may call a stored function while it plans.
    """
    import mysql.connector

    sql = asked(sql)
    if only_reads:
        refuse_unless_it_only_reads(sql)
    refuse_without_hypergraph(server, is_own=only_reads)
    try:
        with contextlib.closing(server.connect(database, client_flags=ONE_STATEMENT)) as connection:
            if only_reads:
                with connection.cursor() as cursor:
                    cursor.execute("SET SESSION TRANSACTION READ ONLY")
            if run_s is not None:
                _refuse_unless_it_reads(sql)
            with settings(connection, optimizer_switch="hypergraph_optimizer=off"):
                usual = _plan(server, connection, sql, run_s)
                usual_ms = _planning_ms(connection, sql)
            with settings(connection, optimizer_switch=SWITCH, optimizer_max_subgraph_pairs=most_pairs):
                plan = _plan(server, connection, sql, run_s)  # here, since a trace would slow it down
                hypergraph_ms = _planning_ms(connection, sql)
            with traced(connection, most_pairs=most_pairs, most_bytes=MOST_TRACE_BYTES) as cursor:
                cursor.execute("SELECT @@optimizer_max_subgraph_pairs")
                (limit,) = cursor.fetchone()
                if of_statement := _SETS_LIMIT.search(sql):
                    limit = of_statement[1]
                try:
                    found = of_trace(trace_of(cursor, sql), sql)
                except (TraceTooLongError, TraceHiddenError) as error:  # the plans are still worth something
                    found = [{"select": None, "refused": error.problem, "remedy": error.remedy}]
                except JoinsNothingError:
                    found = []
                _mark_views(cursor, sql, found)
                tried = _hint_tried(server, connection, sql, found, run_s)
    except mysql.connector.Error as error:
        remedy = f"correct the statement for the database {database}"
        if error.errno == mysql.connector.errorcode.ER_NO_SUCH_TABLE:
            remedy += (
                ", or name another one with --database"
                if only_reads
                else ", or name your tables' with --database; --dsn asks a server of your own. Without either it is about this chapter's tables"
            )
        if error.errno == mysql.connector.errorcode.ER_BAD_DB_ERROR:
            remedy = (
                "name a database of that server with --database, or behind the last slash of --dsn"
                if only_reads
                else f"make the database {database} on a shared server (engineroom server start {server.series}), name another one, "
                "or leave --database out for the tables of this chapter"
            )
        if error.errno == mysql.connector.errorcode.ER_VIEW_NO_EXPLAIN:
            remedy = "GRANT SHOW VIEW, and SELECT on the view's tables, to the account, or explain the view's own SELECT"
        raise EngineRoomError(f"MySQL {server.version} says: {error}", remedy=remedy) from error
    return {
        "server": server.version,
        "pair_limit": int(limit),
        "statement": sql,
        "is_run": run_s is not None,
        "blocks": found,
        "hypergraph_plan": plan,
        "usual_plan": usual,
        "planning_ms": {"hypergraph": hypergraph_ms, "usual": usual_ms},
        "hint_tried": tried,
    }


def _mark_views(cursor: Any, sql: str, found: Sequence[dict[str, Any]]) -> None:
    """Where our graph is another one: whether that is because the server puts a view's tables in the place of the view."""
    if all(block.get("graph_built_by_us_is_equal") is not False for block in found):
        return
    cursor.execute("SELECT table_name FROM information_schema.views WHERE table_schema = DATABASE()")
    words = {word.lower() for word in re.findall(r"[\w$]+", sql_text.without_texts(sql))}
    if views := sorted(name for (name,) in cursor.fetchall() if name.lower() in words):
        for block in found:
            if block.get("graph_built_by_us_is_equal") is False:
                block["graph_built_by_us_is_equal"] = None
                block["reader_refused"] = (
                    f"a view ({', '.join(views)}), which our reader takes for a table and the server does not"
                )


def _planning_ms(connection: Any, sql: str) -> float:
    """How long one EXPLAIN took, with no trace, at the client."""
    with connection.cursor() as cursor:
        began = time.perf_counter()
        cursor.execute(f"EXPLAIN FORMAT=TREE {sql}")
        cursor.fetchall()
        return (time.perf_counter() - began) * 1e3


_EQUALITY = re.compile(r"\(([^\s()=]+) = ([^\s()=]+)\)")
# A statement's own limit of pairs.
_SETS_LIMIT = re.compile(r"\bSET_VAR\s*\(\s*optimizer_max_subgraph_pairs\s*=\s*(\d+)", re.IGNORECASE)
# Words that make of a SELECT something that writes a file, sets a variable or locks rows.
_WRITES = re.compile(
    r"\bINTO\s+(?:OUTFILE|DUMPFILE|@|[A-Za-z_`])|\bFOR\s+(?:UPDATE|SHARE)\b|\bLOCK\s+IN\s+SHARE\s+MODE\b|:=",
    re.IGNORECASE,
)


def refuse_unless_it_only_reads(sql: str) -> None:
    """Raise EngineRoomError for a statement that would write, lock or set something if it was run."""
    one = sql_text.one_statement(sql, "the text")
    bare = sql_text.without_texts(one)
    word = sql_text.first_word(one)
    if word == "WITH":
        word = next(
            (
                each.upper()
                for each in re.findall(r"\b(?:INSERT|UPDATE|DELETE|REPLACE)\b(?!\s*\()", bare, re.IGNORECASE)
            ),
            word,
        )
    found = _WRITES.search(bare)
    if word not in ("SELECT", "WITH", "TABLE") or found:
        raise EngineRoomError(
            f"only a SELECT that reads is explained on a server of your own; this is {word or 'no statement'}"
            + (f" with {' '.join(found[0].split()[:2]).upper()}" if found else ""),
            remedy="give the SELECT that finds the rows, without INTO, FOR UPDATE and assignments",
        )


def _refuse_unless_it_reads(sql: str) -> None:
    word = sql_text.first_word(sql)
    if word not in ("SELECT", "WITH", "TABLE"):
        raise EngineRoomError(
            f"a statement that begins with {word or 'no word'} is not run",
            remedy="leave --run out: it is then explained alone",
        )


def is_order_of(tree: Mapping[str, Any], order: str | None) -> bool | None:
    """Whether an order of the trace makes the plan's sets of tables; None where it is missing or no tree of joins of two inputs."""
    try:
        return None if order is None else joined_sets(tree_of(order, leaves(tree))) == joined_sets(tree)
    except (ValueError, IndexError):
        return None


def _plan(server: Server, connection: Any, sql: str, run_s: int | None) -> str:
    """The plan; with `run_s` after a run in a transaction that may only read, which says so when the time was not enough."""
    import mysql.connector

    if run_s is None:
        return plan_of(server, connection, sql)
    stopped = (mysql.connector.errorcode.ER_QUERY_TIMEOUT, mysql.connector.errorcode.ER_QUERY_INTERRUPTED)
    with settings(connection, max_execution_time=1000 * run_s) as cursor:
        cursor.execute("START TRANSACTION READ ONLY")
        try:
            cursor.execute(f"EXPLAIN ANALYZE {sql}")
            tree = str(cursor.fetchall()[0][0]).rstrip()
            cursor.execute("SHOW WARNINGS")
            if any(code in stopped for _, code, _ in cursor.fetchall()):
                return f"stopped after {run_s} s; the actual rows are those until then:\n{tree}"
            return tree
        except mysql.connector.Error as error:
            if error.errno != mysql.connector.errorcode.ER_QUERY_TIMEOUT:
                raise
        finally:
            cursor.execute("ROLLBACK")
    return f"not finished after {run_s} s; the estimates:\n{plan_of(server, connection, sql)}"


def _hint_tried(
    server: Server, connection: Any, sql: str, found: Sequence[dict[str, Any]], run_s: int | None
) -> dict[str, Any] | None:
    """The hint for our plan of the first SELECT, and whether the server's plan has our order with it; None where there is none to try."""
    block = next((each for each in found if each["select"] == 1 and "refused" not in each), None)
    ours = block["our_plan"] if block is not None else {}
    text = hinted(sql, ours["hint"]) if ours.get("hint") else None
    if text is None:
        return None
    with connection.cursor() as cursor:
        again = next((planned for select, planned in blocks(trace_of(cursor, text)) if select == 1), None)
    order = again.join_order if isinstance(again, Planned) else None
    return {
        "select": 1,
        "hint": ours["hint"],
        "gets_ours": is_order_of(ours["tree"], order),
        "cost": None if again is None or isinstance(again, TraceError) else again.cost,
        "cost_without": block["server_cost"] if block is not None else None,
        "plan": _plan(server, connection, text, run_s),
    }


def of_trace(trace: str, sql: str | None = None) -> list[dict[str, Any]]:
    """Of every query block that joins: hypergraph, pairs and our plan beside the server's, from a trace of the hypergraph optimizer.

    The hypergraph, the rows that each table's own conditions leave, and the selectivities are the server's. Our plan is the
    cheapest of hash joins over them; the server knows indexes and sort orders, too. A block that cannot be read says why under
    `refused`. Raises EngineRoomError when no block joins. `sql` is compared with our own reader of statements.
    """
    found = []
    for select, planned in blocks(trace):
        if isinstance(planned, TraceError):
            found.append({"select": select, "refused": planned.problem})
        elif len(planned.tables) > 1 and planned.graphs:
            try:
                found.append({"select": select, **_block(planned, sql)})
            except TraceError as error:
                found.append({"select": select, "refused": error.problem})
            except (KeyError, ValueError) as error:  # a table without rows; a graph that the kernel refuses
                found.append({"select": select, "refused": f"its trace contradicts itself: {error}"})
    if not found:
        raise JoinsNothingError(
            "the statement joins nothing",
            remedy="give a SELECT over at least two tables, whose answer the server does not know before it joins",
        )
    return found


def _block(planned: Planned, sql: str | None) -> dict[str, Any]:
    from engineroom._native import join_order as kernel

    graph = graphs.from_json(planned.graph())
    found = kernel.enumerate(graph)
    ours = graphs.as_reported(map(tuple, found.events.tolist()), planned.forced_edges)
    # Where two tables have one alias, the trace's sets of tables do not say which is meant; as written both must be the same.
    theirs: Sequence[Any] = (
        planned.events_as_written() if planned.repeats_an_alias else planned.named_events()
    )
    mine: Sequence[Any] = planned.events_as_written(ours) if planned.repeats_an_alias else ours
    rows = [max(1.0, planned.filtered_rows[node]) for node in range(len(planned.tables))]
    is_built, why_not = (None, None) if sql is None else _is_built(sql, planned)
    return {
        "tables": [
            {"name": name, "rows": planned.rows[i], "filtered_rows": rows[i]}
            for i, name in enumerate(planned.tables)
        ],
        "edges": [
            {**edge, "condition": known.condition, "selectivity": known.selectivity}
            for edge, known in zip(planned.graph()["edges"], planned.graphs[-1], strict=True)
        ],
        "simplification_steps": planned.steps or 0,
        "graph_built_by_us_is_equal": is_built,
        "reader_refused": why_not,
        "events_equal": _in_order(mine, planned) == _in_order(theirs, planned),
        "events_equal_but_for_sides": _in_order(map(_without_sides, mine), planned)
        == _in_order(map(_without_sides, theirs), planned),
        "counters": {name: int(value) for name, value in found.counters.items()},
        "pairs": [
            {"left": graphs.nodes_of(left), "right": graphs.nodes_of(right), "edge": edge}
            for left, right, edge in ours
            if edge >= 0
        ],
        "our_plan": _our_plan(planned, graph, rows),
        "server_cost": planned.cost,
        "server_join_order": planned.join_order,
    }


def _our_plan(planned: Planned, graph: Graph, rows: Sequence[float]) -> dict[str, Any]:
    """The cheapest plan of hash joins, of those that the statement leaves where it forces an order."""
    from engineroom._native import join_order as kernel

    edges, forced = planned.graphs[-1], planned.forced_edges
    kinds = ["straight" if k in forced else edge.kind for k, edge in enumerate(edges)]
    ours = kernel.best_plan(
        graph,
        rows,
        [min(1.0, max(1e-12, edge.selectivity)) for edge in edges],
        cost="hash_join",
        kinds=kinds,
    )
    found = hashed_tree(ours.nodes, planned.tables, list(zip(graph.edges, kinds, strict=True)))
    hint = None if planned.repeats_an_alias or forced else hint_of(found)
    return {
        "cost": ours.cost,
        "tree": found,
        "forced_joins": len(forced),
        "hint": hint,
        "hint_hashes_others": hashes_others(found) if hint else [],
        "repeats_an_alias": planned.repeats_an_alias,
        "shared_equalities": _shared_equalities(edges),
    }


def _shared_equalities(edges: Sequence[Edge]) -> list[str]:
    """Equalities that run through three tables or more and have an edge for each pair: the columns of each."""
    of_column: dict[str, set[str]] = {}
    n_edges: dict[int, int] = {}
    pairs = [pair for edge in edges for pair in _EQUALITY.findall(edge.condition)]
    for a, b in pairs:
        both = of_column.get(a, {a}) | of_column.get(b, {b})
        of_column |= dict.fromkeys(both, both)
    for a, _ in pairs:
        n_edges[id(of_column[a])] = n_edges.get(id(of_column[a]), 0) + 1
    shared = {id(columns): columns for columns in of_column.values()}
    return [" = ".join(sorted(columns)) for key, columns in shared.items() if n_edges[key] >= len(columns)]


def _in_order(events: Iterable[tuple[Any, ...]], planned: Planned) -> list[tuple[Any, ...]]:
    """The events as they came; of a simplified graph sorted, since the order of its edges depends on the way by which it was simplified."""
    return list(events) if planned.steps is None else sorted(events)


def _without_sides(event: tuple[Any, ...]) -> tuple[Any, ...]:
    left, right, edge = event
    return min(left, right), max(left, right), edge


def _is_built(sql: str, planned: Planned) -> tuple[bool | None, str | None]:
    """Whether our reader makes the same graph of the statement; None, and why, when it does not know such statements."""
    try:
        built = build(sql)
    except EngineRoomError as error:
        return None, error.problem
    return built.tables == planned.tables and built.graph == planned.graph(0), None


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


def hashed_tree(
    nodes: Any, tables: Sequence[str], edges: Sequence[tuple[tuple[Any, Any], str]], at: int = -1
) -> dict[str, Any]:
    """A plan of hash joins: of each its kind, and as inputs first the one that probes, then the one that is hashed.

    edges: of the graph, two lists of nodes and a kind. As in the server a straight join hashes its left side, which is read first,
    outer, semi and anti joins their right one, and an inner join the smaller.
    """
    node = nodes[at]
    if node["left"] < 0:
        return tree(nodes, tables, at)
    left, right = (nodes[int(node[side])] for side in ("left", "right"))
    ends = {int(left["tables"]), int(right["tables"])}
    kinds = {kind for sides, kind in edges if _connects(sides, ends)}
    kind = "inner" if "inner" in kinds else kinds.pop()
    hashes_left = left["rows"] < right["rows"] if kind == "inner" else kind == "straight"
    probe, build = ("right", "left") if hashes_left else ("left", "right")
    return {
        "kind": kind,
        "rows": float(node["rows"]),
        "cost": float(node["cost"]),
        "inputs": [hashed_tree(nodes, tables, edges, int(node[side])) for side in (probe, build)],
    }


def _connects(sides: tuple[Any, Any], ends: set[int]) -> bool:
    a, b = (sum(1 << node for node in side) for side in sides)
    return any(a & ~one == 0 and b & ~other == 0 for one, other in itertools.permutations(ends))


def tree_lines(tree: dict[str, Any], depth: int = 0) -> list[str]:
    """A plan of hash joins as indented lines, like the server's."""
    indent = "    " * depth
    if "table" in tree:
        return [f"{indent}-> {tree['table']}  (rows={tree['rows']:.4g})"]
    probe, build = tree["inputs"]
    return [
        f"{indent}-> {tree['kind'].capitalize()} hash join  (cost={tree['cost']:.4g} rows={tree['rows']:.4g})",
        *tree_lines(probe, depth + 1),
        f"{indent}    -> Hash",
        *tree_lines(build, depth + 2),
    ]


def text(explained: dict[str, Any]) -> str:
    """The whole for people."""
    lines = [f"MySQL {explained['server']}" if explained["server"] else "A trace of MySQL 9.7"]
    if not explained["blocks"]:
        lines += ["", NO_JOIN]
    for block in explained["blocks"]:
        lines += ["", select_line(block), *(_block_lines(block, explained["pair_limit"]))]
    if explained.get("hint_tried"):
        lines += ["", tried_line(explained["hint_tried"])]
    if "planning_ms" in explained:
        lines += ["", planning_line(explained["planning_ms"])]
    for title, key in (("by the hypergraph optimizer", "hypergraph_plan"), ("without it", "usual_plan")):
        if key in explained:
            lines += ["", f"The server's plan {title}:", explained[key]]
    return "\n".join(lines)


def select_line(block: Mapping[str, Any]) -> str:
    """The title of a block."""
    return "The statement" if block["select"] is None else f"SELECT #{block['select']}"


def pairs_counted(n: int) -> str:
    """A number of pairs in words."""
    return f"{n:,} pair{'' if n == 1 else 's'}"


def planning_line(ms: Mapping[str, float]) -> str:
    """How long planning took."""
    return f"EXPLAIN took {ms['hypergraph']:.3g} ms by the hypergraph optimizer and {ms['usual']:.3g} ms without it (once, without a trace)."


def hint_line(ours: Mapping[str, Any]) -> str:
    """What to write for our order."""
    hint = ours["hint"]
    if n := ours["forced_joins"]:
        return (
            f"The statement forces the sides of {n} {'join' if n == 1 else 'joins'} (STRAIGHT_JOIN or a hint of join order), and this "
            "plan obeys it: such a hash join hashes what is named first. To see what is cheapest without it, explain the statement "
            "without it."
        )
    if ours["repeats_an_alias"]:
        return "No JOIN_ORDER hint is given for this order: two tables have the same alias, so give each its own first."
    if hint is None:
        return "No JOIN_ORDER hint asks for this order: it joins two joins, and the hint adds one table at a time."
    others = ours["hint_hashes_others"]
    return f"The hint for this order: SELECT /*+ {hint} */ ..." + (
        f" It also makes the server hash what is named first, where this plan hashes {' and '.join(others)}."
        if others
        else ""
    )


def shared_line(ours: Mapping[str, Any]) -> str | None:
    """Why our rows may be too low; None where they are not."""
    if not ours["shared_equalities"]:
        return None
    return (
        f"Where {' and '.join(ours['shared_equalities'])}, our rows count each edge of the equality, and the server's count it once: ours are "
        "too low from the third table on, and our order may not be the best."
    )


def tried_line(tried: Mapping[str, Any]) -> str:
    """What became of the hint on the server."""
    outcome = {True: "joins in our order", False: "joins in another order", None: "shows no order"}
    with_it, without = tried["cost"], tried["cost_without"]
    costs = (
        f" Its cost by the server's own estimate: {with_it:g} with the hint, {without:g} without it."
        if with_it is not None and without is not None
        else ""
    )
    return (
        f"With {tried['hint']} in SELECT #{tried['select']} the server {outcome[tried['gets_ours']]}.{costs}"
    )


_EQUAL = {
    True: "equal",
    False: "NOT equal",
    None: "not built (the statement is more than our reader knows)",
}


def _block_lines(block: dict[str, Any], pair_limit: int | None) -> list[str]:
    if "refused" in block:
        return [
            f"  not shown: {block['refused']}",
            *([f"  What to do: {block['remedy']}"] if "remedy" in block else []),
        ]
    names = [table["name"] for table in block["tables"]]

    def named(nodes: list[int]) -> str:
        return "{" + ",".join(names[node] for node in nodes) + "}"

    lines = ["Tables, with the rows that their own conditions leave:"]
    lines += [
        f"  {i}  {table['name']}  {table['filtered_rows']:g} of {table['rows']:g} rows"
        for i, table in enumerate(block["tables"])
    ]
    lines += ["", "Edges:"]
    lines += [
        f"  {k}  {named(edge['left'])} - {named(edge['right'])}  {edge['condition']}  (selectivity {edge['selectivity']:g})"
        for k, edge in enumerate(block["edges"])
    ]
    why_not = block["reader_refused"] or ""
    is_view = why_not.startswith("a view ")
    built = f"not built: {why_not}" if is_view else _EQUAL[block["graph_built_by_us_is_equal"]]
    lines += ["", f"Hypergraph built by us: {built}"]
    if why_not and not is_view:
        lines += [f"  {why_not}"]
    events = _EQUAL[block["events_equal"]]
    if block["events_equal_but_for_sides"] and not block["events_equal"]:
        events = "equal, but for which side of some pairs is called left"
    lines += [f"Events of our enumerator and of the trace: {events}"]
    counters = block["counters"]
    pairs = pairs_counted(counters["csg_cmp_pairs"])
    if pair_limit is not None:
        pairs += f" of the {pair_limit:,} that optimizer_max_subgraph_pairs allows"
    if block["simplification_steps"]:
        pairs += (
            f", after {block['simplification_steps']} steps of simplification: some orders were not looked at"
        )
    lines += ["", f"{counters['connected_subgraphs']:,} connected sets, {pairs}:"]
    shown = block["pairs"][:MOST_PAIRS_SHOWN]
    lines += [f"  {named(pair['left'])} and {named(pair['right'])} by edge {pair['edge']}" for pair in shown]
    if len(block["pairs"]) > len(shown):
        lines.append(f"  ... {len(block['pairs']) - len(shown):,} more; --format json has all")
    ours = block["our_plan"]
    lines += ["", "Our plan (hash joins only; costs without reading the tables):"]
    lines += [f"  none: {ours['refused']}"] if "refused" in ours else tree_lines(ours["tree"])
    if "refused" not in ours:
        lines += [f"  {line}" for line in (hint_line(ours), shared_line(ours)) if line]
    order, cost = block["server_join_order"], block["server_cost"]  # None where the trace ends too early
    lines += [
        "",
        f"The server's order: {order or 'unknown'}, cost {'unknown' if cost is None else f'{cost:g}'}",
    ]
    return lines
