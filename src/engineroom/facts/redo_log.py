"""The facts of `book/redo_log.md`. "8.0" in a name is the log of 8.0 with its log threads, `threads_off` the one without."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from engineroom import _native
from engineroom.chapters.redo_log import experiments as redo_log
from engineroom.chapters.redo_log import figures as drawn
from engineroom.chapters.redo_log.experiments import host as on_host
from engineroom.chapters.redo_log.experiments import live, whole_engine, writer_threads
from engineroom.chapters.redo_log.experiments.designs import SERIES
from engineroom.chapters.redo_log.figures import num_deg_3
from engineroom.facts import Facts, Range, came_out, fact, listed, span
from engineroom.ledger import history, verdicts
from engineroom.runs import Run, newest, published, recorded
from engineroom.runs.summary import paired_ratio, values
from engineroom.show.compared import KNOWN_PERCENT, WIDTH
from engineroom.show.drawing import origin_of
from engineroom.show.table import Table

__all__ = ["RedoLogFacts", "facts"]

# What is simulated while the page is made: enough crashes to lose a commit in, and a window that 250 clients settle in.
CRASH_RUNS = 60
# From so many clients on a crowd commits, which the log threads were made for.
HUNDREDS = 100
WARMUP_NS, WINDOW_NS = 210_000_000, 300_000_000
# Of SysBench's read-write transaction, with BEGIN and COMMIT.
SYSBENCH_STATEMENTS = 20


def _design(series: str) -> str:
    """The log that a recorded series stands for, as the kernel and the page call it."""
    return SERIES[series].name


def _at(by_clients: pd.Series[float], *clients: int) -> dict[int, float]:
    return {n: by_clients[n] for n in clients}


@dataclass(frozen=True, kw_only=True)
class Simulated(Facts):
    """Redo fsyncs per transaction by clients, on the simulated 176 hardware threads (fig-7-06, sim)."""

    fsyncs_per_txn_8_0: Mapping[int, float] = fact("{:.2f}", keys=(1, 3, 200))
    fsyncs_per_txn_5_7: Mapping[int, float] = fact("{:.2f}", keys=(3, 200))
    fsyncs_per_txn_threads_off: Mapping[int, float] = fact("{:.2f}", keys=(1,))
    fsyncs_per_txn_no_gate: Mapping[int, float] = fact("{:.2f}", keys=(1,))
    peak_clients: int = fact()
    peak_clients_no_gate: int = fact()
    switched: str = fact()
    varied: str = fact()

    @classmethod
    def of(cls, run: Run) -> Simulated:
        per_txn = run.values("series", "concurrency", y="flushes_per_transaction")
        return cls(
            fsyncs_per_txn_8_0=_at(per_txn["flushes"], 1, 3, 200),
            fsyncs_per_txn_5_7=_at(per_txn["old_redo"], 3, 200),
            fsyncs_per_txn_threads_off=_at(per_txn["writer_threads_off"], 1),
            fsyncs_per_txn_no_gate=_at(per_txn["no_cpu_gate"], 1),
            peak_clients=int(per_txn["flushes"].idxmax()),
            peak_clients_no_gate=int(per_txn["no_cpu_gate"].idxmax()),
            switched=switched_simulated_said(run),
            varied=varied_said(run),
        )


def switched_simulated_said(run: Run) -> str:
    """Commits per second with the log threads over those without, below and from the clients on that they help."""
    if "window_ms" not in run.table:
        return "In this recording commits per second were not kept."
    both = run.table[run.table["series"].isin(["flushes", "writer_threads_off"])]
    rates = run.with_table(both.assign(per_ms=both["transactions"] / both["window_ms"]))
    per_ms = rates.values("series", "concurrency", y="per_ms")
    ratio = per_ms["flushes"] / per_ms["writer_threads_off"]
    few, many = ratio[ratio.index < HUNDREDS], ratio[ratio.index >= HUNDREDS]
    said = [
        f"{each.min():.2f} to {each.max():.2f} times as many with {each.index.min():g} to {each.index.max():g} clients"
        for each in (few, many)
    ]
    return (
        f"The simulated server commits {' and '.join(said)} when its log threads are on; each throughput is known to "
        f"{both['half_width_percent'].max():.0f} % at worst."
    )


def varied_said(run: Run) -> str:
    """Whether another number of the machine or of the load would give another verdict."""
    if "varied" not in run.tables:
        return "How much of this hangs on single numbers of the machine has not been recorded for this machine yet."
    tried = len(run.tables["varied"].groupby(["parameter", "factor"]))
    said = f"Of {tried} variations of a single number by half"
    if not (flips := verdicts.judge(run).fragile):
        return f"{said}, none gives another verdict."
    return f"{said}, {len(flips)} {'gives' if len(flips) == 1 else 'give'} another verdict; the ledger names them."


@dataclass(frozen=True, kw_only=True)
class Isolated(Facts):
    """One simulated client of the log of 8.0 (fig-7-06) nearer to the live run: on two processors, at its pace, and both."""

    pace_us: float = fact("{:.0f}")
    fsyncs_per_txn: Mapping[str, float] = fact("{:.1f}", keys=("two_processors", "at_pace", "both"))

    @classmethod
    def of(cls, live_run: Run, *, run_ns: int = WINDOW_NS) -> Isolated:
        seconds = re.search(r"(\d+) s a run", live_run.provenance["load"])
        assert seconds is not None
        committed = live_run.values("concurrency", "series", y="transactions")[1, "flushes"]
        pace_us = 1e6 * float(seconds[1]) / float(committed) / SYSBENCH_STATEMENTS
        large = redo_log.parameters(redo_log.MACHINE)
        small = redo_log.parameters("laptop") | {
            name: large[name] for name in ("disk_fsync_quantiles_ps", "disk_ps_per_kib")
        }
        usual = dict(redo_log.SYSBENCH)
        share = 1000 * pace_us / (usual["statement_ns"] + usual["away_ns"])
        paced = usual | {name: round(share * usual[name]) for name in ("statement_ns", "away_ns")}

        def simulated(parameters: Mapping[str, Any], load: Mapping[str, int]) -> float:
            seen = _native.redo_log.simulate(
                design="8.0",
                parameters=dict(parameters),
                load={**load, "clients": 1},
                warmup_ns=WARMUP_NS,
                run_ns=run_ns,
                seed=1,
            )
            return float(seen["fsyncs"] / seen["transactions"])

        return cls(
            pace_us=pace_us,
            fsyncs_per_txn={
                "two_processors": simulated(small, usual),
                "at_pace": simulated(large, paced),
                "both": simulated(small, paced),
            },
        )


@dataclass(frozen=True, kw_only=True)
class Changed(Facts):
    """When the machine of fig-7-06 by simulation was changed, and what each of its recordings said."""

    first_at: str = fact()
    second_at: str = fact()
    verdicts: str = fact()

    @classmethod
    def of(cls, made: Sequence[history.Recording]) -> Changed:
        first, second, *_ = made
        return cls(
            first_at=_minute(first),
            second_at=_minute(second),
            verdicts=", ".join(
                f"{each.verdict} ({each.claims_held} of {each.claims_total})" for each in made
            ),
        )


def _minute(recording: history.Recording) -> str:
    day, time = recording.recorded_at.split("T")
    return f"{time[:5]} UTC on {day}"


@dataclass(frozen=True, kw_only=True)
class Live(Facts):
    """Redo fsyncs per transaction by clients, on servers (fig-7-06, live)."""

    fsyncs_per_txn_8_0: Mapping[int, float] = fact("{:.2f}", keys=(1, 50, 200))
    fsyncs_per_txn_5_7: Mapping[int, float] = fact("{:.2f}", keys=(1, 50, 200))
    fsyncs_per_txn_threads_on: Mapping[int, float] = fact("{:.2f}", keys=(1, 50, 200))
    fsyncs_per_txn_threads_off: Mapping[int, float] = fact("{:.2f}", keys=(1, 50, 200))
    first_fsyncs_per_txn_5_7: Mapping[int, float] = fact(
        "{:.2f}", keys=(50, 200)
    )  # on few rows, chosen unevenly
    peak_clients: int = fact()
    switched: str = fact()
    crowd: str = fact()
    on_and_off: Table

    @classmethod
    def of(cls, run: Run, *, first: Run) -> Live:
        per_txn = run.values("series", "concurrency", y="flushes_per_transaction")
        of_first = first.values("series", "concurrency", y="flushes_per_transaction")
        return cls(
            fsyncs_per_txn_8_0=_at(per_txn["flushes"], 1, 50, 200),
            fsyncs_per_txn_5_7=_at(per_txn["old_redo"], 1, 50, 200),
            fsyncs_per_txn_threads_on=_at(per_txn["9.7_writer_threads_on"], 1, 50, 200),
            fsyncs_per_txn_threads_off=_at(per_txn["9.7_writer_threads_off"], 1, 50, 200),
            first_fsyncs_per_txn_5_7=_at(of_first["old_redo"], 50, 200),
            peak_clients=int(per_txn["flushes"].idxmax()),
            switched=switched_said(run.table),
            crowd=crowd_said(per_txn, run.table),
            on_and_off=on_and_off(run),
        )


def switched_said(table: pd.DataFrame) -> str:
    """At which numbers of clients 9.7 commits more without its log threads: where no repeat of the one reaches a repeat of the other."""
    if "transactions" not in table:
        return "Commits were not counted in this recording."
    committed = table.pivot_table(
        index="concurrency", columns="series", values="transactions", aggfunc=["min", "median", "max"]
    )
    on, off = (committed.xs(f"9.7_writer_threads_{how}", axis="columns", level=1) for how in ("on", "off"))
    leads, trails = off["min"] > on["max"], off["max"] < on["min"]
    ratio = (off["median"] / on["median"])[leads]

    def named(places: pd.Series[bool]) -> str:
        return listed([f"{n:g}" for n in places.index[places]])

    said = [
        f"with {named(leads)} clients 9.7.4 commits {ratio.min():.2f} to {ratio.max():.2f} times as many transactions without its log threads"
        if leads.any()
        else "at no number of clients does 9.7.4 commit more without its log threads",
        f"with {named(trails)} fewer" if trails.any() else "",
        f"with {named(~leads & ~trails)} the repeats overlap" if (~leads & ~trails).any() else "",
    ]
    return "; ".join(filter(None, said))


def on_and_off(run: Run) -> Table:
    """Transactions in runs of equal length on 9.7 with its log threads on and off; no rows where they were not counted."""
    counted = run.table if "transactions" in run.table else run.table.head(0).assign(transactions=0)
    committed = counted.groupby(["concurrency", "series"])["transactions"].agg(["min", "median", "max"])
    sides = {how: f"9.7_writer_threads_{how}" for how in ("on", "off")}
    rows = [
        {
            "clients": n,
            **{
                f"log threads {how}": "{median:,.0f} ({min:,.0f} to {max:,.0f})".format(
                    **committed.loc[n, name]
                )
                for how, name in sides.items()
            },
            "off over on": f"{committed.loc[n, sides['off']]['median'] / committed.loc[n, sides['on']]['median']:.2f}",
        }
        for n in committed.index.unique("concurrency")
    ]
    return Table(
        pd.DataFrame(rows, columns=["clients", "log threads on", "log threads off", "off over on"]),
        "Transactions committed on 9.7.4 in runs of equal length: median and range of the repeats.",
        origin_of(run),
        "compact",
    )


@dataclass(frozen=True, kw_only=True)
class Switched(Facts):
    """How long a COMMIT takes with the log threads on and off (own-redo-writer-threads, live)."""

    commit: str = fact()

    @classmethod
    def of(cls, run: Run) -> Switched:
        return cls(commit=commit_said(run))


def commit_said(run: Run) -> str:
    """Half of the COMMITs, with one client and with the most."""
    ms = run.values("series", "concurrency", y="commit_ms_p50")
    clients = (int(run.table["concurrency"].min()), int(run.table["concurrency"].max()))
    said = [
        f"with {n} client{'' if n == 1 else 's'} half of them took at most {ms['on', n]:.2f} ms with the threads on and {ms['off', n]:.2f} ms with them off"
        for n in clients
    ]
    return f"The server's own time for a COMMIT, in runs that took turns: {'; '.join(said)}. {came_out(run, writer_threads.CLAIMS)}"


def crowd_said(per_txn: pd.Series[float], table: pd.DataFrame) -> str:
    """Whether 200 clients flush more often than 50, and what else they waited for, where that was counted."""
    rises = [name for name in live.SERVERS if per_txn[name, 200] > per_txn[name, 50]]
    said = f"From 50 to 200 clients the curve rises in {len(rises)} of {len(live.SERVERS)} servers: "
    if "rolled_back" not in table:
        return (
            f"{said}neither rollbacks nor waits for rows were counted, and on this small table both are part of the flushes of a "
            "crowd."
        )
    crowd = table[table["concurrency"] == 200]
    begun = (crowd["rolled_back"] + crowd["transactions"]).sum()
    return (
        f"{said}{crowd['rolled_back'].sum():,} of {begun:,} transactions of 200 clients were rolled back, "
        f"and {crowd['row_lock_waits'].sum():,} times a client waited for a row."
    )


@dataclass(frozen=True, kw_only=True)
class Throughput(Facts):
    """Short transactions when clients crowd, over the log of 8.0 and of 5.7 alone (own-redo-throughput, sim)."""

    gain_ratio: Mapping[int, float] = fact("{:.2f}", keys=(100,))  # of points that are settled
    not_settled: str = fact()
    window_5_7_ms: Range = fact(span("{:g}", "ms"))
    window_8_0_ms: Range = fact(span("{:g}", "ms"))

    @classmethod
    def of(cls, run: Run) -> Throughput:
        tpmc = run.values("series", "concurrency", y="tpmC")
        return cls(
            gain_ratio={n: _settled_ratio(run, tpmc, n) for n in (100,)},
            not_settled=not_settled_said(run),
            window_5_7_ms=_window_ms(run, "before"),
            window_8_0_ms=_window_ms(run, "after"),
        )


@dataclass(frozen=True, kw_only=True)
class FewClients(Facts):
    """Throughput over the log of 8.0 against 5.7 where clients are few (num-ch7-1 by a whole engine, own-redo-few-clients, sim)."""

    clients: str = fact()
    ratio: Range = fact(span("{:.2f}", "times"))
    sides: str = fact()
    unsettled: int = fact()
    runs: int = fact()
    half_width_percent: float = fact("{:.0f} %")  # the widest

    @classmethod
    def of(cls, run: Run) -> FewClients:
        of_seed = run.table.pivot(index=["concurrency", "repeat"], columns="series", values="throughput")
        ratios = (of_seed["new_redo"] / of_seed["old_redo"]).unstack("repeat")
        middle = run.values("series", "concurrency", y="throughput")
        ratio = middle["new_redo"] / middle["old_redo"]
        agree = (ratios < 1).all(axis="columns") | (ratios > 1).all(axis="columns")
        return cls(
            clients=f"{ratio.index.min():g} to {ratio.index.max():g} clients",
            ratio=Range(ratio.min(), ratio.max()),
            sides=f"On which side of 1 that lies the seeds agree at {agree.sum()} of {len(agree)} numbers of clients.",
            unsettled=int((run.table["is_settled"] == 0).sum()),
            runs=len(run.table),
            half_width_percent=float(run.table["half_width_percent"].max()),
        )


@dataclass(frozen=True, kw_only=True)
class WholeEngine(Facts):
    """A whole engine over the log of 8.0 against 5.7, and the latch for which a transaction waits most (fig-7-01, sim)."""

    known_clients: int = fact()  # up to so many both throughputs are known well enough for a ratio
    known_ratio: Range = fact(span("{:.2f}", "times"))
    widest_clients: int = fact()  # where the log of 8.0 is furthest ahead
    widest_latch: str = fact()  # over the log of 5.7 there
    widest_wait_ms: float = fact("{:.0f} ms")
    most_clients: int = fact()
    most_ratio: float = fact("{:.2f}")
    most_half_width_percent: float = fact("{:.0f} %")  # the widest of both logs there
    before_latch: str = fact()  # with the most clients
    before_wait_ms: float = fact("{:.1f} ms")
    after_latch: str = fact()
    after_wait_ms: float = fact("{:.1f} ms")
    new_latches_ratio: float = fact("{:.2f}")  # over the log of 8.0 with the latches of 8.0.15
    new_latches_latch: str = fact()
    new_latches_wait_ms: float = fact("{:.2f} ms")
    unsettled: int = fact()
    runs: int = fact()

    @classmethod
    def of(cls, run: Run) -> WholeEngine:
        tpmc = run.values("series", "concurrency", y="tpmC")
        ratio = tpmc["after"] / tpmc["before"]
        both = run.table[run.table["series"].isin(["before", "after"])]
        width = both.groupby("concurrency")[WIDTH].max()
        known = ratio[(width <= KNOWN_PERCENT).cumprod().astype(bool)]
        latches = run.tables["latches"]
        latches = latches[latches["latch"].str.endswith(("_mutex", "_rw_lock"))]
        wait_ms = values(latches, "series", "concurrency", "latch", y="wait_us", how="median") / 1000
        widest, most = int(ratio.idxmax()), int(ratio.index.max())
        at_most = {series: wait_ms[series, most] for series in ("before", "after", "new_latches")}
        return cls(
            known_clients=int(known.index.max()),
            known_ratio=Range(known.min(), known.max()),
            widest_clients=widest,
            widest_latch=str(wait_ms["before", widest].idxmax()),
            widest_wait_ms=float(wait_ms["before", widest].max()),
            most_clients=most,
            most_ratio=float(ratio[most]),
            most_half_width_percent=float(width[most]),
            before_latch=str(at_most["before"].idxmax()),
            before_wait_ms=float(at_most["before"].max()),
            after_latch=str(at_most["after"].idxmax()),
            after_wait_ms=float(at_most["after"].max()),
            new_latches_ratio=float(tpmc["new_latches", most] / tpmc["after", most]),
            new_latches_latch=str(at_most["new_latches"].idxmax()),
            new_latches_wait_ms=float(at_most["new_latches"].max()),
            unsettled=int((run.table["is_settled"] == 0).sum()),
            runs=len(run.table),
        )


def _settled_ratio(run: Run, tpmc: pd.Series[float], clients: int) -> float:
    """NaN, which no fact may be, where the throughput of one side is not known."""
    of_these = run.table[run.table["concurrency"] == clients]
    return tpmc["after", clients] / tpmc["before", clients] if of_these["is_settled"].all() else math.nan


def not_settled_said(run: Run) -> str:
    """Which points reached the longest window before that, as a sentence."""
    table = run.table[run.table["is_settled"] == 0]
    said = [
        f"the log of {design} with {listed([f'{n:g}' for n in sorted(set(clients))])} clients"
        for series, design in (("before", "5.7"), ("after", "8.0"))
        if len(clients := table[table["series"] == series]["concurrency"])
    ]
    if not said:
        return "All points reached that."
    return f"In the longest window {listed(said)} did not reach that: the text quotes no ratio there, but the claims in the ledger are judged by what was reached."


def _window_ms(run: Run, series: str) -> Range:
    windows = run.table[run.table["series"] == series]["window_ms"]
    return Range(windows.min(), windows.max())


@dataclass(frozen=True, kw_only=True)
class Load(Facts):
    """How often all workers of a load together get a mini-transaction into the log (fig-7-02, sim)."""

    mtr_5_7_us: float = fact("{:.2f} us")
    mtr_8_0_us: float = fact("{:.2f} us")
    gain_ratio: float = fact("{:.1f}")
    varied: str = fact()

    @classmethod
    def of(cls, run: Run) -> Load:
        of_one = redo_log.LARGE_TRANSACTIONS
        in_transaction = of_one["statements"] * of_one["mtrs_per_statement"] + of_one["commit_mtrs"]
        mtrs = redo_log.LOAD_WORKERS * of_one["transactions"] * in_transaction
        mtr_us = run.values("build", y="load_time_minutes") * 60e6 / mtrs
        return cls(
            mtr_5_7_us=mtr_us["before"],
            mtr_8_0_us=mtr_us["after"],
            gain_ratio=mtr_us["before"] / mtr_us["after"],
            varied=f"{varied_said(run)}{_varied_gain(run)}",
        )


def _varied_gain(run: Run) -> str:
    """Between which ratios of the two builds the variations lie."""
    if "varied" not in run.tables:
        return ""
    minutes = run.tables["varied"].pivot_table("load_time_minutes", ["parameter", "factor"], "build")
    ratio = minutes["before"] / minutes["after"]
    return f" The ratio lies between {ratio.min():.1f} and {ratio.max():.1f} in them."


@dataclass(frozen=True, kw_only=True)
class Shares(Facts):
    """What 250 clients do with their CPU time, and whose waits for the log's mutex they are (fig-7-04 and fig-7-05, sim)."""

    reservation_5_7_percent: float = fact("{:.0f} %")
    reservation_8_0_percent: float = fact("{:.0f} %")
    statement_8_0_percent: float = fact("{:.0f} %")
    flush_8_0_percent: float = fact("{:.0f} %")
    log_sys_mutex_percent: float = fact("{:.0f} %")  # of all time that clients wait
    mtr_commit_percent: float = fact("{:.1f} %")  # of the waits for that mutex

    @classmethod
    def of(cls, run: Run, *, callers: Run) -> Shares:
        percent = run.values("series", "component", y="share_percent")
        waited = run.values("name", y="total_ns", table="waits", where="series == 'old_redo'")
        return cls(
            reservation_5_7_percent=percent["old_redo", "log_reservation"],
            reservation_8_0_percent=percent["new_redo", "log_reservation"],
            statement_8_0_percent=percent["new_redo", "statement"],
            flush_8_0_percent=percent["new_redo", "log_write_up_to"],
            log_sys_mutex_percent=100 * waited["log_sys_mutex"] / waited.sum(),
            mtr_commit_percent=callers.values("caller", y="share_percent")["mtr_commit"],
        )


