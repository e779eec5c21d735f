"""The built pages in the order of the contents, without what only a web site has: what `make pdf` and `make epub` make a book of."""

from __future__ import annotations

import html
import posixpath
import re
from dataclasses import dataclass
from pathlib import Path

import yaml

import engineroom
from engineroom import paths
from engineroom.errors import EngineRoomError

__all__ = ["Page", "built_file", "configured", "cover", "head_and_article", "in_order"]

ARTICLE = re.compile(r'<article class="bd-article"[^>]*>(.*)</article>', re.DOTALL)
# What runs, what is downloaded, and what each recording of the ledger changed: ninety pages of paper, which are the web page's.
DROPPED = re.compile(
    r'<script\b.*?</script>|<a download=.*?</a>|<a class="headerlink".*?</a>|<table class="history table".*?</table>',
    re.DOTALL,
)
COVER = """\
<section class="cover"><p class="title">{title}</p><p>Version {version}</p>
<p>Text, figures and data: CC BY 4.0. Code: MIT. Figures that compute in a browser stand here as they start; what each recording of
the ledger changed stands on its page of the web book alone.</p></section>"""


@dataclass(frozen=True)
class Page:
    """A page of the contents: 0 deep is the front page, 1 a chapter, 2 what belongs to it. The first of a part has its caption."""

    name: str
    depth: int
    part: str = ""

    @property
    def slug(self) -> str:
        return self.name.replace("/", "-")

    def leads_to(self, target: str) -> str:
        """The name of the page to which a link on this one leads, its anchor cut off."""
        there = posixpath.normpath(posixpath.join(posixpath.dirname(self.name), target))
        return there.removesuffix(".html") if target else self.name


def configured(key: str) -> str:
    """What _config.yml says, as the title."""
    return str(yaml.safe_load((paths.root() / "_config.yml").read_text(encoding="utf-8"))[key])


def cover() -> str:
    return COVER.format(title=html.escape(configured("title")), version=engineroom.__version__)


def in_order() -> list[Page]:
    toc = yaml.safe_load((paths.root() / "_toc.yml").read_text(encoding="utf-8"))
    pages = [Page(toc["root"], 0)]
    for part in toc["parts"]:
        caption = part["caption"]
        for chapter in part["chapters"]:
            pages.append(Page(chapter["file"], 1, caption))
            pages += [Page(each["file"], 2) for each in chapter.get("sections", ())]
            caption = ""
    return pages


def built_file(built: Path, name: str) -> Path:
    """A file of the built book. EngineRoomError when it is not there."""
    file = built / name
    if not file.is_file():
        raise EngineRoomError(f"there is no {file}", remedy="make book, which builds it")
    return file


def head_and_article(built: Path, page: Page) -> tuple[str, str]:
    """What stands before a page's article, and the article. EngineRoomError when the page is not built."""
    file = built_file(built, f"{page.name}.html")
    text = file.read_text(encoding="utf-8")
    found = ARTICLE.search(text)
    if found is None:
        raise EngineRoomError(
            f"{file} has no article", remedy="adapt ARTICLE in making/contents.py to the theme"
        )
    return text[: found.start()], DROPPED.sub("", found[1])
