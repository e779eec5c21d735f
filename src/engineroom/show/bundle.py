"""One explorable, two carriers: a classic script for a static page, an ES module for a notebook.

A page opened from disk can neither fetch a file nor import a module. So the runtime, the explorable's module and its
WebAssembly (as base64) are joined into one classic script. The modules are import-free for that reason, and the join is
two replacements.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path

from engineroom import chapters, paths
from engineroom.errors import EngineRoomError

__all__ = [
    "classic_script",
    "joined",
    "notebook_module",
    "plain_figure",
    "sources",
    "style",
    "tag",
    "wasm_file",
    "words",
]


def _web() -> Path:
    return paths.root() / "book" / "web"


def words() -> list[str]:
    """The explorables that exist."""
    return sorted(path.stem for path in (_web() / "explorables").glob("*.js") if path.stem != "runtime")


def tag(word: str) -> str:
    """The custom element's name."""
    return f"explorable-{word.replace('_', '-')}"


def wasm_file(word: str) -> Path:
    """The compiled kernel: of the explorable's own word, or of the module that declares it."""
    declared = (module.word for module in chapters.modules() if word in module.shown)
    return _web() / "explorables" / f"{next(declared, word)}.wasm"


def plain_figure(word: str) -> Path:
    """The picture at the start values, for print and for browsers without scripts."""
    return _web() / "explorables" / f"{word}.svg"


def sources(word: str) -> list[Path]:
    """The files an explorable is made of; EngineRoomError when one is missing."""
    folder = _web() / "explorables"
    files = [folder / "runtime.js", folder / f"{word}.js", wasm_file(word), plain_figure(word)]
    for path in files:
        if not path.is_file():
            raise EngineRoomError(
                f"explorable {word!r} lacks {path}", remedy="`make wasm` writes kernel and plain figure"
            )
    return files


def style() -> str:
    """The style sheet of all explorables."""
    return (_web() / "styles" / "explorable.css").read_text(encoding="utf-8")


def joined(word: str) -> str:
    """Runtime and module as plain statements that define, among others, `definition`."""
    folder = _web() / "explorables"
    runtime, module = ((folder / f"{name}.js").read_text(encoding="utf-8") for name in ("runtime", word))
    if module.count("export default ") != 1 or re.search(r"^import\b", runtime + module, re.MULTILINE):
        raise EngineRoomError(
            f"explorables/{word}.js must have one `export default` and no import",
            remedy="see book/web/explorables/README.md",
        )
    return re.sub(r"^export (?=function )", "", runtime, flags=re.MULTILINE) + module.replace(
        "export default ", "const definition = "
    )


def classic_script(word: str) -> str:
    """The script of a static page: defines the custom element, needs no network and no module loader."""
    kernel = base64.b64encode(wasm_file(word).read_bytes()).decode()
    define = f'defineElement("{tag(word)}", definition, decodeBase64("{kernel}"));'
    return f'(() => {{\n"use strict";\n{joined(word)}\n{define}\n}})();\n'


def notebook_module(word: str) -> str:
    """The ES module of the notebook's widget; the kernel arrives as the widget's `kernel` trait."""
    return f"{joined(word)}\nexport default {{ render: (context) => renderWidget(context, definition) }};\n"
