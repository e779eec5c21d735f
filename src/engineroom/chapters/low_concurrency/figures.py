"""The chapter's figures: of each its rows, its picture and its words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import pandas as pd

from engineroom.chapters.low_concurrency.settings import (
    BULK,
    EQUAL,
    INSTALLED,
    NO_HASH_INDEX,
    SETTINGS,
    under,
    with_settings,
)
from engineroom.runs import side_by_side
from engineroom.servers.catalogue import release
from engineroom.show.figure import figure
from engineroom.show.flame import Flame, paths, table_of
from engineroom.show.parts import (
    Curves,
    Dots,
    Rows,
    Run,
    all_rows,
    as_found,
    at,
    by_release,
    ends,
    ours,
    over,
    ratios,
    rows_by,
    theirs,
    valued,
    values,
)
from engineroom.show.style import BLUE, GREY, PURPLE, VERMILION
from engineroom.show.wording import Words, each

LABELS_BUILDS = {
    "older": "older",
    "newer": "newer",
    "newer_optimized": "newer, optimized",
    "stock": "stock",
    "optimized": "optimized",
}


def rows_of(run: Run, *, series: str) -> Rows:
    """Each build's value as a multiple of its own first one's (`relative`): machines differ, ratios may agree."""
    table = all_rows(run, keep=("server", "version"), where=f"series == '{series}'")
    table["server"] = table["server"].where(table["server"] != "", table.pop("version"))
    first = next(name for name in LABELS_BUILDS if name in set(table["build"]))
    return over(table, "relative", f"build == '{first}'")


def _rows_builds(table: Rows) -> dict[str, str]:
    """Builds that the claim does not name stand above those that it does."""
    builds = as_found("build")(table)
    others = {name: name for name in builds if name not in LABELS_BUILDS}
    return others | {name: label for name, label in LABELS_BUILDS.items() if name in builds}


def picture_of(label: str) -> Dots:
    """A row a build; the published value is hollow."""
    return Dots(rows=_rows_builds, label=label, line_at=1, form="{:.2f}")


def words_of(table: Rows, *, what: str, over: str, under: str, counted: str = "") -> Words:
    """The claim's ratio, ours and published; `what` names the value and the two builds, and `counted` what stands for it in instructions."""
    is_counted = "instructions" in set(table["method"])
    by_build = table.assign(series=table["build"], build=table["series"])
    (ratio,), (published,) = ratios(by_build, over, under)
    measured = table[(table["source"] == "ours") & (table["server"] != "")]
    servers = dict(zip(measured["build"], measured["server"], strict=True))
    named = (
        f"{servers[over]} against {servers[under]}" if servers else "the isolated causes alone, in kernels"
    )
    ours_is, theirs_is = (f"{counted}, {over} over {under}", f" for the {what}") if is_counted else (what, "")
    return Words(
        alt=f"Dot plot of the {ours_is}. Ours ({named}): {ratio:.3f}. Published{theirs_is}: {published:.3f}.",
        caption=f"The {ours_is}: {ratio:.2f} ({named}). Published{theirs_is}: {published:.2f}.",
    )


# Degradation article, figure 1: time of a join, newer over older.
fig_deg_1 = figure(
    "fig-deg-1", rows=partial(rows_of, series="join_time"), picture=picture_of("over the older")
)(
    partial(
        words_of,
        what="time of a join, newer over older",
        counted="instructions of a join by primary key",
        over="newer",
        under="older",
    )
)


WHAT_FIG_DEG_2 = "rate of bulk insert per CPU second, newer over older"

# Degradation article, figure 2: rate of bulk insert, newer over older.
fig_deg_2 = figure(
    "fig-deg-2",
    rows=partial(rows_of, series="bulk_insert"),
    picture=picture_of("rate over that of the older"),
)(
    partial(
        words_of,
        what=WHAT_FIG_DEG_2,
        counted="bulk inserts per instruction",
        over="newer",
        under="older",
    )
)


