"""The facts of `book/trx_sys.md`: what statements take, what splitting the latches changed, and what is waited for."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from engineroom.facts import Facts, Range, fact, fall_percent, listed, span
from engineroom.ledger import sensitivity
from engineroom.runs import Run, newest, published
from engineroom.runs.summary import values
from engineroom.show.drawing import origin_of
from engineroom.show.table import Table

__all__ = ["TrxSysFacts", "facts"]

LATCHES = ("mutex", "serialisation", "shards")
BYTES_OF_AN_ID = 8
FROM = 200  # clients from which on the source sees throughput fall


@dataclass(frozen=True, kw_only=True)
class Statements(Facts):
    """Acquisitions of each latch per repetition by four servers and by the kernel (own-read-views-statements)."""

    counts: int = fact()
    differing: int = fact()
    update_mutex_5_7: int = fact()
    update_mutex_9_7: int = fact()
    update_total_9_7: int = fact()
    two_selects_rr: int = fact()  # in one transaction, 9.7
    two_selects_rc: int = fact()
    table: Table

    @classmethod
    def of(cls, run: Run) -> Statements:
        rows = run.table
        differs = [(rows[name] - rows[f"kernel_{name}"]).abs() > 0.05 for name in LATCHES]
        plain = rows[rows["has_binlog"] == 0].copy()
        plain[list(LATCHES)] = plain[list(LATCHES)].round().astype(int)
        repeatable, committed = "REPEATABLE READ", "READ COMMITTED"
        counts = {
            tuple(map(str, key)): [int(part[name].iloc[0]) for name in LATCHES]
            for key, part in plain.groupby(["series", "level", "statement"])
        }
        return cls(
            counts=len(rows) * len(LATCHES),
            differing=sum(int(each.sum()) for each in differs),
            update_mutex_5_7=counts["5.7", repeatable, "update"][0],
            update_mutex_9_7=counts["9.7", repeatable, "update"][0],
            update_total_9_7=sum(counts["9.7", repeatable, "update"]),
            two_selects_rr=counts["9.7", repeatable, "two_selects"][0],
            two_selects_rc=counts["9.7", committed, "two_selects"][0],
            table=Table(
                _by_latch(plain),
                "Acquisitions per repetition without a binary log: trx_sys_mutex + trx_sys_serialisation_mutex "
                "+ trx_sys_shard_mutex; one number where only the first is taken.",
                origin_of(run),
            ),
        )


def _by_latch(plain: pd.DataFrame) -> pd.DataFrame:
    """A row per statement and level, a column per server."""

    def shown(mutex: int, *others: int) -> str:
        return " + ".join(map(str, (mutex, *others))) if any(others) else str(mutex)

    text = plain.assign(
        text=[shown(*counts) for counts in plain[list(LATCHES)].itertuples(index=False)],
        statement=[name.replace("_", " ") for name in plain["statement"]],
    )
    wide = text.pivot(index=["statement", "level"], columns="series", values="text")
    order = dict.fromkeys(zip(text["statement"], text["level"], strict=True))
    return wide.loc[list(order)].reset_index()


@dataclass(frozen=True, kw_only=True)
class Compared(Facts):
    """Two designs under TPC-C, simulated: their throughput, and what the largest crowd waits for (fig-7-08, fig-7-09)."""

    ratio: Range = fact(span("{:.2f}", ""))  # after over before, over all numbers of clients
    published_ratio: Range = fact(span("{:.2f}", ""))
    crowd_ratio: float = fact("{:.1f}")  # the same with the most clients
    told: str = fact()  # for how many clients the difference is more than what the runs are known to
    before_fall_percent: float = fact("{:.0f} %")  # from the highest throughput to that of the most clients
    after_fall_percent: float = fact("{:.0f} %")
    runs: int = fact()
    settled_runs: int = fact()
    flips: str = fact()  # the verdict, of the varied machines and loads
    half_width_percent: float = fact("{:.1f} %")
    before_mutex_us: Range = fact(span("{:.0f}", "us"))  # waited per transaction, over the runs
    after_mutex_us: Range = fact(span("{:.0f}", "us"))
    after_serialisation_us: float = fact("{:.1f} us")
    after_flush_us: float = fact("{:.0f} us")
    share_percent: float = fact(
        "{:.0f} %"
    )  # of a response: waits for latches of the transaction system, before
    bound_ratio: float = fact(
        "{:.2f}"
    )  # of throughput, if these waits were gone and nothing took their place

    @classmethod
    def of(cls, run: Run) -> Compared:
        most = int(run.table["concurrency"].max())
        waits = run.tables["latches"].query("concurrency == @most")
        medians = values(waits, "series", "latch", y="wait_us", how="median")
        before = medians.xs("before")
        latency = run.values("series", "concurrency", y="latency_ms")["before", most]
        rates = run.values("series", "concurrency", y="tpmC")
        ratios = _ratios(rates)

        def mutex(series: str) -> Range:
            values = waits[(waits["series"] == series) & (waits["latch"] == "trx_sys_mutex")]["wait_us"]
            return Range(float(values.min()), float(values.max()))

        share = float(before[before.index.str.startswith("trx_sys_")].sum()) / (1000 * latency)

        return cls(
            ratio=_ends(ratios),
            crowd_ratio=float(ratios[most]),
            told=_told(ratios, _noise(run)),
            before_fall_percent=fall_percent(rates.xs("before"), most),
            after_fall_percent=fall_percent(rates.xs("after"), most),
            published_ratio=_ends(_ratios(_published(run.figure))),
            runs=len(run.table),
            settled_runs=int(run.table["is_settled"].sum()),
            flips=sensitivity.flips(run),
            half_width_percent=float(run.table["half_width_percent"].max()),
            before_mutex_us=mutex("before"),
            after_mutex_us=mutex("after"),
            after_serialisation_us=float(medians["after", "trx_sys_serialisation_mutex"]),
            after_flush_us=float(medians["after", "log_flush_events"]),
            share_percent=100 * share,
            bound_ratio=1 / (1 - share),
        )


def _noise(run: Run) -> pd.Series[float]:
    """By how much the ratio of two throughputs may be off at each number of clients, if both are off by their half widths."""
    widths = 1 + run.table.groupby(["series", "concurrency"])["half_width_percent"].max() / 100
    return widths.xs("after") * widths.xs("before") - 1


def _told(ratios: pd.Series[float], noise: pd.Series[float]) -> str:
    """At which numbers of clients a ratio is farther from 1 than the noise, and how far."""
    known = ratios[(ratios - 1).abs() > noise]
    if known.empty:
        return "No difference is more than the noise"
    each = listed([f"{ratio:.1f} times with {clients} clients" for clients, ratio in known.items()])
    rest = "; every other difference is noise" if len(known) < len(ratios) else ""
    return f"Throughput is {each}{rest}"


@dataclass(frozen=True, kw_only=True)
class Crowd(Facts):
    """The shards with the most clients: their own waits, and whether throughput still grows from 200 clients on (fig-7-09, sim)."""

    clients: int = fact()
    shard_us: float = fact("{:.3f} us")
    growth_percent: float = fact("{:+.0f} %")
    published_growth_percent: float = fact("{:+.0f} %")

    @classmethod
    def of(cls, run: Run) -> Crowd:
        most = int(run.table["concurrency"].max())
        waits = run.tables["latches"].query("concurrency == @most and latch == 'trx_sys_shard_mutex'")

        def growth(rates: pd.Series[float]) -> float:
            return 100 * (rates["after", most] / rates["after", FROM] - 1)

        return cls(
            clients=most,
            shard_us=float(waits["wait_us"].median()),
            growth_percent=growth(run.values("series", "concurrency", y="tpmC")),
            published_growth_percent=growth(_published(run.figure)),
        )


def _published(figure: str) -> pd.Series[float]:
    return published.in_our_columns(figure).set_index(["series", "concurrency"])["tpmC"]


def _ratios(rates: pd.Series[float]) -> pd.Series[float]:
    """After over before, by number of clients."""
    return rates.xs("after") / rates.xs("before")


def _ends(ratios: pd.Series[float]) -> Range:
    return Range(float(ratios.min()), float(ratios.max()))


@dataclass(frozen=True, kw_only=True)
class Snapshot(Facts):
    """What one snapshot copies on the simulated machine where every client has an active id (machine of fig-7-09)."""

    ids: int = fact()
    bytes: int = fact("{:,}")
    copy_ns: float = fact("{:.0f} ns")
    hardware_threads: int = fact()

    @classmethod
    def of(cls, run: Run) -> Snapshot:
        machine = run.provenance["machine"]
        ids = int(run.table["concurrency"].max())
        copied = ids * BYTES_OF_AN_ID
        return cls(
            ids=ids,
            bytes=copied,
            copy_ns=machine["copy_ps_per_kib"] * copied / 1024 / 1000,
            hardware_threads=machine["sockets"] * machine["cores_per_socket"] * machine["threads_per_core"],
        )


@dataclass(frozen=True, kw_only=True)
class Falls(Facts):
    """On which varied machines and loads of figure 7-9 throughput loses half, and beyond how many clients."""

    told: str = fact()

    @classmethod
    def of(cls, run: Run) -> Falls:
        if "varied" not in run.tables:
            return cls(told="With these demands no other machine was tried.")
        parts, tried = [], 0
        for (name, factor), table in run.tables["varied"].groupby(["parameter", "factor"], sort=False):
            tried += 1
            tps = table.pivot_table("tps", "concurrency", "series").sort_index()
            last = {series: _last_before_a_fall(tps[series]) for series in ("before", "after")}
            if any(last.values()):
                without, with_them = (f"beyond {n:,} clients" if n else "never" for n in last.values())
                where = (
                    f"{without}, with shards and without"
                    if without == with_them
                    else f"{without} without shards, {with_them} with them"
                )
                parts.append(f"{name} at {factor:g} of its value ({where})")
        said = f"{len(parts)}: {listed(parts)}" if parts else "none"
        return cls(
            told=f"We also tried {tried} machines and loads that differ in one number, by one seed each. Throughput loses half on {said}."
        )


def _last_before_a_fall(tps: pd.Series[float]) -> int | None:
    """The most clients before throughput falls below half of what it had been; None if it never does."""
    highest = 0.0
    last: int | None = None
    for clients, each in tps.items():
        if each < highest / 2:
            return last
        highest, last = max(highest, each), int(str(clients))
    return None


@dataclass(frozen=True, kw_only=True)
class TrxSysFacts(Facts):
    """All numbers of the page, a group for each recording."""

    statements: Statements
    two_mutexes: Compared
    shards: Compared
    crowd: Crowd
    snapshot: Snapshot
    falls: Falls


def facts() -> TrxSysFacts:
    """The facts of the page."""
    shards = newest("fig-7-09", "sim")
    return TrxSysFacts(
        statements=Statements.of(newest("own-read-views-statements", "live")),
        two_mutexes=Compared.of(newest("fig-7-08", "sim")),
        shards=Compared.of(shards),
        crowd=Crowd.of(shards),
        snapshot=Snapshot.of(shards),
        falls=Falls.of(shards),
    )
