"""`make chapter`: what it writes builds, is clean and says nothing false; what it refuses leaves nothing behind."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pybind11
import pytest
import yaml
from bs4 import BeautifulSoup

from engineroom import address_grammars, chapters, paths, rooms
from engineroom.errors import EngineRoomError
from engineroom.new_chapter import DECLARED, STUBS, new_chapter
from engineroom.new_chapter.__main__ import main

ROOT = paths.root()
# A chapter that is planned in every copy, whatever chapters are written by now.
WORD = "made_up"
PLANNED = """[[chapter]]
word = "made_up"
name = "Made up"
title = "Made up"
question = "Why is it slow?"
methods = ["sim"]
state = "planned"

"""
# What stands outside a chapter's rooms and changes with it.
TOUCHED = {DECLARED, STUBS, Path("_toc.yml")}


def tracked(folder: str = ".") -> list[str]:
    """Every file that git knows or would add, under `folder`."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", folder],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return [name for name in listing.split("\0") if name and (ROOT / name).is_file()]


def copied(target: Path, *folders: str) -> Path:
    """A copy of the repository, or of some of its folders, as git would clone it, with one more planned chapter."""
    for name in [name for folder in folders or (".",) for name in tracked(folder)]:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target / name)
    text = (target / DECLARED).read_text()
    (target / DECLARED).write_text(text.replace("[[chapter]]\n", PLANNED + "[[chapter]]\n", 1))
    return target


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """What the command reads and changes, without the rest of the repository."""
    return copied(tmp_path, str(DECLARED), str(STUBS), *rooms.GENERATED)


def contents(root: Path) -> dict[Path, str]:
    return {path.relative_to(root): path.read_text() for path in root.rglob("*") if path.is_file()}


def test_a_planned_chapter_gets_its_rooms_and_three_other_files_change(small):
    before = contents(small)
    made, changed = new_chapter(small, WORD)
    assert set(changed) == TOUCHED
    assert all(WORD in str(name) for name in made)
    assert contents(small).keys() == {*before, *made}
    book = chapters.read(small / DECLARED)
    assert book.contents == (*chapters.book().contents, WORD)
    assert next(each for each in book.chapters if each.word == WORD).state == "begun"
    lacking = [line for line in rooms.missing(book, small) if line.startswith(f"{WORD} ")]
    assert lacking == []
    (parts,) = (
        each
        for each in yaml.safe_load((small / "_toc.yml").read_text())["parts"]
        if each["caption"] == "Chapters"
    )
    assert parts["chapters"][-1] == {"file": f"book/{WORD}", "sections": [{"file": f"notebooks/{WORD}"}]}


def test_a_chapter_that_is_not_declared_is_entered_with_its_title_and_question(small):
    _, changed = new_chapter(small, "buffer_pool", title='The "buffer" pool', question="Why is it \\ slow?")
    assert set(changed) == TOUCHED
    book = chapters.read(small / DECLARED)
    entered = book.chapters[-1]
    assert (entered.word, entered.title, entered.state) == ("buffer_pool", 'The "buffer" pool', "begun")
    assert entered.question == "Why is it \\ slow?"
    assert book.pages == chapters.book().pages
    assert "> Why is it \\ slow?\n" in (small / "book/buffer_pool.md").read_text()


def test_all_planned_chapters_can_be_begun_one_after_the_other(small):
    planned = [each.word for each in chapters.read(small / DECLARED).chapters if not each.has_rooms]
    for word in planned:
        new_chapter(small, word)
    book = chapters.read(small / DECLARED)
    assert book.contents == (*chapters.book().contents, *planned)
    assert not [line for line in rooms.missing(book, small) if line.split()[0] in planned]


