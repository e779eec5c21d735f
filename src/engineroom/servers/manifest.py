"""What a folder of the cache held when it was made, so that damage is told from a server's own trouble.

The manifest lies beside or inside the folder as JSON: each file's size and SHA-256, each link's target. Sizes are looked at before every
start; hashes, which take a second, when a start has failed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from engineroom import forms
from engineroom.errors import EngineRoomError

__all__ = ["damage", "sha256", "write"]

_Files = dict[str, list[int | str]]  # path -> [bytes, sha256], or [target] of a link


def write(folder: Path, manifest: Path) -> None:
    """Record what `folder` holds; the manifest appears whole."""
    held = {str(path.relative_to(folder)): _entry(path) for path in _files(folder)}
    fresh = manifest.with_name(f".{manifest.name}.{os.getpid()}")
    fresh.write_text(json.dumps(held, indent=0))
    fresh.rename(manifest)


def damage(folder: Path, manifest: Path, *, thorough: bool = False) -> str | None:
    """The first file that is not as it was recorded, or None; by sizes alone unless `thorough`.

    A folder without a manifest was made before there were any: nothing is known of it. More files than were recorded are no damage.
    """
    if not manifest.exists():
        return None
    try:
        held = forms.require(_Files, json.loads(manifest.read_text()), file=manifest.name, remedy="")
    except (OSError, ValueError, EngineRoomError):
        return f"{manifest.name} cannot be read"
    for name, entry in held.items():
        path = folder / name
        try:
            now = _entry(path) if thorough or len(entry) == 1 else [path.lstat().st_size]
        except OSError as error:
            return f"{name}: {error.strerror}"
        if now != entry[: len(now)]:
            return f"{name} is not what it was when it was made"
    return None


def sha256(path: Path) -> str:
    """The file's hash in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _entry(path: Path) -> list[int | str]:
    return [str(path.readlink())] if path.is_symlink() else [path.stat().st_size, sha256(path)]


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        for name in (*files, *(each for each in folders if Path(place, each).is_symlink())):
            yield Path(place, name)
