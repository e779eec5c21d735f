"""The book as an EPUB: a small one of made-up pages, and the built one."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from lxml import etree

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.making import epub

TOC = """\
root: book/front
parts:
  - caption: Chapters & labs
    chapters: [{file: book/sorts, sections: [{file: notebooks/sorts}]}, {file: book/joins}]
"""
PAGES = {
    "book/front": """<h1>The front</h1><p>See <a href="joins.html#why">why joins</a>, <a href="#nowhere">none</a>
        <p>and <a href="https://example.org/?a=1&b=2">a source</a>.<br>Next&nbsp;line<!-- a comment -->
        <explorable-sort starts><figure><img src="../_images/bars.svg" alt="Bars &lt; 4"></figure></explorable-sort>
        <script>document.write("scripted")</script><button>Play</button><iframe src="x.html"></iframe>
        <p>It is <blob>in an unknown element</blob>.</p>""",
    "book/sorts": """<h1>Sorts &amp; heaps<a class="headerlink" href="#s">#</a></h1><section id="how"><h2>How</h2></section>
        <details class="fold"><summary>Answer</summary><p>it was folded</p></details>
        <details><summary aria-label="Where from"><svg viewBox="0 0 1 1"></svg></summary><div>run 1</div></details>
        <div role="img" aria-label="A curve"><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><clipPath id="c">
        </clipPath><g clip-path="url(#c)"><use href="#c" x="1"></use></g></svg></div><p id="c">the same name again</p>
        <a download="f.csv" href="data:text/csv;base64,YQ==">Rows as CSV</a> <a href="../_downloads/a.zip">a zip</a>
        <table border="1"><thead><tr><td></td><th>b<th>c<th>d</tr></thead>
        <tbody><tr><th>0<td>1<td valign=top>2<td>3</tr></tbody></table>""",
    "notebooks/sorts": '<h1>Lab</h1><math alttext="n" xmlns="http://www.w3.org/1998/Math/MathML"><mi>n</mi></math>',
    "book/joins": '<h1>Joins</h1><h2 id="why">Why <em>joins</em></h2><p><a href="../notebooks/sorts.html">lab</a></p>',
}


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small book's built pages, as _build/html has the real one's."""
    said = {
        "book/web/styles/epub.css": "p { margin: 0 }",
        "_toc.yml": TOC,
        "_config.yml": "title: Sorts & Joins\nauthor: Nobody\n",
        "CHANGELOG.md": "## [Unreleased]\n\n## [0.2.0] - 2026-11-28\n\n## [0.1.0] - 2026-10-01\n",
        "html/_images/bars.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
        **{f"html/{name}.html": f'<head></head><article class="bd-article">{PAGES[name]}</article>' for name in PAGES},
    }  # fmt: skip
    for name, text in said.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    return tmp_path / "html"


def opened(file: Path) -> dict[str, Any]:
    """The EPUB's pages by name, parsed as XML, when it holds what programs for reading expect."""
    with zipfile.ZipFile(file) as book:
        first = book.infolist()[0]
        assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
        inside = {name.removeprefix("EPUB/"): book.read(name) for name in book.namelist()}
    package = etree.fromstring(inside["package.opf"])
    items = {item.get("id"): item.get("href") for item in package.iter("{*}item")}
    assert set(items.values()) == inside.keys() - {"mimetype", "META-INF/container.xml", "package.opf"}
    pages = {items[each.get("idref")]: etree.fromstring(inside[items[each.get("idref")]]) for each in package.iter("{*}itemref")}  # fmt: skip
    assert pages.keys() == {name for name in inside if name.endswith(".xhtml")}
    for name, page in pages.items():
        assert len(page.xpath("//@id")) == len(set(page.xpath("//@id"))), name
        assert not [each.tag for each in page.iter("{*}script", "{*}button", "{*}iframe", "{*}details")], name
        for place in page.xpath("//@href | //@src | //@*[local-name() = 'href']"):
            target, _, anchor = place.partition("#")
            is_there = target in inside if target else bool(anchor)
            if is_there and anchor:
                is_there = unquote(anchor) in pages[target or name].xpath("//@id")
            assert is_there or urlsplit(place).scheme, f"{name}: {place}"
    return pages


