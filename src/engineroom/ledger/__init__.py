"""The ledger: every published figure, the claims it makes, and the verdict of a fixed rule on our runs."""

from __future__ import annotations

from engineroom.ledger.claims import Figure, figure, figures
from engineroom.ledger.rows import Row, rows
from engineroom.ledger.verdicts import Judgement, judge

__all__ = ["Figure", "Judgement", "Row", "figure", "figures", "judge", "rows"]
