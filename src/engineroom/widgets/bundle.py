"""One explorable, two carriers: a classic script for a static page, an ES module for a notebook.

A page opened from disk can neither fetch a file nor import a module. So the runtime, the explorable's module and its
WebAssembly (as base64) are joined into one classic script. The modules are import-free for that reason, and the join is
three replacements.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path

from engineroom import paths
from engineroom.errors import EngineRoomError

__all__ = ["classic_script", "notebook_module", "sources", "style", "tag", "wasm", "words"]


def _web() -> Path:
    return paths.root() / "book" / "web"


def words() -> list[str]:
    """The explorables that exist, each by its chapter's word."""
    return sorted(path.stem for path in (_web() / "explorables").glob("*.js") if path.stem != "runtime")


def tag(word: str) -> str:
    """The custom element's name."""
    return f"explorable-{word.replace('_', '-')}"


def sources(word: str) -> list[Path]:
    """The files an explorable is made of: runtime, module, kernel, plain figure."""
    folder = _web() / "explorables"
    files = [
        folder / "runtime.js",
        folder / f"{word}.js",
        _web() / "wasm" / f"{word}.wasm",
        folder / f"{word}.svg",
    ]
    for path in files:
        if not path.is_file():
            raise EngineRoomError(
                f"explorable {word!r} lacks {path}",
                remedy="`make wasm` writes the kernel and the plain figure",
            )
    return files


def style() -> str:
    """The style sheet of all explorables."""
    return (_web() / "styles" / "explorable.css").read_text(encoding="utf-8")


def wasm(word: str) -> bytes:
    """The compiled kernel."""
    return sources(word)[2].read_bytes()


def _joined(word: str) -> str:
    runtime, module = (path.read_text(encoding="utf-8") for path in sources(word)[:2])
    if module.count("export default ") != 1 or re.search(r"^import\b", runtime + module, re.MULTILINE):
        raise EngineRoomError(
            f"explorables/{word}.js must have one `export default` and no import",
            remedy="see book/web/explorables/README.md",
        )
    return runtime.replace("export function ", "function ") + module.replace(
        "export default ", "const definition = "
    )


def classic_script(word: str) -> str:
    """The script of a static page: defines the custom element, needs no network and no module loader."""
    kernel = base64.b64encode(wasm(word)).decode()
    return f'(() => {{\n"use strict";\n{_joined(word)}\ndefineElement("{tag(word)}", definition, decodeBase64("{kernel}"));\n}})();\n'


def notebook_module(word: str) -> str:
    """The ES module of the notebook's widget; the kernel arrives as the widget's `kernel` trait."""
    return f"{_joined(word)}\nexport default {{ render: (context) => renderWidget(context, definition) }};\n"
