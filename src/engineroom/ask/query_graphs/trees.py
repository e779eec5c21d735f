"""A plan as a tree of joins: read from its order, written as one, asked for the sets of tables that it makes, and the hint for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = [
    "Tree",
    "hashes_others",
    "hint_of",
    "hinted",
    "joined_sets",
    "joins",
    "leaves",
    "names_in",
    "order",
    "tree_of",
]

Tree = Mapping[str, Any]  # of a table its name under `table`, of a join two trees under `inputs`


def names_in(text: str, names: Iterable[str]) -> list[str]:
    """The names that a list with commas is made of, which a name may hold too. KeyError where it is made of something else."""
    listed = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    found = re.findall(rf"(?:{listed})(?=,|$)", text)
    if ",".join(found) != text:
        raise KeyError(text)
    return found


def tree_of(order: str, names: Iterable[str] = ()) -> Tree:
    """The tree of an order like `((a,b),c)`, which is how the trace writes it; `names` are those that may hold its signs."""
    listed = "".join(rf"{re.escape(name)}(?=[,)]|$)|" for name in sorted(names, key=len, reverse=True))
    ends: list[list[Tree]] = [[]]
    for token in re.findall(rf"{listed}[()]|[^(),]+", order):
        if token == "(":
            ends.append([])
        elif token == ")":
            inner: Tree = {"inputs": ends.pop()}
            ends[-1].append(inner)
        else:
            ends[-1].append({"table": token})
    return ends[0][0]


def order(tree: Tree) -> str:
    """A tree as `((a, b), c)`."""
    if "table" in tree:
        return str(tree["table"])
    return f"({', '.join(order(each) for each in tree['inputs'])})"


def leaves(tree: Tree) -> list[str]:
    """The tables of a plan, from left to right."""
    return [tree["table"]] if "table" in tree else [name for each in tree["inputs"] for name in leaves(each)]


def joined_sets(tree: Tree) -> set[frozenset[str]]:
    """The sets of tables that a plan makes; two plans with the same sets differ at most in which side is which."""
    return {frozenset(leaves(left) + leaves(right)) for left, right in joins(tree)}


def joins(tree: Tree) -> list[tuple[Tree, Tree]]:
    """Every join of a plan, the last on top first."""
    if "table" in tree:
        return []
    left, right = tree["inputs"]
    return [(left, right), *joins(left), *joins(right)]


def hint_of(tree: Tree) -> str | None:
    """JOIN_ORDER with the tables of a plan that adds one table at a time; None for a bushy plan, which no such hint can name.

    A hash join's inputs are the one that probes and the one that is hashed. A hint makes the server hash what it names first, but for
    outer, semi and anti joins, whose sides it cannot change.
    """
    names = _order(tree)
    return None if names is None else f"JOIN_ORDER({', '.join(map(_quoted, names))})"


def hashes_others(tree: Tree) -> list[str]:
    """The tables that a plan hashes and that the server would probe with under the plan's hint."""
    if "table" in tree:
        return []
    probe, build = tree["inputs"]
    found = hashes_others(probe) + hashes_others(build)
    if _keeps_sides(tree) or "table" in probe:
        return found
    return [*found, build["table"]]


def _keeps_sides(tree: Tree) -> bool:
    return tree["kind"] not in ("inner", "straight")


def _order(tree: Tree) -> list[str] | None:
    if "table" in tree:
        return [tree["table"]]
    probe, build = tree["inputs"]
    if "table" not in probe and "table" not in build:
        return None
    first, second = (probe, build) if _keeps_sides(tree) or "table" not in probe else (build, probe)
    names, rest = _order(first), _order(second)
    return None if names is None or rest is None else names + rest


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else "`" + name.replace("`", "``") + "`"


def hinted(sql: str, hint: str) -> str | None:
    """The statement with the hint behind its first word; None unless that word is SELECT and no hint stands there."""
    found = re.match(r"\s*SELECT\b(?!\s*/\*\+)", sql, re.IGNORECASE)
    return f"{found[0]} /*+ {hint} */{sql[found.end() :]}" if found else None
