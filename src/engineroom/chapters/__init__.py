"""What the book consists of, as `chapters.toml` declares it: chapters, the measured pages beside them, and their orders.

Everything that lists chapters asks here: the ledger, `engineroom record`, the browser build, the pages and the tests. Only the
standard library is imported, so that native/wasm/build.sh can ask before anything is installed.
"""

from __future__ import annotations

import functools
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from engineroom.errors import EngineRoomError

__all__ = [
    "DECLARED",
    "METHODS",
    "STATES",
    "WORD",
    "Book",
    "Chapter",
    "Module",
    "Page",
    "book",
    "chapter",
    "contents",
    "modules",
    "path_lines",
    "read",
    "recorded",
    "written",
]

DECLARED = Path(__file__).with_name("chapters.toml")
STATES = ("planned", "begun", "written")
METHODS = ("live", "host", "sim", "kernel")
WORD = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


@dataclass(frozen=True, kw_only=True)
class Module:
    """A WebAssembly module: wasm.cpp or wasm_<word>.cpp beside its kernels, linked with `sources` (under native/, `*` for any name).

    `libraries` are C libraries in one file, lib/<name>/<name>.c once build.sh has fetched them. `explorables` are what a page shows of
    it: one of its own word unless others are named, none for ().
    """

    word: str
    sources: tuple[str, ...]
    libraries: tuple[str, ...] = ()
    optimize: str = "speed"
    explorables: tuple[str, ...] | None = None

    @property
    def shown(self) -> tuple[str, ...]:
        """The words of its explorables."""
        return (self.word,) if self.explorables is None else self.explorables

    def files(self, native: Path) -> list[str]:
        """The sources that there are in the folder `native`."""
        found = [file for source in self.sources for file in sorted(native.glob(source))]
        return [file.relative_to(native).as_posix() for file in found]


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page with experiments and figures of its own: a chapter, or one on how the chapters measure."""

    word: str
    title: str
    methods: tuple[str, ...]
    modules: tuple[Module, ...] = ()

    def module(self, room: str) -> str:
        """The name of its module `room`: experiments, figures, numbers, bench or exercises, where it has such."""
        return f"engineroom.validation.{room}"

    @property
    def explorables(self) -> tuple[str, ...]:
        """The words of the explorables that stand on the page."""
        return tuple(word for each in self.modules for word in each.shown)


@dataclass(frozen=True, kw_only=True)
class Chapter(Page):
    """A chapter: a page that answers a DBA's question and owns figures in the ledger."""

    name: str
    question: str
    state: str
    kernel: str = "its own"
    operators: tuple[str, ...] = ()
    students: tuple[str, ...] = ()

    def module(self, room: str) -> str:
        """The name of its module `room`."""
        return f"engineroom.chapters.{self.word}.{room}"

    @property
    def has_own_kernel(self) -> bool:
        """Whether it has kernels that are not another chapter's."""
        return self.kernel == "its own"

    @property
    def has_rooms(self) -> bool:
        """Whether its files exist."""
        return self.state != "planned"

    @property
    def is_written(self) -> bool:
        """Whether readers are sent to it."""
        return self.state == "written"


@dataclass(frozen=True)
class Book:
    """All that is declared. `chapters` are in the order of the ledger, `contents` and `paths` are words in theirs."""

    chapters: tuple[Chapter, ...]
    pages: tuple[Page, ...]
    contents: tuple[str, ...]
    paths: tuple[str, ...]


def read(file: Path = DECLARED) -> Book:
    """What `file` declares; EngineRoomError with the entry and the key when something in it is wrong."""
    try:
        text = file.read_text(encoding="utf-8")
        found = tomllib.loads(text)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise _wrong(file, str(error)) from error
    try:
        made = Book(
            chapters=tuple(_entry(Chapter, each) for each in found.pop("chapter", ())),
            pages=tuple(_entry(Page, each) for each in found.pop("page", ())),
            contents=_texts("contents", found.pop("contents", ())),
            paths=_texts("paths", found.pop("paths", ())),
        )
        _check(made, found)
    except ValueError as error:
        raise _wrong(file, str(error)) from error
    return made


@functools.cache
def book() -> Book:
    """What the package's own `chapters.toml` declares."""
    return read()


def chapter(word: str) -> Chapter:
    """The chapter of that word; EngineRoomError, with the words there are, when none has it."""
    for each in book().chapters:
        if each.word == word:
            return each
    raise EngineRoomError(
        f"no chapter {word!r} is declared",
        remedy=f"take one of: {', '.join(each.word for each in book().chapters)}",
    )


def contents() -> list[Chapter]:
    """The chapters that have rooms, in the order of the table of contents."""
    return [chapter(word) for word in book().contents]


def written() -> list[Chapter]:
    """The chapters that readers are sent to, in the order of the table of contents."""
    return [each for each in contents() if each.is_written]


def recorded() -> list[Page]:
    """Everything with experiments: the chapters that have rooms, then the measured pages."""
    return [*contents(), *book().pages]


def path_lines(reader: str) -> list[str]:
    """The steps of a reading path, `operators` or `students`, as lines of a numbered list in MyST."""
    steps = [step for word in book().paths for step in getattr(chapter(word), reader)]
    return [("   " if row else "1. ") + line for step in steps for row, line in enumerate(step.splitlines())]


