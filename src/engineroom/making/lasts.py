"""`make lasts`: Jupyter Book's own command, with its old Sphinx and theme, makes the same pages as `make book` with the newest.

It lies in an environment of its own, before the book's packages, and builds from the same `_config.yml` and `_toc.yml`, without a warning.
A theme may put its own things around and into a page: compared is what the page's article says.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

import click
from bs4 import BeautifulSoup

from engineroom import children, files, paths
from engineroom.errors import EngineRoomError
from engineroom.making import book, environment

__all__ = ["build", "differences", "says"]

OLD = (
    "jupyter-book==1.0.4.post1 sphinx==7.4.7 myst-nb==1.4.0 myst-parser==3.0.1 sphinx-book-theme==1.1.4 sphinx-exercise==1.2.1 "
    "sphinx-proof==0.4.0 sphinx-reredirects==1.1.0 sphinxcontrib-bibtex==2.7.0"
)
JUPYTER_BOOK = (
    "import site, sys; site.addsitedir(sys.argv.pop(1)); from jupyter_book.cli.main import main; main()"
)

# What a line is called by, and what else begins one: a paragraph in a cell is the cell's.
KIND = re.compile("^(h[1-6]|li|t[hd]|d[td]|figcaption|caption|pre|summary)$")
BLOCK = re.compile(f"{KIND.pattern}|^(p|div|section|figure|table|tr|[uod]l|details|blockquote)$")
FROM_THEMES = "script, style, button, nav, .headerlink"
BREAK = "\x1e"


def says(page: str) -> list[str]:
    """What the article of a page says, line by line: headings, text, cells, captions, words of pictures, and where links lead."""
    article = BeautifulSoup(page, "lxml").select_one("article")
    if article is None:
        raise EngineRoomError("a built page has no article", remedy="adapt making/lasts.py to the theme")
    for tag in article.select(FROM_THEMES):
        tag.extract()
    for tag in article.select("img, [role=img]"):
        tag.insert_before(f"[{tag.get('alt') or tag.get('aria-label')}]")
    for tag in article.select("a[href]"):
        tag.append(f"<{tag['href']}>")
    for tag in article.find_all(BLOCK):
        around = tag.find_parent(KIND)
        outside = around.name if around else ""
        tag.insert(0, f"{BREAK}{tag.name if KIND.match(tag.name) else outside}: ")
        tag.insert_after(f"{BREAK}{outside}: ")
    lines = (" ".join(line.split()) for line in f": {article.get_text()}".split(BREAK))
    return [line for line in lines if line.partition(": ")[2]]


def differences(pages: Iterable[str], ours: Path, theirs: Path) -> Iterator[str]:
    """Each page that says something else under `theirs` than under `ours`, with the first line that differs, from shortly before there."""
    for page in pages:
        built = [folder / f"{page}.html" for folder in (ours, theirs)]
        said = [says(file.read_text("utf-8")) if file.exists() else ["no such page"] for file in built]
        for one, other in zip_longest(*said, fillvalue="nothing more"):
            if one != other:
                at = len(os.path.commonprefix([one, other]))  # noqa: RUF071 (letter by letter)
                seen = slice(max(0, at - 60), at + 100)
                yield f"{page}:\n  {one[seen]}\n  {other[seen]}"
                break


def build() -> list[str]:
    """Build the book both ways in _build/lasts, to read; return the differences. EngineRoomError when it does not build."""
    root = paths.root()
    folder = root / "_build" / "lasts"
    shutil.rmtree(folder / "ours", ignore_errors=True)
    python = environment.make(folder / "environment")
    if environment.install(python, ["install", "-q", "--disable-pip-version-check", *OLD.split()], tries=3):
        raise EngineRoomError("pip failed", remedy="read what it said above, and run make lasts again")
    ours: list[str | Path] = [sys.executable, "-P", "-m", "engineroom.making.pages", folder / "ours", "-W"]
    theirs: list[str | Path] = [python, "-c", JUPYTER_BOOK, sysconfig.get_path("purelib")]
    theirs += ["build", ".", "--all", "-W", "-n", "--keep-going", "--path-output", folder / "theirs"]
    with children.variable("ENGINEROOM_TO_READ", "1"):
        for command in (ours, theirs):
            done = children.run(command, cwd=root, is_read=True)
            if done.returncode:
                raise EngineRoomError(
                    f"{command[0]} did not build the book:\n{book.complaints(done.stdout.splitlines())}",
                    remedy="mend what the lines above name and run make lasts again",
                )
    pages = re.findall(r"(?:root|file): (\S+)", (root / "_toc.yml").read_text(encoding="utf-8"))
    return list(differences(pages, folder / "ours/html", folder / "theirs/_build/html"))


if __name__ == "__main__":
    print("The book by two toolchains: usually 6 minutes", flush=True)
    try:
        with children.ending_with_us():
            found = build()
    except EngineRoomError as error:
        click.echo(files.visible(f"engineroom: {error}"), err=True)
        sys.exit(1)
    print("\n".join([*found, f"{len(found)} pages differ"]))
    sys.exit(bool(found))
