"""In the grading process: the tests of one question, with everything that the student has written lent from another process.

The tests, what they compare with and the comparison are here; of the student's come data and numbers of objects.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import json
import os
import reprlib
import resource
import socket
import sys
import types
from collections.abc import Callable
from typing import Any

from engineroom.teach import fresh
from engineroom.teach.grading.talk import Ended, Peer, Remote

__all__ = ["run", "test_cases"]

NAMES_PREFIX = "__grading_"


def run(order: dict[str, Any], channel: socket.socket, result: int) -> None:
    """Writes a line of JSON per test case, as soon as it is known, so that what follows cannot take it back."""
    memory = order["memory_mib"] * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    nothing = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(nothing, each)

    def tell(**line: Any) -> None:
        os.write(result, json.dumps(line).encode() + b"\n")

    fresh.reseed(order["seed"])
    peer = Peer(channel, is_student=False)
    given = _given(order["given"])
    gone = ""
    try:
        errors = peer.ask(2, "call", (), {})
        tell(errors=[str(error)[:500] for error in errors] if isinstance(errors, list) else [])
    except Ended as ended:
        gone = str(ended)
    wrapped: dict[str, Any] = {}
    for case in test_cases(order["test"]):
        calls: list[str] = []
        looks_like: list[str] = []
        try:
            if gone:
                raise Ended(gone)
            with contextlib.redirect_stdout(io.StringIO()):
                case.body(
                    **_arguments(case, given, set(order["answers"]), peer, wrapped=wrapped, calls=calls)
                )
            tell(name=case.name, passed=True)
            continue
        except Ended as ended:
            gone = gone or str(ended)
            said = gone
        except AssertionError as error:
            said = str(error) or "the test's condition does not hold"
            looks_like = getattr(error, "looks_like", [])
        except BaseException as error:  # noqa: BLE001 (a student's value may raise anything in a test)
            said = f"{type(error).__name__}: {error}"
        tell(
            name=case.name,
            passed=False,
            said=said[:3000],
            given=calls[-1] if calls else "",
            hidden=case.hidden,
            looks_like=looks_like,
        )


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

    module = types.ModuleType("otter.test_files")
    module.test_case = test_case  # type: ignore[attr-defined]
    kept = {name: sys.modules.get(name) for name in ("otter", "otter.test_files")}
    sys.modules.update({"otter": types.ModuleType("otter"), "otter.test_files": module})
    try:
        tree = ast.fix_missing_locations(_Telling().visit(ast.parse(source)))
        exec(compile(tree, "<tests>", "exec"), {"__name__": "tests", "__grading_failed": _failed})  # noqa: S102
    finally:
        for name, old in kept.items():
            if old is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = old
    return found


def _given(cells: list[str]) -> dict[str, Any]:
    """What the handout's own cells define, made here and not by the student's process."""
    namespace: dict[str, Any] = {"__name__": "given"}
    for cell in cells:
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            exec(compile(cell, "<given>", "exec"), namespace)  # noqa: S102
    return namespace


def _arguments(
    case: _Case,
    given: dict[str, Any],
    answers: set[str],
    peer: Peer,
    *,
    wrapped: dict[str, Any],
    calls: list[str],
) -> dict[str, Any]:
    found = {}
    for name in case.wants:
        if name in given and name not in answers:
            found[name] = given[name]
            continue
        if name not in wrapped:
            try:
                wrapped[name] = peer.ask(0, "call", (name,), {})
            except KeyError:
                raise AssertionError(f"{name} is not defined") from None
        value = wrapped[name]
        found[name] = _Noted(value, name, calls) if isinstance(value, Remote) else value
        if not isinstance(value, Remote):
            calls.append(f"{name} = {_short(value)}")
    return found


class _Noted:
    """A function of the student's whose calls are noted for the report."""

    def __init__(self, function: Remote, name: str, calls: list[str]) -> None:
        self._function, self._name, self._calls = function, name, calls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        said = [_short(arg) for arg in args] + [f"{name}={_short(value)}" for name, value in kwargs.items()]
        call = f"{self._name}({', '.join(said)})"
        self._calls.append(call)
        value = self._function(*args, **kwargs)
        self._calls[-1] = f"{call} returned {_short(value)}"
        return value

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)


class _Telling(ast.NodeTransformer):
    """`assert a == b, m` becomes one that names a and b when they differ."""

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
        return [
            ast.Assign([ast.Name("__grading_got", ast.Store())], node.test.left),
            ast.Assign([ast.Name("__grading_wanted", ast.Store())], node.test.comparators[0]),
            ast.Assert(ast.Compare(left, node.test.ops, [right]), message),
        ]


def _failed(operator: str, message: object, *sides: object) -> str:
    note = f" ({message})" if message else ""
    if not sides:
        return f"expected: {operator}{note}"
    got, wanted = sides
    relation = "" if operator == "==" else f"{operator} "
    return f"expected: {relation}{_short(wanted)}; got: {_short(got)}{note}"


_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = 200
_repr.maxlist = _repr.maxtuple = _repr.maxdict = _repr.maxset = 12


def _short(value: object) -> str:
    return _repr.repr(value)[:600]
