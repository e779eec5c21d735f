"""Several things as one part of a sentence."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["listed"]


def listed(names: Sequence[str]) -> str:
    """ "a, b and c"; nothing of none."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else list(names))
