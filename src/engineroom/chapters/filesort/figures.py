"""The chapter's figures: of each its rows, its picture and its words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from engineroom import runs
from engineroom.show.figure import figure
from engineroom.show.parts import (
    Curves,
    Dots,
    Rows,
    Run,
    Words,
    all_rows,
    as_found,
    by_release,
    each,
    ends,
    ours,
    ratios,
    release,
    rows_by,
    theirs,
)
from engineroom.show.style import INK, legend_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes


CPU_SHARE = "percent of the server's work (CPU time, or instructions)"


def pairs(rows: Mapping[str, str], label: str, *, log: bool) -> Dots:
    """A row per value of x, a mark per design."""
    series = {"like_5_6": "like 5.6", "like_8_0": "like 8.0", "rows_scanned": "rows scanned"}
    return Dots(rows=rows, series=series, label=label, log=log, limits=(0, 100))


def both(of: pd.Series[float], x: str, form: str = "{:.0f}") -> str:
    """The values of the two designs at `x`: "80 and 63"."""
    return " and ".join(form.format(of[series, x]) for series in ("like_5_6", "like_8_0"))


@figure(
    "num-fs-1",
    rows=all_rows,
    picture=pairs(
        {"limit_1": "with the\nlong column", "no_long_column": "without it"}, "CPU seconds", log=True
    ),
)
def num_fs_1(table: Rows) -> Words:
    """The filesort article's times: all columns, ORDER BY an unindexed column, LIMIT 1, in the old design and in the new."""
    ratio, published = ratios(table, "like_8_0", "like_5_6")
    return Words(
        alt=f"Dots of CPU seconds. With the long column the new design takes {ratio['limit_1']:.1f} times as long as the old one, published "
        f"{published['limit_1']:.1f}; without it {ratio['no_long_column']:.1f} times.",
        caption=f"For one row of the result the new design takes {ratio['limit_1']:.1f} times the CPU time of the old one (published: "
        f"{published['limit_1']:.1f} times); without the long column {ratio['no_long_column']:.1f} times.",
    )


@figure(
    "num-fs-2", rows=all_rows, picture=pairs({"limit_1": "LIMIT 1"}, "values read from off-page", log=True)
)
def num_fs_2(table: Rows) -> Words:
    """The filesort article's count: calls of the routine that copies an off-page value, in the old design and in the new."""
    of, published = ours(table)[:, "limit_1"], theirs(table)
    old, new, scanned = (of[series] for series in ("like_5_6", "like_8_0", "rows_scanned"))
    return Words(
        alt=f"Dots of off-page values read for one row of the result: {old:,.0f} like 5.6, {new:,.0f} like 8.0, of {scanned:,.0f} rows.",
        caption=f"For one row of the result the old design reads {old:,.0f} long value{'' if old == 1 else 's'}, the new one {new:,.0f}, "
        f"of {scanned:,.0f} rows scanned (published: {both(published, 'limit_1', '{:,.0f}')}, of "
        f"{published['rows_scanned', 'limit_1']:,.0f}).",
    )


PARTS = {"row_conversion": "row conversion", "reading": "reading, the\nwhole scan"}


@figure("num-fs-3", rows=all_rows, picture=pairs(PARTS, CPU_SHARE, log=False))
def num_fs_3(table: Rows) -> Words:
    """The filesort article's flame graph: the share of CPU time that goes into converting rows."""
    of, published = ours(table), theirs(table)
    conversion, reading = (
        f"{both(of, part)} percent (published {both(published, part)})"
        for part in ("row_conversion", "reading")
    )
    what = _shared(table)
    return Words(
        alt=f"Dots of shares of {what}, like 5.6 and like 8.0. Row conversion {conversion}; reading {reading}.",
        caption=f"Converting rows takes {conversion} of the server's {what}, in the old design and in the new.",
    )


def _shared(table: Rows) -> str:
    """Of what our shares are."""
    return "instructions" if "instructions" in set(table["method"]) else "CPU time"


@figure("num-fs-4", rows=all_rows, picture=pairs({"reading": "reading"}, CPU_SHARE, log=False))
def num_fs_4(table: Rows) -> Words:
    """The filesort article's second observation: how much of a sort by the long column is reading."""
    said, published = (both(of, "reading") for of in (ours(table), theirs(table)))
    return Words(
        alt=f"Dots of the share of reading when the sort is by the long column: ours {said} percent, published {published} percent.",
        caption=f"In a sort by the long column itself, reading takes {said} percent of our servers' {_shared(table)}, in the old design "
        f"and in the new (published: {published}).",
    )


