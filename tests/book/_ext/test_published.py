"""One address of the repository, and what pages have with it and without it."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup
from sphinx.errors import ConfigError

from engineroom import __version__, paths
from engineroom.making import book

ROOT = paths.root()
SPEC = importlib.util.spec_from_file_location("published", ROOT / "book/_ext/published.py")
published = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(published)

FRONT = "# Front\n\n{{ issue }} in {{ repository }}{{ site }}.\n"
LAB = """---
kernelspec: {name: python3, display_name: Python 3}
jupytext: {text_representation: {extension: .md, format_name: myst}}
---
# Lab

```{code-cell} ipython3
1
```
"""


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A function from an address to the folder of two pages with the book's settings, one of which has moved."""

    def build(address: str) -> Path:
        settings = yaml.safe_load((ROOT / "_config.yml").read_text())
        settings["repository"]["url"] = address
        settings["html"].pop("baseurl", None)
        settings["sphinx"]["config"]["redirects"] = {"book/old": "index.html"}
        (tmp_path / "_config.yml").write_text(yaml.safe_dump(settings))
        chapters = "chapters: [{file: notebooks/lab}]"
        (tmp_path / "_toc.yml").write_text(f"format: jb-book\nroot: book/index\n{chapters}\n")
        for name, text in (("book/index.md", FRONT), ("notebooks/lab.md", LAB)):
            (tmp_path / name).parent.mkdir()
            (tmp_path / name).write_text(text)
        for name in ("_ext", "web", "references.bib"):
            (tmp_path / "book" / name).symlink_to(ROOT / "book" / name)
        monkeypatch.setattr(book.paths, "root", lambda: tmp_path)
        return book.build(is_executed=False).parents[1]

    return build


def first_cell(html: Path) -> str:
    """Of the lab as it is downloaded."""
    lab = json.loads((html / "_sources/notebooks/lab.ipynb").read_text(encoding="utf-8"))
    return "".join(lab["cells"][0]["source"])


def links(page: Path) -> set[str]:
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    return {str(tag["href"]) for tag in soup.find_all(["a", "link"], href=True)}


def test_with_an_address_pages_lead_to_binder_the_repository_and_themselves(built):
    html, address = built("https://github.com/someone/their-book"), "https://github.com/someone/their-book"
    there = links(html / "notebooks/lab.html")
    assert "https://mybinder.org/v2/gh/someone/their-book/main?urlpath=lab/tree/notebooks/lab.md" in there
    assert {address, f"{address}/edit/main/notebooks/lab.md"} <= there
    assert any(link.startswith(f"{address}/issues/new?") for link in there)
    assert "https://someone.github.io/their-book/notebooks/lab.html" in there
    assert {f"{address}/issues", "https://someone.github.io/their-book/"} <= links(html / "book/index.html")
    pages = re.findall("<loc>(.*)</loc>", (html / "sitemap.xml").read_text())
    base = "https://someone.github.io/their-book/"
    assert pages == [f"{base}book/index.html", f"{base}notebooks/lab.html"]
    assert f"--find-links {address}/releases/expanded_assets/v{__version__} " in first_cell(html)
    moved = BeautifulSoup((html / "book/old.html").read_text(), "html.parser")
    assert moved.find("meta", attrs={"http-equiv": "refresh"})["content"].endswith("url=index.html")


def test_without_an_address_no_page_has_a_link_that_needs_one(built):
    html = built("https://github.com/OWNER/engine-room")
    for page in (html / "book/index.html", html / "notebooks/lab.html"):
        assert not [link for link in links(page) if "://" in link], page
    assert "Open an issue in the repository." in (html / "book/index.html").read_text()
    assert "../_sources/notebooks/lab.ipynb" in links(html / "notebooks/lab.html")
    assert not (html / "sitemap.xml").exists()
    assert "--find-links . engineroom==" in first_cell(html)


@pytest.mark.parametrize(
    ("address", "pages"),
    [
        ("https://github.com/Someone/Book", "https://someone.github.io/Book/"),
        ("https://github.com/someone/someone.github.io", "https://someone.github.io/"),
        ("https://gitlab.com/someone/book", "https://someone.gitlab.io/book/"),
    ],
)
def test_pages_are_where_the_host_serves_them(address, pages):
    assert published.site(address) == pages


@pytest.mark.parametrize("address", ["someone/book", "http://github.com/a/b", "https://github.com/a/b/c"])
def test_what_is_no_address_of_a_repository_is_refused_with_its_form(address):
    with pytest.raises(ConfigError, match="NAME/REPOSITORY"):
        published.site(address)
