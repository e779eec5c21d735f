"""What two toolchains' pages are compared by, on pages made up for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engineroom.errors import EngineRoomError
from engineroom.making import lasts

PAGE = """<!doctype html><body><nav>Chapters</nav><article class="bd-article">
<section id="sorts"><h1>Sorts<a class="headerlink" href="#sorts">#</a></h1>
<p>A sort of <code><span class="pre">12</span> <span class="pre">rows</span></code>, as
<a class="reference internal" href="joins.html#why"><span class="std">joins</span></a> do.</p>
<ul><li><p>One</p></li><li><p>Two</p></li></ul>
<div class="table-scroll"><table><tr><th class="head"><p>rows</p></th></tr><tr><td><p>12</p></td></tr></table></div>
<figure><div role="img" aria-label="A line that falls."><svg><path/></svg></div><img alt="A tree." src="a.svg">
<figcaption>It falls.</figcaption></figure><pre>SELECT 1;
SELECT 2;</pre></section></article></body>"""
SAID = [
    "h1: Sorts",
    ": A sort of 12 rows, as joins<joins.html#why> do.",
    "li: One",
    "li: Two",
    "th: rows",
    "td: 12",
    ": [A line that falls.]",
    ": [A tree.]",
    "figcaption: It falls.",
    "pre: SELECT 1; SELECT 2;",
]
SAME = {
    '<nav>Chapters</nav><article class="bd-article">': '<article id="main" class="article">',
    '<a class="headerlink" href="#sorts">#</a>': '<a class="headerlink" href="#sorts" title="Link">¶</a>',
    '<div class="table-scroll"><table>': '<button>Copy</button><div class="scrolls"><table class="table">',
    "<li><p>One</p></li>": '<li class="simple">One</li>',
    '<code><span class="pre">12</span> <span class="pre">rows</span></code>': "<code>12 rows</code>",
    "<figcaption>": '<script>draw("it")</script><figcaption class="caption">',
}
OTHER = {
    "<h1>Sorts": ("<h1>Sort", "h1: Sorts", "h1: Sort"),
    "h1>": ("h2>", "h1: Sorts", "h2: Sorts"),
    "joins.html#why": ("joins.html", "joins<joins.html#why>", "joins<joins.html>"),
    "<p>12</p></td>": ("<p>12</p></td><td>13</td>", ": [A line that falls.]", "td: 13"),
    "A line that falls.": ("A line that rises.", "[A line that falls.]", "[A line that rises.]"),
    "A tree.": ("A bush.", "[A tree.]", "[A bush.]"),
    "It falls.": ("It falls. Really.", "figcaption: It falls.", "figcaption: It falls. Really."),
    "SELECT 2;</pre>": ("SELECT 2;</pre><p>End.</p>", "nothing more", ": End."),
}


def written(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "sorts.html").write_text(text, encoding="utf-8")
    return folder


def found(tmp_path: Path, other: str) -> list[str]:
    return list(
        lasts.differences(["sorts"], written(tmp_path / "ours", PAGE), written(tmp_path / "theirs", other))
    )


def test_a_page_is_what_its_article_says():
    assert lasts.says(PAGE) == SAID


@pytest.mark.parametrize("ours", SAME)
def test_what_a_theme_makes_is_no_difference(ours: str, tmp_path: Path):
    assert ours in PAGE
    assert found(tmp_path, PAGE.replace(ours, SAME[ours])) == []


@pytest.mark.parametrize("ours", OTHER)
def test_a_page_that_says_something_else_is_named_with_the_first_difference(ours: str, tmp_path: Path):
    theirs, *seen = OTHER[ours]
    [said] = found(tmp_path, PAGE.replace(ours, theirs))
    name, *lines = said.splitlines()
    assert name == "sorts:"
    assert all(part in line for part, line in zip(seen, lines, strict=True)), said


def test_of_a_long_line_the_part_that_differs_is_shown(tmp_path: Path):
    [said] = found(tmp_path, PAGE.replace("A sort", f"A {'long ' * 200}sort"))
    assert max(map(len, said.splitlines())) < 200
    assert "long long" in said


def test_a_page_that_is_only_in_one_of_them_is_a_difference_and_one_without_an_article_is_refused(tmp_path):
    ours, theirs = written(tmp_path / "ours", PAGE), written(tmp_path / "theirs", "<main>Sorts</main>")
    with pytest.raises(EngineRoomError, match="no article"):
        list(lasts.differences(["sorts"], ours, theirs))
    (theirs / "sorts.html").unlink()
    [said] = lasts.differences(["sorts"], ours, theirs)
    assert "no such page" in said
