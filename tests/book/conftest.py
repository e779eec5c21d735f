"""The built book, and a headless Chromium to open it with."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from engineroom import paths

# What keeps Chromium from talking to anybody but the page.
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def html() -> Path:
    """`_build/html`, which `make test` builds before it runs the tests."""
    folder = paths.root() / "_build" / "html"
    if not (folder / "book" / "index.html").is_file():
        pytest.fail("the book is not built: run `make book` first", pytrace=False)
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.fail("no Chromium on PATH: on Debian `apt-get install chromium`", pytrace=False)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=QUIET)
        yield chromium
        chromium.close()