def words(page: Any) -> str:
    return " ".join("".join(page.itertext()).split())


def test_all_pages_are_in_it_in_their_order_and_it_is_the_same_bytes_again(built: Path):
    target = built.parent / "dist/book.epub"
    assert epub.make_epub(built, target) == 4
    pages = opened(target)
    assert list(pages)[2:] == [
        "book-front.xhtml",
        "book-sorts.xhtml",
        "notebooks-sorts.xhtml",
        "book-joins.xhtml",
    ]
    assert [(each.get("href"), words(each)) for each in pages["nav.xhtml"].xpath("//*[local-name() = 'li']/*[1]")] == [
        *(("book-front.xhtml", "The front"), (None, "Chapters & labs"), ("book-sorts.xhtml", "Sorts & heaps")),
        *(("book-sorts.xhtml#how", "How"), ("notebooks-sorts.xhtml", "Lab")),
        *(("book-joins.xhtml", "Joins"), ("book-joins.xhtml#why", "Why joins")),
    ]  # fmt: skip
    before = target.read_bytes()
    epub.make_epub(built, target)
    assert target.read_bytes() == before


def test_a_page_is_what_a_program_for_reading_can_show(built: Path):
    epub.make_epub(built, built.parent / "book.epub")
    pages = opened(built.parent / "book.epub")
    front, sorts = pages["book-front.xhtml"], pages["book-sorts.xhtml"]
    assert "scripted" not in words(front)
    assert words(front).endswith("On the web page this picture moves. It is in an unknown element.")
    assert front.xpath("//@alt") == ["Bars < 4"]
    links = ["book-joins.xhtml#why", "book-front.xhtml", "https://example.org/?a=1&b=2"]
    assert front.xpath("//*[local-name() = 'a']/@href") == links
    assert "Answerit was folded run 1 " in words(sorts)
    assert words(sorts).find("Rows as CSV") < 0 < words(sorts).find("a zip")
    assert sorts.xpath("//@viewBox") == ["0 0 9 9"]
    assert sorts.find(".//{http://www.w3.org/2000/svg}clipPath") is not None
    assert sorts.xpath("//*[local-name() = 'tbody']//@data-column") == ["", "b", "c", "d"]
    assert pages["notebooks-sorts.xhtml"].find(".//{http://www.w3.org/1998/Math/MathML}mi") is not None


def test_with_an_address_links_lead_to_the_web(built: Path):
    page = built / "book/sorts.html"
    head = '<head><link rel="canonical" href="https://example.org/room/book/sorts.html"></head>'
    page.write_text(page.read_text().replace("<head></head>", head))
    epub.make_epub(built, built.parent / "book.epub")
    sorts = opened(built.parent / "book.epub")["book-sorts.xhtml"]
    assert sorts.xpath("//*[local-name() = 'a']/@href") == ["https://example.org/room/_downloads/a.zip"]


@pytest.mark.parametrize("missing", ["notebooks/sorts.html", "_images/bars.svg"])
def test_a_book_that_is_not_built_is_refused_and_the_last_one_stays(built: Path, missing: str):
    (built / missing).unlink()
    (built.parent / "book.epub").write_bytes(b"the last one")
    with pytest.raises(EngineRoomError, match=rf"{missing}.*\n?.*make book"):
        epub.make_epub(built, built.parent / "book.epub")
    assert (built.parent / "book.epub").read_bytes() == b"the last one"


@pytest.mark.built
@pytest.mark.slow
def test_the_built_book_is_an_epub(tmp_path: Path):
    count = epub.make_epub(paths.root() / "_build/html", tmp_path / "book.epub")
    assert len(opened(tmp_path / "book.epub")) == count + 2
    assert (tmp_path / "book.epub").stat().st_size < 30e6
