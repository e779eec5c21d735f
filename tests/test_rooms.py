"""Every declared chapter has its rooms, nobody else has any, and what is generated from the declaration is up to date."""

from __future__ import annotations

import dataclasses
import re

import pytest
import yaml

from engineroom import chapters, paths, recording, rooms
from engineroom.errors import EngineRoomError

ROOT = paths.root()
BOOK = chapters.book()


def test_every_chapter_has_its_rooms():
    assert rooms.missing(BOOK, ROOT) == []


def test_nobody_has_rooms_who_is_not_declared():
    assert rooms.surplus(BOOK, ROOT) == []


@pytest.mark.parametrize("name", rooms.GENERATED)
def test_what_follows_from_the_declaration_is_written(name):
    assert (ROOT / name).read_text() == rooms.generated(name, BOOK, ROOT), "run python -m engineroom.rooms"


def test_a_room_that_is_lacking_is_named_with_the_chapter():
    """group_commit, as if it were begun: everything that it needs is missing."""
    as_if = dataclasses.replace(
        BOOK,
        chapters=tuple(
            dataclasses.replace(each, state="begun") if each.word == "group_commit" else each
            for each in BOOK.chapters
        ),
    )
    lacking = rooms.missing(as_if, ROOT)
    assert all(line.startswith("group_commit lacks ") for line in lacking)
    for path in (
        "book/group_commit.md",
        "native/kernels/group_commit/",
        "notebooks/exercises/wrong/group_commit.md",
    ):
        assert any(path in line for line in lacking), path
    assert len(lacking) == sum(room.since == "begun" for room in rooms.ROOMS)


def test_a_room_of_nobody_is_named_with_what_to_do(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "engine.md").write_text("")
    (tmp_path / "book" / "ledger.md").write_text("")
    (tmp_path / "native" / "kernels" / "hash_joyn").mkdir(parents=True)
    (tmp_path / "native" / "wasm").mkdir()
    (tmp_path / "native" / "wasm" / "knobs.cpp").write_text("")
    found = "\n".join(rooms.surplus(BOOK, tmp_path))
    assert "book/engine.md (the page): engine is planned: set its state" in found
    assert "native/kernels/hash_joyn (the kernels): nobody declares hash_joyn" in found
    assert "native/wasm/knobs.cpp" in found
    assert "ledger" not in found
    assert len(found.splitlines()) == 3


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
