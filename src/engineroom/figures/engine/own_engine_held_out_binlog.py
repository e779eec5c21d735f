"""Our own figure: the same as own-engine-live, with a binary log and a disk whose fsync takes a given time, under two loads kept out of development."""

from __future__ import annotations

from engineroom.figures.engine.own_engine_live import picture, rows, words

__all__ = ["picture", "rows", "words"]
