from __future__ import annotations

import signal
from pathlib import Path

import pytest

from engineroom import paths


def pytest_configure() -> None:
    """A shell lets what it starts in the background ignore Ctrl-C; a test that sends one would wait for ever."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def empty_book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A book with the published data and no recorded run; everything saved lands there and is thrown away."""
    real = paths.root()
    (tmp_path / "data" / "recorded").mkdir(parents=True)
    (tmp_path / "data" / "published").symlink_to(real / "data" / "published")
    (tmp_path / "data" / "workloads").symlink_to(real / "data" / "workloads")
    monkeypatch.setenv("ENGINEROOM_ROOT", str(tmp_path))
    return tmp_path
