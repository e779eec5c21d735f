"""`make chapter WORD=...`: the empty rooms of a chapter, with nothing in them that is not true yet.

The rooms are written from `templates/`, which mirrors the repository. Outside them three files change: the declaration
(`chapters.toml`: state and place in the contents), the table of contents, and the list of the native module's submodules.
All of it is written, or nothing.
"""

from __future__ import annotations

import re
import string
import tempfile
from collections.abc import Mapping
from pathlib import Path

from engineroom import chapters, rooms
from engineroom.errors import EngineRoomError

__all__ = ["new_chapter"]

TEMPLATES = Path(__file__).with_name("templates")
DECLARED = Path("src/engineroom/chapters.toml")
STUBS = Path("src/engineroom/_native/__init__.pyi")
_LINE = 110


def new_chapter(
    root: Path, word: str, *, title: str = "", question: str = ""
) -> tuple[list[Path], list[Path]]:
    """Write the rooms of `word` under `root`; return the files that are new and those that changed.

    `title` and `question` are for a chapter that is not declared yet. EngineRoomError when the word is none, has rooms, or
    lacks one of the two.
    """
    declared = _declaration(root, word, title=title, question=question)
    chapter = next(each for each in declared[1].chapters if each.word == word)
    texts = _rooms(chapter)
    if taken := sorted(str(name) for name in _taken(root, word, texts)):
        raise EngineRoomError(
            f"{', '.join(taken)} is there already",
            remedy=f"move what belongs to {word!r} away, or take another word",
        )
    texts[DECLARED] = declared[0]
    texts[STUBS] = _with_submodule((root / STUBS).read_text(encoding="utf-8"), word)
    for name in rooms.GENERATED:
        texts[Path(name)] = rooms.generated(name, declared[1], root)
    before = {
        name: (root / name).read_text(encoding="utf-8") if (root / name).exists() else None for name in texts
    }
    texts = {name: text for name, text in texts.items() if text != before[name]}
    _write(root, texts, before)
    return (
        [name for name in texts if before[name] is None],
        [name for name in texts if before[name] is not None],
    )


