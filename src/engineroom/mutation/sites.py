"""Where a C++ file can be wrong by one small change: the sites of its mutants, found in its syntax tree.

A mutant is known by its file, what is done, and the text of its line, so that it keeps its name while lines move and
loses it when the line changes.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import tree_sitter
import tree_sitter_cpp
from tree_sitter import Node

__all__ = ["Mutant", "mutants_of", "parse"]

_OTHER = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "%": "*",
    "<<": ">>",
    ">>": "<<",
    "&": "|",
    "|": "&",
    "^": "&",
    "&&": "||",
    "||": "&&",
    "+=": "-=",
    "-=": "+=",
    "*=": "/=",
    "/=": "*=",
    "|=": "&=",
    "&=": "|=",
    "++": "--",
    "--": "++",
    "std::min": "std::max",
    "std::max": "std::min",
}
# What is evaluated by the compiler cannot be switched in a run; the others are not our code, or say what is wrong.
_LEFT_OUT = {
    "static_assert_declaration",
    "template_argument_list",
    "template_parameter_list",
    "enumerator",
    "array_declarator",
    "requires_clause",
    "concept_definition",
    "noexcept",
    "alignas_qualifier",
    "attribute_declaration",
    "bitfield_clause",
    "preproc_def",
    "preproc_include",
    "pure_virtual_clause",
    "throw_statement",
}
_CALLS_LEFT_OUT = {"assert", "refuse", "static_cast<void>"}
# They hold parameters and their descriptions, or the table of names: an initial value there is a choice.
_FUNCTIONS_LEFT_OUT = {"described", "named"}
_STRUCTS_OF_PARAMETERS = ("Config", "Params", "Distribution")


@dataclass(frozen=True)
class Mutant:
    """One change of one place. `name` stands for file, change and the text of the line."""

    name: str
    file: str
    line: int
    text: str  # of the line
    change: str
    before: str
    after: str
    nodes: tuple[Node, ...]  # what the switched text stands for
    render: Callable[
        [str, Callable[[Node], str]], str
    ]  # (condition, text of a node) -> text that is switched by it


def parse(source: bytes) -> Node:
    """The syntax tree of a C++ file."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))
    return parser.parse(source).root_node


def mutants_of(file: str, source: bytes) -> list[Mutant]:
    """All mutants of a file, in the order of its text."""
    lines = source.decode().split("\n")
    seen: Counter[str] = Counter()
    found = []
    for nodes, change, before, after, render in _changes(parse(source)):
        line = nodes[0].start_point.row
        identity = f"{file}\n{lines[line].strip()}\n{change}\n{before}\n{after}"
        seen[identity] += 1
        name = hashlib.sha256(f"{identity}\n{seen[identity]}".encode()).hexdigest()[:10]
        found.append(Mutant(name, file, line + 1, lines[line], change, before, after, nodes, render))
    return found


_Text = Callable[[Node], str]
_Change = tuple[tuple[Node, ...], str, str, str, Callable[[str, _Text], str]]


def _changes(node: Node) -> Iterator[_Change]:
    if _is_left_out(node):
        return
    yield from _of_expression(node)
    yield from _of_statement(node)
    for child in node.children:
        yield from _changes(child)


def _text(node: Node | None) -> str:
    return node.text.decode() if node is not None and node.text is not None else ""


def _is_left_out(node: Node) -> bool:
    if node.type in _LEFT_OUT:
        return True
    if node.type in ("declaration", "field_declaration"):
        if any(_text(child) == "constexpr" for child in node.children):
            return True
        parent = node.parent.parent if node.parent is not None else None
        if node.type == "field_declaration" and parent is not None and parent.type == "struct_specifier":
            return _text(parent.child_by_field_name("name")).endswith(_STRUCTS_OF_PARAMETERS)
    if node.type == "preproc_if" and "__wasm__" in _text(node.child_by_field_name("condition")):
        return True  # of the browser's build, which runs no tests of these
    if node.type == "preproc_else" and "__cpp_exceptions" in _text(node.parent).split("\n", 1)[0]:
        return True
    if node.type == "call_expression":
        return _text(node.child_by_field_name("function")) in _CALLS_LEFT_OUT
    if node.type == "function_definition":
        declarator = node.child_by_field_name("declarator")
        name = declarator.child_by_field_name("declarator") if declarator is not None else None
        return _text(name) in _FUNCTIONS_LEFT_OUT
    # `case 3:`, of which only the value is left out, and `if constexpr (...)`.
    parent = node.parent
    if parent is not None and parent.type == "case_statement":
        return node == parent.child_by_field_name("value")
    if node.type == "condition_clause" and parent is not None:
        return any(_text(child) == "constexpr" for child in parent.children)
    return False


