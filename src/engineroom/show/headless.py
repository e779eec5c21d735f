"""Explorables without a browser, in Node: their plain figures, and their results for the test against the native kernel."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.show import bundle

__all__ = ["evaluate", "node", "write_plain_figures"]


def node() -> str | None:
    """Node.js: the system's, or the one that comes with the browser tests' driver."""
    found = shutil.which("node")
    if found is None:
        try:
            from playwright._impl._driver import compute_driver_executable
        except ImportError:
            return None
        found = str(compute_driver_executable()[0])
    return found


def evaluate(
    word: str, inputs: Sequence[Mapping[str, int]] = (), *, wasm: Path | None = None, cases: int = 0
) -> dict[str, Any]:
    """The explorable's `results` for each of the inputs and the slowest result's `milliseconds`, so many drawn `cases` of its question, where it
    has one, and its `knobs` and `presets`; without inputs and cases, its `picture` at the start values.
    """
    program = node()
    if program is None:
        raise EngineRoomError(
            "no node on PATH", remedy="install Node.js 18 or later (Debian: apt-get install nodejs)"
        )
    driver = paths.root() / "native" / "wasm" / "explorable.mjs"
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / f"{word}.js"
        script.write_text(bundle.joined(word), encoding="utf-8")
        command = [program, str(driver), str(script), str(wasm or bundle.wasm_file(word)), str(cases)]
        done = subprocess.run(
            command,
            input=json.dumps([dict(each) for each in inputs]),
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise EngineRoomError(
            f"explorable {word!r} failed in Node:\n{done.stderr.strip()}",
            remedy=f"mend book/web/explorables/{word}.js or the wasm.cpp of its kernels, then `make wasm`",
        )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def write_plain_figures() -> None:
    """Write `<word>.svg` beside each explorable's module."""
    for word in bundle.words():
        bundle.plain_figure(word).write_text(evaluate(word)["picture"], encoding="utf-8")


if __name__ == "__main__":
    write_plain_figures()
