"""One kind of error for readers: what went wrong, and what to do next."""

from __future__ import annotations

__all__ = ["EngineRoomError"]


class EngineRoomError(Exception):
    """Something a reader can mend. `problem` says what happened, `remedy` what to do next."""

    def __init__(self, problem: str, *, remedy: str) -> None:
        super().__init__(f"{problem}\n  What to do: {remedy}")
        self.problem = problem
        self.remedy = remedy
