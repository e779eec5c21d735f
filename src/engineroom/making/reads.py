"""What a process reads of the repository, one line each in the file that `ENGINEROOM_READS` names.

A book's build sets that variable for the kernel of a page, and the kernel's children inherit it. `import engineroom` begins
the list, so what was read before that, or outside Python, is not on it.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engineroom import paths

__all__ = ["VARIABLE", "begin"]

VARIABLE = "ENGINEROOM_READS"
# They list folders for modules and packages; what they find there and use is opened, too.
FINDERS = ("<frozen importlib._bootstrap_external>", importlib.metadata.__file__)
MADE = ("_build", ".venv", ".git")  # not ours, or made from what is


def begin() -> None:
    """List every file and folder of the repository that this process reads from now on, and our compiled module."""
    target = os.open(os.environ[VARIABLE], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    root = paths.root().resolve()
    house, package = f"{root}/", f"{Path(__file__).resolve().parent}/"
    made = tuple(f"{root / folder}/" for folder in MADE)
    seen: set[str] = set()

    def tell(kind: str, path: object, *, everywhere: bool = False) -> None:
        if path is None:
            path = "."
        if not isinstance(path, str | bytes | os.PathLike):
            return  # a descriptor; whoever opened it has been told
        name = os.path.realpath(os.fsdecode(path))
        if name.endswith(".pyc"):
            name = _source(name)
        line = f"{kind} {name}\n"
        is_ours = name.startswith(package) or (name.startswith(house) and not name.startswith(made))
        if line not in seen and (everywhere or is_ours):
            seen.add(line)
            os.write(target, line.encode())  # one write, which another process cannot split

    def on_open(path: object, mode: str | None, flags: int) -> None:
        reads = "r" in mode or "+" in mode if mode else flags & os.O_ACCMODE != os.O_WRONLY
        if reads:
            tell("file", path)

    def on_list(path: object = None) -> None:
        if sys._getframe(2).f_code.co_filename not in FINDERS:
            tell("folder", path)

    def on_import(module: str, file: object, *_: object) -> None:
        if file is not None and module.partition(".")[0] == "engineroom":
            tell("file", file, everywhere=True)

    listeners: dict[str, Callable[..., None]] = {
        "open": on_open,
        "os.listdir": on_list,
        "os.scandir": on_list,
        "import": on_import,
    }

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        listener = listeners.get(event)
        if listener is not None:
            listener(*arguments)

    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file is not None:
            tell("file", file, everywhere=module.__name__.partition(".")[0] == "engineroom")
    sys.addaudithook(hook)


def _source(compiled: str) -> str:
    """The file that a compiled module was made from."""
    try:
        return importlib.util.source_from_cache(compiled)
    except ValueError:  # not where Python keeps what it compiled
        return compiled
