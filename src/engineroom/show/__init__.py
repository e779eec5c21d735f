"""Figures, tables and widgets: what a page or a notebook shows of a run. A chapter's own stand in its `figures.py`."""

from __future__ import annotations

from engineroom.show.drawing import Drawing, show
from engineroom.show.wording import Words

__all__ = ["Drawing", "Words", "show"]
