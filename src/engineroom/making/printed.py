"""`make pdf`: the built pages as one PDF, in the order of the contents, printed by Chromium.

They become one long page whose links lead within it, without scripts and with every fold open. It is printed twice: only a printed book
knows the page numbers that its contents name.
"""

from __future__ import annotations

import html
import json
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

import engineroom
from engineroom import children, files, paths
from engineroom.errors import EngineRoomError
from engineroom.making import contents
from engineroom.making.contents import Page
from engineroom.show import in_browser

if TYPE_CHECKING:
    from pypdf import PdfReader

__all__ = ["print_book"]

SHEET = re.compile(r'<link\b[^>]*\brel="stylesheet"[^>]*>')
HEADING = re.compile(r"<(/?)h([1-6])\b")
FOR_A_PHONE = re.compile(r'<div class="er-narrow".*?</svg></div>', re.DOTALL)
NAMED = re.compile(r'(?<=\s)(id|aria-labelledby|aria-describedby|href|xlink:href)="([^"]*)"|url\(#([^)]+)\)')


def print_book(built: Path, target: Path) -> int:
    """Print the pages under `built` into `target`; return how many pages it has. EngineRoomError when one is not built or Chromium fails."""
    import pypdf

    pages = contents.in_order()
    # Beside the front page: what pages load is named from there.
    whole = built / Path(pages[0].name).with_name(".printed.html")
    target.parent.mkdir(parents=True, exist_ok=True)
    numbers: dict[str, int] = {}
    try:
        for _ in range(2):
            whole.write_text(_joined(built, pages, numbers), encoding="utf-8")
            _print(whole, target)
            printed = pypdf.PdfReader(target)
            numbers = _numbers(printed)
    finally:
        whole.unlink(missing_ok=True)
    return len(printed.pages)


def _joined(built: Path, pages: list[Page], numbers: Mapping[str, int]) -> str:
    """All pages as one, its contents with the numbers that are known."""
    slugs = {page.name: page.slug for page in pages}
    sheets = ""
    listed: list[str] = []
    body: list[str] = []
    headers: list[str] = []
    for at, page in enumerate(pages):
        head, article = contents.head_and_article(built, page)
        sheets = sheets or "\n".join(SHEET.findall(head))
        text = _on_paper(article, page, slugs)
        heading = re.search(r"<h1\b[^>]*>(.*?)</h1>", article, re.DOTALL)
        name = " ".join(re.sub(r"<[^>]*>", "", heading[1]).split()) if heading else page.name
        if page.part:
            listed.append(f'<p class="part">{html.escape(page.part)}</p>')
            text = f'<h1 class="part">{html.escape(page.part)}</h1>{text}'
        listed.append(
            f'<p class="depth-{page.depth}"><a href="#{page.slug}"><span>{name}</span><i></i>'
            f"<span>{numbers.get(page.slug, '')}</span></a></p>"
        )
        headers.append(
            f"@page p{at} {{ @top-left {{ content: {json.dumps(html.unescape(name), ensure_ascii=False)}; }} }}"
        )
        body.append(f'<section class="printed" id="{page.slug}" style="page: p{at}">{text}</section>')
    return "\n".join(
        [
            '<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light"><head><meta charset="utf-8">',
            f'<title>{html.escape(contents.configured("title"))}</title>{sheets}<link rel="stylesheet" href="../_static/printed.css">',
            f"<style>{' '.join(headers)}</style></head><body><article class='bd-article'>",
            contents.cover(),
            '<section class="contents"><h1>Contents</h1>',
            *listed,
            "</section>",
            *body,
            "</article></body></html>",
        ]
    )


def _on_paper(text: str, page: Page, slugs: Mapping[str, str]) -> str:
    """A page's article: folds open, headings as deep as the page, names its own among those of all pages, links to pages within the book."""

    def heading(found: re.Match[str]) -> str:
        level = min(6, int(found[2]) + page.depth)
        return f"</h{level}" if found[1] else f'<h{level} data-level="{found[2]}"'

    def named(found: re.Match[str]) -> str:
        kind, value, drawn = found.groups()
        if drawn:
            return f"url(#{page.slug}--{drawn})"
        if not kind.endswith("href"):
            return f'{kind}="{" ".join(f"{page.slug}--{each}" for each in value.split())}"'
        target, _, anchor = value.partition("#")
        if re.match(r"[a-z]+:", target):
            return found[0]
        # What is no page, as a file to download, is not in the book.
        slug = slugs.get(page.leads_to(target))
        return f'{kind}="#{slug}{anchor and f"--{anchor}"}"' if slug else ""

    text = re.sub(r"<details(?![^>]*\sopen\b)", "<details open", FOR_A_PHONE.sub("", text))
    return NAMED.sub(named, HEADING.sub(heading, text))


def _print(page: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as profile:
        done = children.run(
            [
                in_browser.chromium(),
                "--headless",
                *in_browser.QUIET,
                "--disable-dev-shm-usage",  # small in containers
                f"--user-data-dir={profile}",
                "--no-pdf-header-footer",
                "--generate-pdf-document-outline",
                f"--print-to-pdf={target}",
                page.as_uri(),
            ],
            is_read=True,
        )
    if done.returncode or not target.is_file():
        said = " ".join(done.stdout.splitlines()[-3:])
        raise EngineRoomError(
            f"Chromium did not print the book (exit code {done.returncode}): {said}",
            remedy="free some memory and disk, or install a newer Chromium (131 or later), and make pdf again",
        )


def _numbers(printed: PdfReader) -> dict[str, int]:
    """The page on which each part that is linked to begins, from 1."""
    found = {
        name.lstrip("/"): printed.get_destination_page_number(destination)
        for name, destination in printed.named_destinations.items()
    }
    return {name: number + 1 for name, number in found.items() if number is not None}


def _main() -> None:
    target = paths.root() / "_build" / "dist" / f"engine-room-{engineroom.__version__}.pdf"
    print("The pages as a PDF: usually 3 minutes", flush=True)
    try:
        count = print_book(paths.root() / "_build" / "html", target)
    except EngineRoomError as error:
        click.echo(files.visible(f"engineroom: {error}"), err=True)
        sys.exit(1)
    print(f"The book is printed: {count} pages, {target.stat().st_size / 1e6:.1f} MB. Open {target}")


if __name__ == "__main__":
    with children.ending_with_us():
        _main()
