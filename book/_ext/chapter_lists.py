"""Lists of chapters on pages, from src/engineroom/chapters.toml.

`{chapter-questions}` is a list of what a DBA asks, with a link to the chapter that answers. `{reading-path} operators`
is a numbered list; its content is the list, in which the item `1. {chapters}` stands for the steps of all chapters on that path.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from engineroom import chapters

HERE = "1. {chapters}"


class _Generated(SphinxDirective):
    def parsed(self, lines: list[str]) -> list[nodes.Node]:
        """The nodes of MyST text that is made anew whenever the declaration changes."""
        self.env.note_dependency(str(chapters.DECLARED))
        parent = nodes.container()
        self.state.nested_parse(StringList(lines, source=self.env.docname), self.content_offset, parent)
        return parent.children


class ChapterQuestions(_Generated):
    def run(self) -> list[nodes.Node]:
        return self.parsed(
            [f"- {each.question} [{each.title}]({each.word}.md)." for each in chapters.written()]
        )


class ReadingPath(_Generated):
    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        reader = self.arguments[0]
        if reader not in ("operators", "students"):
            raise self.error(f"no reading path of {reader!r}; there are operators and students")
        if list(self.content).count(HERE) != 1:
            raise self.error(f"the reading path of {reader} needs one item {HERE!r}")
        lines = []
        for line in self.content:
            lines += chapters.path_lines(reader) if line == HERE else [line]
        return self.parsed(lines)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("chapter-questions", ChapterQuestions)
    app.add_directive("reading-path", ReadingPath)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
