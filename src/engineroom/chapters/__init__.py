"""The chapters, each declared once in `chapters.toml`: the ledger, `engineroom record`, the browser build, the pages and the tests ask here.

A chapter's own modules are `engineroom.chapters.<word>`: experiments, figures, numbers, bench and exercises. Only the standard library is
imported, so that native/wasm/build.sh can ask before anything is installed.
"""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engineroom.errors import EngineRoomError

__all__ = [
    "DECLARED",
    "METHODS",
    "Book",
    "Chapter",
    "Module",
    "Page",
    "book",
    "chapter",
    "modules",
    "path_lines",
    "read",
    "recorded",
    "written",
]

DECLARED = Path(__file__).with_name("chapters.toml")
# In the order in which a figure prefers them. "instructions" counts those of real servers.
METHODS = ("instructions", "live", "host", "sim", "kernel")


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
        """Its entry and the sources that there are in the folder `native`."""
        entries = [
            *native.glob(f"kernels/{self.word}/wasm.cpp"),
            *native.glob(f"kernels/*/wasm_{self.word}.cpp"),
        ]
        entry = entries[0] if entries else native / "validation" / "wasm.cpp"
        found = [entry, *(file for source in self.sources for file in sorted(native.glob(source)))]
        return [file.relative_to(native).as_posix() for file in found]


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page with experiments and figures of its own: a chapter, or the one on the machine that the chapters measure with."""

    word: str
    title: str
    methods: tuple[str, ...]
    modules: tuple[Module, ...] = ()

    def module(self, room: str) -> str:
        """The name of its module `room`: experiments, figures, numbers or bench."""
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


@dataclass(frozen=True)
class Book:
    """All that is declared. `chapters` are in the order of the ledger, `contents` and `paths` are words in theirs."""

    chapters: tuple[Chapter, ...]
    pages: tuple[Page, ...]
    contents: tuple[str, ...]
    paths: tuple[str, ...]


def read(file: Path = DECLARED) -> Book:
    """What `file` declares; EngineRoomError with the entry when something in it is wrong."""
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
        made = Book(
            chapters=tuple(_made(Chapter, each) for each in found.pop("chapter")),
            pages=tuple(_made(Page, each) for each in found.pop("page")),
            contents=tuple(found.pop("contents")),
            paths=tuple(found.pop("paths")),
        )
        words = sorted(each.word for each in made.chapters)
        if found or not (words == sorted(made.contents) == sorted(made.paths) == sorted(set(words))):
            raise ValueError(
                f"contents and paths name each of {', '.join(words)} once, and nothing else stands at the top"
            )
    except (OSError, tomllib.TOMLDecodeError, TypeError, ValueError, KeyError) as error:
        raise EngineRoomError(
            f"{file.name}: {error}", remedy=f"mend {file}; its first lines say what each key means"
        ) from error
    return made


def _made(kind: type[Any], found: dict[str, Any]) -> Any:
    """A chapter, page or module of its table."""
    made = {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}
    if "modules" in made:
        made["modules"] = tuple(_made(Module, each) for each in made["modules"])
    try:
        return kind(**made)
    except TypeError as error:
        raise ValueError(f"{kind.__name__.lower()} {found.get('word')!r}: {error}") from error


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


def written() -> list[Chapter]:
    """The chapters, in the order of the table of contents."""
    return [chapter(word) for word in book().contents]


def recorded() -> list[Page]:
    """Everything with experiments: the chapters, then the measured pages."""
    return [*written(), *book().pages]


def path_lines(reader: str) -> list[str]:
    """The steps of a reading path, `operators` or `students`, as lines of a numbered list in MyST."""
    steps = [step for word in book().paths for step in getattr(chapter(word), reader)]
    return [("   " if row else "1. ") + line for step in steps for row, line in enumerate(step.splitlines())]


def modules() -> list[Module]:
    """The WebAssembly modules of everything that has experiments."""
    return [module for page in recorded() for module in page.modules]
