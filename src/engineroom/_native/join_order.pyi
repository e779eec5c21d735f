"""
Join enumeration, join order and what restricts it.
"""

import collections.abc
import typing

import numpy

__all__: list[str] = [
    "Enumeration",
    "Graph",
    "Plan",
    "Simplifier",
    "best_plan",
    "enumerate",
    "greedy_plan",
    "hypergraph_of",
    "left_deep_plan",
    "simplify",
]

class Graph:
    """
    A query's hypergraph.

    nodes: how many tables, 1 to 64. edges: pairs of lists of nodes; an edge's number is its place in the list.
    rules: for each edge a list of pairs of lists of nodes: a join along the edge that has any node of the first has all of the
    second. None: no rules.

    Raises ValueError for an empty side, a node on both sides and a node that does not exist.
    """
    def __init__(
        self,
        nodes: typing.SupportsInt | typing.SupportsIndex,
        edges: collections.abc.Sequence[
            tuple[
                collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
                collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
            ]
        ],
        rules: collections.abc.Sequence[
            collections.abc.Sequence[
                tuple[
                    collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
                    collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
                ]
            ]
        ]
        | None = None,
    ) -> None: ...
    @property
    def components(self) -> list[list[int]]:
        """
        The largest sets that the edges can join; one when the graph is connected.
        """
    @property
    def edges(self) -> list[tuple[list[int], list[int]]]:
        """
        The two sides of each edge.
        """
    @property
    def n_nodes(self) -> int: ...
    @property
    def rules(self) -> list[list[tuple[list[int], list[int]]]]:
        """
        Of each edge, the conflict rules that its sides do not express.
        """

class Enumeration:
    """
    What an enumeration found.
    """
    @property
    def counters(self) -> dict[str, int]: ...
    @property
    def events(self) -> numpy.ndarray:
        """
        left and right as bit sets, and the edge; right 0 and edge -1 for a single node
        """
    @property
    def is_complete(self) -> bool:
        """
        False when most_calls ended it.
        """

class Plan:
    """
    A join tree.
    """
    @property
    def cost(self) -> float: ...
    @property
    def counters(self) -> dict[str, int]: ...
    @property
    def nodes(self) -> numpy.ndarray:
        """
        tables as a bit set, rows, cost, and the places of left and right input, -1 for a table; the root is last
        """
    @property
    def plans_compared(self) -> int: ...
    @property
    def rows(self) -> float: ...

class Simplifier:
    """
    Fixes the safest join orders of a copy of the graph, one step at a time.
    """
    def __init__(
        self,
        graph: Graph,
        rows: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        selectivity: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        *,
        kinds: collections.abc.Sequence[str] | None = None,
    ) -> None: ...
    def step(self) -> bool:
        """
        Apply one more step; False when there is none.
        """
    def undo(self) -> None:
        """
        Take the last step back.
        """
    @property
    def graph(self) -> Graph: ...
    @property
    def steps_done(self) -> int: ...

def best_plan(
    graph: Graph,
    rows: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
    selectivity: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
    *,
    cost: str
    | collections.abc.Callable[
        [float, float, float, float, float], typing.SupportsFloat | typing.SupportsIndex
    ] = "c_out",
    algorithm: str = "fast",
    times: typing.SupportsInt | typing.SupportsIndex = 1,
    kinds: collections.abc.Sequence[str] | None = None,
) -> Plan:
    """
    The cheapest bushy plan without cross products.

    rows: of each table. selectivity: of each edge. cost: "c_out" (rows of all intermediate results), "hash_join", or a function
    of left rows, left cost, right rows, right cost and the join's rows that returns the cost of the whole subtree.
    algorithm: whose pairs fill the table. times: do it so often, for a bench.
    kinds: of each edge, for its rows, and since a join that is not inner keeps its sides: the edge's left one is the left input, which
    "hash_join" builds of a straight join; of the others it builds the right one. None: all inner.
    A pair that the graph's conflict rules forbid is no part of the plan. Raises ValueError for numbers of another count or out of
    range, and where the rules leave no plan.
    """

def enumerate(
    graph: Graph,
    *,
    times: typing.SupportsInt | typing.SupportsIndex = 1,
    progress: collections.abc.Callable[[int], None] | None = None,
    take: collections.abc.Callable[[numpy.ndarray], None] | None = None,
    algorithm: str = "faithful",
    events: bool = True,
    most_calls: typing.SupportsIndex | None = None,
    forbid_lower_seeds: bool = True,
) -> Enumeration:
    """
    Find all pairs of connected sets that an edge joins.

    times: do it so often, for a bench. progress: called about every four million reports with their number; it ends the enumeration by
    raising. take: called with about a million events each time, all of a pair's together, instead of keeping them.

    Raises ValueError for a graph that is not connected, and for one that the algorithm cannot take. Ctrl-C stops it.

    algorithm: 'faithful' has MySQL's events in its order, 'fast' is ours; 'faithful', 'fast', 'dpccp', 'dpsize' or 'dpsub', default 'faithful'
    events: False counts only; default True
    most_calls: faithful only; end when a call more than these comes; None for no bound; at least 1, default None
    forbid_lower_seeds: faithful only; False leaves out the line without which pairs are found twice; default True
    """

def greedy_plan(
    graph: Graph,
    rows: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
    selectivity: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
    *,
    cost: str
    | collections.abc.Callable[
        [float, float, float, float, float], typing.SupportsFloat | typing.SupportsIndex
    ] = "c_out",
) -> Plan:
    """
    Greedy operator ordering: always the join with the fewest rows next.
    """

def hypergraph_of(
    operators: collections.abc.Sequence[
        typing.SupportsInt
        | typing.SupportsIndex
        | tuple[
            str,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
            collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        ]
    ],
) -> Graph:
    """
    The hypergraph of a tree of joins: one edge a join, with conflict rules (CD-C) folded in.

    operators: a table's number, or (kind, place of left input, place of right input, tables of the condition, tables whose
    NULLs the condition rejects); inputs come before their join. kind is 'inner', 'left', 'semi', 'anti' or 'straight'.
    """

def left_deep_plan(
    graph: Graph,
    rows: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
    selectivity: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
    *,
    cost: str
    | collections.abc.Callable[
        [float, float, float, float, float], typing.SupportsFloat | typing.SupportsIndex
    ] = "c_out",
    search_depth: typing.SupportsIndex = 62,
    prune: bool = True,
) -> Plan:
    """
    The old optimizer's search for a left-deep plan; cross products allowed.

    search_depth: how many tables are looked ahead, as optimizer_search_depth; default 62
    prune: as optimizer_prune_level; default True
    """

def simplify(
    graph: Graph,
    rows: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
    selectivity: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
    *,
    most_calls: typing.SupportsInt | typing.SupportsIndex,
    kinds: collections.abc.Sequence[str] | None = None,
) -> tuple[Graph, int, int, bool]:
    """
    The graph after the fewest steps that leave at most most_calls calls, the steps, the calls, and whether that is below the limit.
    """
