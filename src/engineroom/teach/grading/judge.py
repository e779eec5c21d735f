"""In the grading process: the tests of a notebook's questions, with everything that the student has written called in another process.

The tests, what they compare with and the comparison are here; of the student's comes plain data.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import io
import json
import os
import resource
import select
import signal
import socket
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from engineroom.teach import fresh, refused
from engineroom.teach.grading import talk
from engineroom.teach.grading.apart import forked, silenced
from engineroom.teach.grading.talk import Answer, Ended, Function, StudentError, short

__all__ = ["run", "test_cases"]

TESTS = "<tests>"


def run(desk: socket.socket, channel: Connection, ends: list[Connection]) -> None:
    """Reads its order from `desk`. Writes a line of JSON there per test case, as soon as its question is done, so that what follows cannot take it back.

    The notebook runs behind `channel`, and behind each of `ends` the copy that answers a question.
    """
    with desk.makefile("rb") as file:
        order = json.loads(file.read())
    memory = order["memory_mib"] * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    silenced()
    fresh.reseed(order["seed"])
    cases = {each["name"]: test_cases(each["test"]) for each in order["questions"]}
    wanted = {name: {want for case in cases[name] for want in case.wants} for name in cases}
    asked = {each["name"]: sorted(wanted[each["name"]] & set(each["answers"])) for each in order["questions"]}

    def tell(what: Any) -> Any:
        talk.send(channel, json.dumps(what).encode())
        return json.loads(talk.received(channel))

    without = sorted({name for each in order["questions"] for name in refused.named(each["test"])})
    ran = tell({"cells": order["cells"], "asked": asked, "refused": without})
    given: dict[str, Any] = {"__name__": "given"}
    for each, end in zip(order["questions"], ends, strict=True):
        question = each["name"]
        _define(given, each["given"])
        ours = {name: value for name, value in given.items() if name not in each["answers"]}
        tell(["begin", question])
        hears, says = os.pipe()
        process = forked(functools.partial(_test, cases[question], each["test"], ours, end, says))
        os.close(says)
        end.close()
        lines, is_late = _heard(hears, order["wall_seconds"])
        os.close(hears)
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        of_all = {
            "said": [said for at, said in ran["said"] if order["cells"][at]["question"] == question],
            "is_unanswered": question in ran["unanswered"],
            "is_late": is_late,
            "ended": tell(["end", question]),
            "cases": [json.loads(line) for line in lines],
        }
        desk.sendall(json.dumps({question: of_all}).encode() + b"\n")


def _heard(hears: int, seconds: float) -> tuple[list[bytes], bool]:
    """The whole lines that came, and whether more could have come later."""
    data, until = b"", time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and select.select([hears], [], [], left)[0]:
        if not (part := os.read(hears, 1 << 16)):
            return data.split(b"\n")[:-1], False
        data += part
    return data.split(b"\n")[:-1], True


def _test(cases: list[_Case], source: str, given: dict[str, Any], end: Connection, says: int) -> None:
    """Tries one question's answer on its cases, in a process of its own: none has the memory of another."""
    answer = Answer(end)
    theirs: dict[str, Any] = {}
    gone = ""

    def value(name: str) -> Any:
        if name in given:
            return given[name]
        if name not in theirs:
            try:
                theirs[name] = answer.value(name)
            except KeyError:
                raise _Undefined(f"{name} is not defined") from None
        if not isinstance(theirs[name], Function):
            answer.notes.append(f"{name} = {short(theirs[name])}")
        return theirs[name]

    with os.fdopen(says, "wb", buffering=0) as told:
        for case in cases:
            answer.notes.clear()
            said = shown = ""
            looks_like: list[str] = []
            has_passed = False
            try:
                if gone:
                    raise Ended(gone)
                with contextlib.redirect_stdout(io.StringIO()):
                    case.body(**{name: value(name) for name in case.wants})
                has_passed = True
            except Ended as ended:
                gone = gone or str(ended)
                said = shown = gone
            except AssertionError as error:
                said, shown = str(error) or "the test's condition does not hold", _shown(error, source)
                looks_like = getattr(error, "looks_like", [])
            except BaseException as error:  # noqa: BLE001 (a student's value may raise anything in a test)
                said, shown = f"{type(error).__name__}: {error}", _shown(error, source)
            line = {
                "name": case.name,
                "passed": has_passed,
                "said": said[:3000],
                "shown": shown,
                "given": answer.notes[-1] if answer.notes else "",
                "hidden": case.hidden,
                "looks_like": looks_like,
            }
            told.write(json.dumps(line).encode() + b"\n")


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


def _define(namespace: dict[str, Any], cells: list[str]) -> None:
    """What the handout's own cells define, made here and not by the student's process."""
    for cell in cells:
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            exec(compile(cell, "<given>", "exec"), namespace)  # noqa: S102


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