@pytest.mark.parametrize(
    ("word", "more", "says"),
    [
        ("Group", {}, "'Group' is no word for a chapter"),
        ("", {}, r"WORD=\.\.\."),
        ("a__b", {}, "single underscores"),
        ("../x", {}, "no word"),
        ("hash_join", {}, rf"has its rooms already[\s\S]*{WORD}"),
        ("machine", {"title": "M", "question": "Q?"}, "more than one entry of the word machine"),
        ("no_such", {}, rf'TITLE="\.\.\."[\s\S]*{WORD}'),
        ("no_such", {"title": "T"}, 'QUESTION="'),
        (WORD, {"title": "Another"}, "is declared with its title and question"),
        ("no_such", {"title": "T", "question": "one\ntwo"}, "on one line"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(small, word, more, says):
    before = contents(small)
    with pytest.raises(EngineRoomError, match=says):
        new_chapter(small, word, **more)
    assert contents(small) == before


@pytest.mark.parametrize(
    "taken", [f"book/{WORD}.md", f"native/kernels/{WORD}/old.cpp", f"data/recorded/{WORD}/x.csv"]
)
def test_rooms_that_are_not_empty_are_left_alone(small, taken):
    (small / taken).parent.mkdir(parents=True, exist_ok=True)
    (small / taken).write_text("mine")
    before = contents(small)
    with pytest.raises(EngineRoomError, match=rf"{WORD}[\s\S]*is there already[\s\S]*move"):
        new_chapter(small, WORD)
    assert contents(small) == before


@pytest.mark.parametrize("stops", [OSError(28, "No space left on device", "x"), KeyboardInterrupt()])
def test_a_command_that_cannot_end_puts_everything_back(small, monkeypatch, stops):
    before = contents(small)
    write = Path.write_text

    def failing(path: Path, text: str, **more: object) -> int:
        if path == small / DECLARED and text != before[Path(DECLARED)]:
            write(path, text[:100])
            raise stops
        return write(path, text, **more)

    monkeypatch.setattr(Path, "write_text", failing)
    with pytest.raises((EngineRoomError, KeyboardInterrupt)) as error:
        new_chapter(small, WORD)
    assert contents(small) == before
    assert sorted(path for path in small.rglob("*") if path.is_dir() and WORD in path.name) == []
    if isinstance(stops, OSError):
        assert "nothing was changed" in str(error.value)


def test_the_command_says_what_it_wrote_and_what_went_wrong(small, monkeypatch, capsys):
    monkeypatch.setattr(paths, "root", lambda: small)
    assert main([WORD]) == 0
    said = capsys.readouterr().out
    assert f"wrote book/{WORD}.md\n" in said
    assert f"changed {DECLARED}\n" in said
    assert main([WORD]) == 1
    assert "What to do" in capsys.readouterr().err


def test_the_page_has_the_order_of_a_chapter(small):
    """As in the chapters that are written: what to check, then predict, up to exercises and sources."""
    new_chapter(small, WORD)
    page = (small / "book" / f"{WORD}.md").read_text()
    headings = re.findall(r"^## (.+)$", page, re.MULTILINE)
    assert headings[0] == "What to check and set on your server"
    assert headings[1] == "Predict"
    assert headings[-2:] == ["Exercises", "Sources"]
    assert CLAIMS.findall(page) == []


# In a scratch copy `engineroom` is the copy's, not the one that is installed: the editable install is taken out of the way.
AWAY = "import sys; sys.meta_path[:] = [each for each in sys.meta_path if 'editable' not in type(each).__module__]\n"
# Words on a page that would claim something of a chapter in which nothing was measured.
CLAIMS = re.compile(
    r"\d+(?:\.\d+)? ?(?:%|ms\b|us\b|ns\b|s\b|times|fsyncs)|\bwe (?:saw|measured|counted)|\bour (?:run|kernel)|faster|slower"
)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory) -> Path:
    """A copy of the repository with the rooms of a new chapter, its other chapters' kernels taken away."""
    root = copied(tmp_path_factory.mktemp("scratch"))
    new_chapter(root, WORD)
    (root / "_build" / "hook").mkdir(parents=True)
    (root / "_build" / "hook" / "sitecustomize.py").write_text(AWAY)
    address_grammars.skip_in(root / "_build" / "hook")
    subprocess.run(["git", "init", "-q", "."], cwd=root, check=True)
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    return root


def run(root: Path, *command: str) -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": f"{root / '_build' / 'hook'}{os.pathsep}{root / 'src'}",
        "ENGINEROOM_ROOT": str(root),
    }
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def python(root: Path, *arguments: str) -> str:
    return run(root, sys.executable, *arguments)


@pytest.mark.slow
def test_the_rooms_are_clean_to_linters_and_types(scratch):
    python(scratch, "-m", "ruff", "check", ".")
    python(scratch, "-m", "ruff", "format", "--check", ".")
    # What was checked of the same bytes in the checkout is not checked again.
    if (ROOT / ".mypy_cache").is_dir():
        shutil.copytree(ROOT / ".mypy_cache", scratch / ".mypy_cache")
    python(scratch, "-m", "mypy", "src/engineroom/experiments", "src/engineroom/facts")
    listed = run(scratch, "git", "ls-files", "native").splitlines()
    new = [name for name in listed if WORD in name and name.endswith(("pp", "hpp"))]
    assert len(new) == 4
    program = shutil.which("clang-format-19") or shutil.which("clang-format")
    if program:
        run(scratch, program, "--dry-run", "-Werror", *new)


@pytest.mark.slow
def test_the_declaration_and_the_rooms_agree(scratch):
    said = python(scratch, "-m", "engineroom.rooms")
    assert said == "every declared chapter has its rooms, and nobody else has any\n"


@pytest.fixture(scope="module")
def built(scratch: Path, compiled_once: Callable[..., str]) -> Path:
    """The scratch copy with its native module, made of the new chapter alone: of no other chapter does it need anything."""
    kept = {"module.cpp", "submodules.hpp.in", "options.cpp", "options.hpp"}
    for path in [*(scratch / "native/bindings").iterdir(), *(scratch / "native/tests").iterdir()]:
        if path.name not in kept and WORD not in path.name:
            path.unlink()
    for path in [
        scratch / "native/machine",
        scratch / "native/sync",
        scratch / "native/validation",
        *(scratch / "native/kernels").iterdir(),
    ]:
        if path.name != WORD:
            shutil.rmtree(path)
    build = scratch / "_build" / "native"
    # fmt: off
    run(scratch, "cmake", "-S", ".", "-B", str(build), "-DCMAKE_BUILD_TYPE=Release", "-DENGINEROOM_PYTHON=ON", "-DENGINEROOM_TESTS=ON",
        f"-DPython_EXECUTABLE={sys.executable}", f"-Dpybind11_DIR={pybind11.get_cmake_dir()}",
        f"-DCMAKE_CXX_COMPILER_LAUNCHER={compiled_once({scratch: ROOT})}",
        "-G", "Ninja" if shutil.which("ninja") else "Unix Makefiles")
    # fmt: on
    run(scratch, "cmake", "--build", str(build), "--parallel", "2", "--target", "all", "engineroom_tests")
    (module,) = build.glob("_native.*.so")
    shutil.copy(module, scratch / "src/engineroom")
    return scratch


@pytest.mark.slow
def test_the_native_module_finds_the_chapter_and_its_types_are_those_committed(built, tmp_path):
    said = python(
        built,
        "-c",
        f"import engineroom; from engineroom._native import {WORD} as kernel; print(engineroom.__file__, kernel.__doc__)",
    )
    assert said == f"{built / 'src/engineroom/__init__.py'} Kernels of the chapter {WORD}.\n"
    python(
        built,
        "-c",
        f"import pathlib; from engineroom import native_stubs; native_stubs.write(pathlib.Path({str(tmp_path)!r}))",
    )
    stub = built / "src/engineroom/_native" / f"{WORD}.pyi"
    assert (tmp_path / stub.name).read_text() == stub.read_text()


@pytest.mark.slow
def test_the_tests_of_the_rooms_pass(built):
    files = [
        name
        for name in run(built, "git", "ls-files", "tests").splitlines()
        if name.endswith(f"test_{WORD}.py")
    ]
    assert len(files) == 3
    python(built, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_page_and_lab_build_without_a_warning_and_claim_nothing(built):
    contents = f"format: jb-book\nroot: book/{WORD}\nchapters:\n  - file: notebooks/{WORD}\n"
    (built / "_build" / "toc.yml").write_text(contents)
    program = Path(sys.executable).with_name("jupyter-book")
    run(built, str(program), "build", ".", "--toc", "_build/toc.yml", "-W", "-n", "--keep-going")
    for page in (f"book/{WORD}", f"notebooks/{WORD}"):
        html = (built / "_build/html" / f"{page}.html").read_text()
        text = BeautifulSoup(html, "lxml").find(class_="bd-article").get_text()
        assert "being written" in text
        assert CLAIMS.findall(text) == [], page
        assert "glue:" not in text
    assert f"Kernels of the chapter {WORD}." in text, "the lab runs"
