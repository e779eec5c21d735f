"""`make epub`: the built pages as one EPUB 3, a file a page, in the order of the contents.

A page is parsed as browsers parse it and written as XML, so that no page can be malformed. Drawings stay drawings, one for a page and one for a
phone, formulas stay MathML, folds are open, and what computes stands as it starts. The same pages make the same bytes.
"""

from __future__ import annotations

import html
import io
import mimetypes
import re
import sys
import uuid
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import click
import html5lib
from lxml import etree
from lxml.html import defs

from engineroom import files, paths
from engineroom.errors import EngineRoomError
from engineroom.making import contents

__all__ = ["make_epub"]

CANONICAL = re.compile(r'<link rel="canonical" href="([^"]+)"')
# Whatever a page says, its parser knows what is a drawing or a formula, and would take this for an attribute.
DECLARED = re.compile(r'\sxmlns(:\w+)?="[^"]*"')
XLINK = "http://www.w3.org/1999/xlink"
REMOVED = ("script", "style", "noscript", "template", "iframe", "object", "button", "input", "select")
KEPT = re.compile(
    r"id|class|style|title|role|lang|href|src|alt|start|colspan|rowspan|scope|(aria|data)-[\w-]+"
)

DOCUMENT = """\
<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="en" xml:lang="en">
<head><title>{title}</title><link rel="stylesheet" type="text/css" href="epub.css"/></head>
{body}
</html>
"""
MOVES = '<p class="moves">On <a href="{}">the web page</a> this picture moves.</p>'
CONTAINER = """\
<?xml version="1.0" encoding="utf-8"?>
<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">
<rootfiles><rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>
"""
PACKAGE = """\
<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:uuid:{identifier}</dc:identifier><dc:title>{title}</dc:title><dc:creator>{author}</dc:creator>
<dc:language>en</dc:language><dc:rights>Text, figures and data: CC BY 4.0. Code: MIT.</dc:rights>
<meta property="dcterms:modified">{day}T00:00:00Z</meta>
<meta property="schema:accessMode">textual</meta><meta property="schema:accessMode">visual</meta>
<meta property="schema:accessibilityFeature">alternativeText</meta><meta property="schema:accessibilityHazard">none</meta>
</metadata>
<manifest>{manifest}</manifest>
<spine>{spine}</spine>
</package>
"""


@dataclass(frozen=True)
class Chapter:
    """A page as a file of the EPUB. Its address on the web is "" while the book has none."""

    page: contents.Page
    address: str
    body: Any

    @property
    def file(self) -> str:
        return f"{self.page.slug}.xhtml"

    @property
    def title(self) -> str:
        return next(map(_words, self.body.iter("h1")), self.page.name)


def make_epub(built: Path, target: Path) -> int:
    """Write the pages under `built` as `target`; return how many there are. EngineRoomError when a page or a picture is not built."""
    chapters = [_chapter(built, page) for page in contents.in_order()]
    inside = {"epub.css": (paths.root() / "book/web/styles/epub.css").read_bytes()}
    for chapter in chapters:
        for picture in chapter.body.iter("img"):
            name = chapter.page.leads_to(unquote(picture.get("src")))
            inside[name] = contents.built_file(built, name).read_bytes()
            picture.set("src", name)
    _link(chapters)
    title, author = contents.configured("title"), contents.configured("author")
    documents = {
        "cover.xhtml": (title, f"<body>{contents.cover()}</body>"),
        "nav.xhtml": ("Contents", _nav(chapters)),
        **{each.file: (each.title, etree.tostring(each.body, encoding="unicode")) for each in chapters},
    }
    for name, (heading, body) in documents.items():
        inside[name] = DOCUMENT.format(title=html.escape(heading), body=body).encode()
    at = {name: f"i{number}" for number, name in enumerate(inside)}
    changelog = (paths.root() / "CHANGELOG.md").read_text(encoding="utf-8")
    package = PACKAGE.format(
        identifier=uuid.uuid5(uuid.NAMESPACE_URL, chapters[0].address or "engineroom"),
        title=html.escape(title),
        author=html.escape(author),
        day=re.findall(r"^## \[.+\] - (\S+)$", changelog, re.MULTILINE)[0],  # of the newest release
        manifest="\n".join(f'<item id="{at[name]}" {_item(name, data)}/>' for name, data in inside.items()),
        spine="\n".join(f'<itemref idref="{at[name]}"/>' for name in documents),
    )
    inside["package.opf"] = package.encode()
    target.parent.mkdir(parents=True, exist_ok=True)
    files.write_whole(target, _packed(inside))
    return len(chapters)


def _chapter(built: Path, page: contents.Page) -> Chapter:
    head, article = contents.head_and_article(built, page)
    found = CANONICAL.search(head)
    address = html.unescape(found[1]) if found else ""
    article = f"<!DOCTYPE html><body>{DECLARED.sub('', article)}"
    parsed = html5lib.parse(article, treebuilder="lxml", namespaceHTMLElements=False)
    body = etree.Element("body", nsmap={"xlink": XLINK})
    body.extend(list(parsed.find("body")))
    _simplify(body, address)
    return Chapter(page, address, body)


