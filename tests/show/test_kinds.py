"""What each kind of plot draws of made-up rows."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from engineroom.runs import Run, side_by_side
from engineroom.runs.side_by_side import OURS
from engineroom.show.compared import compared, ratios, with_width
from engineroom.show.curves import Curves, lines, ticks_that_fit
from engineroom.show.dots import Dots
from engineroom.show.drawing import NARROW_IN, WIDE_IN
from engineroom.show.shares import Bar, Bars, Ranked
from engineroom.show.steps import Steps, states
from engineroom.show.table import listed
from engineroom.show.wording import at, each, ends

FLUSHES = pd.DataFrame(
    [
        (clients, "flushes", repeat, y)
        for clients, ys in ((1, (2.0, 3.0, 9.0)), (100, (1.0, 1.5, 2.0)))
        for repeat, y in enumerate(ys)
    ],
    columns=["concurrency", "series", "repeat", "flushes_per_transaction"],
)


def axes(width_in: float = WIDE_IN) -> Axes:
    return Figure(figsize=(width_in, 4), layout="constrained").add_subplot()


def marks(ax: Axes) -> list[tuple[str, str, list[float], list[float]]]:
    return [
        (str(line.get_marker()), str(line.get_fillstyle()), [*line.get_xdata()], [*line.get_ydata()])
        for line in ax.get_lines()
    ]


@pytest.mark.parametrize("summary", ["median", "min"])
def test_a_curve_runs_through_the_values_and_beside_the_published_points(summary: str) -> None:
    table = side_by_side.rows(Run("fig-7-06", "sim", FLUSHES, {}, summary=summary))
    ax = axes()
    Curves(labels={"flushes": "8.0", "old_redo": "5.7"}, x_label="clients", y_label="flushes")(table, ax)
    repeats, line, published = marks(ax)
    assert sorted(repeats[3]) == sorted(FLUSHES["flushes_per_transaction"])
    assert line[2:] == ([1, 100], [3.0, 1.5] if summary == "median" else [2.0, 1.0])
    assert (published[1], published[2][:2], published[3][:2]) == ("none", [1, 3], [2.34, 9.5])
    assert [text.get_text() for text in ax.texts] == ["8.0", "8.0, published"] or [
        text.get_text() for text in ax.texts
    ] == ["8.0, published", "8.0"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("clients, log scale", "flushes, log scale")


def test_dots_are_repeats_faint_the_value_large_and_the_published_one_hollow() -> None:
    loads = pd.DataFrame(
        {
            "build": ["before", "before", "after"],
            "series": "load_time",
            "repeat": [0, 1, 0],
            "load_time_minutes": [9.0, 11.0, 2.0],
        }
    )
    table = side_by_side.rows(Run("fig-7-02", "sim", loads, {}))
    ax = axes()
    Dots(rows={"before": "older", "never measured": "x", "after": "newer"}, label="minutes", form="{:.0f}")(
        table, ax
    )
    found = {(fill, tuple(sorted(x))) for _, fill, x, _ in marks(ax)}
    assert found == {("full", (2.0, 9.0, 11.0)), ("full", (2.0, 10.0)), ("none", (16.0, 77.0))}
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["older", "newer"]
    assert {text.get_text() for text in ax.texts} == {"10", "2", "77 published", "16 published"}


def test_marks_of_the_same_value_stand_one_above_another() -> None:
    same = pd.DataFrame({"query": "q", "series": ["old", "new"], "repeat": 0, "pages": 5})
    ax = axes()
    Dots(rows={"q": "q"}, series={"old": "old", "new": "new"}, label="pages")(
        side_by_side.rows(Run("own-pages", "live", same, {}), by=("query", "series"), y="pages"), ax
    )
    assert len({y for _, _, _, (y,) in marks(ax)}) == 2


def test_a_value_before_the_axis_begins_is_written_at_its_end() -> None:
    far = pd.DataFrame(
        {"query": ["q", "p", "q"], "series": ["old", "old", "new"], "repeat": 0, "times": [1.0, 2.0, 0.02]}
    )
    ax = axes()
    Dots(rows={"q": "q", "p": "p"}, series={"old": "5.7", "new": "9.7"}, label="times", log=True, floor=0.5)(
        side_by_side.rows(Run("own-times", "live", far, {}), by=("query", "series"), y="times"), ax
    )
    assert {x for _, _, found, _ in marks(ax) for x in found} == {1.0, 2.0}
    assert [text.get_text() for text in ax.texts] == ["\N{LEFTWARDS ARROW} 9.7: 0.02"]
    assert ax.get_xlim()[0] == 0.5


def test_ranked_rows_stand_under_whose_they_are_the_largest_first() -> None:
    shares = pd.DataFrame(
        {
            "caller": ["mtr_commit", "other"],
            "series": "log_reservation_wait",
            "repeat": 0,
            "share_percent": [30.0, 70.0],
        }
    )
    ax = axes()
    Ranked(label="share, %")(side_by_side.rows(Run("fig-7-05", "sim", shares, {})), ax)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [
        "ours",
        "other",
        "mtr commit",
        "published",
        "mtr commit",
        "other",
    ]


def test_a_bar_is_as_long_as_its_value_and_has_its_repeats() -> None:
    phases = pd.DataFrame(
        {
            "phase": "plan_search",
            "series": "statement",
            "repeat": [0, 1, 2],
            "share_percent": [50.0, 60.0, 80.0],
        }
    )
    ax = axes()
    Bars(bars={"plan_search": Bar("search")}, label="time")(
        side_by_side.rows(Run("fig-7-25", "live", phases, {})), ax
    )
    assert [bar.get_width() for bar in ax.patches] == [60.0]
    assert [x for _, _, x, _ in marks(ax)] == [[50.0, 60.0, 80.0], [100.0]]
    assert ax.get_yticklabels()[0].get_text() == "search\n60 %"


def test_steps_lead_from_state_to_state() -> None:
    table = pd.DataFrame(
        {
            "change": ["version", "plan"],
            "before": ["a", "b"],
            "after": ["b", "c"],
            "from_s": [4.0, 2.0],
            "to_s": [2.0, 6.0],
        }
    )
    assert states(table, ("from_s", "to_s")) == (["a", "b", "c"], [4.0, 2.0, 6.0])
    ax = axes()
    Steps(values=("from_s", "to_s"), label="s")(table, ax)
    assert {"version\n2.0x faster", "plan\n3x slower"} < {text.get_text() for text in ax.texts}


def test_ticks_are_measured_places_as_many_as_have_room() -> None:
    places = [1, 2, 3, 5, 10, 20, 50, 100, 200]
    shown = {}
    for width_in in (WIDE_IN, NARROW_IN):
        ax = axes(width_in)
        ax.set_xscale("log")
        ax.set_xlim(1, 200)
        shown[width_in] = ticks_that_fit(ax, places, str, beside=12)
        assert set(shown[width_in]) <= set(places)
    assert len(shown[NARROW_IN]) < len(shown[WIDE_IN]) == len(places)


def test_phrases_of_a_line() -> None:
    line = pd.Series({1: 0.97, 64: 0.5, 2000: 0.07})
    assert at(line) == "0.97 at 1, 0.50 at 64, 0.07 at 2,000"
    assert ends(line, "{:.1f}") == "1.0 at 1, 0.1 at 2,000"
    assert each({"log_reservation": 12.06}, "{:.1f} %") == "log reservation 12.1 %"


def test_a_listed_table_has_a_line_per_cell() -> None:
    assert listed(("figure", "verdict"), [("[a](#a)", "")], kind="ledger").splitlines() == [
        "```{list-table}",
        ":header-rows: 1",
        ":widths: auto",
        ":class: ledger",
        "",
        "* - figure",
        "  - verdict",
        "* - [a](#a)",
        "  -",
        "```",
    ]


def test_an_alternative_text_says_every_line_that_is_drawn() -> None:
    table = side_by_side.rows(Run("fig-7-06", "sim", FLUSHES, {}))
    picture = Curves(labels={"flushes": "8.0", "old_redo": "5.7"}, x_label="clients", y_label="flushes")
    assert (
        picture.alt(table, "{:.1f}")
        == "Log-log line chart of flushes against clients. 8.0: 3.0 at 1, 1.5 at 100."
    )
    assert picture.alt(table, told=ends, more="Published.").endswith(
        "8.0: 3.00 at 1, 1.50 at 100. Published."
    )


def test_dots_are_said_row_by_row_without_those_that_were_not_measured() -> None:
    loads = pd.DataFrame(
        {"load": ["a", "a", "b"], "series": ["x", "y", "y"], "repeat": 0, "tps": [1.0, 2.0, 4.0]}
    )
    table = side_by_side.rows(Run("own-loads", "sim", loads, {}), by=("load", "series"), y="tps")
    picture = Dots(rows={"b": "the\nsecond", "a": "first"}, series={"y": "Y", "x": "X"}, label="tps")
    assert picture.said(table) == "the second: Y 4.00; first: Y 2.00, X 1.00"


def test_a_ratio_is_taken_of_ours_and_of_the_published_rows() -> None:
    loads = pd.DataFrame(
        {"concurrency": [1, 1], "series": ["before", "after"], "repeat": 0, "tpmC": [50.0, 100.0]}
    )
    mine, published = ratios(side_by_side.rows(Run("fig-7-01", "sim", loads, {})), "after", "before")
    assert mine.to_dict() == {1: 2.0}
    assert len(published) > 1


def test_a_caption_quotes_no_ratio_of_a_throughput_that_is_hardly_known() -> None:
    runs = pd.DataFrame(
        [
            (n, series, 0, throughput * n, width)
            for n, width in ((50, 2.0), (100, 9.0), (300, 40.0))
            for series, throughput in (("before", 1.0), ("after", float(n)))
        ],
        columns=["concurrency", "series", "repeat", "tpmC", "half_width_percent"],
    )
    labels = {"before": "old", "after": "new"}
    of = Run("fig-7-01", "sim", runs, {})
    said = compared(with_width(of), labels, "tpmC", over="after", under="before").caption
    assert "50.00 at 50 clients and 100.00 at 100" in said
    assert (
        "at 100. Beyond 100 clients one of the two is known to 40 % at worst, so no ratio is quoted there."
        in said
    )
    assert "Hollow" not in said
    without = of.with_table(runs.drop(columns="half_width_percent"))
    assert (
        "300.00 at 300" in compared(with_width(without), labels, "tpmC", over="after", under="before").caption
    )


def test_points_that_had_not_settled_are_hollow_and_the_caption_says_so() -> None:
    runs = pd.DataFrame(
        [
            (n, series, repeat, 10.0 * n, 1.0, int(repeat == 0 or n < 300))
            for n in (50, 100, 300)
            for series in ("before", "after")
            for repeat in (0, 1)
        ],
        columns=["concurrency", "series", "repeat", "tpmC", "half_width_percent", "is_settled"],
    )
    table = with_width(Run("fig-7-01", "sim", runs, {}))
    labels = {"before": "old", "after": "new"}
    ax = axes()
    lines(table[table["source"] == OURS], ax, x="concurrency", y="tpmC", labels=labels)
    assert [points for _, fill, points, _ in marks(ax) if fill == "none"] == [[300], [300]]
    assert [line.get_markevery() for line in ax.get_lines() if len(line.get_xdata()) == 3] == [[0, 1], [0, 1]]
    said = compared(table, labels, "tpmC", over="after", under="before").caption
    assert "Hollow points are known to worse than 2 %." in said
