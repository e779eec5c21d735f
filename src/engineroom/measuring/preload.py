"""Libraries of a few lines of C that are loaded into a server before its own: compiled when they are needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engineroom import children
from engineroom.errors import EngineRoomError

__all__ = ["preloaded"]


@contextmanager
def preloaded(source: str, *flags: str, what: str) -> Iterator[None]:
    """Processes that are started in this block have the library, beside those of blocks around it. `what` names it in an error."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise EngineRoomError(
            f"{what} needs a C compiler, and there is none",
            remedy="apt-get install gcc, or with conda: conda install -c conda-forge compilers",
        )
    with tempfile.TemporaryDirectory(prefix="er-preload-") as folder:
        text, library = Path(folder, "library.c"), Path(folder, "library.so")
        text.write_text(source, encoding="ascii")
        command = [compiler, "-shared", "-fPIC", "-O2", *flags, "-o", str(library), str(text), "-ldl"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise EngineRoomError(
                f"the library for {what} does not compile: {done.stderr.strip()}",
                remedy="report it with this message and the version of your compiler",
            )
        before = os.environ.get("LD_PRELOAD")
        with children.variable("LD_PRELOAD", f"{library} {before}" if before else str(library)):
            yield
