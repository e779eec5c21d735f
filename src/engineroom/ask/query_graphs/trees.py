"""A plan as a tree of joins: read from its order, written as one, and asked for the sets of tables that it makes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["Tree", "joined_sets", "joins", "leaves", "order", "tree_of"]

Tree = Mapping[str, Any]  # of a table its name under `table`, of a join two trees under `inputs`


def tree_of(order: str) -> Tree:
    """The tree of an order like `((a,b),c)`, which is how the trace writes it."""
    ends: list[list[Tree]] = [[]]
    for token in re.findall(r"[()]|[^(),]+", order):
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
