"""What `book/engine.md` tells: what statements ask of a server with one client, and where a crowd waits."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from engineroom import paths
from engineroom.ledger.verdicts import judge
from engineroom.runs import Run, newest, published, recorded
from engineroom.runs.summary import several, summarise, values
from engineroom.show.drawing import origin_of
from engineroom.show.table import Table
from engineroom.simulating.engine import LATER, RECORDING
from engineroom.validation import sixteen
from engineroom.validation.predicted import beside_servers, compared

switches, binlog, pool, purge = (
    newest(f"own-engine-{name}", "sim") for name in ("switches", "binlog", "pool", "purge")
)
next_queue = newest("fig-7-03", "sim")
live, held_out, tpcc = (compared(f"own-engine-{name}") for name in ("live", "held-out", "tpcc"))
live_binlog, held_out_binlog, tpcc_binlog = (
    compared(f"own-engine-{name}-binlog") for name in ("live", "held-out", "tpcc")
)
held_out_first, held_out_before, *_ = recorded("own-engine-held-out", "live")
whatif = newest("own-whatif", "live")
# On the computer of the demands; a later recording has 8.0.31, too, on a slower one.
hold_times = recorded("own-hold-times", "live")[0]
demands, later_demands = (recorded("own-demands", "live")[n - 1] for n in (RECORDING, LATER))
demands_again, ten_warehouses = (newest(f"own-demands-{name}", "live") for name in ("again", "warehouses"))
_latches = newest("own-latch-order", "live").table


def tps(run: Run) -> pd.Series[float]:
    return run.values("series", "concurrency", y="tps")


def over(run: Run, base: str) -> pd.Series[float]:
    """Throughput of each series over that of `base` with as many clients."""
    rates = tps(run).unstack("concurrency")
    return pd.Series((rates / rates.loc[base]).stack())


def waits_ms(run: Run, clients: int) -> pd.Series[float]:
    """What a transaction waits for with so many clients, by series and latch or event."""
    waits = run.tables["latches"].query(f"concurrency == {clients}")
    return values(waits, "series", "latch", y="wait_us", how="median") / 1000


def longest_waits(run: Run, clients: int, *series: str) -> list[str]:
    """The latch that clients of each series wait longest for; events are left out."""
    waits = waits_ms(run, clients)
    of_latches = waits[waits.index.get_level_values("latch").str.endswith(("_mutex", "_rw_lock"))]
    longest = of_latches.groupby("series").idxmax()
    return [longest[each][1] for each in series]


def half_width_percent(run: Run, clients: int, *series: str) -> float:
    """The widest of the throughputs with so many clients; of these series, or of all."""
    crowd = run.table[run.table["concurrency"] == clients]
    of = crowd[crowd["series"].isin(series)] if series else crowd
    return float(of["half_width_percent"].max())


switched = over(switches, "none")
_lowest = switched.drop("none", level="series").groupby("series").min()
combinations, fallen = list(_lowest.index), list(_lowest.index[_lowest < 0.5])

_held_tps = (
    newest("own-engine-held", "sim").values("held", "concurrency", "series", y="tps").unstack("series")
)
# By how long latches are held and clients: what shards make over two mutexes, and the throughput over that of the figures.
shards_gain = _held_tps["8.0, sharded"] / _held_tps["8.0, split"]
held_cost = _held_tps["8.0, sharded"] / _held_tps["8.0, sharded"].xs("as 9.7.4", level="held")

scheduled_tps = newest("own-engine-scheduler", "sim").values("scheduler", "series", "concurrency", y="tps")
_by_scheduler = scheduled_tps.unstack("scheduler")
over_first_come = _by_scheduler.div(_by_scheduler["first come"], axis="index")

patched = tps(next_queue)["patched"] / tps(next_queue)["original"]
_published = published.in_our_columns("fig-7-03").set_index(["series", "concurrency"])["tpmC"]
published_patched = _published["patched"] / _published["original"]


crowd_cures = newest("own-engine-cures", "live")
published_more = (
    pd.read_csv(paths.data() / "published" / "more.csv")
    .set_index(["figure", "series", "concurrency"])["value"]
    .sort_index()
)
_most_clients = int(crowd_cures.table["clients"].max())


def cured(y: str, load: str, setting: str) -> pd.Series[float]:
    """What counts of `y` with a cure over the same server's without, with the most clients, by server."""
    from engineroom.chapters.engine.experiments.cures import in_crowd

    return in_crowd(crowd_cures, y, load, setting)