WHAT_FIG_DEG_3 = "rate of bulk insert, optimized newer build over older"

# Degradation article, figure 3: rate of bulk insert, older against an optimized newer build.
fig_deg_3 = figure(
    "fig-deg-3",
    rows=partial(rows_of, series="bulk_insert"),
    picture=picture_of("rate over that of the older"),
)(partial(words_of, what=WHAT_FIG_DEG_3, over="newer_optimized", under="older"))


# Degradation article, figure 4: time of a join, stock over optimized.
fig_deg_4 = figure(
    "fig-deg-4",
    rows=partial(rows_of, series="join_time"),
    picture=picture_of("time over that of the stock build"),
)(
    partial(
        words_of,
        what="time of a join, stock over optimized",
        counted="instructions of a join's row path",
        over="stock",
        under="optimized",
    )
)


LABELS_NUM_DEG_1 = {"deque_8_0": "deque of 8.0", "list_5_7": "list of 5.7"}

SHORT_NUM_DEG_1 = {"deque_8_0": "deque", "list_5_7": "list"}

X_NUM_DEG_1, Y_NUM_DEG_1 = "columns of a row", "bytes per row, without items"

_picture_of_num_deg_1 = Curves(
    labels=LABELS_NUM_DEG_1,
    narrow=SHORT_NUM_DEG_1,
    x_label=X_NUM_DEG_1,
    y_label=Y_NUM_DEG_1,
    x_log=False,
    y_log=False,
)


@figure("num-deg-1", rows=all_rows, picture=_picture_of_num_deg_1)
def num_deg_1(table: Rows) -> Words:
    """The degradation article's kilobyte: bytes of the containers of one inserted row, against its columns."""
    deque, listed = (ours(table)[series] for series in LABELS_NUM_DEG_1)
    meet = next((int(n) for n in deque.index if listed[n] >= 0.9 * deque[n]), None)
    equal = f"; at {meet} columns the two are about equal" if meet else ""
    how = "from the servers' memory" if "live" in set(table["method"]) else "counted in kernels"
    return Words(
        alt=_picture_of_num_deg_1.alt(
            table, "{:.0f}", more=f"They are {how}. Published: {at(theirs(table)['deque_8_0'], '{:.0f}')}."
        ),
        caption=f"A row of one column takes {deque[1]:.0f} bytes of containers in the design of 8.0 and {listed[1]:.0f} in the design of "
        f"5.7, {how}{equal}.",
    )


def _needed(table: Rows) -> float:
    """The claim's limit: half of the smallest number that "tens of millions" could mean, which is the published row."""
    return float(theirs(table).iloc[0]) / 2


def _rows_of_num_deg_2(run: Run) -> Rows:
    """Calls of the stock build, ours and as published, in millions."""
    table = all_rows(run, keep=["server"], where="series == 'hot_calls_per_second'")
    return valued(table, "million_calls", table["value"] / 1e6)


@figure(
    "num-deg-2",
    rows=_rows_of_num_deg_2,
    picture=Dots(
        rows={"stock": "stock"}, label="million calls per CPU second", line_at=_needed, form="{:.1f}"
    ),
)
def num_deg_2(table: Rows) -> Words:
    """The degradation article's statement on joins: calls of the hot function per CPU second of the stock build."""
    rate, published = (of["hot_calls_per_second", "stock"] for of in (ours(table), theirs(table)))
    name, needed = table["server"].iloc[0] or "our kernel", _needed(table)
    return Words(
        alt=f"Dot plot of million calls per second of the conversion of a field. {name}: {rate:.1f}. Published: {published:.0f} or "
        f"more. Line: the claim's {needed:g}.",
        caption=f"During a join by index {name} converts {rate:.1f} million fields per CPU second, "
        f"{'more' if rate > needed else 'fewer'} than the {needed:g} million that the statement needs.",
    )