@dataclass(frozen=True, kw_only=True)
class EngineProfile(Facts):
    """What 250 clients of a whole engine do with their CPU time (own-redo-engine-profile, sim)."""

    reservation_5_7_percent: float = fact("{:.0f} %")
    reservation_8_0_percent: float = fact("{:.0f} %")
    statement_8_0_percent: float = fact("{:.0f} %")
    mtr_commit_percent: float = fact("{:.1f} %")  # of the time in the reservation of 5.7
    told: str = fact()

    @classmethod
    def of(cls, run: Run) -> EngineProfile:
        percent = run.values("series", "component", y="share_percent")
        callers = run.values("caller", y="share_percent", table="callers", where="series == 'old_redo'")
        windows, claims = run.tables["windows"], whole_engine.PROFILE_CLAIMS
        open_ones = windows[windows["is_settled"] == 0]
        widest = open_ones["half_width_percent"].max()
        unsettled = (
            f" Of {len(windows)} runs {len(open_ones)} had not settled when their window ended; the widest knows its throughput to {widest:.0f} %."
            if len(open_ones)
            else ""
        )
        return cls(
            reservation_5_7_percent=percent["old_redo", "log_reservation"],
            reservation_8_0_percent=percent["new_redo", "log_reservation"],
            statement_8_0_percent=percent["new_redo", "statement"],
            mtr_commit_percent=callers["mtr_commit"],
            told=f"Of {len(claims)} claims that the ledger makes of the two figures, {sum(holds(run) for holds in claims.values())} hold here."
            f"{unsettled}",
        )