def of_repeats(y: str, load: str, setting: str, server: str) -> pd.Series[float]:
    """What counts of `y` in each repeat with the most clients."""
    crowd = crowd_cures.table.query(f"clients == {_most_clients} and server == '{server}'")
    return crowd[(crowd["series"] == load) & (crowd["setting"] == setting)][y]


def most_spread(load: str) -> float:
    """The largest throughput of a point with the most clients over its least, of the servers before 9.7."""
    crowd = crowd_cures.table.query(f"clients == {_most_clients} and series == '{load}' and server < '9'")
    of = crowd.groupby(["server", "setting"])["tps"]
    return float((of.max() / of.min()).max())


def cures_table() -> Table:
    """A row per load, server and cure: what a transaction of the largest crowd counts, and what comes of it."""
    counts = ("lock_waits_per_1000", "switches", "cpu_us", "p99_ms", "tps")
    crowd = crowd_cures.table.query(f"clients == {_most_clients}")
    by = ["series", "server", "setting"]
    of = several(crowd, *by, ys=counts, how="median")
    rows = [
        {
            **dict(zip(("load", "server", "cure"), place, strict=True)),
            "waits for a row per 1,000": f"{row['lock_waits_per_1000']:,.0f}",
            "context switches": f"{row['switches']:,.1f}",
            "CPU time": f"{row['cpu_us']:,.0f} us",
            "99th percentile": f"{row['p99_ms']:,.0f} ms",
            "per second": f"{row['tps']:,.0f}",
        }
        for place in crowd[by].drop_duplicates().itertuples(index=False, name=None)
        for row in [of.loc[place]]
    ]
    caption = f"Transactions of {_most_clients} clients on live servers with and without a limit: counts per transaction, medians of the repeats."
    return Table(pd.DataFrame(rows).sort_values("load", kind="stable"), caption, origin_of(crowd_cures))


def came_out(run: Run) -> list[bool]:
    """Which expectations a run has, in the order in which they were written down; one that was not quiet enough decides none."""
    from engineroom.chapters.engine.experiments import binlog, cures, pool, purge, table_locks
    from engineroom.validation.experiments import beside, hash_index, holds, whatif
    from engineroom.validation.experiments import sixteen as crowds

    claims = {
        "own-engine-binlog": binlog.CLAIMS,
        "own-engine-crowd": crowds.CLAIMS,
        "own-engine-cures": cures.CLAIMS,
        "own-engine-hash-index": crowds.HASH_INDEX_CLAIMS,
        "own-engine-pool": pool.CLAIMS,
        "own-engine-purge": purge.CLAIMS,
        "own-engine-tpcc": beside.TPCC_CLAIMS,
        "own-whatif": whatif.CLAIMS,
        "own-hash-index": hash_index.CLAIMS,
        "own-table-locks": table_locks.CLAIMS,
        "own-hold-times": holds.CLAIMS,
    }.get(run.figure, beside.BINLOG_CLAIMS)
    return [bool(is_so(run)) for is_so in claims.values()] if not run.why_busy else []


def beside(run: Run) -> pd.DataFrame:
    """The engine over the server that it models, with more clients than one: throughput, lock_waits, deadlocks, lock_wait."""
    from engineroom.validation.experiments.beside import factors

    return factors(run.table).drop(index=1, level="clients")


def off_percent(ratios: pd.Series[float]) -> pd.Series[float]:
    return 100 * (ratios - 1).abs()


def either_way(ratios: pd.Series[float]) -> float:
    """By what factor ratios are off in the median."""
    return math.exp(ratios.dropna().map(math.log).abs().median())


# The same servers beside engines whose threads run in the order in which they began to wait.
first_come_binlog = next(run for run in recorded("own-engine-live-binlog", "live") if run.n == 5)


