"""How the tests call an answer in another process: data goes there as it is, and comes back as plain data.

An object of the tests that counts or notes what is done with it stays with them. The answer has a handle of it, by a number, and
whatever it does with the handle is done over there.
"""

from __future__ import annotations

import builtins
import io
import json
import pickle
import reprlib
import signal
import sys
from multiprocessing.connection import Connection
from types import FunctionType, MethodType
from typing import Any

from engineroom.teach.grading import plain

__all__ = ["Answer", "Ended", "Function", "StudentError", "received", "send", "serve", "short", "text_of"]

LARGEST_BYTES = 64 * 2**20
# What an answer may do with a handle, beside calling public methods.
OPERATORS = [
    "call", "contains", "len", "getitem", "setitem", "delitem", "iter", "eq", "ne", "lt", "le", "gt", "ge", "hash", "int",
    "index", "float", "bool", "str", "add", "sub", "mul", "mod", "floordiv", "truediv", "and", "or", "xor", "radd", "rsub", "rmul",
]  # fmt: skip


class Ended(Exception):
    """The other process is gone, or says nothing that can be read."""


class StudentError(Exception):
    """The student's code raised something."""


class Answer:
    """In the process of the tests: what the answer's process defines. Nothing that it says is trusted."""

    def __init__(self, channel: Connection, *, most_asked: int = 100_000) -> None:
        self._channel = channel
        self._left = most_asked
        self._ours: list[Any] = []
        self.notes: list[str] = []  # what its functions were given and returned, for the report

    def value(self, name: str) -> Any:
        """What the answer calls by this name; a function is called over there. KeyError where there is none."""
        return self._asked("value", name)

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What its function returns. An argument that it changes in place is changed here, too."""
        told = self._asked("call", name, args, kwargs)
        if not (isinstance(told, list) and len(told) == 2 and isinstance(told[1], list)):
            raise Ended("its answer is no data")
        value, changed = told
        for arg, new in zip(args, changed, strict=False):
            if type(new) is not type(arg):
                continue
            if isinstance(arg, list | bytearray):
                arg[:] = new
            elif isinstance(arg, dict | set):
                arg.clear()
                arg.update(new)
        return value

    def _asked(self, what: str, *of: Any) -> Any:
        self._tell(what, *of)
        while True:
            try:
                form = json.loads(received(self._channel))
            except (ValueError, RecursionError):
                raise Ended("its answer is no data") from None
            if not isinstance(form, dict):
                raise Ended("its answer is no data")
            if "asks" in form:
                self._tell(*self._said_of_ours(form))
            elif "raised" in form:
                raise _as_error(str(form["raised"])[:100], str(form.get("text", ""))[:2000])
            elif form.get("is_function") is True:
                return Function(self, str(of[0]))
            else:
                return plain.read(form.get("value"), self._ours)

    def _said_of_ours(self, form: dict[str, Any]) -> tuple[Any, ...]:
        self._left -= 1
        if self._left < 0:
            raise Ended("it asked the grading process too often")
        try:
            target, operator = self._ours[form["asks"]], form["operator"]
            args, kwargs = plain.read(form["args"], self._ours), plain.read(form["kwargs"], self._ours)
            return "told", _done(target, operator, args, kwargs)
        except Exception as error:  # noqa: BLE001 (whatever our object raises is what it says)
            return "raised", *_name_and_text(error)

    def _tell(self, *what: Any) -> None:
        file = io.BytesIO()
        _Writer(file, self._ours).dump(what)
        send(self._channel, file.getvalue())


def _done(target: Any, operator: str, args: Any, kwargs: Any) -> Any:
    if operator == "attribute":
        (name,) = args
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(target, name)
    if operator not in OPERATORS:
        raise AttributeError(operator)
    if operator == "call":
        return target(*args, **kwargs)
    if operator in ("iter", "bool"):
        return {"iter": list, "bool": bool}[operator](target)
    return getattr(target, f"__{operator}__")(*args)


class Function:
    """A function of the answer's."""

    def __init__(self, answer: Answer, name: str) -> None:
        self._answer, self._name = answer, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        said = [short(arg) for arg in args] + [f"{name}={short(value)}" for name, value in kwargs.items()]
        notes = self._answer.notes
        notes.append(f"{self._name}({', '.join(said)})")
        value = self._answer.call(self._name, args, kwargs)
        notes[-1] += f" returned {short(value)}"
        return value


