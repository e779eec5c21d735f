"""The files of Valgrind's callgrind: counts by call path, and function names that two builds of a program have in common."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engineroom.errors import EngineRoomError

__all__ = ["CALLERS", "NAMELESS", "Part", "is_nameless", "keys", "read", "short", "totals"]

# So many callers are part of a function's name (--separate-callers); the deepest path of the statements tried has 27 functions.
CALLERS = 60
NAMELESS = "no name"
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_NAMED = re.compile(r"(c?(?:fn|ob))=(?:\((\d+)\))? ?(.*)")
_REMEDY = "make room on the disk of the cache folder, and count again"


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one thread did between two dumps. A path is outermost first; `own` counts without what is called from there."""

    thread: int
    events: tuple[str, ...]  # instructions ("Ir") first
    own: Mapping[tuple[str, ...], tuple[int, ...]] = field(repr=False)
    calls: Mapping[tuple[str, ...], int] = field(repr=False)

    @property
    def totals(self) -> tuple[int, ...]:
        """The sum over all paths, by event."""
        return tuple(map(sum, zip(*self.own.values(), strict=True))) or (0,) * len(self.events)


def totals(file: Path) -> tuple[int, int]:
    """The thread's number and its instructions, without reading all of a file that has one part."""
    text = _text(file)
    thread = re.search(r"^thread: (\d+)$", text, re.MULTILINE)
    total = re.search(r"^totals: (\d+)", text[-200:], re.MULTILINE)
    if total is None:
        raise _cut(file)
    return int(thread[1]) if thread else 1, int(total[1])


def read(file: Path) -> list[Part]:
    """All parts of a file. EngineRoomError when it cannot be read, is none of callgrind's, or was cut short."""
    text = _text(file)
    if "\nevents: " not in text:
        raise EngineRoomError(f"{file.name} is no file of callgrind's", remedy=_REMEDY)
    reader = _Reader()
    try:
        for line in text.splitlines():
            reader.take(line)
    except (ValueError, KeyError, IndexError) as error:
        raise EngineRoomError(
            f"callgrind's file {file.name} cannot be read: {error!r}", remedy=_REMEDY
        ) from error
    if reader.is_open or not reader.parts:
        raise _cut(file)
    return reader.parts


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise EngineRoomError(
            f"callgrind's file {file.name} cannot be read: {error.strerror}", remedy=_REMEDY
        ) from error


def _cut(file: Path) -> EngineRoomError:
    return EngineRoomError(f"callgrind's file {file.name} is cut short", remedy=_REMEDY)


