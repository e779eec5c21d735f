"""Whether a lab of the book must be executed again: a digest of all that its cells may read.

A lab's own text is jupyter-cache's to compare. What else counts: the package without the other chapters, the compiled module, data,
explorables, the lock's packages, and which servers run on this machine.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import os
import platform
from collections.abc import Iterable
from pathlib import Path

from engineroom import chapters, paths

__all__ = ["digest", "state"]

LOCK = "requirements/book.txt"


def state(lab: str | None = None) -> str:
    """The digest for a lab, by its word, or of everything: another one when what it is made of changed."""
    words = [each.word for each in chapters.written() if lab is not None and each.word != lab]
    others = [f"src/engineroom/chapters/{word}/" for word in words]
    read = [line for name, line in _files().items() if not name.startswith(tuple(others))]
    return hashlib.sha256("\n".join([*read, _machine()]).encode()).hexdigest()


def digest(files: Iterable[Path]) -> str:
    """Of several files together, by name and content."""
    return hashlib.sha256(
        "\n".join(f"{path.name} {_content(path)}" for path in sorted(files)).encode()
    ).hexdigest()


def _content(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.cache
def _files() -> dict[str, str]:
    """Every file that a cell may read, by its name under the root, as name and content."""
    root = paths.root()
    found = [
        path
        for folder in ("src/engineroom", "data", "book/web/explorables")
        for path in (root / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith(".")
    ]
    named = {path.relative_to(root).as_posix(): path for path in sorted([*found, root / LOCK])}
    return {name: f"{name} {_content(path)}" for name, path in named.items()}


@functools.cache
def _machine() -> str:
    """The compiled module, wherever it was installed, the interpreter, and the servers that a lab can start."""
    from engineroom import servers

    compiled = importlib.util.find_spec("engineroom._native")
    native = Path(str(compiled.origin)) if compiled and compiled.origin else None
    # One that could not be fetched may have come later: a lab must not keep saying that it is not there.
    lacking = [version for version in servers.catalogue() if servers.failed_lately(version)]
    runnable = {version: list(servers.runnable(version)) for version in servers.catalogue()}
    live = os.environ.get("ENGINEROOM_LIVE", "1")
    known = [
        platform.python_version(),
        _content(native) if native and native.exists() else "",
        live,
        lacking,
        runnable,
    ]
    return json.dumps(known)