def ranked_waits(run: Run) -> pd.Series[float]:
    """Of 9.7.4 with 64 clients, us per transaction: latch and side (server, engine)."""
    from engineroom.validation.experiments.beside import ranked

    return pd.Series(ranked(run)["9.7.4", 64].stack())


def binlog_fsyncs_over(run: Run) -> float:
    """The engine's fsyncs of the binary log over its server's with 64 clients and evenly drawn rows, the median of the servers."""
    most = with_binlog(run).xs(64, level="clients")["binlog_fsyncs"]
    return float(most.xs("uniform, steady disk", level="distribution").median())


def by_server(run: Run) -> pd.Series[float]:
    """How far throughput is off in the median, %, from two clients on."""
    return off_percent(beside(run)["throughput"]).groupby("server").median()


in_crowd = newest("own-engine-crowd", "sim")
crowd_over = sixteen.factors(in_crowd)
crowd_waiting = sixteen.waiting_on_both(in_crowd)
crowd_unlatched = recorded("own-engine-crowd", "sim")[0]  # before the engine latched pages
crowd_over_unlatched = sixteen.factors(crowd_unlatched)
unlatched_waiting = sixteen.waiting_on_both(crowd_unlatched)["engine"]


def crowd_table() -> Table:
    """A row per load, server and crowd: the latch that most of the server's clients wait for, and how many wait on either side."""
    rows = []
    for at, of in crowd_waiting.groupby(level=["load", "series", "clients"]):
        place: Any = at
        load, server, clients = place
        most, own = (str(of[side].droplevel(["load", "series", "clients"]).idxmax()) for side in of)
        theirs, ours = of.xs(most, level="latch").iloc[0]
        rows.append(
            {
                "load": load,
                "server": server,
                "clients": clients,
                "engine over server": f"{crowd_over.loc[place]:.2f}",
                "most wait for": most,
                "of the server's": f"{theirs:.1f}",
                "of the engine's": f"{ours:.2f}",
                "its own first": own,
            }
        )
    caption = "Clients that wait for the latch that most of a server's wait for, of those that the engine has, and the throughput there."
    return Table(pd.DataFrame(rows), caption, origin_of(in_crowd))


occupied_tps = newest("own-engine-occupancy", "sim").values("occupancy_ns", "series", "concurrency", y="tps")
_by_occupancy = occupied_tps.unstack("occupancy_ns")
# Throughput over that where a reader keeps a line for no time at all: a column per time, ns.
occupied = _by_occupancy.div(_by_occupancy[0], axis="index").drop(columns=0)
_crowds = occupied.drop(100, level="concurrency")
shards_lose_least = pd.DataFrame(_crowds.loc["8.0, sharded"]).equals(_crowds.groupby("concurrency").max())

paged = newest("own-engine-pages", "sim")
_paged_tps = paged.values("pages", "series", "warehouses", "concurrency", y="tps").unstack("pages")
# Throughput with latches of pages over that without.
latched = _paged_tps["latched"] / _paged_tps["unlatched"]

_of_pages = ["latch", "pages", "series", "warehouses", "concurrency"]
# What a transaction waits for a latch: median of the seeds.
paged_waits_ms = paged.tables["latches"].groupby(_of_pages)["wait_us"].median() / 1000


hash_index = newest("own-hash-index", "live")
hash_index_off = newest("own-engine-hash-index", "sim")
hash_searches_wait = recorded("own-engine-crowd", "sim")[
    2
]  # where a search waits for changes of the hash index


@cache
def searching() -> pd.DataFrame:
    """Searches and changes per read-write transaction on live servers, by server and whether the hash index is ON or OFF."""
    from engineroom.validation.experiments.hash_index import per_transaction

    return pd.DataFrame(
        {
            (server, setting): per_transaction(hash_index, server, setting)
            for server, setting in hash_index.table[["server", "hash_index"]].drop_duplicates().to_numpy()
        }
    ).T


def share_in_hash_index() -> pd.Series[float]:
    """CPU time of a session in searches of the hash index, %, by server: mean of the repeats."""
    inside = hash_index.tables["inside"].query("part == 'hash_searches'")
    return (100 * inside["cpu_us"] / inside["thread_cpu_us"]).groupby(inside["server"]).mean()


