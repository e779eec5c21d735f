"""Which executed pages of the book may be shown again: those of which nothing has changed that they were made from.

A page's own text is jupyter-cache's to compare. What else its cells read is listed while they run (`engineroom.making.reads`) and
kept here as a fingerprint: our modules and the compiled one, data, folders that were looked through, the servers of this
machine if the page could ask for one, and the packages of the lock.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engineroom import paths

__all__ = ["Records", "digest", "fingerprint"]

SERVERS = "engineroom/servers/lifecycle.py"  # a page that has loaded it can start a server
LOCK = "requirements/book.txt"
CHANGED = "changed while the page was executed"


class Records:
    """The fingerprints of pages, one file each in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._now = _Now()

    def log(self, page: str) -> Path:
        """Where the processes of a page list what they read."""
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder / f"{_file(page)}.reads"

    def keep(self, page: str, *, since: float) -> None:
        """Make the page's fingerprint from its list, which ends here. It was executed from `since` on."""
        log = self.log(page)
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        record = fingerprint(lines, _Now(), since=since)
        self._path(page).write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        log.unlink(missing_ok=True)

    def changed(self, page: str) -> list[str]:
        """What differs from the time when the page was executed, or that this is unknown."""
        if not self._path(page).exists():
            return ["not executed yet"]
        kept: dict[str, Any] = json.loads(self._path(page).read_text(encoding="utf-8"))
        lines = [f"{kind} {name}" for kind in ("file", "folder") for name in kept[kind]]
        now = fingerprint(lines, self._now)
        return [
            *(
                name
                for kind in ("file", "folder")
                for name in kept[kind]
                if kept[kind][name] != now[kind][name]
            ),
            *(kind for kind in ("packages", "servers") if kept[kind] != now[kind]),
        ]

    def _path(self, page: str) -> Path:
        return self._folder / f"{_file(page)}.json"


def fingerprint(
    lines: Iterable[str], now: _Now | None = None, *, since: float | None = None
) -> dict[str, Any]:
    """What the lines of a list of reads name, each with what it holds now; a file changed after `since` matches nothing."""
    now = now or _Now()
    named: dict[str, dict[str, str]] = {"file": {}, "folder": {}}
    for line in sorted(set(lines)):
        kind, _, name = line.partition(" ")
        named[kind][name] = getattr(now, kind)(name)
        if since is not None and _changed_after(Path(name), since):
            named[kind][name] = CHANGED
    asks = any(name.endswith(SERVERS) for name in named["file"])
    return {**named, "packages": now.packages(), "servers": now.servers() if asks else None}


def digest(files: Iterable[Path]) -> str:
    """Of several files together, by name and content."""
    held = hashlib.sha256()
    for path in sorted(files):
        held.update(f"{path.name} {_Now().file(str(path))}\n".encode())
    return held.hexdigest()


class _Now:
    """What files and folders hold, and what this machine can run; each looked at once."""

    def __init__(self) -> None:
        self.file = functools.cache(self._file)
        self.folder = functools.cache(self._folder)
        self.servers = functools.cache(self._servers)

    def packages(self) -> str:
        """The lock's packages on this Python."""
        return f"{platform.python_version()} {self.file(str(paths.root() / LOCK))}"

    @staticmethod
    def _file(name: str) -> str:
        path = Path(name)
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "absent"

    @staticmethod
    def _folder(name: str) -> str:
        path = Path(name)
        if not path.is_dir():
            return "absent"
        # Editors' and Python's own files come and go.
        names = sorted(each.name for each in path.iterdir() if not each.name.startswith((".", "__pycache__")))
        return hashlib.sha256("\n".join(names).encode()).hexdigest()

    @staticmethod
    def _servers() -> dict[str, list[str]]:
        from engineroom import servers

        # One that could not be fetched may have come later: the page must not keep saying that it is not there.
        lacking = [series for series in servers.catalogue() if servers.failed_lately(series)]
        live = os.environ.get("ENGINEROOM_LIVE", "1")
        runnable = {series: list(servers.runnable(series)) for series in servers.catalogue()}
        return {**runnable, "failed": lacking, "ENGINEROOM_LIVE": [live]}


def _changed_after(path: Path, since: float) -> bool:
    return path.exists() and path.stat().st_mtime >= since


def _file(page: str) -> str:
    return page.replace("/", ".")
