"""Folded outputs that say what is in them.

A cell whose output is hidden leaves a line to open, which by itself says "Show code cell outputs" wherever it stands, and "Toggle hidden
content" to a screen reader. Here it gets the beginning of the output's caption, and loses the other name.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx

FOLDED = "HideCodeCellNode"
DEFAULT = "Show code cell outputs"
NAMELESS = "Show the output"
LABEL = '<summary aria-label="Toggle hidden content">'
# To the end of the first sentence, or of its first part. A number's point has no space behind it.
BEGINNING = re.compile(r".+?(?=[.;:](?:\s|$))", re.DOTALL)


def beginning(html: str) -> str:
    """What the first caption begins with in `html`, without what lies behind its sign; nothing where there is no caption."""
    caption = BeautifulSoup(html, "html.parser").find("figcaption")
    if caption is None:
        return ""
    for part in caption.select("details, a[download]"):
        part.decompose()
    said = " ".join(caption.get_text(" ").split())
    found = BEGINNING.match(said)
    return found[0] if found else said


def name_folds(_app: Sphinx, doctree: nodes.document, _docname: str) -> None:
    for node in doctree.findall(nodes.Element):
        if type(node).__name__ == FOLDED and node["prompt_show"] == DEFAULT:
            said = "".join(raw.astext() for raw in node.findall(nodes.raw) if raw.get("format") == "html")
            node["prompt_show"] = node["prompt_hide"] = beginning(said) or NAMELESS


def unlabel(app: Sphinx, error: Exception | None) -> None:
    """Let a fold be called by what is written on it."""
    if error is not None or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        if LABEL in text:
            page.write_text(text.replace(LABEL, "<summary>"), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", name_folds)
    app.connect("build-finished", unlabel, priority=890)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
