"""The hint that makes the server join in the order of our plan."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["hint_of", "hinted"]


def hint_of(tree: Mapping[str, Any]) -> str | None:
    """JOIN_ORDER with the tables of a plan that adds one table at a time; None for a bushy plan, which no such hint can name."""
    added: list[str] = []
    while "inputs" in tree:
        single = [each for each in tree["inputs"] if "table" in each]
        if not single:
            return None
        added.append(single[-1]["table"])
        rest = [each for each in tree["inputs"] if each is not single[-1]]
        tree = rest[0]
    names = [tree["table"], *reversed(added)]
    return f"JOIN_ORDER({', '.join(map(_quoted, names))})"


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else "`" + name.replace("`", "``") + "`"


def hinted(sql: str, hint: str) -> str | None:
    """The statement with the hint behind its first word; None unless that word is SELECT and no hint stands there."""
    found = re.match(r"\s*SELECT\b(?!\s*/\*\+)", sql, re.IGNORECASE)
    return f"{found[0]} /*+ {hint} */{sql[found.end() :]}" if found else None