@dataclass(frozen=True, kw_only=True)
class RealThreads(Facts):
    """The same clients on real threads (fig-7-04, host), and on a simulated machine of two processors."""

    processors: int = fact()
    least_processors: int = fact()
    reservation_percent: float = fact("{:.1f} %")
    two_simulated_percent: float = fact("{:.1f} %")  # the reservation's share on the small machine
    waits: Table

    @classmethod
    def of(cls, run: Run, *, simulated: Run, two: Mapping[str, Any]) -> RealThreads:
        percent = run.values("component", y="share_percent", where="series == 'old_redo'")
        cpu_ps = redo_log.components(two["activities"])
        return cls(
            processors=run.provenance["cores"],
            least_processors=on_host.LEAST_PROCESSORS,
            reservation_percent=percent["log_reservation"],
            two_simulated_percent=100 * cpu_ps["log_reservation"] / sum(cpu_ps.values()),
            waits=waits(simulated, run),
        )


def waits(simulated: Run, real: Run) -> Table:
    """How long waits last, on the simulated machine and on real threads."""
    names = {"median": "p50_ns", "99 %": "p99_ns"}
    columns = {
        f"{machine}: {name}": run.values("series", "name", y=column, table="waits").map(_duration)
        for machine, run in (
            ("simulated, 176 threads", simulated),
            (f"real, {real.provenance['cores']} processors", real),
        )
        for name, column in names.items()
    }
    order = simulated.tables["waits"][["series", "name"]].drop_duplicates()
    both = pd.DataFrame(columns).reindex(pd.MultiIndex.from_frame(order)).dropna().reset_index()
    return Table(
        both.assign(series=both["series"].map(_design)).rename(
            columns={"series": "log of", "name": "latch or event"}
        ),
        "How long a wait for each latch or event lasts, 250 clients: half of the waits are shorter than the median.",
        f"Simulated: {_day(simulated)}. Real threads: {_day(real)}, {real.provenance['scheduling']} scheduling.",
    )


