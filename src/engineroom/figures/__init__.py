"""One module a figure, named by its id: `rows` (the table), `picture` (drawn from the rows alone), `words` (alt text and caption)."""

from __future__ import annotations

from engineroom.figures.drawing import Drawing, Words, show

__all__ = ["Drawing", "Words", "show"]