VARIANTS = {
    "none": "5.7: no check",
    "inline_stream": "8.0: message in place",
    "expect": "the same, marked unlikely",
    "cold_call": "moved to a cold function",
}

SHORT_FATAL = {
    "none": "no check",
    "inline_stream": "in place",
    "expect": "unlikely",
    "cold_call": "cold",
}

SERIES_FATAL = {"integers": "rows of integers", "mixed": "integers and texts"}

_picture_of_own_low_concurrency_fatal = Dots(
    rows=VARIANTS,
    narrow=SHORT_FATAL,
    series=SERIES_FATAL,
    label="CPU ns per field",
)


def _rows_of_own_low_concurrency_fatal(run: Run) -> Rows:
    """Each repeat, with the machine code of its variant."""
    table = all_rows(run, by=("series", "fields"), y="field_ns")
    code = run.tables["code"].set_index("series")
    sizes = {name: table["series"].map(code[name]) for name in ("hot_bytes", "cold_bytes")}
    return table.assign(**sizes).rename(columns={"series": "variant", "fields": "series"})


@figure(
    "own-low-concurrency-fatal",
    rows=_rows_of_own_low_concurrency_fatal,
    picture=_picture_of_own_low_concurrency_fatal,
)
def own_low_concurrency_fatal(table: Rows) -> Words:
    """Our own figure: CPU time to convert a field, with the fatal path in four places, in kernels."""
    code = table.groupby("variant")["hot_bytes"].first()
    times = ours(table)["integers"] / ours(table)["integers", "none"]
    size = ", ".join(f"{label} {code[name]}" for name, label in VARIANTS.items())
    return Words(
        alt=f"Dot plot of CPU nanoseconds per converted field by place of the fatal path. {_picture_of_own_low_concurrency_fatal.said(table, '{:.1f} ns')}. Bytes of "
        f"code: {size}.",
        caption=f"With the message built in place the hot code has {code['inline_stream']} bytes instead of {code['none']}; with a cold "
        f"function, {code['cold_call']}. In this recording a field of a row of integers takes {times['inline_stream']:.2f} and "
        f"{times['cold_call']:.2f} times as long as without a check.",
    )


Y_INSERT, MOST = "server_cpu_us", "rows_per_statement == rows_per_statement.max()"

X_LABEL, Y_LABEL = "columns of a row", "CPU µs per row"

_rows_own_low_concurrency_insert = rows_by(
    "columns", "rows_per_statement", "target", "settings", y=Y_INSERT, where=MOST
)

# Parsing alone, into a table that keeps nothing, with equal settings.
PARSED = f"target == 'blackhole' and settings == '{EQUAL}'"

_picture_of_own_low_concurrency_insert = Curves(
    x="columns", labels=by_release, where=PARSED, x_label=X_LABEL, y_label=Y_LABEL
)


def _rows_of_own_low_concurrency_insert(run: Run) -> Rows:
    """The largest statements, with equal settings and as installed."""
    return _rows_own_low_concurrency_insert(run.with_table(with_settings(run.table)))


@figure(
    "own-low-concurrency-insert",
    rows=_rows_of_own_low_concurrency_insert,
    picture=_picture_of_own_low_concurrency_insert,
)
def own_low_concurrency_insert(table: Rows) -> Words:
    """Our own figure: CPU time per row of a large INSERT, parsed alone and stored, in four generations."""
    of = values(table, "settings", "target", "series", "columns", y=Y_INSERT)
    servers = list(by_release(table))
    old, new = next((name for name in servers if name.startswith("5.7")), servers[0]), servers[-1]
    few, many = min(table["columns"]), max(table["columns"])

    def times(settings: str) -> str:
        sides = ("blackhole", "innodb")
        parsed, stored = (of[settings, side, new] / of[settings, side, old] for side in sides)
        return (
            f"{settings.capitalize()}: parsed and thrown away, a row of {few} column costs {new} {parsed[few]:.2f} times what it costs {old}, "
            f"one of {many} columns {parsed[many]:.2f} times; stored in InnoDB, {stored[few]:.2f} and {stored[many]:.2f} times."
        )

    return Words(
        alt=_picture_of_own_low_concurrency_insert.alt(
            table, told=ends, more=f"{table['rows_per_statement'].iloc[0]} rows per statement, parsed alone."
        ),
        caption=" ".join(times(name) for name in (EQUAL, INSTALLED) if name in set(table["settings"])),
    )


