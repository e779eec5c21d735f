"""Formulas as MathML, made when the book is built: a page with one loads neither a script nor a font for it."""

from __future__ import annotations

import html
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)


def mathml(node: nodes.math | nodes.math_block, *, as_block: bool) -> str:
    """The formula with its TeX as the words for readers whose program knows no MathML. TeX that cannot be converted is a warning."""
    tex = " ".join(node.astext().split())
    try:
        converted = tex2mathml(tex, as_block=as_block)
    except MathError as error:
        logger.warning("the formula %r cannot be converted: %s", tex, error, location=node)
        return f"<code>{html.escape(tex)}</code>"
    return converted.replace("<math ", f'<math alttext="{html.escape(tex)}" ', 1)


def visit_inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(mathml(node, as_block=False))
    raise nodes.SkipNode


def visit_block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(writer.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node["number"]:
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    writer.body.append(f"{mathml(node, as_block=True)}</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
