"""The hint that makes the server join in the order of our plan."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["hint_of", "hinted"]


def hint_of(tree: Mapping[str, Any]) -> str | None:
    """JOIN_ORDER with the tables of a plan that adds one table at a time; None for a bushy plan, which no such hint can name.

    A hash join's inputs are the one that probes and the one that is hashed. A hint makes the server hash what it names first, but for
    outer, semi and anti joins, whose sides it cannot change.
    """
    names = _order(tree)
    return None if names is None else f"JOIN_ORDER({', '.join(map(_quoted, names))})"


def hashes_others(tree: Mapping[str, Any]) -> list[str]:
    """The tables that a plan hashes and that the server would probe with under the plan's hint."""
    if "table" in tree:
        return []
    probe, build = tree["inputs"]
    found = hashes_others(probe) + hashes_others(build)
    if _keeps_sides(tree) or "table" in probe:
        return found
    return [*found, build["table"]]


def _keeps_sides(tree: Mapping[str, Any]) -> bool:
    return tree["kind"] not in ("inner", "straight")


def _order(tree: Mapping[str, Any]) -> list[str] | None:
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
