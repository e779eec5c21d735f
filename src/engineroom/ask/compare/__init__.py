"""One statement of a reader's own, side by side on several generations of the server."""

from __future__ import annotations

from engineroom.ask.compare.sides import (
    AS_INSTALLED,
    EQUAL_SETTINGS,
    Comparison,
    Interrupted,
    Side,
    compare,
    compare_many,
)

__all__ = ["AS_INSTALLED", "EQUAL_SETTINGS", "Comparison", "Interrupted", "Side", "compare", "compare_many"]
