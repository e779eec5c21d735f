"""Pages that work opened from disk with the network off.

The theme and its companions bring what a static, offline page cannot use: thebe (a kernel from a CDN), a 1.5 MB FontAwesome script beside
the same icons as fonts, the search's index on pages that do not search, and the state of widgets that have no kernel to talk to. They are
taken out here; a widget leaves a sentence behind that says where it lives. Search shows excerpts: from disk it may not fetch the pages that it
takes them from, so their words lie in a script beside it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes
from published import is_published
from sphinx.application import Sphinx

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
# The icons' script, and font preloads: from disk a browser refuses the preload and then loads the font all the same.
BUILT_IN = re.compile(
    r'<script[^>]* src="[^"]*fontawesome[^"]*"></script>\n?|<link rel="preload" as="font"[^>]*>\n?'
)
# For results while one types, which the theme's option leaves off.
SEARCH = re.compile(
    r'<script src="[^"]*(?:_static/searchtools|_static/language_data|searchindex)\.js"></script>\n?'
)
# Of each exercise and solution, whereas an id names one part of a page; and a table's corner, which is the header of nothing.
REPEATED_ID = re.compile(r'<section id="(?:exercise|solution)-content">')
EMPTY_HEADER = re.compile(r"<th( [^>]*)?>(?:<p></p>)?</th>")
TOGGLE = (
    "Pages of this chapter"  # the theme's arrow beside a chapter has no name for readers who cannot see it
)
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"


def drop_scripts(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    def wanted(file: Any) -> bool:
        attributes = getattr(file, "attributes", {})
        named = f"{getattr(file, 'filename', file)}{attributes.get('body', '')}".lower()
        return "thebe" not in named and attributes.get("type") != WIDGET_STATE

    for kind in ("script_files", "css_files"):
        context[kind] = [file for file in context.get(kind, []) if wanted(file)]


def clean_page(app: Sphinx, doctree: nodes.document, _docname: str) -> None:
    for raw in list(doctree.findall(nodes.raw)):
        if "text/x-thebe-config" in raw.astext() or "kernelName" in raw.astext():
            raw.parent.remove(raw)
        elif WIDGET_VIEW in raw.astext():
            on_binder = ", or on Binder from the button above" if is_published(app.config) else ""
            note = f"This control panel needs a running kernel: open the lab with `make lab`{on_binder}."
            text = nodes.paragraph("", "", *_code_spans(note), classes=["needs-kernel"])
            raw.replace_self(text)


def _code_spans(text: str) -> list[nodes.Node]:
    parts = text.split("`")
    return [nodes.literal("", part) if i % 2 else nodes.Text(part) for i, part in enumerate(parts)]


def trim_output(app: Sphinx, error: Exception | None) -> None:
    """Remove from the written pages what the theme's layout has built in."""
    if error is not None or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    for name in ("sphinx-thebe.js", "sphinx-thebe.css"):
        (static / name).unlink(missing_ok=True)
    for script in (*static.glob("vendor/fontawesome/*/js/*"), *static.glob("scripts/fontawesome.js*")):
        script.unlink()
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        trimmed = BUILT_IN.sub("", text).replace("<summary><span", f'<summary aria-label="{TOGGLE}"><span')
        if page.name != "search.html":
            trimmed = SEARCH.sub("", trimmed)
        # docutils calls the entries what ARIA has withdrawn, inside a list, which must have items.
        trimmed = trimmed.replace('role="doc-biblioentry"', 'role="listitem"')
        trimmed = EMPTY_HEADER.sub(r"<td\1></td>", REPEATED_ID.sub("<section>", trimmed))
        if trimmed != text:
            page.write_text(trimmed, encoding="utf-8")


# After Sphinx's own script of the search: what it asks for as pages are words already.
EXCERPTS = """
window.fetch = (url) => Promise.resolve({ text: () => searched[url.split("/").slice(-2).join("/")] ?? "" });
Search.htmlToText = (words) => words;
"""
NO_WORDS = "nav, button, .headerlink, .er-live"
# None of these lies in one of its own kind. They are most of a page, and take longest to parse.
NO_TEXT = re.compile(r"<(script|style|svg|math)\b.*?</\1>", re.DOTALL)


def keep_words(app: Sphinx, error: Exception | None) -> None:
    """Write the words of all pages for the search's excerpts, and the script into the search's page."""
    if error is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    words = {}
    for page in sorted([*out.glob("book/*.html"), *out.glob("notebooks/*.html")]):
        read = NO_TEXT.sub("", page.read_text(encoding="utf-8"))
        article = BeautifulSoup(read, "html.parser").select_one("article")
        for part in article.select(NO_WORDS) if article else ():
            part.decompose()
        if article:
            words[page.relative_to(out).as_posix()] = " ".join(article.get_text(" ").split())
    script = f"const searched = {json.dumps(words, ensure_ascii=False)};\n{EXCERPTS}"
    (out / "_static" / "search_words.js").write_text(script, encoding="utf-8")
    search = out / "search.html"
    text = search.read_text(encoding="utf-8")
    if "search_words.js" not in text:
        tag = re.compile(r'<script src="_static/searchtools\.js[^>]*></script>')
        search.write_text(
            tag.sub(r'\g<0><script src="_static/search_words.js"></script>', text, count=1), encoding="utf-8"
        )


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", drop_scripts, priority=900)
    app.connect("doctree-resolved", clean_page)
    app.connect("build-finished", trim_output, priority=900)
    app.connect("build-finished", keep_words, priority=950)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
