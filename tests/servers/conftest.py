"""A cache of its own for each test, and the proof that a test left nothing behind."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from engineroom import paths


def leftovers(cache: Path, sockets: Path) -> list[str]:
    """Processes and files that a server, a download or an initialisation left."""
    found = [
        f"process {process.pid}: {' '.join(process.info['cmdline'])}"
        for process in psutil.process_iter(["cmdline"])
        if any(str(cache) in word for word in process.info["cmdline"] or ())
        and process.status() != psutil.STATUS_ZOMBIE
    ]
    half = [*cache.glob("instances/*"), *cache.glob("*/.new-*"), *sockets.iterdir()]
    return found + [str(path) for path in half]


@pytest.fixture
def nothing_left(cache: Path, sockets: Path) -> Callable[[], None]:
    """Call it to wait until everything of this test's cache is gone; fails when something stays."""

    def check() -> None:
        deadline = time.monotonic() + 15
        while (found := leftovers(cache, sockets)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not found

    return check


@pytest.fixture
def sockets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:  # noqa: ARG001 (made before the change)
    """A short folder for temporary files: a socket's path has 108 bytes at most."""
    folder = Path(tempfile.mkdtemp(prefix="ert-"))
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache: nothing is downloaded, nothing runs."""
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setenv("ENGINEROOM_CACHE", str(folder))
    return folder


@pytest.fixture
def filled_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with the downloads and template datadirs of the reader's own, and nothing that runs."""
    monkeypatch.delenv("ENGINEROOM_CACHE")
    for name in ("servers", "templates"):
        real = paths.cache() / name
        real.mkdir(exist_ok=True)
        (cache / name).symlink_to(real)
    monkeypatch.setenv("ENGINEROOM_CACHE", str(cache))
    return cache
