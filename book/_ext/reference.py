"""The `{api}` directive: what functions and classes take, return and raise, from their docstrings.

    ```{api} engineroom.runs
    latest Run Run.values
    ```

Without names it is all that a compiled module has. Lines of a docstring that begin with `>>>` are examples, which the tests run.
"""

from __future__ import annotations

import enum
import functools
import importlib
import inspect
import re
import sys
import textwrap
from typing import Any

from docutils import nodes
from page_numbers import COMPUTED
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from engineroom.making import page

# Code, quoted values and examples stay as they are; elsewhere Markdown would take signs for its own.
KEPT = re.compile(r'(`[^`]*`|"[^"\n`]*"|^>>> .*(?:\n.+)*)', re.MULTILINE)
SIGNS = re.compile(r"[*<\[{$\\]")
# In the docstring of a kernel a line may begin with the arguments that it is about.
ABOUT = re.compile(r"^(?=[a-z_]\w*(?:(?:,| and) [a-z_]\w*)*: |Raises |Returns )", re.MULTILINE)
SIMPLER = (
    (re.compile(r"\(self: [^,)]*(?:, )?"), "("),
    (re.compile(r"typing\.SupportsInt \| typing\.SupportsIndex"), "int"),
    (re.compile(r"typing\.SupportsFloat \| typing\.SupportsIndex"), "float"),
    (re.compile(r"\b(?:typing|collections\.abc|numpy\.typing|numpy|engineroom\._native\.\w+)\."), ""),
)


class _Plain(str):
    """An annotation that is shown as it was written."""

    __slots__ = ()
    __repr__ = str.__str__


class Reference(SphinxDirective):
    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        try:
            text = described(self.arguments[0], " ".join(self.content).split())
        except Exception as error:
            if page.lacks_kernel(error):
                return self.parse_text_to_nodes(COMPUTED)
            raise self.error(f"{{api}} {self.arguments[0]}: {type(error).__name__}: {error}") from error
        module = sys.modules[self.arguments[0]]
        compiled = sys.modules.get("engineroom._native", module)
        self.env.note_dependency(str(getattr(module, "__file__", None) or compiled.__file__))
        return self.parse_text_to_nodes(text)


def described(module: str, names: list[str]) -> str:
    """The text of these names of a module, or of all it has, with all that its classes have."""
    found = importlib.import_module(module)
    if names:
        parts = [_entry(name, functools.reduce(getattr, name.split("."), found)) for name in names]
    else:
        parts = [inspect.getdoc(found) or ""]
        for name, value in vars(found).items():
            if not name.startswith("_"):
                parts += [_entry(name, value), *_members(name, value)]
    return "\n\n".join(parts)


def _members(name: str, value: Any) -> list[str]:
    if not isinstance(value, type):
        return []
    if issubclass(value, enum.Enum):
        return [", ".join(f"`{each}`" for each in value.__members__)]
    return [
        _entry(f"{name}.{each}", member)
        for each, member in vars(value).items()
        if each == "__init__" or (not each.startswith("_") and inspect.getdoc(member))
    ]


def _entry(name: str, value: Any) -> str:
    """How it is called, in a block, and its docstring as text of a page."""
    doc = inspect.getdoc(value) or ""
    last = name.rpartition(".")[2]
    if doc.startswith(f"{last}("):  # what pybind11 writes
        call, _, doc = doc.partition("\n")
        call = name.removesuffix(".__init__") + call.removeprefix(last)
    else:
        call = f"{'class ' if isinstance(value, type) else ''}{name}{_signature(value)}"
    for pattern, simpler in SIMPLER:
        call = pattern.sub(simpler, call)
    lines = textwrap.fill(call, 76, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return f"```text\n{lines}\n```\n\n{_text(doc)}"


def _signature(value: Any) -> str:
    if not callable(value) or (isinstance(value, type) and issubclass(value, enum.Enum | Exception)):
        return ""
    try:
        found = inspect.signature(value)
    except ValueError:  # a class of a compiled module
        return ""
    parameters = [
        each.replace(
            annotation=_Plain(each.annotation) if isinstance(each.annotation, str) else each.annotation
        )
        for each in found.parameters.values()
        if each.name != "self"
    ]
    returns = found.return_annotation
    shown = found.replace(
        parameters=parameters, return_annotation=_Plain(returns) if isinstance(returns, str) else returns
    )
    return str(shown)


def _text(doc: str) -> str:
    parts = KEPT.split(ABOUT.sub("\n", doc.strip()))
    parts[::2] = [SIGNS.sub(r"\\\g<0>", part) for part in parts[::2]]
    parts[1::2] = [
        f"```pycon\n{part}\n```" if part.startswith(">>>") else f"`{part}`" if part.startswith('"') else part
        for part in parts[1::2]
    ]
    return "".join(parts)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("api", Reference)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