def _duration(ns: float) -> str:
    return f"{ns / 1e6:.3g} ms" if ns >= 1e6 else f"{ns / 1e3:.3g} us"


def _day(run: Run) -> str:
    return (run.recorded_at or "")[:10]


@dataclass(frozen=True, kw_only=True)
class Commits(Facts):
    """What the commit of a mini-transaction costs by threads: here (num-deg-3, kernel), and 64 on the simulated machine (sim)."""

    cost_5_7_ns: Mapping[int, float] = fact("{:,.0f}", keys=(64,))
    cost_8_0_ns: Mapping[int, float] = fact("{:,.0f}", keys=(64,))
    threads_off_alone: str = fact()  # times the design of 5.7, with an interval
    threads_on_alone: str = fact()
    many_threads: str = fact()  # by the clock, sixteen, the log threads on
    between: str = fact()
    loads: Table | None

    @classmethod
    def of(cls, run: Run, *, simulated: Run) -> Commits:
        rows = num_deg_3.rows(run)
        there = simulated.values("series", "threads", y="nanoseconds")
        return cls(
            cost_5_7_ns={64: there["mtr_5_7", 64]},
            cost_8_0_ns={64: there["mtr_8_0", 64]},
            threads_off_alone=drawn.alone(rows, "mtr_8_0_writer_threads_off"),
            threads_on_alone=drawn.alone(rows, "mtr_8_0"),
            many_threads=drawn.alone(rows, "mtr_8_0", threads=16),
            between=between_said(run),
            loads=regimes(run) if "counts" in run.tables else loads(run) if "loads" in run.tables else None,
        )


