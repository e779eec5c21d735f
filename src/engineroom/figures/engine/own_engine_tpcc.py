"""Our own figure: the same as own-engine-live, under TPC-C with one warehouse."""

from __future__ import annotations

from engineroom.figures.engine.own_engine_live import picture, rows, words

__all__ = ["picture", "rows", "words"]
