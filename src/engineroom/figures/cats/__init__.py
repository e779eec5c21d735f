"""The chapter's figures: one quantity each, under FIFO and under CATS."""

from __future__ import annotations

__all__ = ["LABELS"]

LABELS = {"fifo": "FIFO", "cats": "CATS"}
