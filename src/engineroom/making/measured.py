"""How much a reader meets on each built page, and how far down its first picture is.

python -m engineroom.making.measured [_build/html]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engineroom import paths
from engineroom.show.in_browser import quiet_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["SCREENS", "measured", "table"]

SCREENS = {"desktop": (1440, 900), "phone": (390, 844)}

# Words as a reader meets them, without code, drawings and what is folded; a picture may be an explorable or the front page's map.
_MEASURE = """() => {
  const article = document.querySelector("article") ?? document.body;
  const isShown = (each) => !each.closest("details:not([open])") && each.getBoundingClientRect().height > 0;
  const pictures = [...article.querySelectorAll("figure:not(.er-table), .stations")].filter((each) => each.matches(".stations") || each.querySelector("svg, img")).filter(isShown);
  const text = article.cloneNode(true);
  for (const each of text.querySelectorAll("script, style, svg, math, pre, nav, details, button, .headerlink, .er-live")) each.remove();
  const first = pictures[0]?.querySelector(".er-picture") ?? pictures[0];
  return {
    words: text.textContent.split(/\\s+/).filter(Boolean).length,
    pictures: pictures.length,
    folds: article.querySelectorAll("details:not(.er-origin, .er-live *)").length,
    screens: first ? (first.getBoundingClientRect().top + scrollY) / innerHeight : null,
    scripts: [...document.scripts].map((each) => each.src).filter((src) => src.includes("/explorables/")),
  };
}"""


def measured(browser: Browser, page: Path) -> dict[str, Any]:
    """Words, pictures and folds of a built page, its kilobytes with its explorables, and screens down to its first picture."""
    found: dict[str, Any] = {}
    for name, (width, height) in SCREENS.items():
        context = browser.new_context(
            offline=True, reduced_motion="reduce", viewport={"width": width, "height": height}
        )
        tab = context.new_page()
        tab.goto(page.as_uri(), wait_until="load")
        seen = tab.evaluate(_MEASURE)
        context.close()
        found |= {key: seen[key] for key in ("words", "pictures", "folds")}
        found[name] = seen["screens"]
    scripts = (page.parent / Path(src.removeprefix("file://")) for src in seen["scripts"])
    found["kilobytes"] = sum(file.stat().st_size for file in (page, *scripts)) / 1000
    return found


def table(html: Path) -> str:
    """A line per page of the book in the folder `html`."""
    lines = [
        f"{'page':26}{'words':>7}{'pictures':>10}{'folds':>7}{'kB':>7}   screens to the first: desktop, phone"
    ]
    with quiet_browser() as browser:
        for page in sorted((html / "book").glob("*.html")):
            of = measured(browser, page)
            screens = ", ".join("none" if of[name] is None else f"{of[name]:.1f}" for name in SCREENS)
            lines.append(
                f"{page.stem:26}{of['words']:7,}{of['pictures']:10}{of['folds']:7}{of['kilobytes']:7,.0f}   {screens}"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(Path(sys.argv[1]) if len(sys.argv) > 1 else paths.root() / "_build" / "html"))
