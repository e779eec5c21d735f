"""Progress bars for work of more than two seconds; silent when nobody watches a terminal."""

from __future__ import annotations

import sys
from typing import Any

from tqdm.auto import tqdm

__all__ = ["bar"]


def bar(*args: Any, **kwargs: Any) -> tqdm[Any]:
    """A tqdm bar, disabled when stderr is not a terminal."""
    kwargs.setdefault("disable", not sys.stderr.isatty())
    kwargs.setdefault("leave", False)
    return tqdm(*args, **kwargs)
