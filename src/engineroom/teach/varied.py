"""What differs from student to student: given data, and what is to be predicted of them, which follow from the class seed.

A student's notebook has them written out. So nobody there has, or needs, the code that draws them and knows their answers.
"""

from __future__ import annotations

import ast
import contextlib
import io
import pprint
import re
from typing import Any

from engineroom.errors import EngineRoomError
from engineroom.teach.grading.submissions import used_names

__all__ = ["HELD_BACK", "WrittenOut"]

SEED = re.compile(r"^seed = \d+  # class seed\n?", re.MULTILINE)
# What draws data, reads them off recordings or solves questions.
HELD_BACK = re.compile(r"engineroom\.(?:chapters\.\w+\.exercises|teach\.(?:capstone|servers))")


class WrittenOut:
    """The cells of one notebook, one after the other, with values in the place of what is held back."""

    def __init__(self) -> None:
        self._space: dict[str, Any] = {"__name__": "__main__"}
        self._held: set[str] = set()

    def cell(self, source: str) -> str:
        """The cell as a student gets it. Refuses one that uses what is held back for more than a value."""
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, "<given>", "exec"), self._space)  # noqa: S102
        body, lines = ast.parse(source).body, source.splitlines()
        imports = {node: held for node in body if (held := _held_back(node))}
        self._held = self._held.union(*imports.values())
        for node in reversed(body):
            if node in imports:
                lines[node.lineno - 1 : node.end_lineno] = []
            elif self._held & used_names(ast.unparse(node)):
                lines[node.lineno - 1 : node.end_lineno] = self._values(node)
        text = "\n".join(lines).strip("\n")
        if "seed" not in used_names(text):
            text = SEED.sub("", text).strip("\n")
        return re.sub(r"\n{3,}", "\n\n", text)

    def _values(self, node: ast.stmt) -> list[str]:
        if not isinstance(node, ast.Assign):
            raise EngineRoomError(
                f"a cell gives students what they do not have: {ast.unparse(node)[:200]!r}",
                remedy="let it assign values, as src/engineroom/teach/varied.py says",
            )
        names = [
            each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)
        ]
        return [line for name in names if name != "_" for line in _literal(name, self._space[name])]


def _held_back(node: ast.stmt) -> set[str]:
    """The names by which an import binds modules that are held back."""
    if not isinstance(node, ast.ImportFrom):
        return set()
    return {
        alias.asname or alias.name
        for alias in node.names
        if HELD_BACK.fullmatch(f"{node.module}.{alias.name}")
    }


def _literal(name: str, value: Any) -> list[str]:
    text = pprint.pformat(value, width=110, compact=True, sort_dicts=False)
    try:
        is_plain = ast.literal_eval(text) == value
    except (ValueError, SyntaxError):
        is_plain = False
    if not is_plain:
        raise EngineRoomError(
            f"{name} cannot be written out: {text[:200]}",
            remedy="let it be of dictionaries, lists, tuples, texts and numbers",
        )
    return f"{name} = {text}".splitlines()