def _versions(table: Rows) -> dict[str, str]:
    """In the order of their releases, the source's "later" last, with the exact server where we measured one."""
    of = table.sort_values("server", kind="stable").drop_duplicates("version", keep="last")
    server = of.set_index("version")["server"]
    in_order = sorted(
        server.index, key=lambda name: (name.startswith("after_"), release(name.removeprefix("after_")))
    )
    return {
        version: ("later" if version.startswith("after_") else version)
        + (f"\n({server[version]})" if server[version] else "")
        for version in in_order
    }


OURS, LABEL = {"external_reads_per_row": "ours"}, "long values read per scanned row"


@figure(
    "num-fs-5",
    rows=partial(all_rows, keep=["server"]),
    picture=Dots(rows=_versions, series=OURS, label=LABEL, limits=(-0.05, 1.1)),
)
def num_fs_5(table: Rows) -> Words:
    """Which versions read the long value of every row: off-page values read per scanned row; of the source, 1 is affected, 0 not."""
    exact = table.assign(version=table["server"].where(table["server"] != "", table["version"]))
    of = ours(exact).droplevel("series")
    of = of.reindex(sorted(of.index, key=release))
    published = theirs(table).droplevel("series")
    affected, free = (
        " and ".join(
            ", ".join(
                name.replace("_", " ") for name in _versions(table) if published.get(name) == is_hit
            ).rsplit(", ", 1)
        )
        for is_hit in (1, 0)
    )
    said = each(of, "{:.2g}", named="{1} on {0}")
    return Words(
        alt=f"Dots of long values read per scanned row: {said}. The source says that {affected} are affected and {free} are not.",
        caption=f"The long value of every row is read by {' and '.join(of.index[of > 0.5]) or 'none of our servers'}. "
        f"Values read per scanned row: {said}.",
    )


STATEMENTS = {
    "narrow": "two short columns",
    "wide": "all columns",
    "late_join": "late join",
    "indexed": "with an index",
}

_rows = rows_by("type", "query", y="pages_read", where=f"query in {list(STATEMENTS)}")


def _rows_of_own_filesort_columns(run: Run) -> Rows:
    """All repeats of these statements; `line` is a type and a statement."""
    table = _rows(run)
    return table.assign(line=table["type"] + ": " + table["query"].map(STATEMENTS))


def _lines(table: Rows) -> dict[str, str]:
    lines = (f"{kind}: {said}" for kind in as_found("type")(table) for said in STATEMENTS.values())
    return {line: line for line in lines}


def _short(table: Rows) -> dict[str, str]:
    return {line: re.sub(r"\(\d+\)", "", line) for line in _lines(table)}


@figure(
    "own-filesort-columns",
    rows=_rows_of_own_filesort_columns,
    picture=Dots(by="line", rows=_lines, narrow=_short, series=by_release, label="pages read", log=True),
)
def own_filesort_columns(table: Rows) -> Words:
    """Our own figure: pages read for one row of the result, by type of the long column, statement and generation."""
    oldest, *_, newest = servers = list(by_release(table))
    kind, n = table["type"].iloc[0], table["rows"].iloc[0]
    of = ours(table).xs(kind, level="type")
    return Words(
        alt=f"Dot plot of pages read for one row out of {n:,}, by type of the long column. All columns, {kind}: "
        f"{each(of[:, 'wide'][servers], '{:,}')}.",
        caption=f"All columns of one row out of {n:,}, long column {kind}: MySQL {newest} reads {of[newest, 'wide']:,} pages, "
        f"{oldest} {of[oldest, 'wide']:,}; with the late join {newest} reads {of[newest, 'late_join']:,}, with an index "
        f"{of[newest, 'indexed']:,}.",
    )


LATE, FIELDS = "late fetch", "additional fields"

curves = Curves(
    labels={
        f"{LATE}, off-page value": LATE,
        f"{FIELDS}, off-page value": FIELDS,
        "9.7 with row ids, off-page value": "9.7 with row ids",
        f"{LATE}, short rows": f"{LATE}, short rows",
        f"{FIELDS}, short rows": f"{FIELDS}, short rows",
    },
    narrow={f"{LATE}, short rows": "late, short rows", f"{FIELDS}, short rows": "fields, short rows"},
    where="method == 'kernel'",
    x_label="rows returned",
    y_label="pages read",
)

