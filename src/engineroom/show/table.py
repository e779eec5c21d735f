"""A table for a page: the rows as given, scrolling inside itself on a phone."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from engineroom.show.origin import folded

__all__ = ["Markdown", "Table", "listed"]


@dataclass(frozen=True)
class Table:
    """`rows` under a caption, and where they come from; `kind` "compact" puts the first column above the others on a phone."""

    rows: pd.DataFrame
    caption: str
    origin: str = ""
    kind: str = ""

    def _repr_html_(self) -> str:
        # Roles said aloud: where a phone's style lays a row out as a grid, a browser may forget that it is one.
        head = "".join(
            f'<th scope="col" role="columnheader">{html.escape(str(name).replace("_", " "))}</th>'
            for name in self.rows.columns
        )
        body = "".join(
            '<tr role="row">' + "".join(f'<td role="cell">{_cell(value)}</td>' for value in row) + "</tr>"
            for row in self.rows.itertuples(index=False)
        )
        said = f"{html.escape(self.caption)} {folded(self.origin)}".strip()
        kind = html.escape(f"table {self.kind}".strip())
        # The caption stands outside the box: inside, it would scroll away with a wide table.
        return (
            f'<figure class="er-table"><figcaption>{said}</figcaption>'
            f'<div class="er-scroll" role="region" tabindex="0" aria-label="{html.escape(self.caption, quote=True)}">'
            f'<table class="{kind}" role="table" style="--short-columns: {len(self.rows.columns) - 1}">'
            f'<thead role="rowgroup"><tr role="row">{head}</tr></thead><tbody role="rowgroup">{body}</tbody></table></div></figure>'
        )

    def __repr__(self) -> str:
        return f"{self.caption}\n{self.rows.to_string(index=False)}"


class Markdown(str):
    """A text in MyST, which becomes a part of the page."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return str(self)


def listed(header: Sequence[str], rows: Iterable[Sequence[str]], *, kind: str, widths: str = "auto") -> str:
    """The same as text of a page, whose cells may hold links and other markup; `kind` is the table's class."""
    options = [":header-rows: 1", f":widths: {widths}", f":class: {kind}"]
    lines = [
        f"{' ' if index else '*'} - {cell}".rstrip()
        for cells in [header, *rows]
        for index, cell in enumerate(cells)
    ]
    return "\n".join(["```{list-table}", *options, "", *lines, "```"])


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = html.escape(str(value))
    return f"<pre>{text}</pre>" if "\n" in text else text