def _simplify(body: Any, address: str) -> None:
    """Leave what programs for reading know: nothing that runs, no folds, and no element, attribute or name that makes a page invalid."""
    etree.strip_elements(body, etree.Comment, *REMOVED, with_tail=False)
    names: set[str] = set()
    for each in list(body.iter(etree.Element)):
        kind = etree.QName(each)
        if each.get("id") in names:
            del each.attrib["id"]
        elif each.get("id"):
            names.add(each.get("id"))
        if kind.namespace:  # as the default one, which programs know that know no prefix
            each.tag = kind.localname
            if each.tag in ("svg", "math"):
                each.set("xmlns", kind.namespace)
            if each.tag == "use" and "href" in each.attrib:  # programs know the older name
                each.set(f"{{{XLINK}}}href", each.attrib.pop("href"))
            continue
        for name in list(each.attrib):
            if not KEPT.fullmatch(name):
                del each.attrib[name]
        if "-" in each.tag:
            each.tag = "div"
            each.append(etree.fromstring(MOVES.format(html.escape(address))))
        elif each.tag not in defs.tags:
            each.tag = "unknown"
        elif each.tag == "details":
            each.tag = "div"
            each.set("class", f"fold {each.get('class', '')}")
        elif each.tag == "summary":
            etree.strip_elements(each, "{*}svg", with_tail=False)
            # A sign that opens, or that something can be shown, says nothing where all is open.
            around, said = each.getparent().get("class"), _words(each)
            is_empty = "hide" in around.split() or said in ("", "Show the output")
            each.tag = "dropped" if is_empty else "div"
            each.set("class", "summary")
        elif each.tag == "table":
            _label_cells(each)
    etree.strip_elements(body, "dropped", with_tail=False)
    etree.strip_tags(body, "unknown")
    etree.cleanup_namespaces(body, keep_ns_prefixes=["xlink"])


def _label_cells(table: Any) -> None:
    """Let each cell of a wide table name its column: in a narrow window its rows become lists (epub.css)."""
    heads, rows = table.findall("thead/tr"), table.findall("tbody/tr")
    if len(heads) == 1 and len(heads[0]) > 3 and all(len(row) == len(heads[0]) for row in rows):
        table.set("class", f"{table.get('class', '')} listed")
        for row in rows:
            for head, cell in zip(heads[0], row, strict=True):
                cell.set("data-column", _words(head))


def _link(chapters: list[Chapter]) -> None:
    """Let links lead within the EPUB, or to the web; of what is in neither, as a notebook of a book without an address, the words stay."""
    by_name = {chapter.page.name: chapter for chapter in chapters}
    anchors = {name: set(chapter.body.xpath(".//@id")) for name, chapter in by_name.items()}
    for chapter in chapters:
        for link in chapter.body.iter("a"):
            href = link.get("href", "")
            target, _, anchor = href.partition("#")
            there = by_name.get(chapter.page.leads_to(unquote(target)))
            if href and there:
                is_known = unquote(anchor) in anchors[there.page.name]
                link.set("href", f"{there.file}#{anchor}" if is_known else there.file)
            elif href and chapter.address:
                link.set("href", urljoin(chapter.address, href))
            elif not urlsplit(href).scheme:
                link.attrib.pop("href", None)


def _nav(chapters: list[Chapter]) -> str:
    """Parts, chapters, what belongs to them, and the sections of each."""
    listed, at = "", -1
    for depth, entry in _entries(chapters):
        listed += ("<ol>" if depth > at else "</li>" + "</ol></li>" * (at - depth)) + f"<li>{entry}\n"
        at = depth
    listed += "</li></ol>" * (at + 1)
    return f'<body><nav epub:type="toc"><h1>Contents</h1>{listed}</nav></body>'


def _entries(chapters: list[Chapter]) -> Iterator[tuple[int, str]]:
    for chapter in chapters:
        page = chapter.page
        if page.part:
            yield 0, f"<span>{html.escape(page.part)}</span>"
        yield page.depth, f'<a href="{chapter.file}">{html.escape(chapter.title)}</a>'
        for heading in chapter.body.iter("h2"):
            if anchor := heading.get("id") or heading.getparent().get("id"):
                href = f"{chapter.file}#{html.escape(anchor)}"
                yield page.depth + 1, f'<a href="{href}">{html.escape(_words(heading))}</a>'


def _words(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())


def _item(name: str, data: bytes) -> str:
    """What the manifest says of a file."""
    is_page = name.endswith(".xhtml")
    kind = "application/xhtml+xml" if is_page else mimetypes.guess_type(name)[0]
    marks = {"nav": b"<nav ", "svg": b"<svg ", "mathml": b"<math "}
    held = " ".join(each for each, mark in marks.items() if is_page and mark in data)
    return f'href="{html.escape(name)}" media-type="{kind}"' + (f' properties="{held}"' if held else "")


def _packed(inside: dict[str, bytes]) -> bytes:
    # By its first file, which is not compressed, a program knows an EPUB.
    members = {"mimetype": b"application/epub+zip", "META-INF/container.xml": CONTAINER.encode()}
    members |= {f"EPUB/{name}": data for name, data in inside.items()}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as book:
        for name, data in members.items():
            member = zipfile.ZipInfo(name)  # of a fixed day
            member.external_attr = 0o644 << 16
            book.writestr(member, data, zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _main() -> None:
    target = paths.root() / "_build" / "dist" / "engine-room.epub"
    print("The pages as an EPUB: usually 10 seconds", flush=True)
    try:
        count = make_epub(paths.root() / "_build" / "html", target)
    except EngineRoomError as error:
        click.echo(files.visible(f"engineroom: {error}"), err=True)
        sys.exit(1)
    print(f"The EPUB is made: {count} pages, {target.stat().st_size / 1e6:.1f} MB. Open {target}")


if __name__ == "__main__":
    _main()