@cache
def latches_beside_crowd() -> pd.Series[float]:
    """Latches per read-write transaction of one client over those of 64 clients on another computer, by server and latch."""
    from engineroom.validation.experiments.hash_index import beside_crowd

    both = beside_crowd(hash_index)
    return both["here"] / both["crowd"]


@cache
def without_hash_index() -> pd.DataFrame:
    """Throughput where the hash index is off over where it is on, of `server` and `engine`, by load, server and clients."""
    from engineroom.validation.experiments.sixteen import without_hash_index as of_both

    return of_both(hash_index_off)


def usual_spread(server: str, clients: int) -> float:
    """The largest throughput of a live server's runs at its usual settings over the least, read-write load."""
    mine = sixteen.live().table.query(f"load == 'uniform' and series == '{server}' and clients == {clients}")
    return float(mine["tps"].max() / mine["tps"].min())


def searching_table() -> Table:
    """A row per statement of a read-write transaction that searches: how it comes to its rows on 8.0.31."""
    mine = hash_index.table.query("server == '8.0.31' and load == 'sysbench_read_write'")
    columns = {
        "hash_searches": "searches of the hash index",
        "hash_changes": "changes of it",
        "root_searches": "searches from a root",
    }
    on, off = (
        mine[mine["hash_index"] == setting].set_index("statement")[list(columns)] for setting in ("ON", "OFF")
    )
    table = on.rename(columns=columns).assign(**{"from a root without it": off["root_searches"]})
    table = table[table.sum(axis="columns") > 0].map("{:.2f}".format)
    caption = (
        "Per execution on 8.0.31, one client of SysBench's read-write transaction; the hash index is filled."
    )
    return Table(table.reset_index(), caption, origin_of(hash_index))


table_locks = newest("own-table-locks", "live")
_table_looks = newest("own-engine-table-locks", "sim").values("looks", "series", "concurrency", y="tps")
# Throughput where an intention lock looks at others as its server's does over that of the figures: series, clients.
as_its_server = _table_looks["as its server"] / _table_looks["flat"]
crowd_flat = recorded("own-engine-crowd", "sim")[
    3
]  # where an intention lock looks at all others on its table
crowd_over_flat = sixteen.factors(crowd_flat)
flat_waiting = sixteen.waiting_on_both(crowd_flat)["engine"]


@cache
def each_table_lock_ns() -> pd.Series[float]:
    """What an update computes longer for each lock of another transaction on its table, ns, by server."""
    from engineroom.chapters.engine.experiments.table_locks import each_ns

    return each_ns(table_locks)


def table_lock_quartiles_ns(server: str) -> pd.Series[float]:
    """The quartiles (0.25, 0.75) of the rounds' own differences."""
    most = int(table_locks.table["others"].max())
    mine = table_locks.table.query(f"server == '{server}' and others == {most}")
    places: Any = mine.set_index(["repeat", "where"])["cpu_us"].unstack("where")
    quartiles: pd.Series[float] = (places["the same table"] - places["another table"]).quantile([0.25, 0.75])
    return 1000 * quartiles / most


def table_locks_table() -> Table:
    """CPU time of an update by server, idle transactions and the table of which they have changed rows."""
    times = values(table_locks.table, "server", "others", "where", y="cpu_us", how="median").unstack("where")
    named = {place: f"{place}, us" for place in times.columns}
    table = times.map("{:.0f}".format).rename(columns=named).reset_index()
    caption = "CPU time of an update while idle transactions have changed rows of its table, or of another: medians of 20 rounds."
    return Table(table.rename(columns={"others": "idle transactions"}), caption, origin_of(table_locks))


def with_binlog(run: Run) -> pd.DataFrame:
    """The engine over its server, on a disk whose fsync takes a given time: tps, redo_fsyncs, binlog_fsyncs."""
    from engineroom.validation.experiments.beside import ratios

    return ratios(run)


