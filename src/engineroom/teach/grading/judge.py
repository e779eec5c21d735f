"""In the grading process: the tests of one question, with everything that the student has written called in another process.

The tests, what they compare with and the comparison are here; of the student's comes plain data.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import json
import os
import resource
import socket
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from engineroom.teach import fresh, refused
from engineroom.teach.grading.talk import Answer, Ended, Function, StudentError, short

__all__ = ["run", "test_cases"]

TESTS = "<tests>"


def run(desk: socket.socket, channel: Connection) -> None:
    """Reads its order from `desk`; writes a line of JSON there per test case, as soon as it is known, so that what follows cannot take it back."""
    with desk.makefile("rb") as file:
        order = json.loads(file.read())
    memory = order["memory_mib"] * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    nothing = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(nothing, each)

    def tell(**line: Any) -> None:
        desk.sendall(json.dumps(line).encode() + b"\n")

    fresh.reseed(order["seed"])
    answer = Answer(channel)
    given = _given([cell["source"] for cell in order["cells"] if cell["name"] == "given"])
    gone = ""
    try:
        answer.refuse(refused.named(order["test"]))
        tell(errors=answer.run(order["cells"]))
    except Ended as ended:
        gone = str(ended)
    theirs: dict[str, Any] = {}

    def value(name: str) -> Any:
        if name in given and name not in order["answers"]:
            return given[name]
        if name not in theirs:
            try:
                theirs[name] = answer.value(name)
            except KeyError:
                raise _Undefined(f"{name} is not defined") from None
        if not isinstance(theirs[name], Function):
            answer.notes.append(f"{name} = {short(theirs[name])}")
        return theirs[name]

    for case in test_cases(order["test"]):
        answer.notes.clear()
        looks_like: list[str] = []
        try:
            if gone:
                raise Ended(gone)
            with contextlib.redirect_stdout(io.StringIO()):
                case.body(**{name: value(name) for name in case.wants})
            tell(name=case.name, passed=True)
            continue
        except Ended as ended:
            gone = gone or str(ended)
            said = shown = gone
        except AssertionError as error:
            said, shown = str(error) or "the test's condition does not hold", _shown(error, order["test"])
            looks_like = getattr(error, "looks_like", [])
        except BaseException as error:  # noqa: BLE001 (a student's value may raise anything in a test)
            said, shown = f"{type(error).__name__}: {error}", _shown(error, order["test"])
        tell(
            name=case.name,
            passed=False,
            said=said[:3000],
            shown=shown,
            given=answer.notes[-1] if answer.notes else "",
            hidden=case.hidden,
            looks_like=looks_like,
        )


class _Undefined(AssertionError):
    """The answer defines no such name."""


def _shown(error: BaseException, test: str) -> str:
    """For the student: the kind of error, and the line of the test, which a student has, too.

    What an answer returned or raised is not in it, nor a text with it: that could be any file.
    """
    if isinstance(error, _Undefined):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    at = [frame.lineno for frame in frames if frame.filename == TESTS and frame.lineno]
    line = test.splitlines()[at[-1] - 1].strip()[:200] if at else "its value"
    if isinstance(error, StudentError):
        return f"`{line}`: the answer raised an error"
    return f"`{line}`: {'this does not hold' if isinstance(error, AssertionError) else type(error).__name__}"


class _Case:
    def __init__(self, body: Callable[..., Any], hidden: bool) -> None:
        self.body, self.hidden, self.name = body, hidden, body.__name__
        self.wants = list(inspect.signature(body).parameters)


def test_cases(source: str) -> list[_Case]:
    """The cases of a test file of otter's, without otter. A comparison that fails says both sides."""
    found: list[_Case] = []

    def test_case(*, hidden: bool = False, **_: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def keep(body: Callable[..., Any]) -> Callable[..., Any]:
            found.append(_Case(body, hidden))
            return body

        return keep

    tree = ast.fix_missing_locations(_Telling().visit(ast.parse(source)))
    space = {"__name__": "tests", "test_case": test_case, "__grading_failed": _failed}
    exec(compile(tree, TESTS, "exec"), space)  # noqa: S102
    return found


def _given(cells: list[str]) -> dict[str, Any]:
    """What the handout's own cells define, made here and not by the student's process."""
    namespace: dict[str, Any] = {"__name__": "given"}
    for cell in cells:
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            exec(compile(cell, "<given>", "exec"), namespace)  # noqa: S102
    return namespace


class _Telling(ast.NodeTransformer):
    """`assert a == b, m` becomes one that names a and b when they differ; otter's `test_case` is ours."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        return None if node.module == "otter.test_files" else node

    def visit_Assert(self, node: ast.Assert) -> Any:
        if not (isinstance(node.test, ast.Compare) and len(node.test.ops) == 1):
            text = ast.Constant(ast.unparse(node.test))
            node.msg = ast.Call(
                ast.Name("__grading_failed", ast.Load()), [text, node.msg or ast.Constant("")], []
            )
            return node
        left, right = ast.Name("__grading_got", ast.Load()), ast.Name("__grading_wanted", ast.Load())
        operator = ast.unparse(ast.Compare(ast.Name("got"), node.test.ops, [ast.Name("wanted")]))
        text = ast.Constant(operator.removeprefix("got ").removesuffix(" wanted"))
        message = ast.Call(
            ast.Name("__grading_failed", ast.Load()),
            [text, node.msg or ast.Constant(""), left, right],
            [],
        )
        made = [
            ast.Assign([ast.Name("__grading_got", ast.Store())], node.test.left),
            ast.Assign([ast.Name("__grading_wanted", ast.Store())], node.test.comparators[0]),
            ast.Assert(ast.Compare(left, node.test.ops, [right]), message),
        ]
        return [ast.copy_location(each, node) for each in made]


def _failed(operator: str, message: object, *sides: object) -> str:
    note = f" ({message})" if message else ""
    if not sides:
        return f"expected: {operator}{note}"
    got, wanted = sides
    relation = "" if operator == "==" else f"{operator} "
    return f"expected: {relation}{short(wanted)}; got: {short(got)}{note}"
