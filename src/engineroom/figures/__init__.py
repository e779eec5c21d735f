"""One module per figure in its chapter's folder, named by its id: `rows` (the table), `picture` (drawn from the rows alone), `words` (alt text and caption)."""

from __future__ import annotations

from engineroom.figures.drawing import Drawing, module_of, show
from engineroom.figures.wording import Words

__all__ = ["Drawing", "Words", "module_of", "show"]