SHORT_OPERATIONS = {
    "parse values": "parse",
    "insert rows": "insert",
    "point select": "point",
    "range scan": "range",
    "full scan": "scan",
    "join by index": "join, index",
    "join by primary key": "join, PK",
    "join without index": "join, none",
    "update an indexed column": "upd. indexed",
    "update another column": "upd. other",
}

_picture_of_own_low_concurrency_operations = Dots(
    rows=as_found("operation"),
    narrow=SHORT_OPERATIONS,
    series=by_release,
    label="CPU time over that of the oldest",
    log=True,
    floor=0.6,
    line_at=1,
)

_rows_own_low_concurrency_operations = rows_by("operation", y="server_cpu_us")


def _rows_of_own_low_concurrency_operations(run: Run) -> Rows:
    """CPU time with equal settings over the oldest server's, for each repeat."""
    oldest = next(iter(by_release(run.table)))
    return over(
        _rows_own_low_concurrency_operations(run.with_table(under(run.table, EQUAL))),
        "times_oldest",
        f"series == '{oldest}'",
        "operation",
    )


@figure(
    "own-low-concurrency-operations",
    rows=_rows_of_own_low_concurrency_operations,
    picture=_picture_of_own_low_concurrency_operations,
)
def own_low_concurrency_operations(table: Rows) -> Words:
    """Our own figure: CPU time of ten operations of one client in four generations, each over the oldest."""
    oldest, *_, newest = by_release(table)
    times = _picture_of_own_low_concurrency_operations.values(table)[newest][
        list(as_found("operation")(table))
    ]
    return Words(
        alt=f"Dot plot of server CPU time by operation over that of {oldest}. {_picture_of_own_low_concurrency_operations.said(table)}.",
        caption=f"With equal settings {(times > 1).sum()} of {len(times)} operations of one client cost {newest} more CPU time than {oldest}; the middle one "
        f"costs {times.median():.2f} times as much, '{times.idxmax()}' {times.max():.2f} times and '{times.idxmin()}' {times.min():.2f} times.",
    )


def _rows_of_own_low_concurrency_installed(run: Run) -> pd.DataFrame:
    """CPU time of the newest server over 5.7 with the same settings, for each repeat; the series are the settings."""
    servers = sorted(set(run.table["series"]), key=release)
    old = next((server for server in servers if server.startswith("5.7")), servers[0])
    named = with_settings(run.table).rename(columns={"series": "server", "settings": "series"})
    table = side_by_side.rows(
        run.with_table(named), by=("operation", "series", "server"), y="server_cpu_us", keep=["unit"]
    )
    over = side_by_side.over(table, "times_old", f"server == '{old}'", "operation", "series")
    newest: pd.DataFrame = over[over["server"] == servers[-1]].assign(over=old).reset_index(drop=True)
    return newest


def _settings(table: pd.DataFrame) -> dict[str, str]:
    return {name: name for name in SETTINGS if name in set(table["series"])}


