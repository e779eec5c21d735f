"""Keep a library out that nothing here uses: nbformat loads jsonschema, and that `rfc3987_syntax`, which builds 38 grammars for
internationalised addresses, seconds of each process. Without it jsonschema leaves such addresses unchecked, and no notebook has any.
"""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["skip", "skip_in"]

_MODULE = "rfc3987_syntax"


def skip() -> None:
    """In this process, if nobody has loaded them yet."""
    sys.modules.setdefault(_MODULE, None)  # type: ignore[arg-type]


def skip_in(folder: Path) -> None:
    """In every process that finds this folder first on its path: a module that cannot be loaded stands before the real one."""
    (folder / f"{_MODULE}.py").write_text("raise ImportError\n", encoding="ascii")
