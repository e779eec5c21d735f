"""What `book/group_commit.md` tells. A setting is innodb_flush_log_at_trx_commit/sync_binlog."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cache
from typing import Any

import pandas as pd

from engineroom.ledger import sensitivity
from engineroom.ledger.sensitivity import SEED
from engineroom.runs import Run, newest, published
from engineroom.runs.summary import several
from engineroom.show.table import Table

_crashes = newest("own-gc-crashes", "kernel").table
durable_crashes = _crashes[_crashes["durability"] == "1/1"]
durable_lost = durable_crashes[["lost", "only_in_binlog", "only_in_engine"]].to_numpy().sum()
fewest_crashes = _crashes["crashes"].min()

_redo_flush = newest("tab-gc-1", "sim")
_tps = _redo_flush.values("series", "threads", y="transactions_per_second")
_published_tps = published.in_our_columns("tab-gc-1").set_index(["series", "threads"])[
    "transactions_per_second"
]
gain, published_gain = (tps["modified"] / tps["original"] for tps in (_tps, _published_tps))
redo_writes = _redo_flush.values("series", "threads", y="redo_writes_per_transaction")

_durable = newest("own-gc-durable", "sim")
fsyncs = _durable.values("series", "threads", y="fsyncs_per_transaction")
_tps = _durable.values("series", "threads", y="transactions_per_second")
durable_gain = _tps["modified"] / _tps["original"]
durable_gain_over_5_5 = _tps["modified"] / _tps["serialised"]

_live = newest("own-gc-groups", "live")
clients = _live.table["clients"].max()
fsync_ms = _live.provenance["fsync_us"] / 1000
binlog_fsyncs, redo_fsyncs, flush_groups, sync_groups, p50_ms, cpu_us, live_tps = (
    _live.values("setting", "clients", "series", y=y)
    for y in (
        *("binlog_fsyncs_per_commit", "redo_fsyncs_per_commit", "flush_groups_per_commit"),
        *("sync_groups_per_commit", "latency_ms_p50", "cpu_us_per_commit", "transactions_per_second"),
    )
)

MEASURES = (
    *("redo_fsyncs_per_commit", "binlog_fsyncs_per_commit"),
    *("flush_groups_per_commit", "sync_groups_per_commit"),
)
# A count per commit below this is no group's: the log that is flushed once a second.
FEWEST = 0.01


@cache
def crashed() -> pd.Series[int]:
    """Crashes under 1/1 while the page is made, which the page promises; a recording holds many more of them."""
    from engineroom import _native

    reports = [
        _native.group_commit.crash_runs(design=design, seed=1, runs=40)
        for design in _native.group_commit.designs()
    ]
    outcomes = pd.DataFrame([row for report in reports for row in report["outcomes"]])
    decided = outcomes[(outcomes["redo"] == "prepared") & outcomes["is_committed"]]
    counts = pd.DataFrame(reports)[["crashes", "commits", "lost"]].sum()
    counts["prepared_and_committed"] = decided["transactions"].sum()
    return counts


def risks_table(table: pd.DataFrame = _crashes) -> Table:
    """A row per setting: what a loss of power does, and a kill of the process."""
    rows = []
    for setting, of in table[table["series"] == "5.7.6"].groupby("durability", sort=False):
        by_crash = of.set_index("crash").to_dict("index")
        power, kill = by_crash["power loss"], by_crash["kill"]
        rows.append(
            {
                "flush/sync": setting,
                "power loss: loses": _percent(power),
                "only in the binlog": _per_thousand(power, "only_in_binlog"),
                "only in the engine": _per_thousand(power, "only_in_engine"),
                "kill: loses": _percent(kill),
            }
        )
    return Table(
        pd.DataFrame(rows),
        "Share of crashes, of 5.7.6's design, after which an acknowledged commit is gone, and per thousand crashes the"
        " transactions that only one of the two logs has.",
    )


def _percent(row: Mapping[Hashable, Any]) -> str:
    return f"{100 * row['crashes_with_loss'] / row['crashes']:.0f} %" if row["lost"] else "never"


def _per_thousand(row: Mapping[Hashable, Any], column: str) -> str:
    return f"{1000 * row[column] / row['crashes']:,.0f}" if row[column] else "none"


@cache
def varied_runs() -> pd.DataFrame:
    """Of table tab-gc-1, each run with a number of the machine or the load halved or raised: whether the verdict flips."""
    moves = sensitivity.farthest(sensitivity.sensitivity([_redo_flush]))
    return moves[moves["parameter"] != SEED]


def varied_gain() -> pd.Series[float]:
    """The gain with 256 clients in each of these runs."""
    crowd = _redo_flush.tables["varied"].query("threads == 256")
    tps = crowd.pivot_table("transactions_per_second", ["parameter", "factor"], "series")
    return tps["modified"] / tps["original"]


def servers_table(table: pd.DataFrame = _live.table) -> Table:
    """A row per server and setting with the most clients, medians of the repeats."""
    shown = {
        "redo_fsyncs_per_commit": ("redo fsyncs", "{:.2f}"),
        "binlog_fsyncs_per_commit": ("binlog fsyncs", "{:.2f}"),
        "flush_groups_per_commit": ("FLUSH group", "{:.1f}"),
        "sync_groups_per_commit": ("SYNC group", "{:.1f}"),
        "latency_ms_p50": ("p50, ms", "{:.1f}"),
        "latency_ms_p99": ("p99, ms", "{:.1f}"),
        "cpu_us_per_commit": ("CPU, us", "{:.0f}"),
    }
    crowd = table[table["clients"] == table["clients"].max()]
    middle = several(crowd, "series", "setting", ys=list(shown), how="median")
    groups = ["flush_groups_per_commit", "sync_groups_per_commit"]
    middle[groups] = 1 / middle[groups]
    rows = pd.DataFrame(
        {
            name: middle[y].map(form.format, na_action="ignore").fillna("-")
            for y, (name, form) in shown.items()
        }
    )
    return Table(
        rows.reset_index(names=["server", "setting"]),
        f"A commit of {clients} clients on each server, an fsync of {fsync_ms:g} ms.",
    )


def against_live(live: Run, sim: Run) -> pd.DataFrame:
    """A row per measure and place with at least four clients: both values, and by how much ours is off, the worst first."""
    by = ["series", "setting", "clients"]
    ours, theirs = (
        several(run.table[run.table["clients"] >= 4], *by, ys=list(MEASURES), how="median")
        .stack()
        .rename_axis([*by, "measure"])
        for run in (sim, live)
    )
    both = pd.DataFrame({"live": theirs, "simulated": ours}).dropna().reset_index()
    both = both[both["live"] >= FEWEST]
    off = 100 * (both["simulated"] / both["live"] - 1)
    return both.assign(off_percent=off).sort_values(
        "off_percent", key=abs, ascending=False, ignore_index=True
    )


@cache
def compared() -> pd.DataFrame:
    """The same of the newest recordings."""
    return against_live(_live, newest("own-gc-groups", "sim"))


def off_percent() -> pd.Series[float]:
    """By how much each count is off, either way."""
    return compared()["off_percent"].abs()


def worst_table() -> Table:
    """The counts in which the simulated machine is furthest off."""
    worst = compared().head(6)
    rows = {
        "server": worst["series"],
        "setting": worst["setting"],
        "clients": worst["clients"],
        "per commit": worst["measure"].str.removesuffix("_per_commit").str.replace("_", " "),
        "live": worst["live"].map("{:.3f}".format),
        "simulated": worst["simulated"].map("{:.3f}".format),
        "off by": worst["off_percent"].map("{:+.0f} %".format),
    }
    return Table(pd.DataFrame(rows), "The counts in which the simulation is furthest off.")
