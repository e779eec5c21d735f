"""A link to the rows of every figure.

A lab's `show("fig-7-22")` writes what it drew to `_build/figures/fig-7-22.csv`. A figure on a page whose name is that id, or
that id with an ending (`fig-7-22-page`), gets a link to the file in its caption; the files are copied beside the pages.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)
FIGURES = Path("_build/figures")


def rows_of(names: list[str], folder: Path) -> Path | None:
    """The CSV whose id is one of the names, or is followed by `-` in one of them; the longest id wins."""
    ids = sorted(folder.glob("*.csv"), key=lambda path: -len(path.stem))
    return next((csv for csv in ids for name in names if f"{name}-".startswith(f"{csv.stem}-")), None)


def link_rows(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    if app.builder.format != "html":
        return
    for figure in doctree.findall(nodes.figure):
        names = [*figure.get("names", []), *figure.get("ids", [])]
        csv = rows_of(names, Path(app.srcdir) / FIGURES)
        caption = figure.next_node(nodes.caption)
        if csv and caption is not None:
            address = "../" * docname.count("/") + f"figures/{csv.name}"
            caption += nodes.Text(" ")
            caption += nodes.reference(
                "", f"Rows of {csv.stem} as CSV", refuri=address, classes=["figure-rows"]
            )
        elif any(name.startswith("fig-") for name in names):
            logger.warning(
                "figure %s has no rows in %s: its cell must end in show(\"%s\"), or remove _build/.jupyter_cache",
                names[0], FIGURES, names[0], location=figure,
            )  # fmt: skip


def copy_rows(app: Sphinx, error: Exception | None) -> None:
    source = Path(app.srcdir) / FIGURES
    if error is None and app.builder.format == "html" and source.is_dir():
        target = Path(app.outdir) / "figures"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(
            source, target, ignore=lambda _folder, names: [n for n in names if not n.endswith(".csv")]
        )


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", link_rows)
    app.connect("build-finished", copy_rows)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
