"""What the built pages are made of: nothing from the network, every link ends somewhere, every picture has words."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml
from bs4 import BeautifulSoup, Tag

from engineroom import chapters, cli, paths

LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data", "embed": "src"}


def pages(html: Path) -> list[Path]:
    return sorted([*html.glob("book/*.html"), *html.glob("notebooks/*.html"), html / "search.html"])


@cache
def soup(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(encoding="utf-8"), "lxml")


@cache
def anchors(page: Path) -> frozenset[str]:
    tags = soup(page).find_all(id=True) + soup(page).find_all("a", attrs={"name": True})
    return frozenset(str(tag.get("id") or tag.get("name")) for tag in tags)


def loads(page: Path) -> list[str]:
    """Addresses that a browser fetches on its own when it opens the page."""
    found = [
        str(tag[key]) for name, key in LOADING.items() for tag in soup(page).find_all(name, attrs={key: True})
    ]
    links = [
        tag for tag in soup(page).find_all("link", href=True) if "canonical" not in (tag.get("rel") or [])
    ]
    found += [
        str(tag["href"]) for tag in links if set(tag.get("rel") or []) & {"stylesheet", "preload", "icon"}
    ]
    return found + [
        part.strip().split()[0]
        for tag in soup(page).find_all(srcset=True)
        for part in tag["srcset"].split(",")
    ]


def test_no_page_loads_anything_from_the_network(html):
    far = {(page.name, url) for page in pages(html) for url in loads(page) if re.match(r"(https?:)?//", url)}
    assert not far


def test_no_style_sheet_or_script_of_ours_names_a_remote_address(html):
    sheets = [path for path in html.rglob("*.css") if "sourceMappingURL" not in path.name]
    far = {
        str(path): found
        for path in sheets
        if (found := re.findall(r"url\(['\"]?(?:https?:)?//[^)]*", path.read_text()))
    }
    assert not far
    scripts = [
        tag.get_text() for page in pages(html) for tag in soup(page).find_all("script") if not tag.get("src")
    ]
    assert not [text for text in scripts if re.search(r"unpkg|jsdelivr|cdnjs|googleapis", text)]


def test_everything_a_page_loads_is_there(html):
    missing = set()
    for page in pages(html):
        for url in loads(page):
            path = unquote(urlsplit(url).path)
            if not url.startswith("data:") and not (page.parent / path).is_file():
                missing.add((page.name, url))
    assert not missing


def test_only_the_search_loads_its_index_and_no_page_the_icons_as_a_script(html):
    for page in pages(html):
        names = {Path(urlsplit(url).path).name for url in loads(page)}
        assert ("searchindex.js" in names) == (page.name == "search.html"), page.name
        assert "fontawesome.js" not in names, page.name


def test_internal_links_and_their_anchors_resolve(html):
    broken = set()
    for page in pages(html):
        for tag in soup(page).find_all("a", href=True):
            url = urlsplit(str(tag["href"]))
            if url.scheme or url.netloc or str(tag["href"]) == "#":
                continue
            target = (page.parent / unquote(url.path)).resolve() if url.path else page
            if not target.exists() or (
                url.fragment and target.suffix == ".html" and unquote(url.fragment) not in anchors(target)
            ):
                broken.add((page.name, str(tag["href"])))
    assert not broken


def test_external_links_have_the_form_of_one(html):
    odd = set()
    for page in pages(html):
        for tag in soup(page).find_all("a", href=True):
            href = str(tag["href"])
            url = urlsplit(href)
            if url.scheme in ("", "data"):
                continue
            if not (
                (url.scheme == "https" and re.fullmatch(r"[\w.-]+\.[a-z]{2,}", url.netloc))
                or url.scheme == "mailto"
            ):
                odd.add((page.name, href))
    assert not odd


def test_exercises_share_no_id_and_no_header_of_a_table_is_empty(html):
    for page in pages(html):
        assert not soup(page).find_all(id=re.compile("^(exercise|solution)-content$")), page.name
        assert all(th.get_text(strip=True) or th.find("img") for th in soup(page).find_all("th")), page.name


def test_every_image_has_words_that_are_not_its_file_name(html):
    for page in pages(html):
        assert 'alt="_images/' not in page.read_text(encoding="utf-8"), page.name
        article = soup(page).find(class_="bd-article")
        wordless = (
            [tag for tag in article.find_all("img") if len(str(tag.get("alt", ""))) < 20] if article else []
        )
        assert not wordless, page.name


def test_headings_descend_one_level_at_a_time_from_one_h1(html):
    for page in pages(html):
        article = soup(page).find(class_="bd-article")
        if not isinstance(article, Tag):
            continue
        levels = [int(tag.name[1]) for tag in article.find_all(re.compile(r"^h[1-6]$"))]
        assert levels[:1] == [1], page.name
        assert levels.count(1) == 1, page.name
        assert all(deeper <= level + 1 for level, deeper in pairwise(levels)), (
            page.name,
            levels,
        )


def test_each_lab_offers_its_notebook_and_with_an_address_of_the_book_binder(html):
    settings = yaml.safe_load((paths.root() / "_config.yml").read_text(encoding="utf-8"))
    is_published = "/OWNER/" not in settings["repository"]["url"]
    for page in html.glob("notebooks/*.html"):
        links = [str(tag["href"]) for tag in soup(page).find_all("a", href=True)]
        notebooks = [link for link in links if link.endswith(".ipynb")]
        assert any(link.startswith("https://mybinder.org/") for link in links) == is_published, page.name
        assert notebooks, page.name
        assert all((page.parent / link).is_file() for link in notebooks), page.name


def test_each_notebook_that_is_downloaded_says_what_to_install(html):
    for kind in (".", "exercises"):
        notebooks = sorted((html / "_sources" / "notebooks" / kind).glob("*.ipynb"))
        assert [each.stem for each in notebooks] == sorted(page.word for page in chapters.written())
        for each in notebooks:
            assert "%pip install" in json.loads(each.read_text())["cells"][0]["source"], each


def test_every_drawn_figure_offers_its_rows(html):
    figures = [
        figure
        for page in pages(html)
        for figure in soup(page).find_all("figure", attrs={"data-figure": True})
    ]
    assert {"fig-7-22", "fig-7-23"} <= {str(figure["data-figure"]) for figure in figures}
    for figure in figures:
        link = figure.find("a", attrs={"download": f"{figure['data-figure']}.csv"})
        assert link, figure["data-figure"]
        rows = base64.b64decode(str(link["href"]).removeprefix("data:text/csv;base64,")).decode().splitlines()
        assert len(rows) > 1, figure["data-figure"]
        assert len(rows[0].split(",")) >= 2, figure["data-figure"]


def test_every_drawing_has_words(html):
    for page in pages(html):
        drawings = soup(page).find_all(attrs={"role": "img"})
        assert all(len(str(drawing.get("aria-label", ""))) >= 20 for drawing in drawings), page.name


def test_a_page_with_its_explorables_is_a_megabyte_at_most(html):
    sizes = {}
    for page in pages(html):
        scripts = [page.parent / url for url in loads(page) if "/explorables/" in url]
        sizes[page.name] = sum(file.stat().st_size for file in (page, *scripts))
    assert {name: size for name, size in sizes.items() if size > 1_000_000} == {}


def test_search_works_without_a_server(html):
    index = (html / "searchindex.js").read_text(encoding="utf-8")
    assert index.startswith("Search.setIndex(")
    assert "chunk" in index


# Of a chapter, and of one whose evidence has a page of its own. The ledger and the instructor's guide are for looking things up.
MOST_WORDS, MOST_WORDS_WITH_EVIDENCE = 3000, 1500
# What a reader opens, runs or skips: not the page's own words.
NOT_READ = (
    "script, style, svg, math, pre, nav, details, button, .headerlink, .cell_input, .toggle, .er-explorable"
)


def words_of(page: Path) -> int:
    """Words of an article with its captions and tables, without what is folded, code and formulas."""
    article = BeautifulSoup(page.read_text(encoding="utf-8"), "lxml").select_one("article")
    assert article is not None, page.name
    for folded in article.select(NOT_READ):
        folded.decompose()
    return len(article.get_text(" ").split())


def test_a_chapter_can_be_read_in_ten_minutes(html):
    too_long = {}
    for page in chapters.recorded():
        has_evidence = (html / "book" / f"{page.word}_evidence.html").exists()
        words = words_of(html / "book" / f"{page.word}.html")
        if words > (MOST_WORDS_WITH_EVIDENCE if has_evidence else MOST_WORDS):
            too_long[page.word] = words
    assert too_long == {}


def test_the_front_page_is_short_and_names_one_command_for_each_symptom(html):
    front = html / "book" / "index.html"
    assert words_of(front) <= 700
    symptoms = soup(front).select(".triage dt")
    answers = soup(front).select(".triage dd")
    assert len(symptoms) == len(answers) == 10
    checks = {f"{each.word}.html#{each.word.replace('_', '-')}-checks" for each in chapters.written()}
    for answer in answers:
        [command] = answer.select("pre")
        said = command.get_text().split()
        is_ours = said[0] == "engineroom" and said[1] in cli.COMMANDS
        assert is_ours or said[0] in {"SELECT", "SHOW", "EXPLAIN"}, said
        links = {str(link["href"]) for link in answer.select("a[href]")}
        assert links, said
        assert links <= checks, said


def test_prose_is_spelled():
    root = paths.root()
    prose = [
        *root.glob("*.md"),
        *root.glob("book/*.md"),
        *root.glob("notebooks/**/*.md"),
        *root.glob("book/*.bib"),
    ]
    words = Path(__file__).with_name("spelling.txt")
    done = subprocess.run(
        [sys.executable, "-m", "codespell_lib", "--ignore-words", words, *prose],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not done.returncode, done.stdout + done.stderr
