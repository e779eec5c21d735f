"""The chapter's figures: of each its rows, its picture and its words."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from matplotlib.lines import Line2D

from engineroom.runs.side_by_side import ours
from engineroom.show.curves import lines
from engineroom.show.figure import figure
from engineroom.show.panels import panels
from engineroom.show.parts import (
    Curves,
    Dots,
    Ranked,
    Rows,
    Run,
    as_found,
    at,
    compared,
    over,
    release,
    rows_by,
    rows_over,
    valued,
    values,
    with_width,
)
from engineroom.show.style import GREY, INK, STYLES, drawing_of, is_narrow, plain
from engineroom.show.wording import Words, each
from engineroom.validation import predicted, sixteen

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LABELS_FIG_7_03 = {"original": "5.7", "patched": "patched 5.7", "new_redo": "with the redo log of 8.0"}

SHORT = {"patched": "patched", "new_redo": "redo of 8.0"}


@figure(
    "fig-7-03",
    rows=with_width,
    picture=Curves(labels=LABELS_FIG_7_03, narrow=SHORT, x_label="clients", y_label="New-Orders per minute"),
)
def fig_7_03(table: Rows) -> Words:
    """Figure 7-3: throughput of TPC-C on 5.7 as it is, with other latches, and with another redo log as well."""
    return compared(
        table, LABELS_FIG_7_03, "New-Orders per minute", over="patched", under="original", in_one_unit=True
    )


DESIGNS = {
    "off": "none",
    "5.5": "5.5",
    "5.6": "5.6",
    "5.7.6": "5.7.6",
    "5.7.6, no order": "5.7.6,\nno order",
    "5.7.6, not synced": "5.7.6,\nnot synced",
}

WHAT_BINLOG = "throughput over that without a binary log"

_tps_own_engine_binlog = rows_by("concurrency", y="tps", keep=())

_over_own_engine_binlog = rows_over(
    "throughput_over_off", "series == 'off'", "concurrency", of=_tps_own_engine_binlog
)

_picture_of_own_engine_binlog = Dots(rows=DESIGNS, by="design", label=WHAT_BINLOG, log=True, line_at=1.0)


def _rows_of_own_engine_binlog(run: Run) -> Rows:
    """Each over the engine without a binary log and with the same number of clients, which is the series here."""
    named = _over_own_engine_binlog(run).rename(columns={"series": "design"})
    clients = named.pop("concurrency")
    named.insert(0, "series", [f"{n:,} client{'' if n == 1 else 's'}" for n in clients])
    return named


@figure("own-engine-binlog", rows=_rows_of_own_engine_binlog, picture=_picture_of_own_engine_binlog)
def own_engine_binlog(table: Rows) -> Words:
    """Our own figure: throughput of a whole engine with each design of the binary log's commit, over that of the engine without one."""
    of = _picture_of_own_engine_binlog.values(table)
    most = table["series"].iloc[-1]
    return Words(
        alt=f"Dots of throughput, the engine without a binary log being 1, by the design of the commit. {_picture_of_own_engine_binlog.said(table)}.",
        caption=f"With {most}, a binary log leaves {of[most, '5.5']:.2f} of the throughput as 5.5 commits, {of[most, '5.6']:.2f} as 5.6 does, "
        f"and {of[most, '5.7.6']:.2f} as 5.7.6 does; if 5.7.6 syncs nothing, {of[most, '5.7.6, not synced']:.2f}.",
    )


_over_own_engine_live = rows_over(
    "engine_over_server",
    "series == 'server'",
    "clients",
    "server",
    "distribution",
    of=rows_by("clients", "server", "distribution", y="tps", keep=()),
)

WHAT_LIVE = "throughput, engine over server"

# The lines as they are said; `picture` draws them.
_said_own_engine_live = Curves(labels=as_found("series"), x_label="clients", y_label=WHAT_LIVE, y_log=False)

_PANEL_IN = 2.2


def _rows_of_own_engine_live(run: Run) -> Rows:
    """The engine's throughput over the server's median; a series is a server with the distribution of the rows that are drawn."""
    engine = _over_own_engine_live(run).query("series == 'engine'")
    named = engine.assign(series=engine["server"] + ", " + engine["distribution"])
    return named.drop(columns=["server", "distribution"]).reset_index(drop=True)