def modules() -> list[Module]:
    """The WebAssembly modules of everything that has experiments."""
    return [module for page in recorded() for module in page.modules]


def _entry(kind: type[Any], found: Mapping[str, Any]) -> Any:
    """A chapter, page or module from its table, or ValueError with what is wrong with it."""
    word = found.get("word")
    what = f"{kind.__name__.lower()} {word!r}"
    if not isinstance(word, str) or not WORD.fullmatch(word):
        raise ValueError(f"{what}: a word is lower case, digits and single underscores")
    known = {each.name: each for each in fields(kind)}
    if unknown := found.keys() - known.keys():
        raise ValueError(f"{what} has unknown keys: {', '.join(sorted(unknown))}")
    made: dict[str, Any] = {}
    for name, value in found.items():
        declared = str(known[name].type)
        if name == "modules":
            made[name] = tuple(_entry(Module, each) for each in value)
        elif declared.startswith("tuple"):
            made[name] = _texts(f"{name} of {what}", value)
        elif type(value).__name__ != declared or value == "":
            raise ValueError(f"{name} of {what} must be {declared} and not empty, got {value!r}")
        else:
            made[name] = value
    needed = {name for name, each in known.items() if each.default is MISSING}
    if missing := needed - made.keys():
        raise ValueError(f"{what} lacks {', '.join(sorted(missing))}")
    return kind(**made)


def _texts(what: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) and each for each in value):
        raise ValueError(f"{what} must be a list of texts, got {value!r}")
    return tuple(value)


def _check(made: Book, left: Mapping[str, Any]) -> None:
    """What no single entry can get wrong, and the choices of words."""
    if left:
        raise ValueError(f"unknown keys at the top: {', '.join(sorted(left))}")
    everything: Sequence[Page] = (*made.chapters, *made.pages)
    every_module = [module for page in everything for module in page.modules]
    for kind, words in (
        ("entry", [each.word for each in everything]),
        ("module", [each.word for each in every_module]),
        ("explorable", [word for each in every_module for word in each.shown]),
    ):
        if twice := {word for word in words if words.count(word) > 1}:
            raise ValueError(f"more than one {kind} of the word {', '.join(sorted(twice))}")
    for page in everything:
        if unknown := set(page.methods) - set(METHODS):
            raise ValueError(
                f"methods of {page.word!r}: {', '.join(sorted(unknown))} not in {', '.join(METHODS)}"
            )
    for module in every_module:
        if module.optimize not in ("speed", "size"):
            raise ValueError(f"optimize of module {module.word!r} is {module.optimize!r}, not speed or size")
    own = [each.word for each in made.chapters if each.has_own_kernel]
    for each in made.chapters:
        if not each.has_own_kernel and each.kernel not in own:
            raise ValueError(
                f"kernel of {each.word!r} is {each.kernel!r}, which is no chapter with one of its own"
            )
        if each.state not in STATES:
            raise ValueError(f"state of {each.word!r} is {each.state!r}, not one of {', '.join(STATES)}")
    _check_order("contents", made.contents, [each.word for each in made.chapters if each.has_rooms])
    _check_order("paths", made.paths, [each.word for each in made.chapters if each.is_written])
    for each in made.chapters:
        if each.is_written and not (each.operators and each.students):
            raise ValueError(f"chapter {each.word!r} is written and on no reading path: operators, students")


def _check_order(what: str, words: tuple[str, ...], expected: list[str]) -> None:
    if len(set(words)) < len(words):
        raise ValueError(f"{what} has a word twice")
    if missing := [word for word in expected if word not in words]:
        raise ValueError(f"{what} lacks {', '.join(missing)}, whose state says that it has a place there")
    if surplus := [word for word in words if word not in expected]:
        raise ValueError(f"{what} has {', '.join(surplus)}, whose state says that it has no place there")


def _wrong(file: Path, problem: str) -> EngineRoomError:
    return EngineRoomError(
        f"{file.name}: {problem}", remedy=f"mend {file}; its first lines say what each key means"
    )


def wasm_lines() -> list[str]:
    """One line per WebAssembly module, for native/wasm/build.sh: its word, what to optimize for, its sources."""
    native = Path(__file__).resolve().parents[3] / "native"
    return [
        " ".join(
            (
                each.word,
                each.optimize,
                _entry_point(each.word, native),
                *each.files(native),
                *(f"lib/{name}/{name}.c" for name in each.libraries),
            )
        )
        for each in modules()
    ]


def _entry_point(word: str, native: Path) -> str:
    """Where the module's exports are: wasm.cpp in the folder of its word, or wasm_<word>.cpp in another's."""
    found = [*native.glob(f"kernels/{word}/wasm.cpp"), *native.glob(f"kernels/*/wasm_{word}.cpp")]
    return (found[0] if found else native / "validation/wasm.cpp").relative_to(native).as_posix()


if __name__ == "__main__":
    if sys.argv[1:] != ["wasm"]:
        sys.exit("usage: python -m engineroom.chapters wasm")
    print("\n".join(wasm_lines()))
