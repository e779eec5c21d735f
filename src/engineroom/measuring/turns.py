"""Turns: what is compared is measured one after the other, again and again, so that a slow minute slows all of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from tqdm.auto import tqdm

from engineroom.progress import bar

__all__ = ["in_turns"]


def in_turns(repeats: int, *compared: Iterable[Any], desc: str, unit: str = "run") -> tqdm[tuple[Any, ...]]:
    """(repeat, one of each of `compared`), repeat by repeat, the last of `compared` fastest; with a progress bar."""
    return bar(list(itertools.product(range(repeats), *compared)), desc=desc, unit=unit)
