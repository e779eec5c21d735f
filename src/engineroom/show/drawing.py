"""Draw a figure for a page: inline SVG at two widths, words computed from its rows, and the rows as CSV.

Inline SVG takes its ink from the page (`currentColor`), so that one drawing serves light mode, dark mode and print; the narrow
drawing keeps nine-point text on a phone, where a scaled-down wide one would not.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.show.figure import figure_of
from engineroom.show.origin import NO_VERDICT, folded
from engineroom.show.style import INK
from engineroom.show.wording import Words

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["Drawing", "draw", "lean", "origin_of", "show"]

WIDE_IN, NARROW_IN = 7.2, 3.7
STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "engineroom",  # or ids would be random
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "text.color": INK,
    "legend.frameon": False,
    "savefig.transparent": True,
}


# Shapes and their places; marks of one line, each with the line's style; and a number of more decimals than a page shows.
_SHAPE = re.compile(r'<path id="([^"]+)"[^>]* style="([^"]*)"')
_PLACED = re.compile(r'(<use href="#([^"]+)"[^>]*?) style="([^"]*)"')
_MARKS = re.compile(r'<g( clip-path="[^"]*")?>((?:<use [^>]*>){2,})</g>')
_DECIMALS = re.compile(r"\d+\.\d{3,}")
_SEEN_THROUGH = re.compile(r"(?<![\w-])opacity:")


@dataclass(frozen=True)
class Drawing:
    """A figure ready for a page or a notebook; `csv` holds the rows that were drawn."""

    figure: str
    words: Words
    wide: str
    narrow: str
    csv: str
    origin: str

    def _repr_html_(self) -> str:
        alt = html.escape(self.words.alt, quote=True)
        data = base64.b64encode(self.csv.encode()).decode()
        pictures = "".join(
            f'<div class="er-{width}"{style}>{svg}</div>'
            # The book's style sheet shows the narrow one instead on a phone; a notebook has no such sheet.
            for width, svg, style in (
                ("wide", self.wide, ""),
                ("narrow", self.narrow, ' style="display:none"'),
            )
        )
        rows = f'<a download="{self.figure}.csv" href="data:text/csv;base64,{data}">Rows as CSV</a>'
        return (
            f'<figure class="er-figure" data-figure="{self.figure}"><div role="img" aria-label="{alt}">{pictures}</div>'
            f"<figcaption>{html.escape(self.words.caption)} {folded(self.origin, rows)}</figcaption></figure>"
        )

    def __repr__(self) -> str:
        return f"{self.figure}: {self.words.alt}"


def show(figure: str, run: Run | None = None) -> Drawing:
    """Draw `figure` from `run`, or from its newest recorded run.

    Raises EngineRoomError when there is neither such a figure nor a run of it.
    """
    of = figure_of(figure)
    if run is None:
        run = _newest(figure)
    table = of.rows(run)
    return draw(figure, table, of.picture, of.words(table), origin=origin_of(run))


def draw(
    figure: str,
    table: pd.DataFrame,
    picture: Callable[[pd.DataFrame, Axes], None],
    words: Words,
    *,
    origin: str,
    ratios: tuple[float, float] = (0.52, 1.0),
) -> Drawing:
    """Draw rows that need no run of their own; `ratios` are height by width of the wide and of the narrow drawing."""
    wide, narrow = (
        _svg(table, picture, width_in=width_in, ratio=ratio)
        for width_in, ratio in zip((WIDE_IN, NARROW_IN), ratios, strict=True)
    )
    return Drawing(
        figure=figure, words=words, wide=wide, narrow=narrow, csv=_publish(figure, table), origin=origin
    )


def origin_of(run: Run) -> str:
    """Say whether the rows were measured just now or are a recording, of which servers, when and where, and why it decides nothing."""
    about = run.provenance
    # Of servers that ran more than once, under names of their series, the version is said once.
    versions = dict.fromkeys(name.split(",")[0] for name in about.get("servers", {}))
    servers = ", ".join(f"MySQL {version}" for version in versions)
    what = servers or ("our C++ kernels" if run.method == "kernel" else run.method)
    where = f"{about.get('cores', '?')} cores, {about.get('cpu') or 'unknown CPU'}"
    if run.origin == "recorded":
        doubt = f" {NO_VERDICT}: {run.why_busy}." if run.why_busy else ""
        return f"Recorded run {run.n}: {what}; {(run.recorded_at or '')[:10]}; {where}.{doubt}"
    return f"Measured live while this page was made: {what}; {str(about.get('date', ''))[:10]}; {where}."


def _newest(figure: str) -> Run:
    from engineroom import runs

    found = [run for method in runs.METHODS if (run := runs.latest(figure, method))]
    if not found:
        raise EngineRoomError(f"no run of {figure} is recorded", remedy=f"engineroom record {figure}")
    return found[0]


def _publish(figure: str, table: pd.DataFrame) -> str:
    csv = table.to_csv(index=False, float_format="%.12g")  # as many digits as a recording has
    folder = paths.build() / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{figure}.csv").write_text(csv)
    return csv


def _svg(
    table: pd.DataFrame,
    picture: Callable[[pd.DataFrame, Axes], None],
    *,
    width_in: float,
    ratio: float,
) -> str:
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        drawing = Figure(figsize=(width_in, width_in * ratio), layout="constrained")
        FigureCanvasSVG(drawing)
        picture(table, drawing.add_subplot())
        # Places are found once and kept: saving would draw everything a first time, invisibly, only to find them.
        layout = drawing.get_layout_engine()
        assert layout is not None
        layout.execute(drawing)
        drawing.set_layout_engine("none")
        out = io.StringIO()
        drawing.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    svg = out.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(
        r'(<svg[^>]*?) width="[^"]*"',
        r"\1",
        re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1),
        count=1,
    )
    return (
        _own_ids(lean(svg))
        .replace(INK, "currentColor")
        .replace("<svg ", '<svg fill="currentColor" aria-hidden="true" focusable="false" ', 1)
    )


def lean(svg: str) -> str:
    """The same drawing in far fewer bytes: a page may have thousands of marks.

    Coordinates are to a hundredth of a point. A place does not repeat the style of its shape, and what all texts or all marks of a line have in
    common is said once.
    """
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r">\s+<", "><", svg)
    svg = svg.replace(' xlink:href="', ' href="').replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "")
    svg = re.sub(r' transform="rotate\(-?0(\.0+)? [^"]*"', "", svg)
    svg = re.sub(r"<[^>]+>", lambda tag: _DECIMALS.sub(_rounded, tag[0]), svg)
    if font := re.search(r'; font-family: ([^;"]+)', svg):
        svg = svg.replace(font[0], "").replace("<svg ", f'<svg font-family="{font[1]}" ', 1)
    shapes = dict(_SHAPE.findall(svg))
    svg = _PLACED.sub(
        lambda use: use[1] if use[3] == shapes.get(use[2]) and not _SEEN_THROUGH.search(use[3]) else use[0],
        svg,
    )
    return _MARKS.sub(_styled_once, svg)


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _styled_once(marks: re.Match[str]) -> str:
    styles = set(re.findall(r' style="[^"]*"', marks[2]))
    # A group that is seen through is not the same as marks that are, where they lie on each other.
    if len(styles) != 1 or _SEEN_THROUGH.search(style := styles.pop()):
        return marks[0]
    return f"<g{marks[1] or ''}{style}>{marks[2].replace(style, '')}</g>"


def _own_ids(svg: str) -> str:
    """Keep the ids that are referred to, under names that no other drawing of a page has: they follow from all that is drawn."""
    referred = dict.fromkeys(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
    prefix = "d" + hashlib.sha256(svg.encode()).hexdigest()[:8]
    own = {name: f"{prefix}-{n}" for n, name in enumerate(referred)}
    svg = re.sub(r' id="([^"]+)"', lambda found: f' id="{own[found[1]]}"' if found[1] in own else "", svg)
    return re.sub(r'(href="#|url\(#)([^")]+)', lambda found: found[1] + own[found[2]], svg)