def _is_of_text(node: Node) -> bool:
    """Strings are added, too."""
    text = _text(node)
    return '"' in text or "to_string" in text or "names()" in text


def _of_expression(node: Node) -> Iterator[_Change]:
    kind = node.type
    text = _text(node)
    if kind in ("binary_expression", "assignment_expression", "update_expression"):
        operator = node.child_by_field_name("operator")
        before = _text(operator)
        # An await in two branches of a condition is too much for some compilers.
        if before in _OTHER and not _is_of_text(node) and "co_await" not in text:
            change = _KIND.get(kind) or _kind_of(before)
            yield (node,), change, before, _OTHER[before], partial(_replaced, node, operator, _OTHER[before])
    elif kind == "qualified_identifier" and text.startswith(("std::min", "std::max")):
        call = node.parent
        after = _OTHER[text[:8]] + text[8:]
        if call is not None and call.type == "call_expression" and "co_await" not in _text(call):
            yield (call,), "min or max", text, after, partial(_replaced, call, node, after)
    elif kind == "number_literal" and "." not in text:
        for sign in "+-":
            yield (node,), f"constant {sign} 1", text, f"({text} {sign} 1)", partial(_moved, node, sign)
    elif kind in ("true", "false"):
        yield (node,), "boolean", text, "false" if text == "true" else "true", partial(_negated, node)
    elif kind in ("condition_clause", "conditional_expression"):
        is_if = node.parent is not None and node.parent.type == "if_statement"
        value = node.child_by_field_name("value" if kind == "condition_clause" else "condition")
        if kind == "condition_clause" and not is_if:
            return  # of a loop, which would go on for ever
        if value is not None and value.type != "declaration" and "co_await" not in _text(value):
            yield (value,), "negated condition", _text(value), f"!({_text(value)})", partial(_negated, value)


_KIND = {"assignment_expression": "assignment", "update_expression": "assignment"}


def _kind_of(operator: str) -> str:
    if operator in ("&&", "||"):
        return "and or or"
    return "relation" if operator in ("<", "<=", ">", ">=", "==", "!=") else "arithmetic"


def _replaced(whole: Node, part: Node | None, after: str, condition: str, of: _Text) -> str:
    """`whole`, or the same with another text for `part`."""
    other = " ".join(after if child == part else of(child) for child in whole.children)
    return f"({condition} ? ({other}) : ({of(whole)}))"


def _moved(number: Node, sign: str, condition: str, of: _Text) -> str:
    return f"({of(number)} {sign} {condition})"


def _negated(value: Node, condition: str, of: _Text) -> str:
    return f"({condition} != static_cast<bool>({of(value)}))"


def _of_statement(node: Node) -> Iterator[_Change]:
    if node.type == "expression_statement" and node.named_children:
        what = node.named_children[0]
        if what.type in _REMOVED and not _is_left_out(what):
            yield (node,), _REMOVED[what.type], _text(node), ";", partial(_removed, node)
    if node.type == "compound_statement":
        for first, second in pairwise(node.named_children):
            if _is_store(first) and _is_store(second):
                before, after = (f"{_text(a)} {_text(b)}" for a, b in ((first, second), (second, first)))
                yield (first, second), "swapped stores", before, after, partial(_swapped, first, second)


_REMOVED = {
    "co_await_expression": "removed await",
    "call_expression": "removed statement",
    "assignment_expression": "removed statement",
    "update_expression": "removed statement",
}


def _removed(statement: Node, condition: str, of: _Text) -> str:
    return f"{{ if (!{condition}) {of(statement)} }}"


def _swapped(first: Node, second: Node, condition: str, of: _Text) -> str:
    return f"if ({condition}) {{ {of(second)} {of(first)} }} else {{ {of(first)} {of(second)} }}"


def _is_store(node: Node) -> bool:
    """A statement whose order against another one may be seen by another thread: each awaits an operation on shared words."""
    return (
        node.type == "expression_statement"
        and bool(node.named_children)
        and node.named_children[0].type == "co_await_expression"
    )