def _picture_of_own_engine_live(table: Rows, ax: Axes) -> None:
    """A panel per load, a line per server: with all in one, lines and their names would hide each other."""
    server, load = (table["series"].str.split(", ", n=1).str[at] for at in (0, 1))
    loads = list(dict.fromkeys(load))
    across = 1 if is_narrow(ax) else 2
    down = math.ceil(len(loads) / across)
    drawing_of(ax).set_figheight(_PANEL_IN * down + 0.6)
    labels = {name: name for name in dict.fromkeys(server)}
    all_panels = panels(ax, wide=(down, across), narrow=(down, across), space=(0.06, 0.06), sharex=True)
    for panel, name in zip(all_panels, loads, strict=False):
        mine = table[load == name].assign(series=server[load == name])
        lines(mine, panel, x="clients", y="engine_over_server", labels=labels)
        panel.axhline(1, linewidth=0.8, color=GREY)
        panel.set_title(name, fontsize=9, loc="left", pad=2)
        panel.set_xscale("log", base=2)
        panel.set_xticks(sorted(set(table["clients"])))
        panel.xaxis.set_major_formatter(lambda value, _: plain(value))
        panel.tick_params(labelsize=9)
    all_panels[0].set_ylim(0, 1.08 * table["engine_over_server"].max())  # they share it
    for panel in all_panels[len(loads) :]:
        panel.set_axis_off()
    styles = dict(zip(labels, STYLES, strict=False))
    marks = [
        Line2D([], [], color=style.colour, marker=style.marker, ls=style.dash, label=name)
        for name, style in styles.items()
    ]
    drawing_of(ax).legend(handles=marks, loc="outside upper center", ncols=len(marks), fontsize=9)
    drawing_of(ax).supxlabel("clients, log scale", fontsize=10, color=INK)
    drawing_of(ax).supylabel(WHAT_LIVE, fontsize=10, color=INK)


@figure("own-engine-live", rows=_rows_of_own_engine_live, picture=_picture_of_own_engine_live)
def own_engine_live(table: Rows) -> Words:
    """Our own figure: throughput of the simulated engine over that of the live server that it models, from one client up."""
    of = _said_own_engine_live.values(table)
    alone, more = of.xs(1, level="clients"), of.drop(index=1, level="clients")
    return Words(
        alt=_said_own_engine_live.alt(table, more="A panel per load."),
        caption=f"With one client the engine is {alone.min():.2f} to {alone.max():.2f} times as fast as the server; it leaves out the way of a "
        f"message between client and server. From two clients on it lies between {more.min():.2f} and {more.max():.2f}, half of the points within "
        f"{100 * (more - 1).abs().median():.0f} %.",
    )


def _rows_of_own_engine_crowd(run: Run) -> Rows:
    """As beside servers on two processors, with the load in the distribution's place."""
    return _rows_of_own_engine_live(sixteen.paired(run))


@figure("own-engine-crowd", rows=_rows_of_own_engine_crowd, picture=_picture_of_own_engine_live)
def own_engine_crowd(table: Rows) -> Words:
    """Our own figure: throughput of engines on twelve simulated processors over that of live servers on as many, with up to 256 clients."""
    over = _said_own_engine_live.values(table)
    alone = over.xs(1, level="clients")
    return Words(
        alt=_said_own_engine_live.alt(table, more="A panel per load."),
        caption=f"On twelve processors the engine is {over.min():.2f} to {over.max():.2f} times as fast as the server that it models, with one client "
        f"{alone.min():.2f} to {alone.max():.2f} times; half of all points are within {100 * (over - 1).abs().median():.0f} %.",
    )


# Our own figure: the same as own-engine-live, under two loads that nothing was developed on.
own_engine_held_out = figure(
    "own-engine-held-out", rows=_rows_of_own_engine_live, picture=_picture_of_own_engine_live
)(own_engine_live.words)


# Our own figure: the same as own-engine-live, with a binary log and a disk whose fsync takes a given time, under two loads kept out of development.
own_engine_held_out_binlog = figure(
    "own-engine-held-out-binlog", rows=_rows_of_own_engine_live, picture=_picture_of_own_engine_live
)(own_engine_live.words)


OF = "fig-7-07"

_said_own_engine_live_binlog = Curves(
    labels=as_found("series"), x_label="clients", y_label="throughput, engine over server", y_log=False
)


