"""Where the book keeps things: the repository's rooms and the reader's cache."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from engineroom.errors import EngineRoomError

__all__ = ["build", "cache", "data", "root"]


def root() -> Path:
    """The repository, from `ENGINEROOM_ROOT` or from where this file lies."""
    chosen = os.environ.get("ENGINEROOM_ROOT")
    here = Path(chosen) if chosen else Path(__file__).resolve().parents[2]
    if not (here / "data" / "published").is_dir():
        raise EngineRoomError(
            f"no data/published under {here}",
            remedy="run from a clone of the repository, or set ENGINEROOM_ROOT to one",
        )
    return here


def data() -> Path:
    """The repository's `data/`."""
    return root() / "data"


def build() -> Path:
    """The repository's `_build/`, for everything that can be made again."""
    path = root() / "_build"
    path.mkdir(exist_ok=True)
    return path


def cache() -> Path:
    """The reader's cache for servers and datadirs: `ENGINEROOM_CACHE`, or the platform's cache folder."""
    chosen = os.environ.get("ENGINEROOM_CACHE")
    path = Path(chosen) if chosen else platformdirs.user_cache_path("engineroom")
    path.mkdir(parents=True, exist_ok=True)
    return path
