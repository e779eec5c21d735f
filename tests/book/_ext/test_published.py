"""One address of the repository, and what pages have with it and without it."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import json
import re
import shutil
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

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

ADDRESS = "https://github.com/someone/their-book"
SITE = "https://someone.github.io/their-book/"
COLAB = "https://colab.research.google.com/github/someone/their-book/blob"
BINDER = "https://mybinder.org/v2/gh/someone/their-book/main?urlpath=lab/tree"
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


def build(root: Path, address: str) -> Path:
    """The folder of two pages with the book's settings and an address, one of which has moved."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text())
    settings["repository"]["url"] = address
    settings["html"].pop("baseurl", None)
    settings["sphinx"]["config"]["redirects"] = {"book/old": "index.html"}
    (root / "_config.yml").write_text(yaml.safe_dump(settings))
    chapters = "chapters: [{file: notebooks/lab}]"
    (root / "_toc.yml").write_text(f"format: jb-book\nroot: book/index\n{chapters}\n")
    for name, text in (("book/index.md", FRONT), ("notebooks/lab.md", LAB)):
        (root / name).parent.mkdir()
        (root / name).write_text(text)
    for name in ("_ext", "web", "references.bib"):
        (root / "book" / name).symlink_to(ROOT / "book" / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(book.paths, "root", lambda: root)
        return book.build(is_executed=False).parents[1]


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book with an address; its pages are in _build/html."""
    root = tmp_path_factory.mktemp("their-book")
    build(root, ADDRESS)
    return root


def git(at: Path, *command: str) -> str:
    who = ("-c", "user.name=Someone", "-c", "user.email=someone@example.org")
    done = subprocess.run(["git", *who, *command], cwd=at, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def repository(theirs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The host's repository after both were pushed: the book, and its pages by .ci/publish."""
    bare = tmp_path_factory.mktemp("host") / "their-book.git"
    git(bare.parent, "init", "-q", "--bare", str(bare))
    (theirs / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/publish", theirs / ".ci")
    git(theirs, "init", "-q", "-b", "main")
    git(theirs, "add", "_config.yml", "_toc.yml", "book/index.md", "notebooks", ".ci")
    git(theirs, "commit", "-q", "-m", "Begin")
    git(theirs, "remote", "add", "origin", str(bare))
    git(theirs, "push", "-q", "origin", "main")
    for _ in range(2):  # what is there is replaced
        published_now = subprocess.run([theirs / ".ci/publish"], capture_output=True, text=True, check=False)
        assert published_now.returncode == 0, published_now.stderr
    assert git(theirs, "status", "--porcelain", "--untracked-files=no") == ""
    return bare


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def got(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """A function from an address of the site to what a host that serves the branch answers."""
    served = tmp_path_factory.mktemp("pages")
    git(served, "clone", "-q", "--branch", "gh-pages", str(repository), "their-book")
    handler = functools.partial(_Silent, directory=str(served))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def get(address: str) -> str:
            local = f"http://127.0.0.1:{server.server_address[1]}{urlsplit(address).path}"
            try:
                with urllib.request.urlopen(local, timeout=10) as answer:
                    return str(answer.read().decode("utf-8", "replace"))
            except urllib.error.HTTPError as error:
                raise AssertionError(f"{address}: {error}") from error

        yield get
        server.shutdown()


def first_cell(notebook: str) -> str:
    """Of the lab as it is downloaded."""
    return "".join(json.loads(notebook)["cells"][0]["source"])


def links(text: str) -> set[str]:
    return {str(tag["href"]) for tag in BeautifulSoup(text, "html.parser").find_all(["a", "link"], href=True)}


def test_with_an_address_pages_lead_to_binder_colab_the_repository_and_themselves(theirs):
    html = theirs / "_build/html"
    there = links((html / "notebooks/lab.html").read_text())
    assert f"{BINDER}/notebooks/lab.md" in there
    assert f"{COLAB}/gh-pages/_sources/notebooks/lab.ipynb" in there
    assert {ADDRESS, f"{ADDRESS}/edit/main/notebooks/lab.md"} <= there
    assert any(link.startswith(f"{ADDRESS}/issues/new?") for link in there)
    assert f"{SITE}notebooks/lab.html" in there
    assert {f"{ADDRESS}/issues", SITE} <= links((html / "book/index.html").read_text())


def test_what_is_published_answers_at_its_address_with_all_that_it_links_to(got, repository):
    assert git(repository, "rev-list", "--count", "gh-pages") == "1\n"
    pages = re.findall("<loc>(.*)</loc>", got(f"{SITE}sitemap.xml"))
    assert pages == [f"{SITE}book/index.html", f"{SITE}notebooks/lab.html"]
    kept = {
        f"{branch}/{name}"
        for branch in ("main", "gh-pages")
        for name in git(repository, "ls-tree", "-r", "--name-only", branch).split()
    }
    for page in (SITE, *pages, f"{SITE}search.html"):
        for link in links(got(page)):
            there = urldefrag(urljoin(page, link)).url
            if there.startswith(SITE):
                got(there)
            elif there.startswith((f"{ADDRESS}/edit/", f"{COLAB}/", f"{BINDER}/")):
                file = (
                    there.replace(BINDER, "main").removeprefix(f"{ADDRESS}/edit/").removeprefix(f"{COLAB}/")
                )
                assert file in kept, there
            else:
                assert there.startswith(ADDRESS), page
    lab = first_cell(got(f"{SITE}_sources/notebooks/lab.ipynb"))
    assert f"--find-links {ADDRESS}/releases/expanded_assets/v{__version__} " in lab
    moved = BeautifulSoup(got(f"{SITE}book/old.html"), "html.parser")
    (to,) = re.findall("url=(.*)", moved.find("meta", attrs={"http-equiv": "refresh"})["content"])
    assert "<h1>Front" in got(urljoin(f"{SITE}book/old.html", to))


def test_without_an_address_no_page_has_a_link_that_needs_one(tmp_path):
    html = build(tmp_path, "https://github.com/OWNER/engine-room")
    front, lab = ((html / name).read_text() for name in ("book/index.html", "notebooks/lab.html"))
    assert not [link for link in links(front) | links(lab) if "://" in link]
    assert "Open an issue in the repository." in front
    assert "../_sources/notebooks/lab.ipynb" in links(lab)
    assert not (html / "sitemap.xml").exists()
    assert "--find-links . engineroom==" in first_cell((html / "_sources/notebooks/lab.ipynb").read_text())


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


@pytest.mark.parametrize(
    "address",
    ["someone/book", "http://github.com/a/b", "https://github.com/a/b/c", "https://github.com/a/b.git"],
)
def test_what_is_no_address_of_a_repository_is_refused_with_its_form(address):
    with pytest.raises(ConfigError, match="NAME/REPOSITORY"):
        published.site(address)
