"""The built book, and what is known of its accessibility."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engineroom import paths

# What axe cannot decide and leaves to a person, by its rule and the reason that it gives, and why that is settled. Whatever else it
# leaves open is a fault: some rules report nothing but that, such as one id for two descriptions.
DRAWN = "letters lie on the shapes of their drawing: the colours of labels are held against the page's in tests/figures/test_style.py"
SHORT = "a sign of a button or a formula, or a single letter, has the colour of the text around it, which is judged"
COVERED = "an entry that lies half under a bar, or off the screen, has the colours of those beside it, which are judged"
SETTLED = {
    ("color-contrast", "imgNode"): DRAWN,
    ("color-contrast", "bgOverlap"): DRAWN,
    ("color-contrast", "nonBmp"): SHORT,
    ("color-contrast", "shortTextContent"): SHORT,
    ("color-contrast", "elmPartiallyObscured"): COVERED,
    ("color-contrast", "elmPartiallyObscuring"): COVERED,
    ("color-contrast", "outsideViewport"): COVERED,
}


@pytest.fixture(scope="session")
def left_open() -> Callable[[Any], dict[tuple[str, str], list[Any]]]:
    """A function from axe's response to what it could not decide and nobody has settled: elements by rule and reason."""

    def found(response: Any) -> dict[tuple[str, str], list[Any]]:
        open_ones: dict[tuple[str, str], list[Any]] = {}
        for rule in response["incomplete"]:
            for node in rule["nodes"]:
                for check in (*node["any"], *node["all"], *node["none"]):
                    data = check["data"]
                    reason = (data.get("messageKey") if isinstance(data, dict) else None) or check["id"]
                    if (rule["id"], reason) not in SETTLED:
                        open_ones.setdefault((rule["id"], reason), []).append(node["target"])
        return open_ones

    return found


@pytest.fixture(scope="session")
def html() -> Path:
    """`_build/html`, which `make test` builds before it runs the tests."""
    folder = paths.root() / "_build" / "html"
    if not (folder / "book" / "index.html").is_file():
        pytest.fail("the book is not built: run `make book` first", pytrace=False)
    return folder
