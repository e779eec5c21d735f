"""The book on paper: a small one, printed by Chromium as `make pdf` prints the real one."""

from __future__ import annotations

from pathlib import Path

import pypdf
import pytest

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.making import printed

pytestmark = pytest.mark.browser

TOC = """\
format: jb-book
root: book/front
parts:
  - caption: Chapters
    chapters:
      - file: book/sorts
        sections: [{file: notebooks/sorts}]
      - file: book/joins
      - file: book/ledger
"""
DRAWING = '<svg id="d" viewBox="0 0 9 9"><clipPath id="c"><rect width="9" height="9"/></clipPath><g clip-path="url(#c)"/></svg>'
PAGES = {
    "book/front": '<h1>The front</h1><p id="d">See <a href="joins.html#why">why joins</a>.</p>',
    "book/sorts": f"""<h1>Sorts &amp; heaps<a class="headerlink" href="#sorts">#</a></h1><h2 id="why">Why</h2>{DRAWING}
        <details class="fold"><summary>Answer</summary><p>it was folded</p></details>
        <script>document.write("scripted")</script><div class="er-narrow" role="img"><svg><text>for a phone</text></svg></div>
        <a download="f.csv" href="data:text/csv;base64,YQ==">Rows as CSV</a> <a href="../_downloads/a.zip">a zip</a>""",
    "notebooks/sorts": '<h1>Lab: sorts</h1><p style="height: 300mm">tall</p><p>See <a href="../book/sorts.html">the chapter</a>.</p>',
    "book/joins": '<h1>Joins</h1><h2 id="why">Why joins</h2><p>Because.</p>',
    "book/ledger": f"""<h1>Ledger</h1><table class="claims table"><tr><th>claim</th><th>published</th></tr>
        <tr><td>{"it waits and " * 30}</td><td>undecided</td></tr></table>
        <table class="history table"><tr><td>recorded before</td></tr></table>""",
}


@pytest.fixture(scope="module")
def pdf(tmp_path_factory: pytest.TempPathFactory) -> pypdf.PdfReader:
    root = tmp_path_factory.mktemp("book")
    (root / "_toc.yml").write_text(TOC)
    (root / "_config.yml").write_text("title: A Small Book\n")
    html = root / "html"
    for name, article in PAGES.items():
        (html / name).parent.mkdir(parents=True, exist_ok=True)
        (html / f"{name}.html").write_text(
            f'<head><link rel="stylesheet" href="../_static/book.css"></head><article class="bd-article">{article}</article>'
        )
    (html / "_static").mkdir()
    for sheet in ("book.css", "printed.css"):
        (html / "_static" / sheet).symlink_to(paths.root() / "book" / "web" / "styles" / sheet)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(printed.paths, "root", lambda: root)
        assert printed.print_book(html, root / "book.pdf") == 8  # the lab has two
    assert not list(html.glob("book/.*"))
    return pypdf.PdfReader(root / "book.pdf")


def texts(pdf: pypdf.PdfReader) -> list[str]:
    return [" ".join(page.extract_text().split()) for page in pdf.pages]


def test_the_contents_name_the_page_on_which_each_begins(pdf):
    said = texts(pdf)
    assert pdf.metadata.title == "A Small Book"
    assert "A Small Book" in said[0]
    for title, number in (("The front", 3), ("Sorts & heaps", 4), ("Lab: sorts", 5), ("Joins", 7)):
        assert f"{title} {number}" in said[1], said[1]
        assert said[number - 1].startswith(f"{title} {number} "), said[number - 1]


def test_bookmarks_are_parts_chapters_and_what_belongs_to_them(pdf):
    def nested(outline) -> list:
        return [nested(each) if isinstance(each, list) else each.title for each in outline]

    assert nested(pdf.outline) == [
        *("Contents", "The front", "Chapters"),
        ["Sorts & heaps", ["Why", "Lab: sorts"], "Joins", ["Why joins"], "Ledger"],
    ]


def test_links_lead_within_the_book_and_to_the_right_one_of_two_equal_names(pdf):
    named = {name: pdf.get_destination_page_number(to) + 1 for name, to in pdf.named_destinations.items()}
    assert named["/book-joins--why"] == 7
    assert named["/book-sorts"] == 4
    links = [
        link.get_object()
        for page in pdf.pages
        for link in page.get("/Annots", ())
        if "/A" in link.get_object()
    ]
    assert not [link["/A"]["/URI"] for link in links if "/URI" in link["/A"]]


def test_folds_are_open_and_what_paper_cannot_do_is_gone(pdf):
    said = texts(pdf)[3]
    assert "it was folded" in said
    assert "a zip" in said
    assert not [each for each in ("scripted", "for a phone", "Rows as CSV") if each in said]
    ledger = texts(pdf)[7]
    assert "claim published" in ledger, "a word in a narrow column is whole"
    assert "undecided" in ledger
    assert "recorded before" not in ledger


def test_a_book_that_is_not_built_is_refused_with_the_command_that_builds_it(tmp_path: Path):
    with pytest.raises(EngineRoomError, match="make book"):
        printed.print_book(tmp_path, tmp_path / "book.pdf")
