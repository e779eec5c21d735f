"""Lists of chapters on pages: made from the declaration, links and all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from engineroom import chapters, paths

WRITTEN = chapters.written()
PATH = "```{{reading-path}} {}\n1. First.\n1. {{chapters}}\n1. Last, in\n   two lines.\n```\n"


def built(folder: Path, text: str) -> tuple[BeautifulSoup, str]:
    """A page under book/ of one text, beside pages for all that the lists link to, and what the build said."""
    (folder / "conf.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(paths.root() / 'book' / '_ext')!r})\n"
        "extensions = ['myst_parser', 'chapter_lists']\n"
        "exclude_patterns = ['html']\n"
    )
    (folder / "index.md").write_text("# Root\n\n```{toctree}\n:glob:\nbook/*\nnotebooks/*\n```\n")
    for room in ("book", "notebooks"):
        (folder / room).mkdir()
        for page in chapters.recorded():
            (folder / room / f"{page.word}.md").write_text(f"# {page.title}\n")
    (folder / "book" / "lists.md").write_text(f"# Lists\n\n{text}")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-qnW", "--keep-going", folder, folder / "html"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return BeautifulSoup((folder / "html" / "book" / "lists.html").read_text(), "html.parser"), done.stderr


def test_each_question_has_a_link_to_the_chapter_that_answers_it(tmp_path):
    page, said = built(tmp_path, "```{chapter-questions}\n```\n")
    assert said == ""
    items = page.find(class_="body").find_all("li")
    assert [item.find("a")["href"] for item in items] == [f"{each.word}.html" for each in WRITTEN]
    assert [item.find("a").get_text() for item in items] == [each.title for each in WRITTEN]
    for item, each in zip(items, WRITTEN, strict=True):
        assert item.get_text() == f"{each.question.replace('`', '')} {each.title}."


@pytest.mark.parametrize("reader", ["operators", "students"])
def test_a_reading_path_is_one_list_with_all_steps_in_their_order(tmp_path, reader):
    page, said = built(tmp_path, PATH.format(reader))
    assert said == ""
    (steps,) = page.find(class_="body").find_all("ol")
    texts = [" ".join(step.get_text().split()) for step in steps.find_all("li", recursive=False)]
    assert texts[0] == "First."
    assert texts[-1] == "Last, in two lines."
    expected = [step for word in chapters.book().paths for step in getattr(chapters.chapter(word), reader)]
    assert len(texts) == len(expected) + 2
    linked = [str(link["href"]) for link in steps.find_all("a")]
    assert [word for word in chapters.book().paths if f"{word}.html" in linked] == list(chapters.book().paths)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (PATH.format("sailors"), "no reading path of 'sailors'; there are operators and students"),
        ("```{reading-path} students\n1. First.\n```\n", "needs one item '1. {chapters}'"),
    ],
)
def test_a_list_that_cannot_be_made_is_an_error_with_its_place(tmp_path, text, says):
    _, said = built(tmp_path, text)
    assert "lists.md:3" in said
    assert says in said


def test_the_front_page_and_the_reading_paths_have_the_lists(html):
    front = (html / "book" / "index.html").read_text()
    paths_page = (html / "book" / "reading_paths.html").read_text()
    for each in WRITTEN:
        assert f'href="{each.word}.html"' in front
        assert f'href="{each.word}.html"' in paths_page