def _declaration(root: Path, word: str, *, title: str, question: str) -> tuple[str, chapters.Book]:
    """The text of the declaration with `word` begun, and what it declares."""
    if not chapters.WORD.fullmatch(word):
        raise EngineRoomError(
            f"{word!r} is no word for a chapter",
            remedy="make chapter WORD=..., in lower case, digits and single underscores, such as group_commit",
        )
    book = chapters.read(root / DECLARED)
    text = (root / DECLARED).read_text(encoding="utf-8")
    known = {each.word: each for each in book.chapters}
    if word in known and known[word].has_rooms:
        raise EngineRoomError(
            f"the chapter {word!r} has its rooms already",
            remedy="take the word of a planned chapter, one of: "
            + ", ".join(each.word for each in book.chapters if not each.has_rooms),
        )
    if word in known and (title or question):
        raise EngineRoomError(
            f"the chapter {word!r} is declared with its title and question",
            remedy=f"change them in {DECLARED}",
        )
    if word in known:
        entry = re.compile(rf'(\[\[chapter\]\]\nword = "{word}"\n(?:(?!\[\[).*\n)*?state = )"planned"')
        text = entry.sub(r'\1"begun"', text, count=1)
    else:
        if not (title and question):
            raise EngineRoomError(
                f"no chapter {word!r} is declared",
                remedy=f'make chapter WORD={word} TITLE="..." QUESTION="...", or a planned one: '
                + ", ".join(each.word for each in book.chapters if not each.has_rooms),
            )
        text = _with_entry(text, word, title, question)
    text = re.sub(
        r"^contents = \[(.*?)\]$",
        lambda match: f'contents = [{match[1].rstrip().rstrip(",")}, "{word}"]',
        text,
        count=1,
        flags=re.MULTILINE | re.DOTALL,
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / DECLARED.name
        file.write_text(text, encoding="utf-8")
        made = chapters.read(file)
    if made.contents != (*book.contents, word):
        raise EngineRoomError(
            f"{DECLARED} is not laid out as expected",
            remedy=f"enter {word!r} there by hand, as its first lines say",
        )
    return text, made


def _with_entry(text: str, word: str, title: str, question: str) -> str:
    """The declaration with a new entry behind the last chapter's."""
    quoted = {"word": word, "name": title, "title": title, "question": question, "state": "begun"}
    lines = [
        "[[chapter]]",
        *(f"{key} = {_toml(value)}" for key, value in quoted.items()),
        "methods = []",
        "",
        "",
    ]
    pages = re.search(r"^(?:#.*\n)*\n?\[\[page\]\]", text, re.MULTILINE)
    end = pages.start() if pages else len(text)
    return text[:end] + "\n".join(lines) + text[end:]


def _toml(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    if any(ord(sign) < 32 for sign in value):
        raise EngineRoomError(
            f"{value!r} is not one line of text", remedy="write title and question on one line"
        )
    return f'"{escaped}"'


def _rooms(chapter: chapters.Chapter) -> dict[Path, str]:
    """File -> text of everything that is the chapter's own."""
    title = chapter.title
    given = {
        "word": chapter.word,
        "title": title,
        "question": chapter.question,
        "subject": title if title[1:2].isupper() else title[:1].lower() + title[1:],
        "label": chapter.word.replace("_", "-"),
        "camel": "".join(part.capitalize() for part in chapter.word.split("_")),
    }
    made = {}
    for template in sorted(TEMPLATES.rglob("*.template")):
        name = template.relative_to(TEMPLATES).with_suffix("").as_posix().replace("WORD", chapter.word)
        made[Path(name)] = string.Template(template.read_text(encoding="utf-8")).substitute(given)
    return made


def _taken(root: Path, word: str, texts: Mapping[Path, str]) -> set[Path]:
    """What lies already where the chapter's rooms would be."""
    there = {path.relative_to(root) for room in rooms.ROOMS for path in room.found(root, word)}
    return there | {name for name in texts if (root / name).exists()}


def _with_submodule(text: str, word: str) -> str:
    """The native module's stub with one submodule more, laid out as `python -m engineroom.native_stubs` does."""
    listed = re.search(r"^__all__: list\[str\] = \[(.*?)\]", text, re.MULTILINE | re.DOTALL)
    imported = re.search(r"^from \. import (?:\(([^)]*)\)|([^(\n]*))$", text, re.MULTILINE)
    if not (listed and imported):
        raise EngineRoomError(
            f"{STUBS} is not laid out as expected", remedy="build, then python -m engineroom.native_stubs"
        )
    names = sorted({*re.findall(r'"(\w+)"', listed[1]), word})
    modules = sorted({*re.findall(r"\w+", imported[1] or imported[2]), word})
    quoted = [f'"{name}"' for name in names]
    for old, begin, items, brackets in (
        (listed[0], "__all__: list[str] = ", quoted, "[]"),
        (imported[0], "from . import ", modules, "()"),
    ):
        plain = ", ".join(items)
        line = begin + (f"[{plain}]" if brackets == "[]" else plain)
        if len(line) > _LINE:
            line = begin + brackets[0] + "\n" + "".join(f"    {item},\n" for item in items) + brackets[1]
        text = text.replace(old, line, 1)
    return text


def _write(root: Path, texts: Mapping[Path, str], before: Mapping[Path, str | None]) -> None:
    """Write all files; when one cannot be written, put everything back."""
    made: list[Path] = []
    touched: list[Path] = []
    try:
        for name, text in texts.items():
            for folder in reversed((root / name).parents):
                if not folder.exists():
                    folder.mkdir()
                    made.append(folder)
            touched.append(name)
            (root / name).write_text(text, encoding="utf-8")
    except BaseException as error:
        for name in touched:
            old = before[name]
            if old is None:
                (root / name).unlink(missing_ok=True)
            else:
                (root / name).write_text(old, encoding="utf-8")
        for folder in reversed(made):
            folder.rmdir()
        if isinstance(error, OSError):
            raise EngineRoomError(
                f"{error.filename} cannot be written: {error.strerror}; nothing was changed",
                remedy="make room and the folder writable, and try again",
            ) from error
        raise
