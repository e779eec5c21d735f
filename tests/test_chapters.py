"""The declaration of the chapters: what it holds, what it refuses, and that everything that lists chapters follows it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from engineroom import chapters, paths
from engineroom.errors import EngineRoomError

ROOT = paths.root()
SMALL = """
contents = ["one"]
paths = ["one"]
[[chapter]]
word = "one"
name = "One"
title = "One"
question = "Why?"
methods = ["sim"]
state = "written"
operators = ["[One](one.md)."]
students = ["[One](one.md)."]
[[chapter.modules]]
word = "knobs"
sources = ["kernels/one/one.cpp"]
[[chapter]]
word = "two"
name = "Two"
title = "Two"
question = "Why not?"
methods = ["sim"]
state = "planned"
[[page]]
word = "bench"
title = "The bench"
methods = ["host"]
"""


def declared(folder: Path, text: str) -> chapters.Book:
    file = folder / "chapters.toml"
    file.write_text(text)
    return chapters.read(file)


def test_a_declaration_is_read_as_it_stands(tmp_path):
    book = declared(tmp_path, SMALL)
    assert [each.word for each in book.chapters] == ["one", "two"]
    one, two = book.chapters
    assert (one.has_rooms, one.is_written, two.has_rooms, two.is_written) == (True, True, False, False)
    assert one.explorables == ("knobs",)
    assert one.modules[0].optimize == "speed"
    assert [page.word for page in book.pages] == ["bench"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('word = "two"', 'word = "Two"'), "chapter 'Two': a word is lower case"),
        (('word = "two"', 'word = "one"'), "more than one entry of the word one"),
        (('word = "bench"', 'word = "two"'), "more than one entry of the word two"),
        (('title = "Two"', ""), "chapter 'two' lacks title"),
        (('title = "Two"', 'title = ""'), "title of chapter 'two'"),
        (('title = "Two"', "title = 2"), "title of chapter 'two' must be str"),
        (('state = "planned"', 'state = "done"'), "state of 'two' is 'done', not one of planned"),
        (
            ('state = "planned"', 'state = "planned"\nkernel = "three"'),
            "kernel of 'two' is 'three', which is no chapter",
        ),
        (('state = "planned"', 'state = "begun"'), "contents lacks two"),
        (('contents = ["one"]', 'contents = ["one", "two"]'), "contents has two, whose state"),
        (('contents = ["one"]', 'contents = ["one", "one"]'), "contents has a word twice"),
        (('paths = ["one"]', "paths = []"), "paths lacks one"),
        (('students = ["[One](one.md)."]', ""), "on no reading path"),
        (('methods = ["host"]', 'methods = ["dream"]'), "methods of 'bench': dream"),
        (('methods = ["host"]', 'methods = "host"'), "methods of page 'bench' must be a list"),
        (('sources = ["kernels/one/one.cpp"]', ""), "module 'knobs' lacks sources"),
        (('word = "knobs"', 'word = "knobs"\noptimize = "luck"'), "optimize of module 'knobs' is 'luck'"),
        (('word = "knobs"', 'word = "knobs"\ncolour = "red"'), "module 'knobs' has unknown keys: colour"),
        (('contents = ["one"]', 'contents = ["one"]\ncolour = "red"'), "unknown keys at the top: colour"),
        (('word = "two"', "word = "), "Invalid value"),
    ],
)
def test_a_wrong_declaration_is_refused_with_the_entry_and_the_file(tmp_path, change, says):
    assert change[0] in SMALL
    with pytest.raises(EngineRoomError, match=re.escape(says)) as error:
        declared(tmp_path, SMALL.replace(*change, 1))
    assert "chapters.toml" in error.value.remedy


def test_an_unknown_word_is_answered_with_the_known_ones():
    with pytest.raises(EngineRoomError, match=r"no chapter 'hash_joyn'[\s\S]*hash_join"):
        chapters.chapter("hash_joyn")


def test_the_declaration_is_read_without_installed_packages():
    """native/wasm/build.sh asks with whatever python3 there is."""
    program = (
        "import runpy, sys; sys.path.insert(0, 'src'); sys.argv[1:] = ['wasm']; "
        "runpy.run_module('engineroom.chapters', run_name='__main__')"
    )
    listed = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert [line.split()[0] for line in listed.splitlines()] == [each.word for each in chapters.modules()]


@pytest.mark.parametrize(
    "page", [each for each in chapters.recorded() if each.methods], ids=lambda each: each.word
)
def test_methods_are_those_that_a_page_has_recordings_of(page):
    if isinstance(page, chapters.Chapter) and not page.is_written:
        pytest.skip("it is being written")
    kept = {path.name.split(".")[1] for path in (ROOT / "data/recorded" / page.word).glob("*.*.*.json")}
    assert set(page.methods) == kept, f"methods of {page.word!r} in chapters.toml"


@pytest.mark.parametrize("word", [each.word for each in chapters.read().chapters if each.is_written])
def test_a_chapter_says_on_its_first_screen_what_was_not_run_how_a_reader_runs_it_and_its_source(word):
    first, runbook, _ = (ROOT / "book" / f"{word}.md").read_text(encoding="utf-8").partition("\n## ")
    assert runbook
    said = " ".join(first.split())
    assert re.search(r"\*\*Not run here:\*\*[^*]* 8\.0\.16 to 9\.6", said)
    assert "`engineroom server start 8.4`" in said
    assert re.search(r"\*\*Source:\*\* \{cite\}`[\w-]+`[^*]*\]\(https://", said)
