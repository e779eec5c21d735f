"""HTML pages of what a DBA asked: everything that came from a statement or a server is escaped."""

from __future__ import annotations

from pathlib import Path

import jinja2

from engineroom import files

__all__ = ["templates"]


def templates(folder: Path) -> jinja2.Environment:
    """The templates that lie in a folder."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # What would steer a terminal or turn the text is made visible.
        finalize=lambda value: value if hasattr(value, "__html__") else files.visible(str(value)),
    )
