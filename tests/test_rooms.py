"""Every declared chapter has its rooms, nobody else has any, and what is generated from the declaration is up to date."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
import yaml

from engineroom import chapters, paths, recording, rooms
from engineroom.errors import EngineRoomError

ROOT = paths.root()
BOOK = chapters.book()
BOOK_WRITTEN = {page.word for page in BOOK.chapters if page.is_written}


def test_every_chapter_has_its_rooms():
    assert rooms.missing(BOOK, ROOT) == []


def test_nobody_has_rooms_who_is_not_declared():
    assert rooms.surplus(BOOK, ROOT) == []


@pytest.mark.parametrize("name", rooms.GENERATED)
def test_what_follows_from_the_declaration_is_written(name):
    assert (ROOT / name).read_text() == rooms.generated(name, BOOK, ROOT), "run python -m engineroom.rooms"


def test_a_room_that_is_lacking_is_named_with_the_chapter():
    begun = chapters.Chapter(
        word="made_up", name="Made up", title="Made up", question="Why?", methods=(), state="begun"
    )
    lacking = rooms.missing(dataclasses.replace(BOOK, chapters=(*BOOK.chapters, begun)), ROOT)
    assert all(line.startswith("made_up lacks ") for line in lacking)
    for path in (
        "book/made_up.md",
        "native/kernels/made_up/",
        "notebooks/exercises/wrong/made_up.md",
        "notebooks/exercises/right/made_up.md",
    ):
        assert any(path in line for line in lacking), path
    assert len(lacking) == sum(room.since == "begun" for room in rooms.ROOMS)


def test_a_room_of_nobody_is_named_with_what_to_do(tmp_path):
    planned = chapters.Chapter(
        word="made_up", name="Made up", title="Made up", question="Why?", methods=(), state="planned"
    )
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "made_up.md").write_text("")
    (tmp_path / "book" / "ledger.md").write_text("")
    (tmp_path / "native" / "kernels" / "hash_joyn").mkdir(parents=True)
    (tmp_path / "native" / "wasm").mkdir()
    (tmp_path / "native" / "wasm" / "knobs.cpp").write_text("")
    found = "\n".join(rooms.surplus(dataclasses.replace(BOOK, chapters=(*BOOK.chapters, planned)), tmp_path))
    assert "book/made_up.md (the page): made_up is planned: set its state" in found
    assert "native/kernels/hash_joyn (the kernels): nobody declares hash_joyn" in found
    assert "native/wasm/knobs.cpp" in found
    assert "ledger" not in found
    assert len(found.splitlines()) == 3


def test_the_sizes_that_contributors_are_told_hold():
    said = re.search(
        r"has (\d+) to (\d+) files and ([\d,]+) to ([\d,]+) lines", (ROOT / "CONTRIBUTING.md").read_text()
    )
    least_files, most_files, least_lines, most_lines = (
        int(number.replace(",", "")) for number in said.groups()
    )
    found = rooms.sizes(BOOK, ROOT)
    assert [each.word for each in found] == [word for word in BOOK.contents if word in BOOK_WRITTEN]
    for each in found:
        assert least_files <= each.files <= most_files, each
        assert least_lines <= each.lines <= most_lines, each


def test_a_chapter_s_size_leaves_out_recorded_runs_and_what_is_built(tmp_path):
    one = chapters.Chapter(word="one", name="One", title="One", question="Why?", methods=(), state="written")
    for name, text in {
        "book/one.md": "a\nb\n",
        "native/kernels/one/one.hpp": "c\n",
        "native/kernels/one/__pycache__/one.pyc": "d\n",
        "data/recorded/one/run.csv": "e\n",
        "book/two.md": "f\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    book = dataclasses.replace(BOOK, chapters=(one,), contents=("one",), paths=("one",))
    assert rooms.sizes(book, tmp_path) == [rooms.Size("one", files=2, lines=3)]


def test_a_file_without_marks_is_refused(tmp_path):
    (tmp_path / "_toc.yml").write_text("format: jb-book\n")
    with pytest.raises(EngineRoomError, match=r"_toc\.yml lacks the marks # chapters"):
        rooms.generated("_toc.yml", BOOK, tmp_path)


def test_the_contents_list_pages_that_exist_and_every_chapter_once():
    listed = re.findall(r"file: (\S+)", (ROOT / "_toc.yml").read_text())
    assert all((ROOT / f"{name}.md").is_file() for name in listed)
    assert len(listed) == len(set(listed))
    (parts,) = (
        each
        for each in yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
        if each["caption"] == "Chapters"
    )
    assert [entry["file"].removeprefix("book/") for entry in parts["chapters"]] == list(BOOK.contents)


@pytest.mark.parametrize("page", chapters.recorded(), ids=lambda page: page.word)
def test_a_page_has_the_heading_that_is_declared(page):
    text = (ROOT / "book" / f"{page.word}.md").read_text()
    assert re.search(r"^# (.+)$", text, re.MULTILINE)[1] == page.title
    assert f"\n({page.word.replace('_', '-')})=\n# " in text


@pytest.mark.parametrize("page", chapters.recorded(), ids=lambda page: page.word)
def test_explorables_stand_on_the_page_that_declares_them(page):
    text = (ROOT / "book" / f"{page.word}.md").read_text()
    assert sorted(re.findall(r"^```\{explorable\} (\w+)$", text, re.MULTILINE)) == sorted(page.explorables)


def test_record_knows_every_page_with_experiments_and_its_methods():
    """What can be recorded is a subset of the methods declared; the rest has been recorded in another way."""
    found = {page.word: set() for page in chapters.recorded()}
    for word, _, method in recording.recipes():
        found[word].add(method)
    for page in chapters.recorded():
        assert found[page.word] <= set(page.methods), page.word


# Tests of what is not our module, with what they are about.
OF_THE_WHOLE = {
    "tests/test_repository.py": "the files around the code",
    "tests/test_imports.py": "who may import whom",
    "tests/test_includes.py": "who may include whom",
    "tests/test_english.py": "comments, docstrings and pages",
    "tests/test_native_source.py": "what no file of native/ may have",
    "tests/test_binder.py": ".binder/",
    "tests/test_binder_image.py": ".binder/measure.sh",
    "tests/test_post_build.py": ".binder/postBuild",
    "tests/test_compiled_once.py": "tests/compiled_once.py",
    "tests/figures/test_kinds.py": "the kinds of plot, each drawn of made rows",
    "tests/book/test_browser.py": "the built pages, in a browser",
    "tests/book/test_browser_questions.py": "the explorables' questions, in a browser",
    "tests/book/test_pages.py": "the built pages",
    "tests/widgets/test_questions.py": "the explorables' questions",
    "tests/facts/test_pages.py": "the cells of pages and labs",
}


def mirrored(test: str, root: Path) -> list[Path]:
    """What a test is about: `tests/<folder>/test_<name>.py` mirrors `<folder>/<name>` in the package, in native/ or in the repository.

    Of `wasm` it is the module or the explorable. A folder as a whole has `test_<folder>.py` in it. What is large may have several, `test_<name>_<part>.py`, where a file of the
    folder `name` begins with `part`.
    """
    folder, name = test.removeprefix("tests/").rpartition("/")[::2]
    folder = folder.strip("/")
    name = name.removeprefix("test_").removesuffix(".py")
    if folder.rpartition("/")[2] == name:
        folder = folder.rpartition("/")[0]
    explorable = root / "book/web/explorables" / name if folder == "wasm" else root / folder / name
    for home in (root / "src/engineroom", root / "native", root):
        for base in (home / folder / name, home / folder / f"_{name}", explorable):
            if found := [path for path in (base, *base.parent.glob(f"{base.name}.*")) if path.exists()]:
                return found
        for cut in range(len(name)):
            if name[cut] == "_" and (found := [*(home / folder).glob(f"{name[:cut]}/{name[cut + 1 :]}*")]):
                return found
    return []


def test_every_test_mirrors_what_it_is_about():
    lost = [
        name
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if (name := path.relative_to(ROOT).as_posix()) not in OF_THE_WHOLE and not mirrored(name, ROOT)
    ]
    assert lost == [], (
        "move each to tests/<folder>/test_<name>.py, after src/engineroom/<folder>/<name> or native/<folder>/<name>"
    )
    assert [name for name in OF_THE_WHOLE if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("test", sorted(path.stem for path in (ROOT / "native/tests").glob("test_*.cpp")))
def test_every_native_test_mirrors_kernels_or_what_lies_below_them(test):
    """`test_<word>.cpp` and `test_<word>_<part>.cpp` for the kernels of a chapter, `test_<file>.cpp` for the rest."""
    native = ROOT / "native"
    folders = ["", *(path.relative_to(native).as_posix() for path in native.rglob("*") if path.is_dir())]
    assert any(mirrored(f"tests/{folder}/{test}.py", ROOT) for folder in folders if folder != "tests"), (
        f"no file or folder of native/ is called {test.removeprefix('test_')}"
    )