@figure(
    "own-low-concurrency-installed",
    rows=_rows_of_own_low_concurrency_installed,
    picture=Dots(
        rows=lambda table: {name: name for name in dict.fromkeys(table["operation"])},
        narrow=SHORT_OPERATIONS,
        series=_settings,
        by="operation",
        label="CPU time of the newest over that of 5.7",
        log=True,
        line_at=1,
        # A hash join since 8.0.18: its ratio, a fiftieth, would press all others together.
        where="operation != 'join without index'",
    ),
)
def own_low_concurrency_installed(table: pd.DataFrame) -> Words:
    """Our own figure: the newest server over 5.7, operation by operation, with equal settings and with each version's own.

    Made of the run of `own-low-concurrency-operations`.
    """
    of = ours(table).droplevel("server").unstack("series")
    times = of.loc[list(dict.fromkeys(table["operation"])), list(_settings(table))]
    new, old = table["server"].iloc[0], table["over"].iloc[0]
    said = "; ".join(f"{name}: {each(line)}" for name, line in times.iterrows())
    caption = f"Operations that cost {new} more CPU time than {old}: {'; '.join(f'{name}, {(times[name] > 1).sum()} of {len(times)}' for name in times)}."
    if INSTALLED in times:
        apart = max(times.index, key=lambda name: abs(math.log(times[INSTALLED][name] / times[EQUAL][name])))
        caption += f" The settings move '{apart}' most: {times[EQUAL][apart]:.2f} times with equal ones, {times[INSTALLED][apart]:.2f} times as installed"
        caption += (
            f", {times[NO_HASH_INDEX][apart]:.2f} times as installed but with the adaptive hash index off in both."
            if NO_HASH_INDEX in times
            else "."
        )
    else:
        caption += " What they cost as installed is not in this recording."
    return Words(
        alt=f"Dot plot, without the join that has no index, of server CPU time of {new} over that of {old}, by operation and settings. {said}.",
        caption=caption[0].upper() + caption[1:],
    )


LABELS_LISTS = {
    "list_5_7": "list of 5.7",
    "deque_8_0": "deque of 8.0",
    "deque_9_7": "deque of 9.7",
    "reserved": "reserved array",
}

SHORT_LISTS = {
    "list_5_7": "list",
    "deque_8_0": "8.0",
    "deque_9_7": "9.7",
    "reserved": "array",
}

_picture_of_own_low_concurrency_lists = Curves(
    labels=LABELS_LISTS,
    narrow=SHORT_LISTS,
    x_label="columns of a row",
    y_label="CPU ns per row",
)


@figure(
    "own-low-concurrency-lists",
    rows=rows_by("columns", y="row_ns"),
    picture=_picture_of_own_low_concurrency_lists,
)
def own_low_concurrency_lists(table: Rows) -> Words:
    """Our own figure: CPU time per row of building and walking the value lists of an INSERT, in kernels."""
    ratio = ours(table)["deque_9_7"] / ours(table)["list_5_7"]
    few, many = ratio.index[[0, -1]]
    return Words(
        alt=_picture_of_own_low_concurrency_lists.alt(table, "{:.0f}", told=ends),
        caption=f"Items and calls included, a row of {few} column takes {ratio[few]:.1f} times as long in the deque of 9.7 as in the list "
        f"of 5.7, one of {many} columns {ratio[many]:.1f} times.",
    )


LABELS_OFFSETS = {
    "v57": "5.7",
    "v80": "8.0: asked for each field",
    "hoisted": "asked for each record",
    "by_state": "a loop for each state",
}

SHORT_OFFSETS = {"v57": "5.7", "v80": "8.0", "hoisted": "record", "by_state": "loops"}

X_OFFSETS, Y_OFFSETS = "fields of a record", "CPU ns per record"

_picture_of_own_low_concurrency_offsets = Curves(
    x="columns",
    labels=LABELS_OFFSETS,
    narrow=SHORT_OFFSETS,
    x_label=X_OFFSETS,
    y_label=Y_OFFSETS,
)


