"""What a page shows of the recordings, computed while the book is built; what has no value fails the build with file and line.

    {n}`cpu_s["9.7.4", "hash_join"] : .2f`      a number where it stands
    {claim}`old_s > 2 * new_s`                  nothing, if what the sentence before it says still holds; else the build fails

    ```{show} figure("fig-7-22", "live")        a figure, a table or a longer text
    :title: Half the time{claim}`a_s > 2 * b_s` what a figure is called, while its claims hold
    :fold:                                      to be opened, under its own text, the title or the beginning of its caption
    ```

Expressions are those of `engineroom.making.page`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from folds import NAMELESS, beginning
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole

from engineroom.making import page

COMPUTED = "… *A kernel computes what is here; `make book` compiles it.*"


class Number(SphinxRole):
    """A number, or a claim about numbers that shows nothing."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        try:
            names = page.names_of(self.env.docname)
            if self.name == "claim":
                if not page.value_of(self.text, names):
                    raise ValueError("it does not hold any more")
                return [], []
            text = page.text_of(self.text, names)
        except Exception as error:  # noqa: BLE001 (whatever is wrong is said with its place)
            if page.lacks_kernel(error):
                return [nodes.inline("…", "…", classes=["number"])], []
            said = f"{{{self.name}}}`{self.text}`: {type(error).__name__}: {error}"
            message = self.inliner.reporter.error(said, line=self.lineno)
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]
        return [nodes.inline(text, text, classes=["number"])], []


class Show(SphinxDirective):
    """The value of an expression: as HTML or MyST if it has such a form, else as text."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {"fold": directives.unchanged, "title": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        try:
            value = page.value_of(self.arguments[0], page.names_of(self.env.docname))
        except Exception as error:
            if page.lacks_kernel(error):
                return self.parse_text_to_nodes(COMPUTED)
            raise self.error(f"{{show}} {self.arguments[0]}: {type(error).__name__}: {error}") from error
        if hasattr(value, "_repr_markdown_"):
            shown = self.parse_text_to_nodes(value._repr_markdown_(), allow_section_headings=True)
        elif hasattr(value, "_repr_html_"):
            # A raw node writes no id: a label before it needs an element around it.
            raw = nodes.raw("", value._repr_html_(), format="html")
            shown = [nodes.container("", *(() if "fold" in self.options else self.conclusion()), raw)]
        else:
            shown = [nodes.literal_block(str(value), str(value), language="text")]
        if "fold" not in self.options:
            return shown
        said = self.options["fold"] or self.options.get("title")
        title = said or beginning("".join(node.astext() for node in shown)) or NAMELESS
        (fold,) = self.parse_text_to_nodes(f":::{{dropdown}} {title}\n:::")
        assert isinstance(fold, nodes.Element)
        fold += shown
        return [nodes.container("", fold)]

    def conclusion(self) -> list[nodes.Node]:
        """What the author concludes from a figure; nothing, once a claim in it fails the build."""
        if "title" not in self.options:
            return []
        said, _ = self.parse_inline(self.options["title"])
        if any(isinstance(node, nodes.problematic) for node in said):
            return []
        return [nodes.paragraph("", "", *said, classes=["figure-title"])]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_role("n", Number())
    app.add_role("claim", Number())
    app.add_directive("show", Show)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