def waits_table(run: Run) -> Table:
    """The servers' longest waits with the most clients, and the engine's beside them, by version."""
    from engineroom.validation.experiments.beside import ranked

    most = run.tables["latches"]["clients"].max()
    rows = [
        {
            "waits for": latch,
            "server": version,
            "its clients": f"{of['server']:,.0f} us",
            "the engine's": f"{of['engine']:,.1f} us",
        }
        for (version, clients), ranks in ranked(run).items()
        if clients == most
        for latch, of in ranks.head(4).iterrows()
    ]
    return Table(
        pd.DataFrame(rows),
        f"What {most} clients wait longest for, per transaction, on servers and in the engine.",
        origin_of(run),
    )


def predicted() -> pd.DataFrame:
    """Of `engineroom whatif` over live servers: ratio, and is_in_range."""
    return beside_servers(whatif.table)


_ASKED = ["cpu_us", "lock_sys_acquisitions", "trx_sys_acquisitions", "mtrs", "redo_bytes"]
_weighted = demands.table[_ASKED].mul(demands.table["per_transaction"], axis="index")
asked_for = _weighted.groupby([demands.table[name] for name in ("load", "transaction", "server")]).sum()
read_write = asked_for.loc["sysbench_read_write", "read_write"]
kinds = demands.table[["load", "transaction", "statement"]].drop_duplicates()
_commits = demands.table.query("statement == 'commit'")
executions = _commits.groupby(["load", "transaction"])["executions"].min()
apart_percent = 100 * (demands.table["cpu_us_iqr"] / demands.table["cpu_us"]).median()
_commits = pd.concat([_commits, demands_again.table.query("statement == 'commit'")]).query("load == 'tpcc_1'")
executions_in_both = _commits.groupby(["server", "transaction"])["executions"].sum()


def demands_table() -> Table:
    """A row per transaction: what it asks of the oldest and of the newest server."""
    transactions = {
        ("sysbench_read_write", "read_write"): "SysBench read-write",
        ("tpcc_1", "new_order"): "New-Order",
        ("tpcc_1", "payment"): "Payment",
        ("tpcc_1", "delivery"): "Delivery",
        ("tpcc_1", "order_status"): "Order-Status",
        ("tpcc_1", "stock_level"): "Stock-Level",
    }
    names = ("lock latches", "trx latches", "mini-transactions", "redo bytes")
    rows = [
        {
            "transaction": said,
            **{
                f"{name}, {server}": f"{asked_for[column][*key, server]:,.0f}"
                for name, column in zip(names, _ASKED[1:], strict=True)
                for server in ("5.7.22", "9.7.4")
            },
        }
        for key, said in transactions.items()
    ]
    caption = "What one transaction asks for, with one client and no binary log."
    return Table(pd.DataFrame(rows), caption, origin_of(demands))


_STATEMENT = ["server", "load", "transaction", "statement"]


def earlier_percent(now: pd.DataFrame, before: pd.DataFrame) -> pd.Series[float]:
    """CPU time of a load's statements, each as often as its transaction has it now, by the least batches of `before` over that of `now`."""
    both = now.set_index(_STATEMENT).join(before.set_index(_STATEMENT)["cpu_us_least"], how="inner")
    sums = both[["cpu_us", "cpu_us_least"]].mul(both["per_transaction"], axis="index")
    sums = sums.groupby(["server", "load"]).sum()
    return 100 * sums["cpu_us_least"] / sums["cpu_us"]


def computed_before() -> pd.Series[float]:
    """The same of the last recording whose least batches engines computed for, and the newest."""
    return earlier_percent(demands.table, recorded("own-demands", "live")[3].table)


def measured_again(first: pd.DataFrame, again: pd.DataFrame) -> pd.DataFrame:
    """A statement's CPU time in `again` over that in `first`, `off`, how far that is from 1 either way, and its `share` of the server's CPU time."""
    keys = ["server", "transaction", "statement"]
    both = again.set_index(keys).join(first.set_index(keys)["cpu_us"].rename("before_us"), how="inner")
    spent = both["cpu_us"] * both["executions"]
    ratio = both["cpu_us"] / both["before_us"]
    share = spent / spent.groupby("server").transform("sum")
    return pd.DataFrame({"ratio": ratio, "off": np.maximum(ratio, 1 / ratio) - 1, "share": share})