# Tables without INSTANT columns, which most are.
@figure(
    "own-low-concurrency-offsets",
    rows=rows_by("columns", "row_versions", y="record_ns", where="row_versions == 0"),
    picture=_picture_of_own_low_concurrency_offsets,
)
def own_low_concurrency_offsets(table: Rows) -> Words:
    """Our own figure: CPU time to find the fields of a record, in kernels."""
    of = _picture_of_own_low_concurrency_offsets.values(table)
    asked, hoisted = (of[series] / of["v57"] for series in ("v80", "hoisted"))
    few, many = asked.index[[0, -1]]
    return Words(
        alt=_picture_of_own_low_concurrency_offsets.alt(
            table, "{:.0f}", told=ends, more="There are no INSTANT columns."
        ),
        caption=f"Without any INSTANT column, finding the fields takes {asked.median():.2f} times as long with the question asked for "
        f"each field as without it ({few} to {many} fields); asked once per record, {hoisted.median():.2f} times.",
    )


# The variants of 8.0 and 9.7: what a stock server has. The second name is a phone's.
STOCK = {
    ("insert_values", "deque_9_7"): ("value lists", "lists"),
    ("record_offsets", "v80"): ("record offsets", "offsets"),
    ("field_store", "inline_stream"): ("fatal path", "fatal path"),
    ("mtr_commit", "mtr_8_0"): ("mini-transaction", "mtr"),
}

CELLS = {
    f"{what}, {load}": f"{short}, {load}" for what, short in STOCK.values() for load in ("narrow", "wide")
}

SERIES_PGO = {"same": "trained on it", "other": "on the other"}

WHAT_PGO = "CPU time over that of the plain build"

_picture_of_own_low_concurrency_pgo = Dots(
    rows={cell: cell for cell in CELLS},
    narrow=CELLS,
    series=SERIES_PGO,
    label=WHAT_PGO,
    line_at=1,
)

_rows_own_low_concurrency_pgo = rows_by("cell", y="cpu_ns")


def _rows_of_own_low_concurrency_pgo(run: Run) -> Rows:
    """Time of the trained builds over the plain build's, for each repeat."""
    table = run.table.rename(columns={"series": "build"})
    stock = table[[key in STOCK for key in zip(table["kernel"], table["variant"], strict=True)]]
    made = [
        (
            f"{STOCK[kernel, variant][0]}, {load}",
            "plain" if build == "plain" else "same" if build.endswith(load) else "other",
        )
        for kernel, variant, load, build in stock[["kernel", "variant", "workload", "build"]].itertuples(
            index=False
        )
    ]
    cells, series = zip(*made, strict=True)
    return over(
        _rows_own_low_concurrency_pgo(run.with_table(stock.assign(cell=cells, series=series))),
        "times_plain",
        "series == 'plain'",
        "cell",
    )


@figure(
    "own-low-concurrency-pgo",
    rows=_rows_of_own_low_concurrency_pgo,
    picture=_picture_of_own_low_concurrency_pgo,
)
def own_low_concurrency_pgo(table: Rows) -> Words:
    """Our own figure: what a profile-guided build gains on the workload of its profile, and on another."""
    same, other = (_picture_of_own_low_concurrency_pgo.values(table)[series] for series in SERIES_PGO)
    return Words(
        alt=f"Dot plot of CPU time over the plain build's, trained on the same workload and on the other. {_picture_of_own_low_concurrency_pgo.said(table)}.",
        caption=f"Trained on the workload that is measured, the middle kernel takes {same.median():.2f} of the plain build's time; trained "
        f"on the other, {other.median():.2f}, and {(other > 1).sum()} of {len(other)} cells get slower than plain.",
    )


_picture_of_own_low_concurrency_instructions = Dots(
    rows=as_found("operation"),
    narrow=SHORT_OPERATIONS,
    series=by_release,
    label="instructions over those of the oldest",
    line_at=1,
    # A hash join since 8.0.18: its ratio, a fortieth, would press all others together.
    where="operation != 'join without index'",
)

_rows_own_low_concurrency_instructions = rows_by("operation", y="instructions")