def between_said(run: Run) -> str:
    """What lies between two commits and how large the log buffer is, and over what the intervals are."""
    if "counts" in run.tables:
        of_design = run.tables["counts"].set_index("series")["locked_ops"]
        locked = ", ".join(f"{of_design[series]:g} in {_design(series)}" for series in of_design.index)
        return (
            f"The ratios are of a server's regime: a log buffer of {_size(run.table['log_buffer_bytes'].iloc[0])} and "
            f"{run.table['between_ns'].iloc[0]:,g} ns of computing between two commits. The designs took turns in "
            f"{run.table['repeat'].nunique()} processes; the interval of 90 % is over these. Locked instructions per commit, counted: {locked}.{_below_zero(run)}"
        )
    if "between_ns" in run.table:
        return (
            "In this recording a thread computes for a microsecond between two commits, as long as the cheapest mini-transaction of "
            "the recorded servers takes. All repeats are of one process."
        )
    return "In this recording nothing lies between two commits, so that it flatters 5.7 with several threads and 8.0 with one."


def _below_zero(run: Run) -> str:
    """How rough the clock is where threads outnumber the processors."""
    ns = run.table["nanoseconds"]
    if not (below := int((ns < 0).sum())):
        return ""
    return (
        f" A cost by the clock is the elapsed time less that of the same work without commits: {below} of {len(ns)} came out below zero, so take "
        "those of several threads as rough."
    )