@figure("own-engine-live-binlog", rows=_rows_of_own_engine_live, picture=_picture_of_own_engine_live)
def own_engine_live_binlog(table: Rows) -> Words:
    """Our own figure: throughput of the simulated engine with a binary log over that of the live server that it models, on a steady disk and on the real one."""
    of = _said_own_engine_live_binlog.values(table)
    is_real = of.index.get_level_values("series").str.endswith("real disk")
    steady, real = of[~is_real], of[is_real]
    return Words(
        alt=_said_own_engine_live_binlog.alt(table, more="A panel per load and disk."),
        caption=f"On a disk whose fsync takes a given time the engine is {steady.min():.2f} to {steady.max():.2f} times as fast as the server, half of the "
        f"points within {100 * (steady - 1).abs().median():.0f} %. On the real disk it is {real.min():.2f} to {real.max():.2f} times as fast.",
    )


POOLS = {
    "none": "no pool,\nall there",
    "all": "all",
    "half": "half",
    "quarter": "quarter",
    "tenth": "tenth",
    "tenth, one mutex": "tenth,\none mutex",
    "tenth, disk in no time": "tenth, disk\nin no time",
}

WHAT_POOL = "throughput over that with all pages in the pool"

_over_own_engine_pool = rows_over(
    "throughput_over_all", "series == 'all'", "concurrency", of=_tps_own_engine_binlog
)

_picture_of_own_engine_pool = Dots(rows=POOLS, by="pool", label=WHAT_POOL, log=True, line_at=1.0)


def _rows_of_own_engine_pool(run: Run) -> Rows:
    """Each over the pool of all pages with the same number of clients, which is the series here."""
    named = _over_own_engine_pool(run).rename(columns={"series": "pool"})
    clients = named.pop("concurrency")
    named.insert(0, "series", [f"{n:,} client{'' if n == 1 else 's'}" for n in clients])
    return named


@figure("own-engine-pool", rows=_rows_of_own_engine_pool, picture=_picture_of_own_engine_pool)
def own_engine_pool(table: Rows) -> Words:
    """Our own figure: throughput of a whole engine by the size of its buffer pool, over that with a pool that holds all pages."""
    of = _picture_of_own_engine_pool.values(table)
    few, most = table["series"].iloc[0], table["series"].iloc[-1]
    return Words(
        alt=f"Dots of throughput, a pool of all pages being 1, by the share of the pages that the pool holds. {_picture_of_own_engine_pool.said(table)}.",
        caption=f"With {most}, a pool of half the pages leaves {of[most, 'half']:.2f} of the throughput and one of a tenth {of[most, 'tenth']:.2f}; "
        f"with {few} the latter leaves {of[few, 'tenth']:.2f}. With a disk that takes no time it would leave {of[most, 'tenth, disk in no time']:.2f}.",
    )


WITHOUT = ", no purge"

# The load has no autocommit reads, whose closed views alone stay in the list: those with views removed at once are the same runs.
_LEFT_OUT = ", views removed"

VERSIONS = ("5.6", "5.7", "8.0", "9.7")

_picture_of_own_engine_purge = Dots(
    rows={version: version for version in VERSIONS},
    by="version",
    label="throughput over that without purge",
    line_at=1.0,
)

_tps_own_engine_purge = rows_by("concurrency", y="tps", keep=("half_width_percent",))


def _rows_of_own_engine_purge(run: Run) -> Rows:
    """Each over the same latches without purge and with as many clients, which is the series here."""
    table = _tps_own_engine_purge(run)
    without = values(table, "series", "concurrency", y="tps")
    with_purge = table[~table["series"].str.endswith((WITHOUT, _LEFT_OUT))].rename(
        columns={"series": "version"}
    )
    keys = zip(with_purge["version"] + WITHOUT, with_purge["concurrency"], strict=True)
    ratios = [tps / without[key] for tps, key in zip(with_purge["tps"], keys, strict=True)]
    over = valued(with_purge, "throughput_over_none", ratios)
    clients = over.pop("concurrency")
    over.insert(0, "series", [f"{n:,} clients" for n in clients])
    return over.reset_index(drop=True)


