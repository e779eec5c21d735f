"""The declaration of the chapters: what it holds and what it refuses."""

from __future__ import annotations

import re
import subprocess
import sys

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
[[chapter.modules]]
word = "knobs"
sources = ["kernels/one/one.cpp"]
[[page]]
word = "bench"
title = "The bench"
methods = ["host"]
"""


def test_a_declaration_is_read_as_it_stands(tmp_path):
    file = tmp_path / "chapters.toml"
    file.write_text(SMALL)
    book = chapters.read(file)
    assert [each.word for each in (*book.chapters, *book.pages)] == ["one", "bench"]
    assert book.chapters[0].explorables == ("knobs",)
    assert book.chapters[0].module("figures") == "engineroom.chapters.one.figures"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('title = "One"\n', ""), "chapter 'one'.*title"),
        (('question = "Why?"', 'question = "Why?"\ncolour = 2'), "chapter 'one'.*colour"),
        (('sources = ["kernels/one/one.cpp"]', ""), "module 'knobs'.*sources"),
        (('contents = ["one"]', 'contents = ["one", "two"]'), "contents and paths"),
        (('paths = ["one"]', "paths = []"), "contents and paths"),
        (('contents = ["one"]', 'contents = ["one"]\ncolour = "red"'), "nothing else stands at the top"),
        (('word = "bench"', "word = "), "Invalid value"),
    ],
)
def test_a_wrong_declaration_is_refused_with_the_entry_and_the_file(tmp_path, change, says):
    assert change[0] in SMALL
    file = tmp_path / "chapters.toml"
    file.write_text(SMALL.replace(*change, 1))
    with pytest.raises(EngineRoomError, match=says) as error:
        chapters.read(file)
    assert "chapters.toml" in error.value.remedy


def test_an_unknown_word_is_answered_with_the_known_ones():
    with pytest.raises(EngineRoomError, match=r"no chapter 'hash_joyn'[\s\S]*hash_join"):
        chapters.chapter("hash_joyn")


def test_the_declaration_is_read_without_installed_packages():
    """native/wasm/build.sh asks with whatever python3 there is."""
    program = "import runpy, sys; sys.path.insert(0, 'src'); runpy.run_module('engineroom.chapters')"
    listed = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert [line.split()[0] for line in listed.splitlines()] == [each.word for each in chapters.modules()]
    missing = [
        name for line in listed.splitlines() for name in line.split()[2:] if not name.startswith("lib/")
    ]
    assert [name for name in missing if not (ROOT / "native" / name).exists()] == []


@pytest.mark.parametrize("page", chapters.recorded(), ids=lambda page: page.word)
def test_methods_are_those_that_a_page_has_recordings_of(page):
    kept = {path.name.split(".")[1] for path in (ROOT / "data/recorded" / page.word).glob("*.*.*.json")}
    assert set(page.methods) == kept, f"methods of {page.word!r} in chapters.toml"


@pytest.mark.parametrize("chapter", chapters.written(), ids=lambda chapter: chapter.word)
def test_a_chapter_says_what_was_not_run_how_a_reader_runs_it_and_its_source(chapter):
    said = " ".join((ROOT / "book" / f"{chapter.word}.md").read_text(encoding="utf-8").split())
    assert re.search(r"\*\*Not run here:\*\*[^*]* 8\.0\.(16|32) to 9\.6", said)
    assert "`engineroom server start 8.4`" in said
    assert re.search(r"\*\*Source:\*\* \{cite\}`[\w-]+`[^*]*\]\(https://", said)


WITH_EVIDENCE = [each for each in chapters.written() if (ROOT / "book" / f"{each.word}_evidence.md").exists()]


@pytest.mark.parametrize("chapter", WITH_EVIDENCE, ids=lambda chapter: chapter.word)
def test_a_chapter_asks_answers_shows_and_says_where_its_evidence_is(chapter):
    page = (ROOT / "book" / f"{chapter.word}.md").read_text(encoding="utf-8")
    first, *parts = page.split("\n## ")
    asked, explorable = first.index("\n> "), first.index("```{explorable}")
    answer = re.sub(r"\{\w+\}`[^`]*`", "1", first[first.index("\n\n", asked) : explorable])
    assert len(answer.split()) <= 40
    assert ":starts:" in first
    assert f"({chapter.word}_evidence.md)" in first
    titles = [part.partition("\n")[0] for part in parts]
    assert "What to check and set on your server" in titles
    assert titles[-2:] == ["What was not tried", "Exercises"]
    assert len(re.findall(r"^`{3,}\{dropdown\}|^:fold:", page, re.MULTILINE)) <= 3
