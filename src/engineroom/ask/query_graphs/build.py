"""The hypergraph of a query, built by us from its SQL as MySQL 9.7 builds it.

In the server's order: outer joins that a condition makes pointless become inner; EXISTS becomes a semi or anti join; equalities
that share a column become one multiple equality; inner joins without a condition are flattened; conditions are pushed down to
the lowest join that can take them without naming more tables; the tree becomes edges by the conflict rules (native); and edges
are added where a multiple equality or a condition that found no place makes a cycle.

A table after STRAIGHT_JOIN keeps its place: its join is associative to no other, and no cycle leads around it. STRAIGHT_JOIN before
a nest in parentheses is a JOIN, since the nest is taken apart.

The condition of an outer join takes along the multiple equality around it whose column it names; one that makes two columns of a
table equal is refused.

Left out: everything that is not an equality, and constants.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from engineroom.ask.query_graphs.sql import Block, Column, Equality, Joined, aliases, parse
from engineroom.errors import EngineRoomError

__all__ = ["Built", "build"]


@dataclass(frozen=True)
class Built:
    """`tables` by node; `graph` in the form of a graph file; the kind and condition of each edge."""

    tables: list[str]
    graph: dict[str, Any]
    kinds: list[str]
    conditions: list[list[str]]


def build(sql: str) -> Built:
    """The hypergraph of a SELECT of the kind that `engineroom.ask.query_graphs.sql` reads."""
    return _Builder(parse(sql)).built()


@dataclass(eq=False)
class _Condition:
    """An equality of two sides, or of many columns (`columns`). `used` are table numbers as bits."""

    used: int
    text: str
    columns: list[Column] | None = None
    source: _Condition | None = None

    @property
    def is_multiple(self) -> bool:
        return self.columns is not None


@dataclass
class _Join:
    """A node of the tree: "table", "multi" (a flattened inner join) or the kind of a join."""

    kind: str
    tables: int
    left: _Join | None = None
    right: _Join | None = None
    children: list[_Join] = field(default_factory=list)
    conditions: list[_Condition] = field(default_factory=list)
    set_number: int = -1  # of the companion set

    def sides(self) -> tuple[_Join, _Join]:
        assert self.left is not None
        assert self.right is not None
        return self.left, self.right


def _holding(groups: Sequence[list[Column]], column: Column) -> list[Column] | None:
    return next((group for group in groups if column in group), None)


def _is_inner(kind: str) -> bool:
    return kind in ("inner", "straight", "multi")


class _Builder:
    def __init__(self, block: Block) -> None:
        where = list(block.where)
        items = block.items
        self._take_subqueries(block, items, where)
        names = aliases(items)
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise EngineRoomError(
                f"two tables that are joined have the alias {twice}, and our reader does not tell them apart",
                remedy="give each table an alias of its own",
            )
        self.number = {alias: i for i, alias in enumerate(names)}
        self._simplify(items, where)
        self.cycles: list[_Condition] = []
        self.multiples: list[_Condition] = []
        self.root = self._tree(self._flat(items), self._grouped(where, [])[1])
        self.companions: dict[int, int] = {}
        self._companion_sets(self.root, 0, [1])
        self._flatten(self.root)
        self._push_join_conditions(self.root)
        self.left_over: list[_Condition] = []
        for condition in self._conditions(where, ~0):
            if condition.used & (condition.used - 1):
                self._push(condition, self.root, is_own=False, rest=self.left_over)
        self._unflatten(self.root)
        self._late_equalities(self.root)

    # The server's first steps: subqueries, outer joins, multiple equalities

    def _take_subqueries(self, block: Block, items: list[Joined], where: list[Equality]) -> None:
        """EXISTS joins at the end of the list; its condition goes to WHERE, that of NOT EXISTS stays with the join."""
        for subquery in sorted(block.subqueries, key=lambda each: -len(aliases(each.block.items))):
            inner = subquery.block
            condition = list(inner.where)
            self._take_subqueries(inner, inner.items, condition)
            self._simplify(inner.items, condition)
            joined = Joined(self._flat(inner.items), "anti" if subquery.negated else "semi")
            if subquery.negated:
                joined.on = condition
            else:
                where += condition
            items.append(joined)

    def _simplify(self, items: list[Joined], conditions: list[Equality]) -> None:
        """Move the conditions of inner joins up, make outer joins inner where a condition rejects their NULLs."""
        for item in reversed(items):
            if isinstance(item.what, list):
                if item.on or item.kind == "anti":
                    self._simplify(item.what, item.on)
                if item.kind != "anti":
                    self._simplify(item.what, conditions)
                inside = set(aliases(item.what))
            else:
                inside = {item.what}
            rejected = {alias for condition in conditions for alias in condition.aliases}
            if item.kind == "left" and inside & rejected:
                item.kind = "inner"
            if item.kind in ("inner", "straight"):
                conditions += item.on
                item.on = []

    def _flat(self, items: Sequence[Joined]) -> list[Joined]:
        """Nests that no outer, semi or anti join holds together are taken apart."""
        flat: list[Joined] = []
        for item in items:
            if isinstance(item.what, list) and item.kind in ("inner", "straight") and not item.on:
                flat += self._flat(item.what)
            elif isinstance(item.what, list):
                flat.append(Joined(self._flat(item.what), item.kind, item.on))
            else:
                flat.append(item)
        return flat

    def _bits(self, names: Iterable[str]) -> int:
        unknown = sorted(set(names := list(names)) - self.number.keys())
        if unknown:
            raise EngineRoomError(
                f"a condition names {unknown[0]}, which is no table of FROM",
                remedy="write each column as table.column, with the table's alias where it has one",
            )
        return sum(1 << self.number[name] for name in set(names))

    @staticmethod
    def _grouped(
        equalities: Sequence[Equality], inherited: Sequence[list[Column]]
    ) -> tuple[list[Equality], list[list[Column]]]:
        """The equalities of sums, and the columns that the others make equal.

        A condition of an outer join that names a column of an equality around it (`inherited`) takes a copy of that one along, and
        what follows from it is left out.
        """
        groups: list[list[Column]] = []
        others: list[Equality] = []
        for equality in equalities:
            if not equality.is_of_columns:
                others.append(equality)
                continue
            a, b = equality.left[0], equality.right[0]
            own = [_holding(groups, column) for column in (a, b)]
            around = [
                None if group is not None else _holding(inherited, column)
                for group, column in zip(own, (a, b), strict=True)
            ]
            if any(one is not None and one is other for one, other in (own, around)):
                continue
            for side, copied in enumerate(around):
                if copied is not None:
                    groups.append(list(copied))
                    own[side] = groups[-1]
            of_a, of_b = own
            group = of_a or of_b
            if group is None:
                groups.append([a, b])
                continue
            group += [column for column in dict.fromkeys((*(of_b or ()), a, b)) if column not in group]
            groups = [each for each in groups if each is group or each is not of_b]
        outside = {column for group in inherited for column in group}
        for group in groups:
            if outside & set(group) and len({alias for alias, _ in group}) < len(group):
                raise EngineRoomError(
                    "the condition of an outer join shares a column with an equality around it, and two columns of one table are equal "
                    "by them: the server compares these two once more in the join",
                    remedy="take the graph from the server's trace",
                )
        return others, groups

    def _conditions(
        self, equalities: Sequence[Equality], within: int, inherited: Sequence[list[Column]] = ()
    ) -> list[_Condition]:
        """Multiple equalities from those that share columns; other equalities come before them, then fewer tables first."""
        sums, groups = self._grouped(equalities, inherited)
        found: list[_Condition] = []
        for equality in sums:
            text = " = ".join(
                " + ".join(".".join(column) for column in side) for side in (equality.left, equality.right)
            )
            found.append(_Condition(self._bits(equality.aliases), text))
        for group in groups:
            multiple = _Condition(self._bits(alias for alias, _ in group), "", columns=group)
            if (multiple.used & within).bit_count() > 2:
                found.append(multiple)
            else:
                found.append(self._concrete(multiple, *self._first_two(group, within)))
            self.multiples.append(multiple)
        return sorted(found, key=lambda each: 2 if each.is_multiple else each.used.bit_count())

    def _first_two(self, columns: Sequence[Column], within: int) -> tuple[Column, Column]:
        some = [column for column in columns if 1 << self.number[column[0]] & within]
        return some[0], next(column for column in some if column[0] != some[0][0])

    def _concrete(self, multiple: _Condition, a: Column, b: Column) -> _Condition:
        return _Condition(self._bits((a[0], b[0])), f"{'.'.join(a)} = {'.'.join(b)}", source=multiple)

    # The tree

    def _tree(self, items: Sequence[Joined], inherited: Sequence[list[Column]]) -> _Join:
        tree: _Join | None = None
        for item in items:
            if isinstance(item.what, list):
                own = self._grouped(item.on, inherited)[1] if item.on else []
                node = self._tree(item.what, [*own, *inherited])
            else:
                node = _Join("table", 1 << self.number[item.what])
            if tree is None:
                tree = node
                continue
            tree = _Join(item.kind, tree.tables | node.tables, tree, node)
            tree.conditions = self._conditions(item.on, tree.tables, inherited)
        assert tree is not None
        return tree

    def _companion_sets(self, join: _Join, current: int, unused: list[int]) -> None:
        """Tables that only inner joins part are companions; what an outer, semi or anti join adds is a set of its own.

        Both sides of a join whose order is fixed are sets of their own.
        """
        join.set_number = current
        if join.kind == "table":
            self.companions[join.tables] = current
            return
        left, right = join.sides()
        if join.kind == "straight":
            current = unused[0]
            unused[0] += 1
        self._companion_sets(left, current, unused)
        if join.kind not in ("inner", "multi"):
            current = unused[0]
            unused[0] += 1
        self._companion_sets(right, current, unused)

    def _are_companions(self, tables: int) -> bool:
        return len({self.companions[bit] for bit in _each(tables)}) == 1

    def _flatten(self, join: _Join) -> None:
        if join.kind == "multi":
            for child in join.children:
                self._flatten(child)
            return
        if join.kind == "table":
            return
        left, right = join.sides()
        self._flatten(left)
        self._flatten(right)
        if join.kind == "inner" and not join.conditions:
            join.kind = "multi"
            join.children = [
                part for side in (left, right) for part in (side.children if side.kind == "multi" else [side])
            ]
            join.left = join.right = None

    @staticmethod
    def _from_children(join: _Join, children: Sequence[_Join]) -> None:
        """An inner join of the children: the last one on the right, the others flattened on the left."""
        join.kind = "inner"
        join.tables = 0
        for child in children:
            join.tables |= child.tables
        join.children = []
        join.right = children[-1]
        if len(children) == 2:
            join.left = children[0]
        else:
            join.left = _Join("multi", join.tables & ~children[-1].tables, children=list(children[:-1]))

    def _unflatten(self, join: _Join) -> None:
        if join.kind == "table":
            return
        if join.kind == "multi":
            self._from_children(join, join.children)
        for side in join.sides():
            self._unflatten(side)

    # Pushing conditions down

    def _push_join_conditions(self, join: _Join) -> None:
        if join.kind == "table":
            return
        own, join.conditions = join.conditions, []
        rest: list[_Condition] = []
        for condition in own:
            if not condition.is_multiple and condition.used & ~join.tables:
                rest.append(condition)
            else:
                self._push(condition, join, is_own=True, rest=rest)
        join.conditions += rest
        for side in join.children if join.kind == "multi" else join.sides():
            self._push_join_conditions(side)

    def _push(self, condition: _Condition, join: _Join, *, is_own: bool, rest: list[_Condition]) -> None:
        if join.kind == "table":
            return
        used = condition.used & join.tables
        if join.kind == "multi":
            for child in join.children:
                if not used & ~child.tables:
                    self._push(condition, child, is_own=False, rest=rest)
                    return
            join = self._cut_out(used, join)
        left, right = join.sides()
        through_inner = _is_inner(join.kind) or join.kind == "semi"
        into_left, into_right = through_inner or not is_own, through_inner or is_own
        for side, is_allowed in ((left, into_left), (right, into_right)):
            if not used & ~side.tables:
                if is_allowed:
                    self._push(condition, side, is_own=False, rest=rest)
                else:
                    rest.append(condition)
                return
        if self._is_on(condition, join) and join.kind not in ("left", "anti"):
            return
        if condition.is_multiple:
            for side, is_allowed in ((left, into_left), (right, into_right)):
                if (condition.used & side.tables).bit_count() >= 2 and is_allowed:
                    self._push(condition, side, is_own=False, rest=rest)
        if is_own:
            rest.append(condition)
        elif join.kind in ("left", "anti"):
            if not self._rewrite_for(condition, join):
                rest.append(condition)
        elif join.kind == "semi":
            join.conditions.append(condition)
        elif not self._rewrite_for(condition, join):
            self._widen_or_cycle(condition, join, rest)

    def _widen_or_cycle(self, condition: _Condition, join: _Join, rest: list[_Condition]) -> None:
        """No join takes the condition without naming more tables: make a cycle of it if that is possible."""
        if join.kind == "inner" and self._may_make_cycle(condition, join):
            if condition.columns is not None:
                for part in self._all_concrete(condition, join.tables):
                    self._push(part, join, is_own=False, rest=rest)
            else:
                self.cycles.append(condition)
        elif condition.is_multiple and not self._has_source(condition, join):
            join.conditions.append(self._concretize(condition, join))
        elif not condition.used & ~join.tables:
            join.conditions.append(condition)
        else:
            rest.append(condition)

    def _cut_out(self, used: int, join: _Join) -> _Join:
        """Take the children that the condition touches out of a flattened join, into a join of their own."""
        touched = [child for child in join.children if child.tables & used]
        if len(touched) == len(join.children):
            self._from_children(join, touched)
            return join
        new = _Join("inner", 0)
        self._from_children(new, touched)
        join.children = [*(child for child in join.children if not child.tables & used), new]
        return new

    @staticmethod
    def _has_source(multiple: _Condition, join: _Join) -> bool:
        return any(condition.source is multiple for condition in join.conditions)

    def _is_on(self, condition: _Condition, join: _Join) -> bool:
        if condition in join.conditions:
            return True
        return condition.source is not None and self._has_source(condition.source, join)

    def _may_make_cycle(self, condition: _Condition, join: _Join) -> bool:
        if not condition.is_multiple and condition.used.bit_count() != 2:
            return False
        used = condition.used
        for other in join.conditions:
            used |= other.used
        return self._are_companions(used & join.tables)

    def _certainly_used(self, join: _Join) -> int:
        """The tables that the join's conditions name whatever becomes of their multiple equalities."""
        used = 0
        for condition in join.conditions:
            if not condition.is_multiple:
                used |= condition.used
                continue
            for side in join.sides():
                bits = condition.used & self._visible(side)
                used |= bits if bits.bit_count() == 1 else 0
        return used

    def _visible(self, join: _Join) -> int:
        if join.kind == "table":
            return join.tables
        if join.kind == "multi":
            return sum(self._visible(child) for child in join.children)
        left, right = join.sides()
        return self._visible(left) | (0 if join.kind in ("semi", "anti") else self._visible(right))

    def _is_bad_for(self, condition: _Condition, join: _Join) -> bool:
        """Whether the condition would make the join name more tables, or tables of one side only."""
        left, right = join.sides()
        if not condition.used & left.tables or not condition.used & right.tables:
            return True
        named = self._certainly_used(join)
        if named == 0:
            return False
        if condition.is_multiple:
            if self._has_source(condition, join):
                return True
            both = condition.used & named
            if both & left.tables and both & right.tables:
                return False
        return bool(condition.used & ~named)

    def _rewrite_for(self, condition: _Condition, join: _Join, allowed: str = "any") -> bool:
        """Put the condition on the join, or on one that an associative rewrite makes; the tree stays as it was if not."""
        if not self._is_bad_for(condition, join) and _is_inner(join.kind):
            join.conditions.append(self._concretize(condition, join) if condition.is_multiple else condition)
            return True
        self._unflatten(join)
        done = False
        if allowed != "left":
            done = self._try_rotations(condition, join, to_right=True)
        if not done and allowed != "right":
            done = self._try_rotations(condition, join, to_right=False)
        if allowed == "any":
            self._flatten(join)
        return done

    def _try_rotations(self, condition: _Condition, join: _Join, *, to_right: bool) -> bool:
        left, right = join.sides()
        inner = right if to_right else left
        if inner.kind == "table":
            return False
        is_possible = self._is_associative(join, inner) if to_right else self._is_associative(inner, join)
        if not is_possible:
            return False
        used = 0
        for own in join.conditions:
            used |= own.used
        for is_swapped in (False, True):
            if is_swapped and inner.kind != "inner":
                break
            inner = join.sides()[1 if to_right else 0]
            if is_swapped:
                inner.left, inner.right = inner.right, inner.left
            far = inner.sides()[1 if to_right else 0]
            if not used & far.tables:
                _rotate(join, to_right=to_right)
                if self._rewrite_for(condition, join, "right" if to_right else "left"):
                    return True
                _rotate(join, to_right=not to_right)
                inner = join.sides()[1 if to_right else 0]
            if is_swapped:
                inner.left, inner.right = inner.right, inner.left
        return False

    @staticmethod
    def _is_associative(first: _Join, second: _Join) -> bool:
        if first.kind == "left" and second.kind == "left":
            return any(condition.used & second.sides()[0].tables for condition in second.conditions)
        return first.kind in ("inner", "multi") and second.kind != "straight"

    def _concretize(self, multiple: _Condition, join: _Join) -> _Condition:
        """One equality of the two sides; columns of tables that the join names already are preferred."""
        assert multiple.columns is not None
        named = self._certainly_used(join)
        chosen: list[Column | None] = [None, None]
        for reach in (self._visible, lambda side: side.tables):
            if None not in chosen:
                break
            sides = [reach(side) for side in join.sides()]
            for column in multiple.columns:
                bit = 1 << self.number[column[0]]
                which = 0 if bit & sides[0] else 1
                if not bit & sides[which]:
                    continue
                before = chosen[which]
                if before is None or not 1 << self.number[before[0]] & named:
                    chosen[which] = column
        a, b = chosen
        assert a is not None
        assert b is not None
        return self._concrete(multiple, a, b)

    def _all_concrete(self, multiple: _Condition, within: int) -> list[_Condition]:
        """As many equalities as connect all tables, each with the one before."""
        assert multiple.columns is not None
        found: list[_Condition] = []
        last: Column | None = None
        seen = 0
        for column in multiple.columns:
            bit = 1 << self.number[column[0]]
            if not bit & within or bit & seen:
                continue
            if last is not None:
                found.append(self._concrete(multiple, last, column))
            last = column
            seen |= bit
        return found

    def _late_equalities(self, join: _Join) -> None:
        if join.kind == "table":
            return
        left, right = join.sides()
        for i, condition in enumerate(join.conditions):
            if condition.is_multiple and condition.used & left.tables and condition.used & right.tables:
                join.conditions[i] = self._concretize(condition, join)
        self._late_equalities(left)
        self._late_equalities(right)

    # From the tree to the graph

    def built(self) -> Built:
        from engineroom._native import join_order as kernel
        from engineroom.ask.query_graphs.graphs import as_json

        node_of: dict[int, int] = {}
        operators: list[Any] = []
        kinds: list[str] = []
        conditions: list[list[_Condition]] = []

        def add(join: _Join) -> int:
            if join.kind == "table":
                node_of[join.tables] = len(node_of)
                operators.append(node_of[join.tables])
                return len(operators) - 1
            left, right = (add(side) for side in join.sides())
            parts = [part for each in join.conditions for part in self._parts(each, join)]
            used = sorted({node_of[bit] for part in parts for bit in _each(part.used)})
            operators.append((join.kind, left, right, used, used))
            kinds.append(join.kind)
            conditions.append(parts)
            return len(operators) - 1

        add(self.root)
        graph = as_json(kernel.hypergraph_of(operators))
        edges = graph["edges"]
        n_from_tree = len(edges)

        def add_edge(left: int, right: int, condition: _Condition) -> None:
            edges.append({"left": [left], "right": [right]})
            kinds.append("inner")
            conditions.append([condition])

        def between(nodes: set[int]) -> list[int]:
            return [k for k, edge in enumerate(edges) if {*edge["left"], *edge["right"]} == nodes]

        for condition in self.cycles:
            left, right = sorted(node_of[bit] for bit in _each(condition.used))
            existing = [k for k in between({left, right}) if kinds[k] == "inner"]
            if existing:
                conditions[existing[0]].append(condition)
            else:
                add_edge(left, right, condition)
        in_use = {part.source for parts in conditions[:n_from_tree] for part in parts}
        for multiple in self.multiples:
            if multiple not in in_use or multiple.columns is None or not self._are_companions(multiple.used):
                continue
            for a, b in itertools.product(multiple.columns, repeat=2):
                if self.number[b[0]] <= self.number[a[0]]:
                    continue
                left, right = (node_of[1 << self.number[column[0]]] for column in (a, b))
                equality = self._concrete(multiple, a, b)
                direct = between({left, right})
                if not direct:
                    add_edge(left, right, equality)
                elif not any(part.source is multiple for part in conditions[direct[0]]):
                    conditions[direct[0]].append(equality)
        alias_of = {node_of[1 << number]: alias for alias, number in self.number.items()}
        return Built(
            [alias_of[node] for node in range(len(node_of))],
            graph,
            kinds,
            [[part.text for part in parts] for parts in conditions],
        )

    def _parts(self, condition: _Condition, join: _Join) -> list[_Condition]:
        """A multiple equality that is still whole is taken apart at last."""
        if condition.columns is None:
            return [condition]
        left, right = join.sides()
        return self._all_concrete(condition, self._visible(left) | self._visible(right))


def _each(bits: int) -> Iterable[int]:
    while bits:
        yield bits & -bits
        bits &= bits - 1


def _rotate(join: _Join, *, to_right: bool) -> None:
    """a x (b y c) becomes (a x b) y c, or that the first one; the object `join` stays the top."""
    left, right = join.sides()
    lower = right if to_right else left
    a, b = (left, lower.sides()[0]) if to_right else (lower.sides()[1], right)
    new = _Join(join.kind, a.tables | b.tables, a, b, [], join.conditions, join.set_number)
    join.kind, join.conditions, join.set_number = lower.kind, lower.conditions, lower.set_number
    join.left, join.right = (new, lower.sides()[1]) if to_right else (lower.sides()[0], new)