@figure("own-engine-purge", rows=_rows_of_own_engine_purge, picture=_picture_of_own_engine_purge)
def own_engine_purge(table: Rows) -> Words:
    """Our own figure: throughput of a whole engine with purge, by its transaction system, over that of the same engine without purge."""
    of = _picture_of_own_engine_purge.values(table)
    most = table["series"].iloc[-1]
    widest = table.iloc[int(table["half_width_percent"].to_numpy().argmax())]
    return Words(
        alt=f"Dots of throughput with purge, the same engine without purge being 1. {_picture_of_own_engine_purge.said(table)}.",
        caption=f"Throughput with purge over that without it, with {most}, by the version of the transaction system: "
        f"{each({version: of[most, version] for version in VERSIONS}, '{:.2f}')}. "
        f"The widest half interval of a run behind these is {widest['half_width_percent']:.0f} % of its throughput, on {widest['version']}.",
    )


# Of the second, a thread that wakes displaces none.
WAYS_SCHEDULER = {
    "virtual run time": "virtual run time",
    "nobody displaced": "none displaced",
}

WHAT_SCHEDULER = "throughput over that with first come, first served"

_tps_own_engine_scheduler = rows_by("concurrency", "scheduler", y="tps", keep=())

_over_own_engine_scheduler = rows_over(
    "throughput_over_first_come",
    "scheduler == 'first come'",
    "series",
    "concurrency",
    of=_tps_own_engine_scheduler,
)

_picture_of_own_engine_scheduler = Dots(
    rows=as_found("engine"),
    by="engine",
    series=WAYS_SCHEDULER,
    label=WHAT_SCHEDULER,
    log=True,
    line_at=1.0,
)


def _rows_of_own_engine_scheduler(run: Run) -> Rows:
    """Each over first come, first served, in the same engine with as many clients; the ways of sharing are the series here."""
    over = _over_own_engine_scheduler(run)
    over = over[over["scheduler"] != "first come"]
    names = [f"{log}, {clients:,}" for log, clients in zip(over["series"], over["concurrency"], strict=True)]
    ways = over.pop("scheduler")
    return over.drop(columns=["series", "concurrency"]).assign(series=ways, engine=names)


@figure("own-engine-scheduler", rows=_rows_of_own_engine_scheduler, picture=_picture_of_own_engine_scheduler)
def own_engine_scheduler(table: Rows) -> Words:
    """Our own figure: throughput of the engines of figure 7-1 where the system counts virtual run time, over that where it does not."""
    of = _picture_of_own_engine_scheduler.values(table)
    counted = of["virtual run time"]
    farthest = str(counted.idxmin())
    return Words(
        alt=f"Dots of throughput where the system counts virtual run time, first come, first served being 1, by log and clients. {_picture_of_own_engine_scheduler.said(table)}.",
        caption=f"Virtual run time leaves least at “{farthest}” (log, clients): {counted[farthest]:.2g} of the throughput. If a thread that wakes displaces "
        f"none, {of['nobody displaced', farthest]:.2f} is left there.",
    )


# Which parts are new.
PARTS = {
    "none": "none",
    "trx": "transactions",
    "locks": "locks",
    "locks and trx": "locks,\ntransactions",
    "redo": "redo log",
    "redo and trx": "redo log,\ntransactions",
    "redo and locks": "redo log,\nlocks",
    "redo and locks and trx": "all three",
}

WHAT_SWITCHES = "throughput over that with old parts"

_over_own_engine_switches = rows_over(
    "throughput_over_old", "series == 'none'", "concurrency", of=_tps_own_engine_binlog
)

_picture_of_own_engine_switches = Dots(rows=PARTS, by="new_parts", label=WHAT_SWITCHES, log=True, line_at=1.0)


def _rows_of_own_engine_switches(run: Run) -> Rows:
    """Each over the engine of old parts with the same number of clients, which is the series here."""
    named = _over_own_engine_switches(run).rename(columns={"series": "new_parts"})
    named.insert(0, "series", [f"{clients:,} clients" for clients in named.pop("concurrency")])
    return named


