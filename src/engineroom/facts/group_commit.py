"""The facts of `book/group_commit.md`. A setting is innodb_flush_log_at_trx_commit/sync_binlog."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import pandas as pd

from engineroom import _native
from engineroom.chapters.group_commit.experiments.crashes import DURABILITIES
from engineroom.chapters.group_commit.experiments.model import against_live
from engineroom.facts import Facts, Range, fact, span
from engineroom.ledger import sensitivity
from engineroom.runs import Run, newest, published
from engineroom.runs.summary import several
from engineroom.show.table import Table
from engineroom.simulating.variations import SEED

__all__ = ["GroupCommitFacts", "facts"]

# What is crashed while the page is made.
CRASH_RUNS = 40
# How far off the simulation may be in the median, set before the first comparison.
GOAL_PERCENT = 20
DURABLE, DELAYED, RELAXED = "1/1", "1/1, delay 5 ms", "2/1000"
NEW = "9.7"


@dataclass(frozen=True, kw_only=True)
class Crashed(Facts):
    """Crashes under 1/1, made while the page is."""

    crashes: int = fact("{:,}")
    commits: int = fact("{:,}")
    lost: int = fact()
    prepared_and_committed: int = fact("{:,}")  # found prepared only, and committed since the binlog says so

    @classmethod
    def now(cls) -> Crashed:
        seen = [
            _native.group_commit.crash_runs(design=design, seed=1, runs=CRASH_RUNS)
            for design in _native.group_commit.designs()
        ]
        return cls(
            crashes=sum(report["crashes"] for report in seen),
            commits=sum(report["commits"] for report in seen),
            lost=sum(report["lost"] for report in seen),
            prepared_and_committed=sum(
                row["transactions"]
                for report in seen
                for row in report["outcomes"]
                if row["redo"] == "prepared" and row["is_committed"]
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Risks(Facts):
    """What 10,000 crashes of each design did under each setting (own-gc-crashes, kernel)."""

    fewest: int = fact("{:,}")  # of one design, setting and kind of crash
    durable_crashes: int = fact("{:,}")
    durable_lost: int = fact()
    table: Table

    @classmethod
    def of(cls, run: Run) -> Risks:
        table = run.table
        durable = table[table["durability"] == DURABLE]
        return cls(
            fewest=int(table["crashes"].min()),
            durable_crashes=int(durable["crashes"].sum()),
            durable_lost=int(durable[["lost", "only_in_binlog", "only_in_engine"]].to_numpy().sum()),
            table=Table(
                risks_table(table),
                "Share of crashes, of 5.7.6's design, after which an acknowledged commit is gone, and per thousand crashes the"
                " transactions that only one of the two logs has.",
            ),
        )


def risks_table(table: pd.DataFrame) -> pd.DataFrame:
    """A row per setting: what a loss of power does, and a kill of the process."""
    seen = {
        (row["durability"], row["crash"]): row for row in table[table["series"] == "5.7.6"].to_dict("records")
    }
    rows = []
    for setting in DURABILITIES:
        power, kill = seen[setting, "power loss"], seen[setting, "kill"]
        rows.append(
            {
                "flush/sync": setting,
                "power loss: loses": _percent(power),
                "only in the binlog": _per_thousand(power, "only_in_binlog"),
                "only in the engine": _per_thousand(power, "only_in_engine"),
                "kill: loses": _percent(kill),
            }
        )
    return pd.DataFrame(rows)


def _percent(row: Mapping[Hashable, int]) -> str:
    return f"{100 * row['crashes_with_loss'] / row['crashes']:.0f} %" if row["lost"] else "never"


def _per_thousand(row: Mapping[Hashable, int], column: str) -> str:
    return f"{1000 * row[column] / row['crashes']:,.0f}" if row[column] else "none"


@dataclass(frozen=True, kw_only=True)
class Gain(Facts):
    """One redo flush per group over one per transaction, nothing durable at commit (tab-gc-1, sim)."""

    ratio: Mapping[int, float] = fact("{:.2f}", keys=(32, 256))
    published_ratio: Mapping[int, float] = fact("{:.2f}", keys=(32, 256))
    redo_writes_per_transaction_original: float = fact("{:.2f}")
    redo_writes_per_transaction_modified: float = fact("{:.2f}")
    varied: int = fact()  # halved or raised numbers of the machine and the load
    flips: int = fact()  # of them change the verdict
    varied_ratio: Range = fact(span("{:.2f}", ""))  # with 256 clients, over all of them

    @classmethod
    def of(cls, run: Run) -> Gain:
        moves = sensitivity.farthest(sensitivity.sensitivity([run]))
        moves = moves[moves["parameter"] != SEED]
        tps = run.values("series", "threads", y="transactions_per_second")
        writes = run.values("series", "threads", y="redo_writes_per_transaction")
        theirs = published.in_our_columns("tab-gc-1").set_index(["series", "threads"])[
            "transactions_per_second"
        ]
        clients = (32, 256)
        return cls(
            ratio={n: tps["modified", n] / tps["original", n] for n in clients},
            published_ratio={n: theirs["modified", n] / theirs["original", n] for n in clients},
            redo_writes_per_transaction_original=writes["original", 256],
            redo_writes_per_transaction_modified=writes["modified", 256],
            varied=len(moves),
            flips=int(moves["flips"].sum()),
            varied_ratio=_varied_ratio(run.tables["varied"]),
        )


def _varied_ratio(varied: pd.DataFrame) -> Range:
    crowd = varied[varied["threads"] == 256]
    tps = crowd.pivot_table("transactions_per_second", ["parameter", "factor"], "series")
    ratio = tps["modified"] / tps["original"]
    return Range(float(ratio.min()), float(ratio.max()))


@dataclass(frozen=True, kw_only=True)
class Durable(Facts):
    """The same where each commit is durable, and 5.5 beside it (own-gc-durable, sim)."""

    fsyncs_per_transaction_5_5: Mapping[int, float] = fact("{:.2f}", keys=(1, 256))
    fsyncs_per_transaction_5_6: Mapping[int, float] = fact("{:.2f}", keys=(1, 256))
    fsyncs_per_transaction_5_7_6: Mapping[int, float] = fact("{:.2f}", keys=(1, 256))
    gain_ratio: float = fact("{:.2f}")  # of 5.7.6 over 5.6 with 256 clients
    gain_before_ratio: float = fact("{:.2f}")  # the largest with fewer
    gain_over_5_5_ratio: float = fact("{:.0f}")

    @classmethod
    def of(cls, run: Run) -> Durable:
        fsyncs = run.values("series", "threads", y="fsyncs_per_transaction")
        tps = run.values("series", "threads", y="transactions_per_second")
        gain = tps["modified"] / tps["original"]
        return cls(
            fsyncs_per_transaction_5_5={n: fsyncs["serialised", n] for n in (1, 256)},
            fsyncs_per_transaction_5_6={n: fsyncs["original", n] for n in (1, 256)},
            fsyncs_per_transaction_5_7_6={n: fsyncs["modified", n] for n in (1, 256)},
            gain_ratio=gain[256],
            gain_before_ratio=float(gain[gain.index < 256].max()),
            gain_over_5_5_ratio=tps["modified", 256] / tps["serialised", 256],
        )


@dataclass(frozen=True, kw_only=True)
class Live(Facts):
    """What a commit costs on servers (own-gc-groups, live)."""

    clients: int = fact()  # the most that were tried
    fsync_ms: float = fact("{:g} ms")
    binlog_fsyncs_per_commit_one: Range = fact(span("{:.2f}", ""))
    redo_fsyncs_per_commit_one: Range = fact(span("{:.2f}", ""))
    binlog_fsyncs_per_commit_many: Range = fact(span("{:.2f}", ""))
    binlog_fsyncs_per_commit_many_new: float = fact("{:.3f}")  # on the newest server
    binlog_fsyncs_per_commit_many_delayed: float = fact("{:.3f}")
    commits_per_flush_group_relaxed: Range = fact(span("{:.1f}", ""))  # least and most of the servers, 2/1000
    commits_per_sync_group_many: float = fact("{:.0f}")
    commits_per_sync_group_many_delayed: float = fact("{:.0f}")
    commits_per_flush_group_many: float = fact("{:.0f}")
    commits_per_flush_group_many_delayed: float = fact("{:.0f}")
    p50_one_ms: float = fact("{:.1f} ms")
    p50_one_delayed_ms: float = fact("{:.1f} ms")
    p50_many_ms: float = fact("{:.1f} ms")
    p50_many_delayed_ms: float = fact("{:.1f} ms")
    cpu_one_us: float = fact("{:.0f} us")
    cpu_many_us: float = fact("{:.0f} us")
    gain_delay_ratio: float = fact("{:.2f}")
    table: Table

    @classmethod
    def of(cls, run: Run) -> Live:
        def seen(column: str) -> pd.Series[float]:
            return run.values("setting", "series", "clients", y=column)

        most = int(run.table["clients"].max())
        binlog, redo = seen("binlog_fsyncs_per_commit"), seen("redo_fsyncs_per_commit")
        sync, flush = seen("sync_groups_per_commit"), seen("flush_groups_per_commit")
        p50, cpu, tps = seen("latency_ms_p50"), seen("cpu_us_per_commit"), seen("transactions_per_second")
        servers = sorted(set(run.table["series"]))
        one, many = [[binlog[DURABLE, name, n] for name in servers] for n in (1, most)]
        redo_one = [redo[DURABLE, name, 1] for name in servers]
        relaxed = [1 / flush[RELAXED, name, most] for name in servers]
        return cls(
            clients=most,
            fsync_ms=run.provenance["fsync_us"] / 1000,
            binlog_fsyncs_per_commit_one=Range(min(one), max(one)),
            redo_fsyncs_per_commit_one=Range(min(redo_one), max(redo_one)),
            binlog_fsyncs_per_commit_many=Range(min(many), max(many)),
            binlog_fsyncs_per_commit_many_new=binlog[DURABLE, NEW, most],
            binlog_fsyncs_per_commit_many_delayed=binlog[DELAYED, NEW, most],
            commits_per_flush_group_relaxed=Range(min(relaxed), max(relaxed)),
            commits_per_sync_group_many=1 / sync[DURABLE, NEW, most],
            commits_per_sync_group_many_delayed=1 / sync[DELAYED, NEW, most],
            commits_per_flush_group_many=1 / flush[DURABLE, NEW, most],
            commits_per_flush_group_many_delayed=1 / flush[DELAYED, NEW, most],
            p50_one_ms=p50[DURABLE, NEW, 1],
            p50_one_delayed_ms=p50[DELAYED, NEW, 1],
            p50_many_ms=p50[DURABLE, NEW, most],
            p50_many_delayed_ms=p50[DELAYED, NEW, most],
            cpu_one_us=cpu[DURABLE, NEW, 1],
            cpu_many_us=cpu[DURABLE, NEW, most],
            gain_delay_ratio=tps[DELAYED, NEW, most] / tps[DURABLE, NEW, most],
            table=Table(
                servers_table(run.table, most),
                f"A commit of {most} clients on each server, an fsync of {run.provenance['fsync_us'] / 1000:g} ms.",
            ),
        )


def servers_table(table: pd.DataFrame, clients: int) -> pd.DataFrame:
    """A row per server and setting, medians of the repeats."""
    columns = {
        "redo_fsyncs_per_commit": "redo fsyncs",
        "binlog_fsyncs_per_commit": "binlog fsyncs",
        "flush_groups_per_commit": "FLUSH group",
        "sync_groups_per_commit": "SYNC group",
        "latency_ms_p50": "p50, ms",
        "latency_ms_p99": "p99, ms",
        "cpu_us_per_commit": "CPU, us",
    }
    crowd = table[table["clients"] == clients]
    middle = several(crowd, "series", "setting", ys=list(columns), how="median")
    for column in ("flush_groups_per_commit", "sync_groups_per_commit"):
        middle[column] = 1 / middle[column]
    shown = {
        "redo_fsyncs_per_commit": "{:.2f}",
        "binlog_fsyncs_per_commit": "{:.2f}",
        "flush_groups_per_commit": "{:.1f}",
        "sync_groups_per_commit": "{:.1f}",
        "latency_ms_p50": "{:.1f}",
        "latency_ms_p99": "{:.1f}",
        "cpu_us_per_commit": "{:.0f}",
    }
    said = pd.DataFrame({columns[name]: middle[name].map(form.format) for name, form in shown.items()})
    return said.reset_index().rename(columns={"series": "server"})


@dataclass(frozen=True, kw_only=True)
class Model(Facts):
    """The simulated two processors against the live servers, of four clients and more (own-gc-groups, sim and live)."""

    compared: int = fact()
    median_off_percent: float = fact("{:.0f} %")
    within: int = fact()  # 20 % of the live count
    worst: Table

    @classmethod
    def of(cls, live: Run, sim: Run) -> Model:
        table = against_live(live, sim)
        off = table["off_percent"].abs()
        worst = table.head(6)
        return cls(
            compared=len(table),
            median_off_percent=float(off.median()),
            within=int((off <= GOAL_PERCENT).sum()),
            worst=Table(
                pd.DataFrame(
                    {
                        "server": worst["series"],
                        "setting": worst["setting"],
                        "clients": worst["clients"],
                        "per commit": worst["measure"].str.removesuffix("_per_commit").str.replace("_", " "),
                        "live": worst["live"].map("{:.3f}".format),
                        "simulated": worst["simulated"].map("{:.3f}".format),
                        "off by": worst["off_percent"].map("{:+.0f} %".format),
                    }
                ),
                "The counts in which the simulation is furthest off.",
            ),
        )


@dataclass(frozen=True, kw_only=True)
class GroupCommitFacts(Facts):
    """All numbers of the page, a group for each recording."""

    crashed: Crashed
    risks: Risks
    gain: Gain
    durable: Durable
    live: Live
    model: Model


def facts() -> GroupCommitFacts:
    """The facts of the page."""
    return GroupCommitFacts(
        crashed=Crashed.now(),
        risks=Risks.of(newest("own-gc-crashes", "kernel")),
        gain=Gain.of(newest("tab-gc-1", "sim")),
        durable=Durable.of(newest("own-gc-durable", "sim")),
        live=Live.of(newest("own-gc-groups", "live")),
        model=Model.of(newest("own-gc-groups", "live"), newest("own-gc-groups", "sim")),
    )
