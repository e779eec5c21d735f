from __future__ import annotations

import dataclasses
import functools
import re
import xml.etree.ElementTree as ET
from itertools import pairwise, zip_longest

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from engineroom import _native, paths, runs
from engineroom import show as figures
from engineroom.chapters.cats import figures as cats_figures
from engineroom.chapters.hash_join import figures as hash_join_figures
from engineroom.chapters.join_order import figures as join_order_figures
from engineroom.errors import EngineRoomError
from engineroom.ledger import sensitivity
from engineroom.runs import published, side_by_side
from engineroom.servers.catalogue import release
from engineroom.show.curves import Curves
from engineroom.show.drawing import NARROW_IN, WIDE_IN, Drawing, lean
from engineroom.show.figure import figure_of, ids
from engineroom.show.style import plain
from engineroom.show.wording import Words
from engineroom.validation import figures as drawn
from engineroom.validation import formulas as validation
from engineroom.validation import predicted
from engineroom.validation.experiments import beside
from engineroom.validation.figures import own_machine_flame

IDS = sorted(ids())


@functools.cache
def _run(figure: str) -> runs.Run:
    """The newest recorded run of a figure, read once; figures derived from another's run name it."""
    from engineroom.chapters.hash_join import experiments as hash_join

    derived = {
        "own-hash-join-three-changes": "fig-7-22",
        "own-low-concurrency-installed": "own-low-concurrency-operations",
        "own-low-concurrency-causes": "own-low-concurrency-instructions",
        "own-low-concurrency-flame": "own-low-concurrency-instructions",
        "own-crowd-fsyncs": "own-crowd",
        "own-crowd-latches": "own-crowd",
    }
    if figure == "own-machine-validation":
        return validation.as_run(validation.validate(validation.CASES[-3:]))
    if figure == "own-machine-flame":
        loop = _native.machine.closed_loop(
            parameters={}, clients=8, work_ns=5_000, hold_ns=500, latch=True, run_ns=1_000_000
        )
        return drawn.flame_run(loop)
    if figure in {each.figure for each in beside.COMPARISONS}:
        return predicted.compared(figure)
    if figure == "own-machine-sensitivity":
        found = sensitivity.sensitivity(sensitivity.varied_runs())
        return drawn.sensitivity_run(sensitivity.farthest(found))
    if figure == "own-hash-join-panel":
        return hash_join.panel(2000, 0.5, 65536)
    found = next(
        (
            run
            for method in runs.METHODS
            if (run := runs.latest(derived.get(figure, figure), method)) is not None
        ),
        None,
    )
    assert found is not None, f"no run of {figure} is recorded: engineroom record {figure}"
    return found


@functools.cache
def _drawn(figure: str) -> Drawing:
    """A figure's drawing of its run, drawn once for all tests that look at it."""
    return figures.show(figure, _run(figure))


@pytest.mark.parametrize("figure", IDS)
def test_a_drawing_is_well_formed_and_says_in_words_what_its_rows_say(figure: str) -> None:
    drawing = _drawn(figure)
    for svg in (drawing.wide, drawing.narrow):
        ET.fromstring(svg)
        assert "#000000" not in svg, "ink must follow the page's colour"
    assert len(drawing.words.alt) > 40
    assert drawing.words.caption.endswith(".")
    assert "nan" not in (drawing.words.alt + drawing.words.caption).lower().split()
    assert drawing.csv.count("\n") > 1
    html = drawing._repr_html_()
    assert f'download="{figure}.csv"' in html
    assert 'aria-label="' in html


# What a figure of many lines leaves out, by the series' beginning; nothing else may be missing from a drawing.
NOT_DRAWN = {
    "own-binlog-places": ("uncompressed",),  # what the others are divided by
    "own-filesort-crossover": ("9.7 with row ids, short rows",),
    "own-filesort-limits": ("5.6.24, provoked", "5.7.22, provoked"),
    "own-join-order-space": ("clique", "cycle", "star, DPccp", "chain, DPccp"),
}


def _curves(figure: str) -> Curves | None:
    """The lines of a figure that has any."""
    module = figure_of(figure)
    picture = getattr(module, "curves", module.picture)
    return picture if isinstance(picture, Curves) else None


