"""Where the book keeps things: the repository's rooms and the reader's cache."""

from __future__ import annotations

import functools
import os
import sys
import tempfile
from pathlib import Path

import platformdirs

from engineroom.errors import EngineRoomError

__all__ = ["build", "cache", "data", "root"]

CARRIED = Path(__file__).resolve().parent / "share"


def root() -> Path:
    """The repository, from `ENGINEROOM_ROOT` or from where this file lies; of an installed wheel, what it carries of it."""
    chosen = os.environ.get("ENGINEROOM_ROOT")
    here = Path(chosen) if chosen else Path(__file__).resolve().parents[2]
    if not chosen and CARRIED.is_dir():
        here = CARRIED
    _refuse_anothers_environment()
    if not (here / "data" / "published").is_dir():
        raise EngineRoomError(
            f"no data/published under {here}",
            remedy="run from a clone of the repository, or set ENGINEROOM_ROOT to one",
        )
    return here


@functools.cache
def _refuse_anothers_environment() -> None:
    """In a copied checkout, the copied environment and its commands run the original's code: nothing that is changed here would count."""
    called = Path(sys.argv[0]).absolute().parent.parent  # .venv of .venv/bin/engineroom
    environments = [Path(sys.prefix), *([called] if (called / "pyvenv.cfg").is_file() else [])]
    sources = Path(__file__).resolve().parents[1]
    is_chosen = str(sources) in map(os.path.realpath, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    for each in () if is_chosen else environments:
        owner = each.resolve().parent
        if (owner / "src" / "engineroom").is_dir() and owner / "src" != sources and sources.name == "src":
            raise EngineRoomError(
                f"{each} belongs to another checkout, as after one is copied: its code is that of {sources.parent}",
                remedy=f"cd {owner} && make clean && make book",
            )


def data() -> Path:
    """The repository's `data/`."""
    return root() / "data"


def build() -> Path:
    """The repository's `_build/`, for everything that can be made again; of an installed wheel, a folder of the reader's cache."""
    path = cache() / "build" if root() == CARRIED else root() / "_build"
    path.mkdir(exist_ok=True)
    return path


def cache() -> Path:
    """The reader's cache for servers and datadirs: `ENGINEROOM_CACHE`, or the platform's cache folder."""
    chosen = os.environ.get("ENGINEROOM_CACHE")
    path = Path(chosen).expanduser().absolute() if chosen else platformdirs.user_cache_path("engineroom")
    _refuse_unusable(path)
    path.mkdir(parents=True, exist_ok=True)  # it may have been removed since it was looked at
    return path


# The loader splits lists of folders at the first two; option files, apt and the server's log cannot hold the others.
_IMPOSSIBLE = ':;"\n\r'


@functools.cache
def _refuse_unusable(path: Path) -> None:
    """Make the cache folder and write to it, once per process and folder."""
    remedy = "set ENGINEROOM_CACHE to a folder that you may write to"
    if found := [character for character in _IMPOSSIBLE if character in str(path)]:
        raise EngineRoomError(
            f"the cache folder {str(path)!r} has the character {found[0]!r} in its name, with which servers cannot start",
            remedy=f"{remedy}, without that character",
        )
    try:
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()
    except OSError as error:
        raise EngineRoomError(
            f"the cache folder {path} cannot be used: {error.strerror}", remedy=remedy
        ) from error