def _size(n_bytes: int) -> str:
    return f"{n_bytes / (1 << 20):g} MiB" if n_bytes >= 1 << 20 else f"{n_bytes / (1 << 10):g} KiB"


def regimes(run: Run) -> Table:
    """What a commit of one thread costs over the design of 5.7 in each regime, that of a server first."""
    alone = pd.concat([run.table, run.tables["loads"]]).query("threads == 1")
    rows = []
    regimes_in_order = alone[["log_buffer_bytes", "between_ns"]].drop_duplicates()
    for buffer_bytes, between_ns in regimes_in_order.itertuples(index=False):
        one = alone[(alone["log_buffer_bytes"] == buffer_bytes) & (alone["between_ns"] == between_ns)]
        cpu_ns = one.pivot(index="repeat", columns="series", values="cpu_ns")
        rows.append(
            {
                "log buffer": _size(buffer_bytes),
                "ns between two commits": f"{between_ns:,g}",
                "5.7, ns per commit": f"{cpu_ns['mtr_5_7'].median():.0f}",
                **{
                    f"{_design(series)}, of 5.7's": paired_ratio(cpu_ns[series], cpu_ns["mtr_5_7"]).times()
                    for series in ("mtr_8_0_writer_threads_off", "mtr_8_0")
                },
            }
        )
    return Table(
        pd.DataFrame(rows),
        "CPU time of one thread's commit, by the size of the log buffer and what lies between two commits: the regime of a server first.",
        f"{run.table['repeat'].nunique()} processes, {_day(run)}; intervals of 90 % over processes.",
    )