@pytest.mark.parametrize("figure", [figure for figure in IDS if _curves(figure)])
def test_every_measured_series_is_drawn_with_its_label_or_said_to_be_left_out(figure: str) -> None:
    picture = _curves(figure)
    assert picture is not None
    found = [run for method in runs.METHODS if (run := runs.latest(figure, method)) is not None]
    for run in found:
        table = figure_of(figure).rows(run)
        labels = picture.labels(table) if callable(picture.labels) else picture.labels
        ours = table[table["source"] == "ours"]
        ours = ours.query(picture.where) if picture.where else ours
        missing = set(ours["series"]) - set(labels)
        assert [name for name in missing if not name.startswith(NOT_DRAWN.get(figure, ()))] == []
        drawing = _drawn(figure) if run.method == _run(figure).method else figures.show(figure, run)
        text = " ".join("".join(node.itertext()) for node in ET.fromstring(drawing.wide).iter())
        undrawn = {
            labels[series] for series in set(ours["series"]) & set(labels) if labels[series] not in text
        }
        assert not undrawn


@pytest.mark.parametrize(
    "figure",
    [
        "own-engine-live",
        "own-engine-held-out",
        "own-engine-held-out-binlog",
        "own-engine-tpcc",
        "own-engine-tpcc-binlog",
    ],
)
def test_the_engine_beside_servers_has_a_panel_per_load_with_all_its_points_and_servers(figure: str) -> None:
    module = figure_of(figure)
    for run in runs.recorded(figure, "live"):
        table = module.rows(run)
        for width_in in (NARROW_IN, WIDE_IN):
            drawing = Figure(figsize=(width_in, width_in))
            module.picture(table, drawing.add_subplot())
            seen = {}
            for panel in drawing.axes:
                low, high = panel.get_ylim()
                for line in panel.lines:
                    if line.get_linestyle() != "None" and len(line.get_xdata()) == table["clients"].nunique():
                        y = np.asarray(line.get_ydata())
                        assert (y >= low).all()
                        assert (y <= high).all()
                        seen[panel.get_title(loc="left"), line.get_color()] = list(y)
            assert len(seen) == table["series"].nunique()
            assert sorted(value for line in seen.values() for value in line) == pytest.approx(
                sorted(table.groupby(["series", "clients"])["engine_over_server"].median())
            )


@pytest.mark.parametrize("figure", IDS)
def test_a_drawing_is_the_same_twice(figure: str) -> None:
    assert figures.show(figure, _run(figure)) == _drawn(figure)


@pytest.mark.parametrize("figure", IDS)
def test_a_drawing_has_no_ids_but_those_it_refers_to_and_shares_none(figure: str) -> None:
    drawing = _drawn(figure)
    every: set[str] = set()
    for svg in (drawing.wide, drawing.narrow):
        ids = re.findall(r' id="([^"]+)"', svg)
        assert set(ids) == set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
        assert len(ids) == len(set(ids))
        assert not every & set(ids)
        every |= set(ids)


def test_marks_of_a_line_say_their_style_once_where_that_looks_the_same() -> None:
    def marks(style: str) -> str:
        return "".join(f'<use xlink:href="#m" x="{x}" style="{style}"/>' for x in ("1.23456", "2"))

    faint, through = "fill: #d55e00; fill-opacity: 0.3", "fill: #d55e00; opacity: 0.3"
    said = lean(f'<svg x="0">\n <!-- 1 -->\n <g clip-path="url(#p)">{marks(faint)}</g></svg>')
    assert said == (
        f'<svg x="0"><g clip-path="url(#p)" style="{faint}"><use href="#m" x="1.23"/><use href="#m" x="2"/></g></svg>'
    )
    assert lean(f"<g>{marks(through)}</g>").count(through) == 2
    assert lean("<text>1.23456</text>") == "<text>1.23456</text>"
    assert lean('<text x="1" transform="rotate(-0 1 2)">a</text>') == '<text x="1">a</text>'
    assert "rotate" in lean('<text x="1" transform="rotate(-90 1 2)">a</text>')


