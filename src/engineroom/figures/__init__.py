"""One module per figure in its chapter's folder, named by its id, which declares three things.

`rows` makes the table of a run (`engineroom.side_by_side.rows`), `picture` draws it from those rows alone (`Curves`, `Dots`, `Ranked`,
`Bars`, `Steps`, `Flame`, or a function of its own), and `words` says what it shows: alt text and caption, computed from the same rows.
Numbers of a source come with the rows, from `data/published`. What modules are made of stands in `parts`; what the figures of a chapter
share beside them, under its own name.
"""

from __future__ import annotations

from engineroom.figures.drawing import Drawing, module_of, show
from engineroom.figures.wording import Words

__all__ = ["Drawing", "Words", "module_of", "show"]