@figure("own-engine-switches", rows=_rows_of_own_engine_switches, picture=_picture_of_own_engine_switches)
def own_engine_switches(table: Rows) -> Words:
    """Our own figure: throughput with each combination of old and new parts, over that of the engine whose parts are all old."""
    of = _picture_of_own_engine_switches.values(table)
    most = table["series"].iloc[-1]
    old = of.unstack("series").filter(items=[part for part in PARTS if "redo" not in part], axis=0)
    where = str(old.min().idxmin())
    return Words(
        alt=f"Dots of throughput, the engine of old parts being 1, by which parts are new. {_picture_of_own_engine_switches.said(table)}.",
        caption=f"With {most}, a new redo log alone makes {of[most, 'redo']:.2f} of the throughput with old parts, all three new parts "
        f"{of[most, 'redo and locks and trx']:.2f}. The lowest point over an old redo log is {old.min().min():.2g}, with {where}.",
    )


# Our own figure: the same as own-engine-live, under TPC-C with one warehouse.
own_engine_tpcc = figure(
    "own-engine-tpcc", rows=_rows_of_own_engine_live, picture=_picture_of_own_engine_live
)(own_engine_live.words)


# Our own figure: the same as own-engine-live, under TPC-C with ten warehouses, a binary log and a disk whose fsync takes a given time.
own_engine_tpcc_binlog = figure(
    "own-engine-tpcc-binlog", rows=_rows_of_own_engine_live, picture=_picture_of_own_engine_live
)(own_engine_live.words)


_said_own_whatif = Curves(
    labels=as_found("series"), x_label="clients", y_label="throughput, predicted over measured", y_log=False
)


def _rows_of_own_whatif(run: Run) -> Rows:
    """The prediction over the server's median; a series is a server with a load, and `is_in_range` says whether the range that is told has the server."""
    named = run.table.rename(columns={"load": "distribution"}).replace({"series": {"predicted": "engine"}})
    of = _rows_of_own_engine_live(replace(run, table=named))
    in_range = predicted.beside_servers(run.table)["is_in_range"]
    keys = [(*series.split(", ", 1), n) for series, n in zip(of["series"], of["clients"], strict=True)]
    return of.assign(is_in_range=[bool(in_range[key]) for key in keys])


@figure("own-whatif", rows=_rows_of_own_whatif, picture=_picture_of_own_engine_live)
def own_whatif(table: Rows) -> Words:
    """Our own figure: throughput that `engineroom whatif` predicts over that of live servers, for three loads of our own."""
    of = _said_own_whatif.values(table)
    return Words(
        alt=_said_own_whatif.alt(table, more="A panel per load."),
        caption=f"The what-if beside live servers on two processors: it predicts {of.min():.2f} to {of.max():.2f} times the measured throughput, half of the "
        f"points within {100 * (of - 1).abs().median():.0f} %. {int(table['is_in_range'].sum())} of {len(table)} measured throughputs lie in the range that it tells.",
    )


_CURED = Dots(
    by="cured",
    rows=as_found("cured"),
    narrow=as_found("cured", ("thread concurrency", "concurrency")),
    series={"hot rows": "hot rows", "uniform": "read-write, uniform"},
    label="throughput over the same server's without",
    line_at=1.0,
)


def _rows_of_own_engine_cures(run: Run) -> Rows:
    """Throughput with the most clients over the same server's without a cure; a row is a server with its cure."""
    crowd = run.with_table(run.table[run.table["clients"] == run.table["clients"].max()])
    by_cure = rows_by("clients", "server", "setting", y="tps", keep=())(crowd)
    cured = over(by_cure, "over_none", "setting == 'none'", "server", "series").query("setting != 'none'")
    cured.insert(0, "cured", cured["server"] + ", " + cured["setting"])
    return cured.sort_values("server", key=lambda of: of.map(release), kind="stable", ignore_index=True)


@figure("own-engine-cures", rows=_rows_of_own_engine_cures, picture=_CURED)
def own_engine_cures(table: Rows) -> Words:
    """Our own figure: throughput of a crowd with a limit on it over that without, on live servers, by the limit and the load."""
    of = _CURED.values(table)
    throttled = of[of.index.get_level_values("cured").str.endswith("thread concurrency")]
    hot, even = (throttled.xs(load, level="series") for load in ("hot rows", "uniform"))
    pooled = of.drop(throttled.index).unstack("series")
    return Words(
        alt=f"Dots of throughput with {int(table['clients'].iloc[0])} clients over the same server's without the limit. {_CURED.said(table)}.",
        caption=f"With {int(table['clients'].iloc[0])} clients innodb_thread_concurrency leaves {hot.min():.2f} to {hot.max():.2f} times the updates of hot rows, "
        f"and {even.min():.2f} to {even.max():.2f} times the read-write transactions. "
        + "; ".join(
            f"{cured}: {ratios['hot rows']:.2f} and {ratios['uniform']:.2f} times"
            for cured, ratios in pooled.iterrows()
        )
        + ".",
    )