@pytest.mark.parametrize(("style", "times"), [("fill: #009e73; fill-opacity: 0.4", 1), ("opacity: 0.4", 2)])
def test_a_place_does_not_repeat_the_style_of_its_shape(style: str, times: int) -> None:
    shape = f'<defs><path id="m" d="M 0 0 \nL 1 1" style="{style}"/></defs>'
    said = lean(f'<svg>{shape}<g><use xlink:href="#m" x="1" style="{style}"/></g></svg>')
    assert said.count(style) == times


@pytest.mark.parametrize("figure", IDS)
def test_no_text_of_a_drawing_is_below_nine_points(figure: str) -> None:
    drawing = _drawn(figure)
    sizes = [float(size) for size in re.findall(r"font-size: ([0-9.]+)px", drawing.wide + drawing.narrow)]
    assert sizes
    assert min(sizes) >= 9


@pytest.mark.parametrize("figure", [figure for figure in IDS if figure in published.entries()])
def test_what_is_said_of_the_source_follows_the_published_rows(
    figure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, run = figure_of(figure), _run(figure)
    real = published.rows(figure)
    if real.empty:
        return
    told = module.words(module.rows(run))
    y = real.columns[2]
    altered = real.astype({y: float}).assign(**{y: real[y] * (1.3 + 0.1 * real.index) + 0.01})
    monkeypatch.setattr(published, "rows", lambda _: altered)
    retold = module.words(module.rows(run))
    clauses = [
        clause
        for before, after in ((told.alt, retold.alt), (told.caption, retold.caption))
        for clause, other in zip_longest(*(re.split(r"[.;]\s|[()]", text) for text in (before, after)))
        if clause == other
    ]
    typed = [said for said in clauses if re.search("ublished|the source", said) and re.search(r"\d", said)]
    assert not typed, "numbers of the source come from data/published"


def test_the_words_follow_the_rows() -> None:
    module = figure_of("fig-7-22")
    rows = module.rows(_run("fig-7-22"))
    turned = rows.copy()
    ours = turned["source"] == "ours"
    turned.loc[ours & (turned["series"] == "hash_join"), "server_cpu_s"] = 1000.0
    told: Words = module.words(turned)
    assert "no longer" in told.caption
    assert "no longer" not in module.words(rows).caption


def test_servers_stand_in_the_order_of_their_releases() -> None:
    run = _run("fig-7-22")
    newest = max(run.table["server"], key=release)
    later = dataclasses.replace(run, table=run.table.replace({"server": {newest: "10.1.0"}}))
    times = hash_join_figures.times(side_by_side.rows(later))
    assert times["index_nested_loop"].index.tolist() == ["5.7.22", "8.0.15", "8.0.31", "10.1.0"]
    steps = figure_of("own-hash-join-three-changes").rows(later)
    assert steps["before"].iloc[0] == "5.7, index loop"
    assert steps["after"].iloc[-1] == "10.1, reversed, hash join"
    assert (steps["before_cpu_s"].iloc[0], steps["after_cpu_s"].iloc[-1]) == (
        times["index_nested_loop", "5.7.22"],
        times["hash_join", "10.1.0"],
    )


def test_three_changes_of_made_up_seconds() -> None:
    seconds = pd.Series(
        {
            ("5.7", "index_nested_loop"): 8.0,
            ("9.7", "index_nested_loop"): 4.0,
            ("9.7", "reversed_order_without_hash"): 16.0,
            ("9.7", "hash_join"): 2.0,
        }
    )
    ratio = hash_join_figures.three_changes(seconds, old="5.7", new="9.7").set_index("change")[
        "before_per_after"
    ]
    assert ratio.to_dict() == {"version": 2.0, "order and index": 0.25, "algorithm": 8.0}


def test_the_published_seconds_are_drawn_from_the_published_rows() -> None:
    module = figure_of("fig-7-23")
    rows: pd.DataFrame = module.rows(_run("fig-7-23"))
    published = rows[rows["source"] == "published"].set_index("server")["server_cpu_s"]
    assert published.to_dict() == {"5.7": 3.82, "8.0": 1.22}


@pytest.mark.parametrize("width_in", [WIDE_IN, NARROW_IN])
def test_every_planning_time_is_drawn(width_in: float) -> None:
    module = figure_of("own-join-order-planning")
    table: pd.DataFrame = module.rows(_run("own-join-order-planning"))
    drawing = Figure(figsize=(width_in, 4))
    module.picture(table, drawing.add_subplot())
    drawn = {
        (ax.get_title(loc="left"), tuple(line.get_xdata()), tuple(line.get_ydata()))
        for ax in drawing.axes
        for line in ax.get_lines()
    }
    for (shape, _), part in table.groupby(["shape", "series"]):
        least = part.groupby("tables")["planning_cpu_ms"].min()
        assert (shape, tuple(least.index), tuple(least)) in drawn
    names = [text.get_text() for ax in drawing.axes for text in ax.texts]
    assert sorted(names) == sorted(
        [*join_order_figures.LABELS_PLANNING.values()] * len(join_order_figures.SHAPES)
    )


def test_a_search_is_faster_from_the_size_after_which_it_never_loses_again() -> None:
    module = figure_of("own-join-order-planning")
    times = pd.DataFrame(
        [
            {"shape": "chain", "series": series, "tables": tables, "repeat": 0, "planning_cpu_ms": ms}
            for series, times in (("on", (1, 5, 2, 3)), ("off", (2, 4, 3, 9)))
            for tables, ms in zip((4, 6, 8, 10), times, strict=True)
        ]
    )
    made = module.rows(runs.Run("own-join-order-planning", "live", times, {}))
    assert join_order_figures.faster_from(made, "chain", "on", "off") == 8
    assert join_order_figures.faster_from(made, "chain", "off", "on") is None


def test_preparing_is_drawn_and_told_once_it_is_measured() -> None:
    module = figure_of("fig-7-24")
    rows: pd.DataFrame = module.rows(_run("fig-7-24"))
    planned = rows[rows["series"].str.startswith("planning_") & (rows["source"] == "ours")]
    prepared = planned.assign(
        series=planned["series"].str.replace("planning", "prepare"), statement_s=planned["statement_s"] / 4
    )
    measured = pd.concat([rows[~rows["series"].str.startswith("prepare_")], prepared], ignore_index=True)
    drawing = Figure(figsize=(WIDE_IN, 4))
    module.picture(measured, drawing.add_subplot())
    (legend,) = drawing.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        *join_order_figures.SERIES_FIG_7_24.values(),
        "published",
    ]
    assert "PREPARE alone takes" in module.words(measured).caption


