"""How long an explorable keeps a reader's browser: its kernel, its results and its picture, for drawn settings, in headless Chromium."""

from __future__ import annotations

import base64
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from engineroom.errors import EngineRoomError
from engineroom.show import bundle

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["QUIET", "chromium", "quiet_browser", "settings_ms"]

# What keeps Chromium from talking to anybody but the page; and root has no sandbox of user namespaces to be in.
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

_START = """([script, wasm]) => {
  window.explorable = new Function(`${script}; return { definition, startKernel, computed };`)();
  window.kernel = window.explorable.startKernel(Uint8Array.from(atob(wasm), (each) => each.charCodeAt(0)));
  return window.explorable.definition.inputs.map(({ name, values }) => [name, values]);
}"""
_TAKE = """(inputs) => {
  const { definition, computed } = window.explorable;
  const before = performance.now();
  const result = computed(definition, window.kernel, inputs);
  definition.results(result);
  document.body.innerHTML = definition.picture(result, 640, "timed");
  document.body.getBoundingClientRect();
  return performance.now() - before;
}"""


def chromium() -> str:
    """The path of a Chromium; EngineRoomError when there is none."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        raise EngineRoomError("no Chromium on PATH", remedy="install one (Debian: apt-get install chromium)")
    return found


@contextmanager
def quiet_browser() -> Iterator[Browser]:
    """A headless Chromium that talks to nobody but its pages; EngineRoomError when there is none. A process has one at a time."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=QUIET)
        try:
            yield browser
        finally:
            browser.close()


def settings_ms(browser: Browser, word: str, settings: int, *, seed: int = 1) -> list[float]:
    """For each of so many settings, every knob's value drawn by `seed`, the milliseconds from the values to the drawn picture.

    All of them in one page, one after the other, as a reader's. EngineRoomError when the explorable has a knob without a list of values.
    """
    random_of = random.Random(seed)
    wasm = base64.b64encode(bundle.wasm_file(word).read_bytes()).decode()
    page = browser.new_page(offline=True)
    try:
        knobs: dict[str, list[Any] | None] = dict(page.evaluate(_START, [bundle.joined(word), wasm]))
        if endless := sorted(name for name, values in knobs.items() if not values):
            raise EngineRoomError(
                f"{', '.join(endless)} of the explorable {word!r} cannot be drawn: no list of values",
                remedy="time an explorable whose knobs all have `values`, such as engine",
            )
        drawn = (
            {name: random_of.choice(values or []) for name, values in knobs.items()} for _ in range(settings)
        )
        return [float(page.evaluate(_TAKE, inputs)) for inputs in drawn]
    finally:
        page.close()