def loads(run: Run) -> Table:
    """CPU time of a commit by what lies between two."""
    rows = pd.concat([run.table, run.tables["loads"]]).query("threads in (1, 2)")
    cpu_ns = values(rows, "between_ns", "threads", "series", y="cpu_ns", how=run.summary)
    wide = cpu_ns.unstack("series").round(0).astype(int).rename(columns=_design).reset_index()
    return Table(
        wide.rename(columns={"between_ns": "ns between two commits"}),
        "CPU nanoseconds of a commit, by what lies between two of a thread.",
    )


def to_a_tenth(value: float) -> str:
    """9.5, and 1 for 0.98."""
    return f"{round(value, 1):g}"


@dataclass(frozen=True, kw_only=True)
class Published(Facts):
    """What the source measured (figures 7-2, 7-4 and 7-6)."""

    load_ratio: float = fact("{:.2f}")
    reservation_percent: float = fact("{:.0f} %")
    fsyncs_per_txn: Mapping[int, float] = fact(to_a_tenth, keys=(1, 3, 200))

    @classmethod
    def of(cls, load: pd.DataFrame, profile: pd.DataFrame, flushes: pd.DataFrame) -> Published:
        minutes = load.set_index("build")["load_time_minutes"]
        percent = profile.set_index(["series", "component"])["share_percent"]
        per_txn = flushes.set_index(["series", "concurrency"])["flushes_per_transaction"]
        return cls(
            load_ratio=minutes["before"] / minutes["after"],
            reservation_percent=percent["old_redo", "log_reservation"],
            fsyncs_per_txn=_at(per_txn["flushes"], 1, 3, 200),
        )