def _rows_of_own_low_concurrency_instructions(run: Run) -> Rows:
    """Instructions with equal settings over the oldest server's, for each repeat."""
    oldest = next(iter(by_release(run.table)))
    equal = _rows_own_low_concurrency_instructions(run.with_table(under(run.table, EQUAL)))
    return over(equal, "times_oldest", f"series == '{oldest}'", "operation")


@figure(
    "own-low-concurrency-instructions",
    rows=_rows_of_own_low_concurrency_instructions,
    picture=_picture_of_own_low_concurrency_instructions,
)
def own_low_concurrency_instructions(table: Rows) -> Words:
    """Our own figure: instructions of one client's operations on each server, over the oldest."""
    oldest, *_, newest = by_release(table)
    picture = _picture_of_own_low_concurrency_instructions
    times = picture.values(table)[newest]
    return Words(
        alt=f"Dot plot of instructions by operation over those of {oldest}. {picture.said(table)}.",
        caption=f"With equal settings {(times > 1).sum()} of {len(times)} operations take {newest} more instructions than {oldest}; "
        f"'{times.idxmax()}' {times.max():.2f} times as many, '{times.idxmin()}' {times.min():.2f} times.",
    )


_picture_of_own_low_concurrency_causes = Dots(
    by="cause", rows=as_found("cause"), series=by_release, label="instructions per inserted row"
)


def _of_series(servers: Iterable[str], start: str) -> str:
    return next(server for server in servers if server.startswith(start))


def _rows_of_own_low_concurrency_causes(run: Run) -> Rows:
    """Instructions of a bulk insert with equal settings by cause, those first that grew most from 5.7 on."""
    causes = run.tables["causes"].query(f"operation == '{BULK}' and settings == '{EQUAL}'").assign(repeat=0)
    by_server = causes.pivot(index="cause", columns="series", values="instructions").fillna(0.0)
    servers = sorted(set(causes["series"]), key=release)
    old = _of_series(servers, "5.7")
    order = (by_server[servers[-1]] - by_server[old]).sort_values(ascending=False).index
    table = causes.set_index("cause").loc[order].reset_index()
    return rows_by("cause", y="instructions")(run.with_table(table))


@figure(
    "own-low-concurrency-causes",
    rows=_rows_of_own_low_concurrency_causes,
    picture=_picture_of_own_low_concurrency_causes,
)
def own_low_concurrency_causes(table: Rows) -> Words:
    """Our own figure: where the instructions of a bulk insert are spent, by cause and server."""
    of = ours(table).unstack("series").fillna(0.0)
    old, new = (_of_series(table["series"], start) for start in ("5.7", "8.0.31"))
    added = (of[new] - of[old]).sort_values(ascending=False)
    most = ", ".join(f"{name} {n:,.0f}" for name, n in added.head(3).items())
    return Words(
        alt=f"Dot plot of instructions per inserted row of two columns, by cause and server. {_picture_of_own_low_concurrency_causes.said(table)}.",
        caption=f"A row costs {new} {added.sum():,.0f} instructions more than {old}. Most of them: {most}.",
    )


FLAME = {"grown": (VERMILION, "//"), "new": (PURPLE, "xx"), "shrunk": (BLUE, "\\\\"), "same": (GREY, "")}
_GROWN = 0.05  # of what the function and its callees took before


_ROOT = "dispatch_sql_command"  # what calls it is the same for every statement
_ROW, _SMALL = "a row", "small calls"


def _bulk_insert(run: Run, name: str) -> tuple[Rows, Rows]:
    """A table of the bulk insert on 5.7, and on 8.0.31."""
    of = run.tables[name].query(f"operation == '{BULK}' and settings == '{EQUAL}'")
    old, new = (of[of["series"].str.startswith(start)] for start in ("5.7", "8.0.31"))
    return old, new