class _Reader:
    """A file's lines, one after the other. Names are written once per file and then known by their number."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.is_open = False
        self._names: dict[tuple[str, str], str] = {}
        self._thread = 1
        self._events: tuple[str, ...] = ()
        self._n_positions = 1
        self._begin()

    def _begin(self) -> None:
        self._own: dict[str, list[int]] = {}
        self._calls: Counter[str] = Counter()
        self._objects: dict[str, str] = {}
        self._object, self._function, self._called, self._is_call = "", "", "", False

    def take(self, line: str) -> None:
        if not line:
            return
        if line[0] in "0123456789+-*":
            self._count(line)
        elif found := _NAMED.fullmatch(line):
            self._name(*found.groups())
        elif line.startswith("calls="):
            self._calls[self._called] += int(line[6:].split(maxsplit=1)[0])
            self._is_call = True
        elif line.startswith("thread: "):
            self._thread = int(line[8:])
        elif line.startswith("positions: "):
            self._n_positions = len(line.split()) - 1
        elif line.startswith("events: "):
            self._events, self.is_open = tuple(line.split()[1:]), True
        elif line.startswith("totals: "):
            self._end(tuple(map(int, line.split()[1:])))

    def _name(self, what: str, number: str | None, text: str) -> None:
        known = (what[-2:], number or text)
        if text:
            self._names[known] = text
        name = self._names[known]
        match what:
            case "ob":
                self._object = Path(name).name
            case "fn":
                self._function, self._called = name, ""
                self._objects.setdefault(name.partition("'")[0], self._object)
            case "cfn":
                self._called = name

    def _count(self, line: str) -> None:
        if self._is_call:  # what the call cost is counted where it was spent
            self._is_call = False
            return
        # Zeros at the end are left out.
        own = self._own.setdefault(self._function, [0] * len(self._events))
        for i, count in enumerate(line.split()[self._n_positions :]):
            own[i] += int(count)

    def _end(self, said: tuple[int, ...]) -> None:
        # Functions of two libraries, or of a recursion's depths, may have one name.
        own: dict[tuple[str, ...], tuple[int, ...]] = {}
        for name, counts in self._own.items():
            path = self._path(name)
            own[path] = tuple(map(sum, zip(counts, own.get(path, (0,) * len(counts)), strict=True)))
        calls: Counter[tuple[str, ...]] = Counter()
        for name, n in self._calls.items():
            calls[self._path(name)] += n
        part = Part(thread=self._thread, events=self._events, own=own, calls=calls)
        if part.totals[: len(said)] != said:
            raise ValueError(f"its functions sum up to {part.totals}, its totals are {said}")
        self.parts.append(part)
        self.is_open = False
        self._begin()

    def _path(self, name: str) -> tuple[str, ...]:
        """`f'g'h`, f called by g called by h, as ("h", "g", "f"). A number tells a recursion's depth: f'2."""
        names = [part for part in reversed(name.split("'")) if not part.isdigit()]
        if len(names) > CALLERS:
            names[0] = "(deeper callers)"
        return tuple(
            f"{each} in {self._objects.get(each, '?')}" if _ADDRESS.fullmatch(each) else each
            for each in names
        )


def is_nameless(name: str) -> bool:
    """Whether a function of a path has no symbol: callgrind knows its address, or nothing."""
    return name.startswith(("0x", "???"))


def keys(path: Iterable[str]) -> tuple[str, ...]:
    """A path in short names, by which two versions are matched. What has no name is called by its nearest caller with one, or by
    its library; of functions that follow each other with the same name one is left.
    """
    return tuple(key for _, key in keyed(path))


def keyed(path: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Functions of a path as callgrind names them, with the short names of `keys`."""
    caller, last = "the thread's start", ""
    for name in path:
        if is_nameless(name):
            library = name.partition(" in ")[2]
            key = f"{NAMELESS} below {caller}" if not ".so" in library else f"{NAMELESS} in {library}"
        else:
            key = caller = short(name)
        if key != last:
            yield name, key
        last = key


# What has one name in some versions and another one in others, and is the same.
_RENAMED = {
    "MYSQLparse": "my_sql_parser_parse",
    "MYSQLlex": "my_sql_parser_lex",
    "mysql_parse": "dispatch_sql_command",
}
_RENAMED_CLASSES = {
    "st_select_lex": "Query_block",
    "SELECT_LEX": "Query_block",
    "st_select_lex_unit": "Query_expression",
    "SELECT_LEX_UNIT": "Query_expression",
}
_OPERATOR = re.compile(r"\boperator(\(\)|\[\]|<<=?|>>=?|->\*?|<=>|[<>]=?)")
_SPELLING = re.compile(
    r"\b(?:__cxx11|__1|ibc?)::|\(anonymous namespace\)::|\[[a-z]+[^\]]*\]|@@?[A-Z]+_[\w.]+$"
)
_PROCESSORS = re.compile(r"__((?:mem|str|w?cs)\w+?)_(?:avx|sse|evex|erms)\w*")


@functools.cache
def short(name: str) -> str:
    """A function's name without what versions and compilers spell differently: arguments, template arguments, return type,
    inline namespaces, symbol versions, `_func` of InnoDB's debug builds, and the processor that glibc's copy is for.
    """
    held: list[str] = []

    def hold(found: re.Match[str]) -> str:
        held.append(found[1])
        return f"operator\0{len(held) - 1}\0"

    text = _OPERATOR.sub(hold, _SPELLING.sub("", name.removeprefix("non-virtual thunk to ")))
    for bracket in (r"<[^<>]*>", r"\([^()]*\)"):
        while (less := re.sub(bracket, "", text)) != text:
            text = less
    text = text.strip().removesuffix(" const")
    at = text.find("operator ")  # of a conversion, or new and delete
    at = at if at >= 0 else len(text)
    text = text[text.rfind(" ", 0, at) + 1 :]
    text = re.sub(r"\0(\d+)\0", lambda found: held[int(found[1])], text).removesuffix("_func")
    if found := _PROCESSORS.fullmatch(text):
        text = found[1]
    scope, colons, last = text.rpartition("::")
    return (
        f"{_RENAMED_CLASSES.get(scope, scope)}{colons}{last}" if colons else _RENAMED.get(text, text) or name
    )