def transactions_us(run: Run) -> pd.Series[float]:
    """CPU time of a transaction in the session's thread, by server and kind, us."""
    each = run.table.assign(cpu_us=run.table["cpu_us"] * run.table["per_transaction"])
    return each.groupby(["server", "transaction"])["cpu_us"].sum()


later_ratio = transactions_us(later_demands)["8.0.31"] / transactions_us(later_demands)["8.0.15"]
_tpcc_demands = demands.table.query("load == 'tpcc_1'")
other_transactions = measured_again(_tpcc_demands, demands_again.table)
more_warehouses = measured_again(_tpcc_demands, ten_warehouses.table)


def farthest(found: pd.DataFrame) -> tuple[Any, ...]:
    """Server, transaction and statement that is the farthest apart of those with a hundredth of their server's CPU time."""
    often: Any = found[found["share"] >= 0.01]["off"]
    return tuple(often.idxmax())


_shares = hold_times.table.assign(
    percent=100 * hold_times.table["cpu_us"] / hold_times.table["thread_cpu_us"]
)
_shares_of_parts = values(_shares, "series", "server", "part", y="percent", how="median")
held_percent = _shares_of_parts.groupby(["series", "server"]).sum()
held_us = hold_times.values("series", "part", "server", y="cpu_us")


def hold_times_table(run: Run = hold_times) -> Table:
    """A row per part and server: the server's time with its spread, and the engine's."""
    cells = summarise(run.table, "part", "server", "series", y="cpu_us", how="median", sort=False)
    cells["said"] = [
        f"{cell.cpu_us:.1f} ({cell.least:.1f} to {cell.most:.1f})"
        if cell.series == "server"
        else f"{cell.cpu_us:.1f}"
        for cell in cells.itertuples()
    ]
    rows = [
        {
            "part": part,
            "server": server,
            **{f"{series}'s": said for series, said in zip(cell["series"], cell["said"], strict=True)},
        }
        for (part, server), cell in cells.groupby(["part", "server"], sort=False)
    ]
    return Table(
        pd.DataFrame(rows),
        "CPU time per transaction in the functions that take latches of a part, us; in brackets the least and the most of the runs.",
        origin_of(run),
    )


def held_table() -> Table:
    """A row per server and part: what the server takes there, the engine by itself, and what each of its actions is given."""
    run = newest("own-engine-holds", "sim")
    rows = [
        {
            "part": row["part"],
            "server": row["series"],
            "the server": f"{row['server_us']:.1f} us",
            "the engine by itself": "not known"
            if pd.isna(row["without_us"])
            else f"{row['without_us']:.1f} us",
            "each of its actions is given": f"{row['held_ns']:,} ns",
        }
        for row in run.table.to_dict("records")
    ]
    caption = "CPU time per transaction of SysBench in the functions that take a part's latches, and what an engine's lock, mini-transaction or view is given to be there as long."
    return Table(pd.DataFrame(rows), caption, origin_of(run))


# What whole engines make, in the units of the sources.
OF_WHOLE_ENGINES = (
    *("fig-7-01", "fig-7-03", "fig-7-07", "fig-7-08", "fig-7-09"),
    *("fig-7-10", "fig-7-17", "fig-7-19", "fig-7-20", "fig-7-21"),
)


@cache
def over_published(figure: str) -> pd.Series[float]:
    """Our throughput over the published one, by series and number of clients."""
    theirs = published.in_our_columns(figure)
    unit = next(name for name in ("tpmC", "tps", "throughput") if name in theirs)
    ours = newest(figure, "sim").values("series", "concurrency", y="tps" if unit == "throughput" else unit)
    ratios: pd.Series[float] = ours / theirs.set_index(["series", "concurrency"])[unit]
    return ratios.dropna()


