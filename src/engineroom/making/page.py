"""Expressions on pages: arithmetic, indexing and calls over the names of a chapter's `numbers.py`, evaluated while the book is built.

`numbers.py` names series of recordings and has functions where something is computed; a page says what it shows of them, and how:

    With the log of 5.7 the join takes {n}`cpu_s["5.7.22", "index_nested_loop"] : .2f` s.
"""

from __future__ import annotations

import ast
import importlib
import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from engineroom import chapters
from engineroom.listing import listed
from engineroom.runs import Run, newest
from engineroom.show import Drawing, show
from engineroom.show.table import Markdown

__all__ = ["is_to_read", "lacks_kernel", "names_of", "text_of", "value_of"]

_NODES = (
    *(ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Tuple, ast.List, ast.Subscript, ast.Slice, ast.Attribute, ast.Call, ast.keyword),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.UnaryOp, ast.USub, ast.Not, ast.BoolOp, ast.And, ast.Or),
    *(ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn),
)  # fmt: skip


def names_of(page: str) -> Mapping[str, Any]:
    """What the expressions of a page may name: all of its chapter's `numbers.py`, and what every page has.

    `page` is the document, as "book/redo_log" or "book/redo_log_evidence"; those of no chapter have the ledger's numbers.
    """
    from engineroom import bench
    from engineroom.bench import recording
    from engineroom.ledger import page as ledger

    word = page.rpartition("/")[2].removesuffix("_evidence")
    module = next(
        (each.module("numbers") for each in chapters.recorded() if each.word == word),
        "engineroom.ledger.numbers",
    )
    every = {
        "figure": _figure,
        "verdicts": lambda: Markdown(ledger.verdicts_markdown(word)),
        "changes": lambda: Markdown(ledger.changes_markdown(word)),
        "every_row": lambda: Markdown(ledger.markdown()),
        "every_claim": lambda: Markdown(ledger.claims_markdown()),
        "bench": lambda: recording.shown(word),
        "every_bench": lambda: recording.medians(bench.words()),
        "listed": listed,
    }
    plain = {each.__name__: each for each in (abs, len, max, min, round, str, sum)}
    return plain | every | vars(importlib.import_module(module))


def is_to_read() -> bool:
    """Whether the pages are for `make read`: without kernels and executed labs."""
    return os.environ.get("ENGINEROOM_TO_READ") == "1"


def lacks_kernel(error: Exception) -> bool:
    """Whether that is why an expression has no value, where it may be."""
    return is_to_read() and isinstance(error, ImportError) and "_native" in str(error)


def value_of(expression: str, names: Mapping[str, Any]) -> Any:
    """The value of an expression; ValueError or the error of its evaluation where it has none, NaN and infinity included."""
    tree = ast.parse(expression.strip(), mode="eval")
    for node in ast.walk(tree):
        if not isinstance(node, _NODES):
            raise TypeError(f"{type(node).__name__} is not for a page: give it a name in numbers.py")
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if name.startswith("_"):
            raise ValueError(f"{name} is private: give what it holds a name in numbers.py")
    value = eval(compile(tree, "page", "eval"), {"__builtins__": {}}, dict(names))
    if isinstance(value, pd.Series | pd.DataFrame) and value.size == 1:
        value = value.to_numpy().item()
    if (
        value is None
        or value is pd.NA
        or (isinstance(value, float | np.floating) and not math.isfinite(value))
    ):
        raise ValueError(f"its value is {value}")
    return value


def text_of(text: str, names: Mapping[str, Any]) -> str:
    """What `expression : format` shows. The format is Python's; without one the value must be a text or a whole number."""
    expression, _, form = text.rpartition(" : ")
    expression, form = (expression, form.strip()) if expression else (form, "")
    value = value_of(expression, names)
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{value} is no number: say it in words, and hold it with {{claim}}")
    if form in ("", ",") and isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    if not form and not isinstance(value, str | int | np.integer):
        raise TypeError(f"{value!r} needs a format, as in `{expression} : .1f`")
    return format(value, form)


def _figure(name: str, run: Run | str = "") -> Drawing:
    """A figure of a run, of the newest one by a method, or of the newest one."""
    if isinstance(run, str):
        return show(name, newest(name, run) if run else None)
    return show(name, run)
