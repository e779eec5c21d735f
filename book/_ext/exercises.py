"""`{exercises} redo_log`: the exercises of a chapter, from notebooks/exercises/redo_log.md."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from engineroom.making import page
from engineroom.teach import masters, shown


class Exercises(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        written = {each.stem: each for each in masters.files()}
        if self.arguments[0] not in written:
            raise self.error(
                f"no exercises of {self.arguments[0]!r}; there are those of {', '.join(written)}"
            )
        master = written[self.arguments[0]]
        self.env.note_dependency(str(master))
        lines = shown.exercises(master, with_data=not page.is_to_read()).splitlines()
        parent = nodes.container()
        self.state.nested_parse(StringList(lines, source=str(master)), 0, parent)
        return parent.children


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("exercises", Exercises)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
