"""The rooms of a chapter: which files each has, held against what `chapters.toml` declares.

`python -m engineroom.rooms` writes what follows from the declaration and is kept in git, the table of contents and the table in
CONTRIBUTING.md, and says which rooms are missing or belong to nobody. With `--sizes` it prints the files and lines of each chapter's.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engineroom import chapters, paths
from engineroom.chapters import Chapter, Module, Page
from engineroom.errors import EngineRoomError

__all__ = ["GENERATED", "MODULE_ROOMS", "ROOMS", "Room", "Size", "missing", "sizes", "surplus", "write"]


@dataclass(frozen=True)
class Room:
    """A place where every chapter has something of its own.

    One of `forms` must be there: patterns under the root with `{word}`, in which `*` stands for any further letters. `since` is the
    state from which on it is needed, None where a chapter may do without. `is_shared` says that others live there, too, so that a
    word which nobody declared is no mistake; `of_kernel` that a chapter whose kernel is another's has none.
    """

    what: str
    forms: tuple[str, ...]
    since: str | None = "begun"
    on_pages: bool = False
    others: tuple[str, ...] = ()
    is_shared: bool = False
    of_kernel: bool = False

    def found(self, root: Path, word: str) -> list[Path]:
        """What there is of `word` in this room."""
        return [path for form in self.forms for path in sorted(root.glob(form.format(word=word)))]

    def words(self, root: Path) -> Iterator[tuple[str, Path]]:
        """Whose files live in this room, by the names of the files."""
        for form in self.forms:
            if form.count("*"):
                continue
            before, after = (re.escape(part) for part in form.rstrip("/").split("{word}"))
            named = re.compile(f"{before}([a-z0-9_]+){after}")
            for path in sorted(root.glob(form.format(word="*"))):
                match = named.fullmatch(path.relative_to(root).as_posix())
                if match and not match[1].startswith("__"):
                    yield match[1], path

    def is_needed(self, page: Page) -> bool:
        """Whether `page` must have it."""
        if not isinstance(page, Chapter):
            return self.on_pages and self.since is not None
        if self.of_kernel and not page.has_own_kernel:
            return False
        return self.since == "begun" or (self.since == "written" and page.is_written)


# In the order in which a chapter is usually written.
ROOMS = (
    Room(
        "the page",
        ("book/{word}.md",),
        on_pages=True,
        others=("index", "ledger", "reading_paths", "glossary", "bibliography", "how_to_cite", "instructors"),
    ),
    Room("the exercises as the page shows them", ("book/_fragments/{word}_exercises.md",)),
    Room("the lab", ("notebooks/{word}.md",)),
    Room("the exercises", ("notebooks/exercises/{word}.md",)),
    Room("planted wrong answers to them", ("notebooks/exercises/wrong/{word}.md",)),
    Room("right answers to them in other words", ("notebooks/exercises/right/{word}.md",)),
    Room(
        "what exercises and their tests share",
        ("src/engineroom/classroom/{word}.py",),
        None,
        others=(
            "capstone",
            "delivery",
            "fresh",
            "handouts",
            "mutant_table",
            "mutants",
            "plan",
            "rehearsal",
            "servers",
            "shown",
            "solved",
            "trial",
            "varied",
            "wheel",
        ),
    ),
    Room("the kernels", ("native/kernels/{word}/",), of_kernel=True),
    Room(
        "native tests of the kernels",
        ("native/tests/test_{word}.cpp", "native/tests/test_{word}_*.cpp"),
        on_pages=True,
        is_shared=True,
        of_kernel=True,
    ),
    Room(
        "the binding of the kernels",
        ("native/bindings/{word}.cpp",),
        on_pages=True,
        is_shared=True,
        of_kernel=True,
    ),
    Room(
        "the binding's types, written by `python -m engineroom.native_stubs`",
        ("src/engineroom/_native/{word}.pyi",),
        on_pages=True,
        of_kernel=True,
    ),
    Room(
        "tests of the kernels from Python",
        ("tests/kernels/test_{word}.py", "tests/kernels/test_{word}_*.py"),
        is_shared=True,
        of_kernel=True,
    ),
    Room(
        "the experiments, with a `RECORD`",
        ("src/engineroom/experiments/{word}.py", "src/engineroom/experiments/{word}/"),
        on_pages=True,
    ),
    Room(
        "tests of the experiments",
        ("tests/experiments/test_{word}.py", "tests/experiments/test_{word}_*.py"),
        on_pages=True,
        is_shared=True,
    ),
    Room(
        "the figures, one module per figure, named by its id in `data/published/figures.yaml`",
        ("src/engineroom/figures/{word}/",),
        on_pages=True,
    ),
    Room(
        "the facts: the numbers of the page",
        ("src/engineroom/facts/{word}.py",),
        on_pages=True,
        others=("index", "ledger"),
    ),
    Room("tests of the facts", ("tests/facts/test_{word}.py",), on_pages=True, is_shared=True),
    Room(
        "the recorded runs, written by `make record`",
        ("data/recorded/{word}/",),
        "written",
        on_pages=True,
        others=("bench",),
    ),
    Room("the bench, for goals of speed", ("src/engineroom/bench/{word}.py",), None, on_pages=True),
)
# What each WebAssembly module has; the first two whether or not it is an explorable.
MODULE_ROOMS = (
    Room("the entry of a WebAssembly module", ("native/wasm/{word}.cpp",)),
    Room("the module, built by `make wasm`", ("book/web/wasm/{word}.wasm",)),
    Room("an explorable's knobs and picture", ("book/web/explorables/{word}.js",), others=("runtime",)),
    Room("its picture at the start values, drawn by `make wasm`", ("book/web/explorables/{word}.svg",)),
    Room("its tests against the native kernel", ("tests/wasm/test_{word}.py",), others=("build",)),
)


def missing(book: chapters.Book, root: Path) -> list[str]:
    """Each room that a declared page with rooms lacks, with what to do."""
    lacking = []
    for page in _with_rooms(book):
        for room in ROOMS:
            if room.is_needed(page) and not room.found(root, page.word):
                lacking.append(
                    f"{page.word} lacks {' or '.join(room.forms).format(word=page.word)} ({room.what}): write it"
                )
        for module in page.modules:
            needed = [(room, "module", module.word) for room in MODULE_ROOMS[:2]]
            needed += [(room, "explorable", word) for word in module.shown for room in MODULE_ROOMS[2:]]
            lacking += [
                f"{page.word} lacks {room.forms[0].format(word=word)} ({room.what}): write it, or take the {kind} "
                f"{word} out of chapters.toml"
                for room, kind, word in needed
                if not room.found(root, word)
            ]
            lacking += [
                f"{page.word}: the module {module.word} names native/{source}, which is not there: mend chapters.toml"
                for source in module.sources
                if not any((root / "native").glob(source))
            ]
    return lacking


def surplus(book: chapters.Book, root: Path) -> list[str]:
    """Each room whose word nobody declared, or that a planned chapter has already, with what to do."""
    of_pages = {page.word for page in _with_rooms(book)}
    modules = {module.word: module for page in _with_rooms(book) for module in page.modules}
    explorables = {word for module in modules.values() for word in module.shown}
    planned = {each.word for each in book.chapters if not each.has_rooms}
    found = []
    for rooms, known in (
        (ROOMS, of_pages),
        (MODULE_ROOMS[:2], set(modules)),
        (MODULE_ROOMS[2:], explorables),
    ):
        for room in rooms:
            for word, path in [] if room.is_shared else room.words(root):
                if word in known or word in room.others or word.startswith("_"):
                    continue
                what = (
                    f"{word} is planned: set its state to begun in chapters.toml"
                    if word in planned
                    else f"nobody declares {word}: enter it in chapters.toml, or move the file"
                )
                found.append(f"{path.relative_to(root)} ({room.what}): {what}")
    return found


@dataclass(frozen=True)
class Size:
    """What a contributor writes for a chapter: its rooms without recorded runs, modules and drawn pictures."""

    word: str
    files: int
    lines: int


def sizes(book: chapters.Book, root: Path) -> list[Size]:
    """Of each chapter that is written, in the order of the contents."""
    by_word = {page.word: page for page in book.chapters}
    return [_size(by_word[word], root) for word in book.contents if by_word[word].is_written]


def _size(page: Page, root: Path) -> Size:
    places = [path for room in ROOMS for path in room.found(root, page.word)]
    for module in page.modules:
        places += MODULE_ROOMS[0].found(root, module.word)
        places += [
            path for word in module.shown for room in MODULE_ROOMS[2:] for path in room.found(root, word)
        ]
    files = {
        file
        for place in places
        for file in (place.rglob("*") if place.is_dir() else [place])
        if file.is_file()
        and file.suffix not in (".pyc", ".so", ".svg", ".wasm")
        and not file.is_relative_to(root / "data/recorded")
    }
    return Size(page.word, len(files), sum(len(file.read_bytes().splitlines()) for file in files))


def _with_rooms(book: chapters.Book) -> list[Page]:
    return [*(each for each in book.chapters if each.has_rooms), *book.pages]


def _contents(book: chapters.Book) -> str:
    """The parts of the table of contents that are pages of chapters and of the measured pages."""
    lines = ["  - caption: Chapters", "    chapters:"]
    for word in book.contents:
        lines += [f"      - file: book/{word}", "        sections:", f"          - file: notebooks/{word}"]
    lines += ["  - caption: How it is measured", "    chapters:"]
    lines += [f"      - file: book/{page.word}" for page in book.pages]
    return "\n".join(lines)


def _table(book: chapters.Book) -> str:
    """The contributor's table of a chapter's rooms, with a chapter that is written as the example."""
    example = next(each for each in book.chapters if each.is_written)
    lines = ["| room | file |", "|---|---|"]
    for room in ROOMS:
        forms = " or ".join(f"`{form.format(word=example.word)}`" for form in room.forms if "*" not in form)
        lines.append(f"| {room.what}{'' if room.since else ' (where it has any)'} | {forms} |")
    module: Module = example.modules[0]
    for room in MODULE_ROOMS:
        lines.append(f"| {room.what} (where it has any) | `{room.forms[0].format(word=module.word)}` |")
    return "\n".join(lines)


# File -> the marks around what is written there, and who writes it.
GENERATED: dict[str, tuple[tuple[str, str], Callable[[chapters.Book], str]]] = {
    "_toc.yml": (("  # chapters: written by `python -m engineroom.rooms`", "  # /chapters"), _contents),
    "CONTRIBUTING.md": (
        ("<!-- rooms: written by `python -m engineroom.rooms` -->", "<!-- /rooms -->"),
        _table,
    ),
}


def generated(name: str, book: chapters.Book, root: Path) -> str:
    """The text of a file of GENERATED as it should be."""
    (begin, end), make = GENERATED[name]
    text = (root / name).read_text(encoding="utf-8")
    between = re.compile(f"{re.escape(begin)}\n.*?{re.escape(end)}\n", re.DOTALL)
    if len(between.findall(text)) != 1:
        raise EngineRoomError(
            f"{name} lacks the marks {begin.strip()} and {end.strip()}", remedy="put them around the list"
        )
    return between.sub(lambda _: f"{begin}\n{make(book)}\n{end}\n", text)


def write(book: chapters.Book, root: Path) -> list[str]:
    """Write what follows from the declaration; return the names of the files that changed."""
    texts = {name: generated(name, book, root) for name in GENERATED}
    changed = [name for name, text in texts.items() if (root / name).read_text(encoding="utf-8") != text]
    for name in changed:
        (root / name).write_text(texts[name], encoding="utf-8")
    return changed


def _main(arguments: Sequence[str]) -> int:
    root, book = paths.root(), chapters.book()
    if list(arguments) == ["--sizes"]:
        print(
            "\n".join(
                f"{each.word:16} {each.files:4} files {each.lines:6} lines" for each in sizes(book, root)
            )
        )
        return 0
    for name in write(book, root):
        print(f"wrote {name}")
    wrong = [*missing(book, root), *surplus(book, root)]
    print("\n".join(wrong) or "every declared chapter has its rooms, and nobody else has any")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