def distances_table() -> Table:
    """A row per published figure of whole engines: how far ours is from it, and what of it holds."""
    rows = []
    for figure in OF_WHOLE_ENGINES:
        ratios, judged = over_published(figure), judge(newest(figure, "sim"))
        farthest: Any = ratios.map(math.log).abs().idxmax()
        series, clients = farthest
        rows.append(
            {
                "figure": _number(figure),
                "points": len(ratios),
                "off, median": f"{either_way(ratios):.2f} times",
                "farthest": f"{ratios[series, clients]:.2g} times ({series}, {clients:,} clients)",
                "claims held": f"{judged.claims_held} of {judged.claims_total}",
            }
        )
    caption = "Throughput of the simulated engine over the published one, in the source's own unit."
    return Table(pd.DataFrame(rows), caption, origin_of(newest("fig-7-03", "sim")))


def all_distances() -> pd.Series[float]:
    """The same of all their points together."""
    return pd.concat([over_published(figure) for figure in OF_WHOLE_ENGINES])


@cache
def over_further_curves() -> pd.Series[float]:
    """Our throughput over that of further curves of the sources' author, by curve and number of clients; 4-43 is the one that calibrates."""
    curves = pd.read_csv(paths.data() / "published" / "more.csv")
    curves["series"] = curves["figure"] + " " + curves["series"]
    run = newest("own-engine-published", "sim")
    ours = pd.concat([run.values("series", "concurrency", y=unit) for unit in ("tpmC", "qps")])
    ratios: pd.Series[float] = ours / curves.set_index(["series", "concurrency"])["value"]
    return ratios.dropna()


def further_curves_table() -> Table:
    """A row per curve: ours over the published one, by clients."""
    wide = over_further_curves().unstack("concurrency")
    said = wide.map(lambda ratio: "" if np.isnan(ratio) else f"{ratio:.2f}").reset_index()
    return Table(
        said.rename(columns={"series": "curve", **{n: f"{n:,} clients" for n in wide.columns}}),
        "Throughput of the simulated engine over curves that are in no claim. 4-43 calibrates; all others are held out.",
        origin_of(newest("own-engine-published", "sim")),
    )


def _number(figure: str) -> str:
    """ "7-1" of "fig-7-01"; a statement's name as it is."""
    chapter, _, number = figure.removeprefix("fig-").partition("-")
    return f"{chapter}-{int(number)}" if figure.startswith("fig-") else figure


def latches_of_update(server: str) -> pd.DataFrame:
    """The events that an UPDATE by primary key leaves, in order."""
    its = _latches[(_latches["statement"] == "update_non_index") & (_latches["server"] == server)]
    return its.sort_values("position")


def latches_table() -> Table:
    """The same of three servers, side by side."""
    columns = {
        server: together(latches_of_update(server)["latch"]) for server in ("5.7.22", "8.0.31", "9.7.4")
    }
    rows = itertools.zip_longest(*columns.values(), fillvalue="")
    return Table(
        pd.DataFrame(list(rows), columns=list(columns)),
        "The latches of an UPDATE by primary key inside a transaction, from top to bottom.",
        origin_of(newest("own-latch-order", "live")),
    )


def together(latches: pd.Series[str]) -> list[str]:
    """Runs of the same latch as one line: "trx_mutex, 5 times"."""
    runs = [(str(name), len(list(group))) for name, group in itertools.groupby(latches)]
    return [name if n == 1 else f"{name}, {n} times" for name, n in runs]


@cache
def stations() -> pd.DataFrame:
    """A row per statement and server: the stations that the `server` visits, and its engine in `own` and in a server's order."""
    from engineroom.validation.experiments.latch_order import ORDERS, beside_engines

    both = beside_engines(newest("own-latch-order", "live"), newest("own-engine-latch-order", "sim"))
    return pd.DataFrame(both).rename(columns=dict(zip(ORDERS, ("own", "in_server_order"), strict=True)))


def stations_table() -> Table:
    """The statements of which a server and its engine differ."""
    differ = stations()[stations()["server"] != stations()["own"]].drop(columns="in_server_order")
    for name in ("server", "own"):
        differ[name] = differ[name].map(", ".join)
    return Table(
        differ.rename(columns={"server": "stations of the server", "own": "of its engine"}),
        "Statements of which a server and its engine visit the stations in different orders.",
        origin_of(newest("own-engine-latch-order", "sim")),
    )