def _change(run: Run) -> Callable[[str], str]:
    """What became of a function on the newer server, of all its calls together."""
    before, after = (_inclusive(each) for each in _bulk_insert(run, "paths"))

    def change(function: str) -> str:
        was, now = before.get(function), after.get(function, 0.0)
        if was is None:
            return "new"
        return "same" if abs(now / was - 1) <= _GROWN else "grown" if now > was else "shrunk"

    return change


def _rooted(table: Rows) -> Iterator[tuple[tuple[str, ...], float]]:
    """Call paths from the root on, with the instructions of their last function."""
    for path, own in zip(paths(table["path"]), table["own"], strict=True):
        yield path[path.index(_ROOT) :] if _ROOT in path else path, own


def _rows_of_own_low_concurrency_flame(run: Run) -> Rows:
    """The newer server's call paths of a bulk insert; each function is held against what all its calls took in 5.7."""
    change, (_, new) = _change(run), _bulk_insert(run, "paths")
    found = ((path[1:], own) for path, own in _rooted(new))
    return table_of(found, deepest=18, more=lambda path: {"change": change(path[-1])})


def insert_calls(run: Run, *, deepest: int = 16) -> list[tuple[int, str, int, int, str]]:
    """Calls of a bulk insert that take a hundredth of it on 5.7 or on 8.0.31, callers first: depth, function, instructions on both, change.

    Of paths only those of some size are recorded; what all others take stands beside them.
    """
    counted = run.values("settings", "operation", "series", y="instructions")[EQUAL, BULK]
    sides = []
    for of in _bulk_insert(run, "paths"):
        whole = counted[of["series"].iloc[0]]
        taken: dict[tuple[str, ...], float] = {(_ROW,): whole, (_ROW, _SMALL): whole - of["own"].sum()}
        for path, own in _rooted(of):
            for depth in range(1, min(len(path), deepest - 1) + 1):
                called = (_ROW, *path[:depth])
                taken[called] = taken.get(called, 0.0) + own
        sides.append(taken)
    most = {path: max(of.get(path, 0.0) for of in sides) for path in {**sides[0], **sides[1]}}
    change = _change(run)
    rows: list[tuple[int, str, int, int, str]] = []

    def below(caller: tuple[str, ...]) -> None:
        called = (path for path in most if path[:-1] == caller and most[path] >= most[(_ROW,)] / 100)
        for path in sorted(called, key=lambda path: (-most[path], path)):
            old, new = (round(of.get(path, 0.0)) for of in sides)
            became = "grown" if path[-1] in (_ROW, _SMALL) else change(path[-1])
            rows.append((len(path) - 1, path[-1], old, new, became))
            below(path)

    below(())
    return rows


def _inclusive(table: pd.DataFrame) -> dict[str, float]:
    """Instructions of each function and what it calls."""
    found: dict[str, float] = {}
    for path, own in zip(paths(table["path"]), table["own"], strict=True):
        for name in set(path):
            found[name] = found.get(name, 0.0) + own
    return found


@figure(
    "own-low-concurrency-flame",
    rows=_rows_of_own_low_concurrency_flame,
    picture=Flame(of="8.0.31's instructions", by="change", style=FLAME.__getitem__),
)
def own_low_concurrency_flame(table: Rows) -> Words:
    """Our own figure: a difference flame graph of a bulk insert, 8.0.31 against 5.7.22."""
    widest = table.groupby(["frame", "change"])["share_percent"].max().sort_values(ascending=False)
    said, named = [], []
    for frame, change, percent in widest.reset_index().itertuples(index=False):
        said.append(f"{frame} ({change}) {percent:.0f} percent")
        if change == "new":
            named.append(frame)
    return Words(
        alt=f"Flame graph of a bulk insert on 8.0.31, callers below what they call, hatched by the change from 5.7.22. {', '.join(said[:9])}.",
        caption=f"A bulk insert on 8.0.31, callers below what they call. Against 5.7.22: grown (//), new (xx) or shrunk (\\\\). "
        f"A new name may be old code: {', '.join(named[:3])}.",
    )
