"""The built book, and what is known of its accessibility."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from axe_playwright_python.sync_playwright import Axe

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

# A page of tables has thousands of texts with some colours, and axe takes most of its time to read these anew and to keep six private
# fields of each in weak maps. Here fields are kept on their object, and a colour is read once: axe finds the same in a third of the time.
QUICK_COLOURS = """{
  const kept = { WeakMap, WeakSet };
  class OnItsKey {
    name = Symbol();
    has(key) { return Object.hasOwn(key, this.name); }
    get(key) { return this.has(key) ? key[this.name] : undefined; }
    set(key, value) { key[this.name] = value; return this; }
    add(key) { return this.set(key, true); }
  }
  window.WeakMap = window.WeakSet = OnItsKey;
  %s
  Object.assign(window, kept);
  const { Color } = axe.commons.color, read = Color.prototype.parseString, known = new Map();
  Color.prototype.parseString = function (text) {
    if (!known.has(text)) known.set(text, read.call(new Color(0, 0, 0), text));
    const { r, g, b, alpha } = known.get(text);
    return Object.assign(this, { r, g, b, alpha });
  };
  null;
}"""


@pytest.fixture(scope="session")
def axe() -> Axe:
    return Axe(QUICK_COLOURS.replace("%s", AXE_SCRIPT))


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
