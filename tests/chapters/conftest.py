"""WebAssembly runs in Node.js here."""

from __future__ import annotations

import pytest

from engineroom.show import headless


@pytest.fixture(scope="session")
def node() -> str:
    program = headless.node()
    if program is None:
        pytest.skip("no Node.js here to run WebAssembly in")
    return program