@dataclass(frozen=True, kw_only=True)
class Crashes(Facts):
    """Simulated servers that lose their power, while the page is made: three designs together."""

    crashes: int = fact("{:,}")
    commits: int = fact("{:,}")
    lost: int = fact()

    @classmethod
    def of(cls, reports: Sequence[Mapping[str, int]]) -> Crashes:
        crashes, commits, lost = (
            sum(report[what] for report in reports) for what in ("crashes", "commits", "lost_commits")
        )
        return cls(crashes=crashes, commits=commits, lost=lost)


@dataclass(frozen=True, kw_only=True)
class RedoLogFacts(Facts):
    """All that the page tells, by recording."""

    simulated: Simulated
    isolated: Isolated
    changed: Changed
    live: Live
    switched: Switched
    throughput: Throughput
    engine: WholeEngine
    few: FewClients
    few_alone: FewClients
    load: Load
    shares: Shares
    profile: EngineProfile
    real: RealThreads
    commit: Commits
    crashed: Crashes
    published: Published


def facts() -> RedoLogFacts:
    """From the newest recordings, from crashes and from a small machine that are simulated now."""
    profile = newest("fig-7-04", "sim")
    reports = [
        _native.redo_log.crash_runs(design=design, seed=1, runs=CRASH_RUNS)
        for design in ("5.6", "5.7", "8.0")
    ]
    two = _native.redo_log.simulate(
        design="5.7",
        parameters=redo_log.parameters("laptop"),
        load={**redo_log.TPCC, "clients": 250},
        warmup_ns=WARMUP_NS,
        run_ns=WINDOW_NS,
    )
    return RedoLogFacts(
        simulated=Simulated.of(newest("fig-7-06", "sim")),
        isolated=Isolated.of(newest("fig-7-06", "live")),
        changed=Changed.of(history.recordings("fig-7-06", "sim")),
        live=Live.of(newest("fig-7-06", "live"), first=recorded("fig-7-06", "live")[0]),
        switched=Switched.of(newest(writer_threads.FIGURE, "live")),
        few=FewClients.of(newest("num-ch7-1", "sim")),
        few_alone=FewClients.of(newest("own-redo-few-clients", "sim")),
        throughput=Throughput.of(newest("own-redo-throughput", "sim")),
        engine=WholeEngine.of(newest("fig-7-01", "sim")),
        load=Load.of(newest("fig-7-02", "sim")),
        shares=Shares.of(profile, callers=newest("fig-7-05", "sim")),
        profile=EngineProfile.of(newest("own-redo-engine-profile", "sim")),
        real=RealThreads.of(newest("fig-7-04", "host"), simulated=profile, two=two),
        commit=Commits.of(newest("num-deg-3", "kernel"), simulated=newest("num-deg-3", "sim")),
        crashed=Crashes.of(reports),
        published=Published.of(*(published.rows(figure) for figure in ("fig-7-02", "fig-7-04", "fig-7-06"))),
    )
