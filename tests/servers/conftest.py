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
from engineroom.servers.catalogue import resolve
from engineroom.servers.providers import unpack

# Podman's own, of a user who has its store and no XDG_RUNTIME_DIR: whatever asks Podman makes them, and they stay until the machine stops.
OF_PODMAN = ("podman-run-", "containers-user-")


def leftovers(cache: Path, sockets: Path) -> list[str]:
    """Processes and files that a server, a download or an initialisation left."""
    found = [
        f"process {process.pid}: {' '.join(process.info['cmdline'])}"
        for process in psutil.process_iter(["cmdline"])
        if any(str(cache) in word for word in process.info["cmdline"] or ())
        and process.status() != psutil.STATUS_ZOMBIE
    ]
    half = [*cache.glob("instances/*"), *cache.glob("*/.new-*")]
    half += [each for each in sockets.iterdir() if not each.name.startswith(OF_PODMAN)]
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


@pytest.fixture(scope="session")
def downloads() -> Path:
    """The reader's own cache, with the servers that these tests copy from it."""
    for version in ("5.7", "9.7"):
        request = resolve(version)
        if unpack.refusal(request) is None:
            unpack.fetch(request)
    return paths.cache()


@pytest.fixture
def filled_cache(downloads: Path, cache: Path) -> Path:
    """A cache that has those servers already; what is made in it does not go into the reader's."""
    for name in ("servers", "templates"):
        (cache / name).mkdir()
        for real in (downloads / name).iterdir():
            if real.is_dir() and not real.name.startswith("."):
                (cache / name / real.name).symlink_to(real)
    return cache
