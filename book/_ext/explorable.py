"""The `{explorable}` directive: a figure that computes in the reader's browser.

    ```{explorable} hash_join
    :alt: What the plain figure shows, for readers who cannot see it.
    :name: explorable-hash-join
    :starts:
    The caption, under the plain figure and under the live one.
    ```

The page gets a custom element around a plain figure (book/web/explorables/<word>.svg). The figure is what print, PDF, EPUB and a
browser without scripts show; the script puts knobs and a computed picture beside it. With `:starts:` it plays by itself once. book/web/explorables/README.md tells how
to write one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from engineroom.show import bundle


class Explorable(SphinxDirective):
    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "alt": directives.unchanged_required,
        "name": directives.unchanged,
        "starts": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        word = self.arguments[0]
        if word not in bundle.words():
            raise self.error(f"no explorable {word!r}; there are {', '.join(bundle.words())}")
        if not self.options.get("alt"):
            raise self.error(f"explorable {word!r} needs an :alt: for its plain figure")
        for source in bundle.sources(word):
            self.env.note_dependency(str(source))
        figure = nodes.figure(
            "", nodes.image(uri=f"/book/web/explorables/{word}.svg", alt=self.options["alt"])
        )
        caption = nodes.caption()
        caption += self.parse_inline(" ".join(self.content), lineno=self.content_offset)[0]
        figure += caption
        self.add_name(figure)
        # The script stands right after its element and not in the head: it runs before the page is painted.
        tag, up = bundle.tag(word), "../" * self.env.docname.count("/")
        script = f'<script src="{up}_static/explorables/{word}.js"></script>'
        return [
            nodes.raw(
                "", f'<{tag} class="explorable"{" starts" * ("starts" in self.options)}>', format="html"
            ),
            figure,
            nodes.raw("", f"</{tag}>{script}", format="html"),
        ]


def write_scripts(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        folder = Path(app.outdir) / "_static" / "explorables"
        folder.mkdir(parents=True, exist_ok=True)
        for word in bundle.words():
            (folder / f"{word}.js").write_text(bundle.classic_script(word), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("explorable", Explorable)
    app.connect("build-finished", write_scripts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
