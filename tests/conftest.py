from __future__ import annotations

import fcntl
import functools
import os
import shutil
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import hypothesis
import pytest
from playwright.sync_api import Browser

from engineroom import paths
from engineroom.servers.providers import container
from engineroom.show.in_browser import quiet_browser

# Other processes may have the processor: how long an example takes, or is drawn, says nothing.
hypothesis.settings.register_profile(
    "busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("busy")

# About what a test takes, by its mark; most others take little.
LITTLE = 0.1
SECONDS_OF = {"slow": 20, "container": 10, "browser": 6, "live": 3, "built": 2}


def pytest_configure() -> None:
    """A shell lets what it starts in the background ignore Ctrl-C; a test that sends one would wait for ever.

    The processors are the tests' own: a sweep takes more than one of them only where that is what is tested.
    """
    os.environ.setdefault("ENGINEROOM_JOBS", "1")
    container._output = _asked_once(container._output)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _asked_once(ask: Callable[..., str | None]) -> Callable[..., str | None]:
    """Each start of a server asks the container engines first. What they say of themselves and of images is remembered."""
    remembered = functools.cache(ask)

    @functools.wraps(ask)
    def asked(client: str, *words: str) -> str | None:
        return (remembered if words[0] in ("version", "image") else ask)(client, *words)

    return asked


@pytest.hookimpl(tryfirst=True)  # before markers choose tests
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what looks at the built book. The longest files begin: workers take file by file, a long one is not to be last."""
    for item in items:
        if "html" in getattr(item, "fixturenames", ()):
            item.add_marker("built")
    seconds: dict[Path, float] = defaultdict(float)
    for item in items:
        seconds[item.path] += max([LITTLE, *(SECONDS_OF.get(mark.name, 0) for mark in item.iter_markers())])
    items.sort(key=lambda item: -seconds[item.path])


@pytest.hookimpl(wrapper=True, tryfirst=True)  # before the clock of pytest-timeout runs
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A test marked `alone` waits until no other worker runs one, and keeps all others waiting."""
    if not hasattr(item.config, "workerinput"):
        return (yield)
    is_alone = item.get_closest_marker("alone") is not None
    with _held("door", fcntl.LOCK_EX) as door, _held("room", fcntl.LOCK_EX if is_alone else fcntl.LOCK_SH):
        # The test that waits for the empty room holds the door, or the others would come in for ever.
        door.close()
        return (yield)


@contextmanager
def _held(name: str, how: int) -> Iterator[BinaryIO]:
    with (paths.build() / f"tests.{name}.lock").open("wb") as file:
        fcntl.flock(file, how)
        yield file


@pytest.fixture(scope="module")
def only_containers() -> Iterator[None]:
    """No other file's containers are about: tests look for what theirs have left."""
    with _held("containers", fcntl.LOCK_EX):
        yield


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium; a process drives one at a time, so whatever a worker opens, it opens in this one."""
    with quiet_browser() as started:
        yield started


@pytest.fixture(scope="module")
def spilled_to_memory() -> Iterator[None]:
    """Files that kernels write and unlink at once lie in memory, where there is room: a journal would cost more than the joins."""
    memory = Path("/dev/shm")
    with pytest.MonkeyPatch.context() as patch:
        if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2**30:
            patch.setenv("TMPDIR", str(memory))
        yield


@pytest.fixture(scope="session")
def compiled_once() -> Callable[..., str]:
    """A function to what CMake is to compile a copy with, by which folders of the copy stand for which real ones."""
    script = Path(__file__).with_name("compiled_once.py")

    def launcher(places: Mapping[Path, Path]) -> str:
        pairs = [f"{copy}={real}" for copy, real in places.items()]
        return ";".join([sys.executable, "-I", "-S", str(script), *pairs, "--"])

    return launcher


@pytest.fixture
def empty_book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A book with the published data and no recorded run; everything saved lands there and is thrown away."""
    real = paths.root()
    (tmp_path / "data" / "recorded").mkdir(parents=True)
    (tmp_path / "data" / "published").symlink_to(real / "data" / "published")
    (tmp_path / "data" / "workloads").symlink_to(real / "data" / "workloads")
    monkeypatch.setenv("ENGINEROOM_ROOT", str(tmp_path))
    return tmp_path