def test_what_spilling_costs_is_told_where_it_begins_and_at_the_largest_size() -> None:
    module = figure_of("own-hash-join-kernels")
    table: pd.DataFrame = module.rows(_run("own-hash-join-kernels"))
    best = table.groupby(["series", "rows"])["cpu_ns_per_probe_row"].min()
    spilling = hash_join_figures.spilling(table)
    written = table[table["series"] == "hybrid_256_kib"].groupby("rows")["bytes_written"].min()
    assert list(spilling.index) == [n for n, size in written.items() if size > 0]
    for n in (spilling.index[0], spilling.index[-1]):
        ratio = best["hybrid_256_kib", n] / best["hybrid_in_memory", n]
        assert spilling[n] == ratio
        assert f"{ratio:.2g} times at" in module.words(table).caption


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.5, "0.5"), (100, "100"), (100_000, "100,000"), (2e6, "2 million"), (1e11, "100 billion")],
)
def test_a_tick_is_a_plain_number(value: float, said: str) -> None:
    assert plain(value) == said


def test_an_axis_of_less_than_two_decades_has_more_than_one_tick() -> None:
    svg = ET.fromstring(figures.show("num-deg-3", _run("num-deg-3")).wide)
    texts = ["".join(node.itertext()).strip() for node in svg.iter() if node.tag.endswith("text")]
    assert {"20", "50", "100", "200"} & set(texts) >= {"50", "100"}


def test_a_caption_names_each_version_once_and_no_series() -> None:
    run = _run("fig-7-22")
    told = dataclasses.replace(
        run,
        provenance={**run.provenance, "servers": {"8.0.15, flushes": {}, "9.7.4, on": {}, "9.7.4, off": {}}},
    )
    assert ": MySQL 8.0.15, MySQL 9.7.4; " in figures.show("fig-7-22", told).origin


