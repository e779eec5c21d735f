"""Two processes that call one another's objects by number over a socket: the student's and the grading one."""

from __future__ import annotations

import builtins
import json
import socket
import struct
from collections.abc import Callable
from typing import Any

from engineroom.teach.grading import plain

__all__ = ["Ended", "Peer", "Remote", "StudentError"]

LARGEST_BYTES = 64 * 2**20
# What may be asked of the other side's object beside its public attributes.
OPERATORS = [
    "call",
    "contains",
    "len",
    "getitem",
    "setitem",
    "delitem",
    "iter",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "hash",
    "int",
    "index",
    "float",
    "bool",
    "str",
    "add",
    "sub",
    "mul",
    "mod",
    "floordiv",
    "truediv",
    "and",
    "or",
    "xor",
    "radd",
    "rsub",
    "rmul",
]


class Ended(Exception):
    """The other process is gone, or says nothing that can be read."""


class StudentError(Exception):
    """The student's code raised something."""


class Remote:
    """An object of the other process. It equals itself only, whatever its class says."""

    def __init__(self, peer: Peer, number: int, kind: str) -> None:
        self.__dict__.update(_peer=peer, _number=number, _kind=kind)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._peer.ask(self._number, "call", args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._peer.ask(self._number, "attribute", (name,), {})

    def __repr__(self) -> str:
        return f"<{self._kind} of the answer>"

    def __len__(self) -> int:
        return int(self._peer.ask(self._number, "len", (), {}))

    def __iter__(self) -> Any:
        return iter(self._peer.ask(self._number, "iter", (), {}))

    def __getitem__(self, key: Any) -> Any:
        return self._peer.ask(self._number, "getitem", (key,), {})

    def __bool__(self) -> bool:
        return True


def _operator(name: str) -> Callable[..., Any]:
    def ask(self: Remote, *args: Any) -> Any:
        return self._peer.ask(self._number, name, args, {})

    return ask


class Handle(Remote):
    """An object of the grading process in the student's: it has its operators, too, and all of them run over there."""

    __bool__ = _operator("bool")


for _name in OPERATORS:
    if _name not in ("call", "len", "iter", "getitem"):
        setattr(Handle, f"__{_name}__", _operator(_name))


class Peer:
    """One end. `is_student` at the end whose word is not trusted by the other."""

    def __init__(self, channel: socket.socket, *, is_student: bool, most_asked: int = 100_000) -> None:
        self._channel = channel
        self._is_student = is_student
        self._left = most_asked
        self._objects: list[Any] = []
        self.last_asked = ""

    def ask(self, number: int, operation: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the other side's object says; serves what the other side asks meanwhile."""
        self._send({"ask": number, "op": operation, "args": self._out(args), "kwargs": self._out(kwargs)})
        while True:
            message = self._receive()
            if "ask" in message:
                self._serve(message)
            elif "raised" in message:
                raise _as_error(str(message["raised"])[:100], str(message.get("text", ""))[:2000])
            else:
                self._take_over(args, message.get("changed"))
                return self._in(message.get("value"))

    def serve_for_ever(self) -> None:
        """Answer until the other side is gone."""
        while True:
            self._serve(self._receive())

    def offer(self, value: Any) -> int:
        """A number for one of our objects; the first has 0."""
        self._objects.append(value)
        return len(self._objects) - 1

    def remote(self, number: int, kind: str) -> Remote:
        return (Handle if self._is_student else Remote)(self, number, kind)

    def _serve(self, message: dict[str, Any]) -> None:
        self._left -= 1
        if not self._is_student and self._left < 0:
            raise Ended("it asked the grading process too often")
        try:
            args, kwargs = self._in(message["args"]), self._in(message["kwargs"])
            before = [json.dumps(self._out(arg)) if _can_change(arg) else None for arg in args]
            value = self._do(self._objects[message["ask"]], message["op"], args, kwargs)
            changed = [
                None if old is None or json.dumps(self._out(arg)) == old else self._out(arg)
                for old, arg in zip(before, args, strict=True)
            ]
            reply = {"value": self._out(value)}
            if any(form is not None for form in changed):
                reply["changed"] = changed
        except Ended:
            raise
        except BaseException as error:  # noqa: BLE001 (whatever the code raises, SystemExit too, is its answer)
            known = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
            own = "" if known is type(error) else f"{type(error).__name__}: "
            reply = {"raised": known.__name__, "text": own + _text(error)}
        self._send(reply)

    def _do(self, target: Any, operation: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if operation == "call":
            return target(*args, **kwargs)
        if operation == "attribute":
            (name,) = args
            if name.startswith("_") or not (self._is_student or _is_made_for_tests(target)):
                raise AttributeError(name)
            return getattr(target, name)
        if operation not in OPERATORS:
            raise AttributeError(operation)
        if operation == "iter":
            return list(target)
        if operation == "bool":
            return bool(target)
        return getattr(target, f"__{operation}__")(*args)

    def _take_over(self, args: tuple[Any, ...], changed: Any) -> None:
        """An argument that the other side changed in place is changed here."""
        if not isinstance(changed, list):
            return
        for arg, form in zip(args, changed, strict=False):
            if form is None or not _can_change(arg):
                continue
            new = self._in(form)
            if type(new) is not type(arg):
                continue
            if isinstance(arg, list | bytearray):
                arg[:] = new
            else:
                arg.clear()
                (arg.extend if hasattr(arg, "extend") else arg.update)(new)

    def _out(self, value: Any) -> Any:
        def refer(thing: Any) -> Any:
            if isinstance(thing, Remote):
                return {"t": "yours", "v": thing._number}
            return {"t": "mine", "v": self.offer(thing), "k": type(thing).__name__}

        return plain.encode(value, refer, is_lenient=self._is_student)

    def _in(self, form: Any) -> Any:
        def resolve(reference: dict[str, Any]) -> Any:
            number = int(reference["v"])
            if reference["t"] == "mine":
                return self.remote(number, str(reference["k"])[:60])
            if reference["t"] == "yours" and 0 <= number < len(self._objects):
                return self._objects[number]
            raise plain.Unreadable("no such object")

        return plain.decode(form, resolve, are_names_known=self._is_student)

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode()
        try:
            self._channel.sendall(struct.pack(">I", len(data)) + data)
        except OSError:
            raise Ended("its process ended") from None

    def _receive(self) -> dict[str, Any]:
        (length,) = struct.unpack(">I", self._exactly(4))
        if length > LARGEST_BYTES:
            raise Ended(f"its answer has more than {LARGEST_BYTES // 2**20} MiB")
        try:
            message = json.loads(self._exactly(length))
        except (ValueError, RecursionError):
            raise Ended("its answer is no data") from None
        if not isinstance(message, dict):
            raise Ended("its answer is no data")
        return message

    def _exactly(self, length: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            try:
                part = self._channel.recv(min(length - len(data), 1 << 20))
            except OSError:
                part = b""
            if not part:
                raise Ended("its process ended")
            data += part
        return bytes(data)


def _is_made_for_tests(thing: Any) -> bool:
    """Whether an answer may use its methods: those of a table or an array of the grading process could write files."""
    module = type(thing).__module__
    return module == "tests" or module.startswith(("engineroom.chapters.", "engineroom.teach."))


def _can_change(value: Any) -> bool:
    return type(value) in (list, dict, set, bytearray)


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # noqa: BLE001 (a message of the student's may raise, too)
        return ""


def _as_error(name: str, text: str) -> Exception:
    known = getattr(builtins, name, None)
    if isinstance(known, type) and issubclass(known, Exception) and name != "AssertionError":
        try:
            return known(text)
        except TypeError:
            pass
    return StudentError(f"{name}: {text}")
