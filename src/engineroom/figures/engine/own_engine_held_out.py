"""Our own figure: the same as own-engine-live, under two loads that nothing was developed on."""

from __future__ import annotations

from engineroom.figures.engine.own_engine_live import picture, rows, words

__all__ = ["picture", "rows", "words"]