def test_a_flame_graph_shares_out_the_time_of_all_threads() -> None:
    seen = {
        "activities": [
            (("client",), "work", 300_000),
            (("client", "commit"), "spin", 100_000),
            (("client", "commit"), "io", 500_000),
            (("flusher",), "parked", 100_000),
        ]
    }
    table = own_machine_flame.rows(drawn.flame_run(seen)).set_index("frame")
    assert table["share_percent"].to_dict() == pytest.approx(
        {"client": 90, "commit": 60, "(io)": 50, "(spin)": 10, "(work)": 30, "flusher": 10, "(parked)": 10}
    )
    # A frame stands on its caller, within its width.
    assert table["depth"].to_dict() == {
        "client": 0,
        "commit": 1,
        "(io)": 2,
        "(spin)": 2,
        "(work)": 1,
        "flusher": 0,
        "(parked)": 1,
    }
    assert table.loc[["commit", "(io)", "(spin)", "(work)"], "start_percent"].tolist() == pytest.approx(
        [0, 0, 50, 60]
    )


@pytest.mark.parametrize("figure", ["fig-7-02", "fig-7-04", "fig-7-05"])
def test_a_dot_plot_says_on_a_phone_too_whose_its_rows_are(figure: str) -> None:
    drawing = _drawn(figure)
    narrow, wide = (
        [text for text in re.findall(r">([^<>]+)</text>", svg) if re.search("[a-z]", text)]
        for svg in (drawing.narrow, drawing.wide)
    )
    # A long label of an axis is in lines on a phone.
    assert " ".join(narrow) == " ".join(wide)
    headings = [at for at, text in enumerate(narrow) if re.match("ours|published", text)]
    assert len({narrow[at] for at in headings}) == len(headings) >= 2
    groups = [narrow[start:end] for start, end in pairwise([*headings, len(narrow)])]
    assert all(len(set(group)) == len(group) for group in groups), (
        "a row's name stands once under its heading"
    )


def test_whoever_is_ahead_on_a_load_is_told_from_the_rows() -> None:
    module, run = figure_of("own-cats-policies"), _run("own-cats-policies")
    table = run.table.assign(tps=100.0 + run.table["repeat"])
    table.loc[table["series"].eq("vats") & table["workload"].eq("special"), "tps"] *= 3
    table.loc[table["series"].eq("random") & table["workload"].eq("uniform"), "tps"] /= 3
    told = module.words(module.rows(run.with_table(table))).caption
    assert "SysBench, Pareto: all 8; SysBench, special: VATS; SysBench, uniform: all but chance;" in told


@pytest.mark.parametrize("width_in", [WIDE_IN, NARROW_IN])
def test_every_seed_of_every_policy_is_drawn_on_its_load_with_the_mean_and_its_interval(
    width_in: float,
) -> None:
    module, run = figure_of("own-cats-policies"), _run("own-cats-policies")
    table = module.rows(run)
    drawing = Figure(figsize=(width_in, 4))
    module.picture(table, drawing.add_subplot())
    drawn = {ax.get_title(loc="left"): ax for ax in drawing.axes if ax.get_title(loc="left")}
    assert list(drawn) == list(cats_figures.LOADS.values())
    for load, title in cats_figures.LOADS.items():
        mine = table[table["workload"] == load].groupby("series")[cats_figures.Y]
        wanted = [sorted(mine.get_group(policy)) for policy in cats_figures.POLICIES]
        seeds = [sorted(line.get_xdata()) for line in drawn[title].get_lines() if len(line.get_xdata()) == 3]
        assert seeds == wanted
        ends = [tuple(bar.get_segments()[0][:, 0]) for bar in drawn[title].collections]
        middles = [sum(each) / 2 for each in ends]
        assert middles == pytest.approx([sum(each) / 3 for each in wanted])
        assert all(high > low for low, high in ends)


def test_an_unknown_figure_is_refused_with_a_remedy() -> None:
    with pytest.raises(EngineRoomError, match="engineroom ledger"):
        figures.show("fig-9-99")


def test_the_rows_of_a_drawn_figure_are_kept_beside_the_book() -> None:
    drawing = figures.show("fig-7-22", _run("fig-7-22"))
    assert (paths.build() / "figures" / "fig-7-22.csv").read_text() == drawing.csv