class _Writer(pickle.Pickler):
    """Data as they are; by a number what the other process has no name for, and what notes the calls of its methods."""

    def __init__(self, file: io.BytesIO, ours: list[Any]) -> None:
        super().__init__(file, protocol=5)
        self._ours = ours

    def persistent_id(self, thing: Any) -> Any:
        kind = type(thing)
        if isinstance(thing, FunctionType | type):
            is_copied = getattr(sys.modules.get(thing.__module__), thing.__qualname__, None) is thing
        elif kind.__module__.startswith("engineroom."):
            is_copied = False
        else:
            is_copied = kind.__module__ in sys.modules and kind is not MethodType
        if is_copied:
            return None
        self._ours.append(thing)
        return len(self._ours) - 1, kind.__name__


def serve(channel: Connection, namespace: dict[str, Any]) -> None:
    """In the answer's process: gives values out of `namespace` and calls functions in it for the tests, until these are gone."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        _Server(channel, namespace).serve()
    except Ended:
        return


class _Server:
    def __init__(self, channel: Connection, namespace: dict[str, Any]) -> None:
        self._channel, self._namespace = channel, namespace

    def serve(self) -> None:
        while True:
            self._answer(*self._heard())

    def _answer(self, what: str, *of: Any) -> None:
        try:
            if what == "value" and callable(self._namespace[of[0]]):
                form: dict[str, Any] = {"is_function": True}
            elif what == "value":
                form = {"value": self._written(self._namespace[of[0]])}
            else:
                form = {"value": self._called(*of)}
            data = json.dumps(form)
        except Ended:
            raise
        except BaseException as error:  # noqa: BLE001 (whatever the code raises, SystemExit too, is its answer)
            name, text = _name_and_text(error)
            data = json.dumps({"raised": name, "text": text})
        send(self._channel, data.encode())

    def _called(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The value in its form, and of each argument what it has become, or None where it is as it was."""
        can_change = [type(arg) in (list, dict, set, bytearray) for arg in args]
        before = [self._written(arg) if can else None for arg, can in zip(args, can_change, strict=True)]
        value = self._written(self._namespace[name](*args, **kwargs))
        after = [self._written(arg) if can else None for arg, can in zip(args, can_change, strict=True)]
        return [value, [None if old == new else new for old, new in zip(before, after, strict=True)]]

    def _written(self, value: Any) -> Any:
        return plain.written(value, lambda each: each._number if type(each) is Handle else None)

    def ask(self, number: int, operator: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What an object of the tests says, which may call functions of the answer meanwhile."""
        given = {"args": self._written(args), "kwargs": self._written(kwargs)}
        send(self._channel, json.dumps({"asks": number, "operator": operator, **given}).encode())
        while True:
            what, *said = self._heard()
            if what == "told":
                return said[0]
            if what == "raised":
                raise _as_error(*said)
            self._answer(what, *said)

    def _heard(self) -> Any:
        reader = pickle.Unpickler(io.BytesIO(received(self._channel)))
        reader.persistent_load = lambda place: Handle(self, *place)  # type: ignore[method-assign]
        return reader.load()


class Handle:
    """An object of the tests in the answer's process: all that is done with it is done over there."""

    def __init__(self, server: _Server, number: int, kind: str) -> None:
        self.__dict__.update(_server=server, _number=number, _kind=kind)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._server.ask(self._number, "attribute", (name,), {})

    def __iter__(self) -> Any:
        return iter(self._server.ask(self._number, "iter", (), {}))

    def __repr__(self) -> str:
        return f"<{self._kind} of the tests>"


def _operator(name: str) -> Any:
    def ask(self: Handle, *args: Any, **kwargs: Any) -> Any:
        return self._server.ask(self._number, name, args, kwargs)

    return ask


for _name in OPERATORS:
    if _name != "iter":
        setattr(Handle, f"__{_name}__", _operator(_name))


def send(channel: Connection, data: bytes) -> None:
    """One message; Ended where nobody hears it."""
    try:
        channel.send_bytes(data)
    except OSError:
        raise Ended("its process ended") from None


def received(channel: Connection) -> bytes:
    """The next message; Ended where none comes."""
    try:
        return channel.recv_bytes(LARGEST_BYTES)
    except (EOFError, ConnectionError):
        raise Ended("its process ended") from None
    except OSError:
        raise Ended(f"its answer has more than {LARGEST_BYTES // 2**20} MiB") from None


def _name_and_text(error: BaseException) -> tuple[str, str]:
    """The nearest kind of error that the other side knows, and what was said."""
    known = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
    own = "" if known is type(error) else f"{type(error).__name__}: "
    return known.__name__, own + text_of(error)


def text_of(error: BaseException) -> str:
    """What it says, if it says anything."""
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


_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = 200
_repr.maxlist = _repr.maxtuple = _repr.maxdict = _repr.maxset = 12


def short(value: object) -> str:
    """As the report shows it."""
    return _repr.repr(value)[:600]
