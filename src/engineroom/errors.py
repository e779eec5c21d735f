"""One kind of error for readers: what went wrong, and what to do next."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

__all__ = ["EngineRoomError", "refuse_unwritable"]


class EngineRoomError(Exception):
    """Something a reader can mend. `problem` says what happened, `remedy` what to do next."""

    def __init__(self, problem: str, *, remedy: str) -> None:
        super().__init__(f"{problem}\n  What to do: {remedy}")
        self.problem = problem
        self.remedy = remedy

    def __reduce__(self) -> tuple[Any, ...]:
        """By both parts: a worker's error comes to its parent pickled, and by its message alone it could not be made again."""
        return functools.partial(type(self), remedy=self.remedy), (self.problem,), self.__dict__


def refuse_unwritable(file: Path) -> None:
    """Raise EngineRoomError unless `file` can be written: to be called before the work whose result it will hold."""
    try:
        if file.is_dir():
            raise IsADirectoryError(21, "it is a folder", str(file))
        if file.is_symlink() and not file.exists():
            raise FileNotFoundError(2, "it is a link that leads nowhere", str(file))
        if file.exists():
            file.open("a").close()
        else:
            tempfile.TemporaryFile(dir=file.parent).close()
    except OSError as error:
        raise EngineRoomError(
            f"{file} cannot be written: {error.strerror}",
            remedy="name a file in a folder that exists and that you may write to",
        ) from error
