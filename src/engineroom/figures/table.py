"""A table for a page: the rows as given, scrolling inside itself on a phone."""

from __future__ import annotations

import html
from dataclasses import dataclass

import pandas as pd

__all__ = ["Table"]


@dataclass(frozen=True)
class Table:
    """`rows` under a caption, and where they come from."""

    rows: pd.DataFrame
    caption: str
    origin: str = ""

    def _repr_html_(self) -> str:
        head = "".join(
            f'<th scope="col">{html.escape(str(name).replace("_", " "))}</th>' for name in self.rows.columns
        )
        body = "".join(
            "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>"
            for row in self.rows.itertuples(index=False)
        )
        said = html.escape(f"{self.caption} {self.origin}".strip())
        return (
            f'<div class="er-table" role="region" tabindex="0" aria-label="{html.escape(self.caption, quote=True)}">'
            f'<table class="table"><caption>{said}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        )

    def __repr__(self) -> str:
        return f"{self.caption}\n{self.rows.to_string(index=False)}"


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = html.escape(str(value))
    return f"<pre>{text}</pre>" if "\n" in text else text
