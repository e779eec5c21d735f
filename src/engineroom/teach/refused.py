"""In the process of an answer: what would answer its question can be neither called nor read, as the question says, nor can what no student has."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

import engineroom
from engineroom.teach.varied import HELD_BACK
from engineroom.teach.wheel import WITHHELD

__all__ = ["files", "named", "refuse", "said"]

SAID = re.compile(r'^ *"""Refused: (.*)"""$', re.MULTILINE)


def said(modules: Iterable[str]) -> str:
    """The first line of a test, which tells the grading process what is refused."""
    return f'"""Refused: {", ".join(modules)}"""'


def named(test: str) -> list[str]:
    """The modules that a test says are refused."""
    return [name for names in SAID.findall(test) for name in names.split(", ")]


def files(modules: Iterable[str]) -> list[Path]:
    """Where these modules, and what no student has, could be read: as source and as bytecode. All that is compiled is in one file, and needed."""
    package = Path(engineroom.__file__).parent
    sources = {
        each
        for each in (*package.glob("chapters/*/*"), *package.glob("teach/*"))
        if WITHHELD.fullmatch(each.relative_to(package.parent).as_posix())
    }
    specs = [importlib.util.find_spec(name) for name in modules if not name.startswith("engineroom._native")]
    sources |= {Path(spec.origin) for spec in specs if spec and spec.origin}
    compiled = [Path(importlib.util.cache_from_source(each)) for each in sources if each.suffix == ".py"]
    return [each.resolve() for each in (*sources, *compiled) if each.exists()]


def refuse(modules: list[str]) -> None:
    """Lets nothing of these modules be called in this process any more, whoever imported them, nor of those that students do not have."""
    sys.meta_path.insert(0, _Importing(modules))
    for name in list(sys.modules):
        if name in modules or HELD_BACK.fullmatch(name):
            _empty(name)
    for name in modules:
        if name.startswith(
            "engineroom._native."
        ):  # one file has all kernels, and gives them to whoever imports it
            _empty(name)


class _Importing:
    """Refuses to import them."""

    def __init__(self, modules: list[str]) -> None:
        self._modules = modules

    def find_spec(self, fullname: str, *_: Any) -> None:
        if fullname in self._modules or HELD_BACK.fullmatch(fullname):
            raise ImportError(_why(fullname))


def _empty(name: str) -> None:
    module = importlib.import_module(name)
    for each, value in list(vars(module).items()):
        if callable(value) and not each.startswith("__"):
            setattr(module, each, _refusing(f"{name}.{each}"))


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refusing(*_: Any, **__: Any) -> NoReturn:
        raise RuntimeError(_why(name))

    return refusing


def _why(name: str) -> str:
    return f"{name} is refused: the question asks for an answer of your own"