LABELS_CROWD = {"5.7.22": "5.7.22", "8.0.31": "8.0.31", "9.7.4": "9.7.4"}
HOT, UNIFORM = "load == 'hot rows' and setting == 'usual'", "load == 'uniform' and setting == 'usual'"


@figure(
    "own-crowd",
    rows=lambda run: rows_by("clients", y="tps", keep=[])(run.with_table(run.table.query(HOT))),
    picture=Curves(labels=LABELS_CROWD, x_label="clients", y_label="updates per second"),
)
def own_crowd(table: Rows) -> Words:
    """Our own figure: updates of hot rows per second against clients, on real servers and twelve processors."""
    tps = ours(table)
    kept = {version: tps[version].iloc[-1] / tps[version].max() for version in LABELS_CROWD}
    clients = int(tps["5.7.22"].index[-1])
    return Words(
        alt="Log-log line chart of updates per second against clients. With "
        f"{clients} clients a server has, of its best: {'; '.join(f'{version} {100 * share:.0f} %' for version, share in kept.items())}.",
        caption=f"Hot rows on twelve processors: with {clients} clients MySQL 5.7.22 keeps {100 * kept['5.7.22']:.0f} % of its best "
        f"throughput, 8.0.31 {100 * kept['8.0.31']:.0f} % and 9.7.4 {100 * kept['9.7.4']:.0f} %.",
    )


@figure(
    "own-crowd-fsyncs",
    rows=lambda run: rows_by("clients", y="fsyncs", keep=[])(run.with_table(run.table.query(UNIFORM))),
    picture=Curves(labels=LABELS_CROWD, x_label="clients", y_label="fsyncs of the redo log per transaction"),
)
def own_crowd_fsyncs(table: Rows) -> Words:
    """Our own figure: fsyncs of the redo log per transaction against clients, on real servers and twelve processors, where an fsync takes no time."""
    fsyncs = ours(table)
    new = fsyncs["8.0.31"]
    most, many, last = new.max(), new.iloc[-1], new.index[-1]
    return Words(
        alt=f"Log-log line chart of fsyncs per transaction against clients. 5.7.22: {at(fsyncs['5.7.22'])}. 8.0.31: {at(fsyncs['8.0.31'])}.",
        caption=f"While its log threads spin, MySQL 8.0.31 makes up to {most:.0f} redo fsyncs per transaction, with {new.idxmax():g} clients, and {many:.1f} "
        f"with {last:g}; 5.7.22 stays near {fsyncs['5.7.22'].median():.1f}. An fsync takes no time here.",
    )


@figure(
    "own-crowd-latches",
    rows=lambda run: rows_by("latch", y="clients_waiting", keep=[])(
        run.with_table(_most_waited(run.tables["latches"]))
    ),
    picture=Ranked(label="clients that wait for the latch, of 256", series=LABELS_CROWD, form="{:.2g}"),
)
def own_crowd_latches(table: Rows) -> Words:
    """Our own figure: for which latches 256 clients that update hot rows wait, on real servers and twelve processors."""
    waiting = ours(table)
    most = {version: waiting[version].idxmax() for version in LABELS_CROWD}
    return Words(
        alt="Ranked list of latches by the clients that wait for them, 256 in all. "
        + "; ".join(f"{version}: {latch} {waiting[version][latch]:.0f}" for version, latch in most.items())
        + ".",
        caption="Of 256 clients that update hot rows, few wait for a latch: "
        + "; ".join(
            f"{waiting[version][latch]:.0f} for {latch} on {version}" for version, latch in most.items()
        )
        + ".",
    )


def _most_waited(latches: Rows) -> Rows:
    """With the crowd on hot rows, the four latches of each server for which most clients wait."""
    crowd = latches[(latches["load"] == "hot rows") & (latches["clients"] == latches["clients"].max())]
    ranked = crowd.sort_values("clients_waiting", ascending=False).groupby("series", sort=False).head(4)
    return Rows(ranked.assign(repeat=0))