_pages = rows_by("limit", y="pages_read", keep=["rows"])


def _rows_of_own_filesort_crossover(run: Run) -> pd.DataFrame:
    """The kernel's counts, then the pages of the oldest and the newest server at a table of as many rows."""
    counted, live = _pages(run), runs.latest("own-filesort-limits", "live")
    n = run.table["rows"].max()
    if live is None or n not in set(live.table["rows"]):
        return counted
    servers = sorted((name for name in set(live.table["series"]) if "," not in name), key=release)
    of_n = live.table.query(f"rows == {n} and series in {[servers[0], servers[-1]]}")
    return pd.concat([counted, _pages(live.with_table(of_n))], ignore_index=True)


def crossing(table: pd.DataFrame, content: str) -> float:
    """The number of rows from which additional fields read fewer pages, on the straight lines between two counts."""
    of = ours(table[table["method"] == "kernel"])
    gap = of[f"{LATE}, {content}"] - of[f"{FIELDS}, {content}"]
    above = gap[gap > 0]
    if above.empty:
        return float("inf")
    after = float(above.index[0])
    before = gap[gap.index < after]
    if before.empty:
        return after
    low = float(before.index[-1])
    return low + (after - low) * float(-before.iloc[-1]) / float(above.iloc[0] - before.iloc[-1])


def _picture_of_own_filesort_crossover(table: pd.DataFrame, ax: Axes) -> None:
    """Lines are the kernel, hollow marks the servers."""
    curves(table, ax)
    live = table[table["method"] == "live"].groupby("series", sort=False)
    named = {}
    for marker, (server, mine) in zip("oD", live, strict=False):
        ax.plot(mine["limit"], mine["pages_read"], marker, color=INK, fillstyle="none", markersize=8)
        named[marker] = f"MySQL {server}"
    if named:
        legend_above(ax, more=named)


@figure(
    "own-filesort-crossover", rows=_rows_of_own_filesort_crossover, picture=_picture_of_own_filesort_crossover
)
def own_filesort_crossover(table: pd.DataFrame) -> Words:
    """Our own figure: where carrying the columns becomes cheaper than fetching rows late, in our kernel, live points beside it."""
    n = int(table["rows"].max())
    long, short = crossing(table, "off-page value"), crossing(table, "short rows")
    return Words(
        alt=f"Log-log line chart of pages read against rows returned, {n:,} rows in the table. Late fetch is below additional fields up "
        f"to {long:,.0f} rows where values are off-page, and up to {short:,.0f} where rows are short.",
        caption=f"With a long off-page value, fetching rows late reads fewer pages up to {long:,.0f} of {n:,} rows; with short rows "
        f"carrying the columns reads fewer pages from row {short:,.0f} on.",
    )


def _series(table: Rows) -> dict[str, str]:
    names = sorted(set(table["series"]), key=lambda name: (release(name.split(",")[0]), name))
    # 5.6 and 5.7 provoked lie on 8.0.15 provoked: one of the three is drawn.
    provoked = [name for name in names if "," in name]
    return {name: name for name in names if name not in provoked[:-1]}


_picture_of_own_filesort_limits = Curves(
    x="limit", labels=_series, x_label="rows returned", y_label="pages read"
)


# The largest table.
@figure(
    "own-filesort-limits",
    rows=rows_by("rows", "limit", y="pages_read", where="rows == rows.max()"),
    picture=_picture_of_own_filesort_limits,
)
def own_filesort_limits(table: Rows) -> Words:
    """Our own figure: pages read as LIMIT grows, by generation, and where the columns are carried by order."""
    of = _picture_of_own_filesort_limits.values(table)
    least, most = table["limit"].min(), table["limit"].max()
    oldest, *_, newest = _series(table)
    return Words(
        alt=_picture_of_own_filesort_limits.alt(table, "{:,}", told=ends),
        caption=f"For one row MySQL {newest} reads {of[newest, least] / of[oldest, least]:.0f} times the pages of {oldest}; for all "
        f"{most:,} rows {oldest} reads {of[oldest, most] / of[newest, most]:.1f} times those of {newest}.",
    )
