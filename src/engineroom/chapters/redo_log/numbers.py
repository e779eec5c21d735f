"""What `book/redo_log.md` tells: fsyncs per transaction, crowds at the log, and what a commit costs, simulated and live."""

from __future__ import annotations

import functools
import re
from typing import Any

import pandas as pd

from engineroom.chapters.redo_log import figures
from engineroom.ledger import history
from engineroom.ledger.verdicts import fragile, judge, variations  # noqa: F401 the page names variations
from engineroom.runs import Run, newest, published, recorded
from engineroom.runs.summary import paired_ratio, values
from engineroom.show.drawing import origin_of
from engineroom.show.table import Table
from engineroom.validation import sixteen  # noqa: F401 (for the page)

# Redo fsyncs per transaction by series and clients: "flushes" is the log of 8.0 with its log threads, "old_redo" that of 5.7.
flushes_sim, flushes_live = newest("fig-7-06", "sim"), newest("fig-7-06", "live")
sim_fsyncs, live_fsyncs = (
    run.values("series", "concurrency", y="flushes_per_transaction") for run in (flushes_sim, flushes_live)
)
first_sim, second_sim, *_ = recorded("fig-7-06", "sim")
uneven_fsyncs = recorded("fig-7-06", "live")[0].values("series", "concurrency", y="flushes_per_transaction")
published_fsyncs = published.rows("fig-7-06").set_index(["series", "concurrency"])["flushes_per_transaction"]

# What the simulated log threads gain: commits per time with them over those without, by clients.
_switched = flushes_sim.table[flushes_sim.table["series"].isin(["flushes", "writer_threads_off"])]
_per_ms = flushes_sim.with_table(_switched.assign(per_ms=_switched["transactions"] / _switched["window_ms"]))
_rates = _per_ms.values("series", "concurrency", y="per_ms")
sim_gain = _rates["flushes"] / _rates["writer_threads_off"]
sim_gain_known_percent = _switched["half_width_percent"].max()

# Transactions of 9.7 in runs of equal length with its log threads on and off: the least, the median and the most of the repeats.
_committed = flushes_live.table.groupby(["series", "concurrency"])["transactions"].agg(
    ["min", "median", "max"]
)
committed_on, committed_off = (_committed.loc[f"9.7_writer_threads_{how}"] for how in ("on", "off"))
off_leads = committed_off["min"] > committed_on["max"]
on_leads = committed_on["min"] > committed_off["max"]
off_over_on = committed_off["median"] / committed_on["median"]
crowd = flushes_live.table.query("concurrency == 200")

switched = newest("own-redo-writer-threads", "live")
commit_ms = switched.values("series", "concurrency", y="commit_ms_p50")

throughput = newest("own-redo-throughput", "sim")
tpmc = throughput.values("series", "concurrency", y="tpmC")
window_ms = throughput.table.groupby("series")["window_ms"].agg(["min", "max"])

# A whole engine over both logs, and over that of 8.0 with later latches.
engine = newest("fig-7-01", "sim")
engine_tpmc = engine.values("series", "concurrency", y="tpmC")
engine_gain = engine_tpmc["after"] / engine_tpmc["before"]
_latches = engine.tables["latches"][engine.tables["latches"]["latch"].str.endswith(("_mutex", "_rw_lock"))]
_wait_ms = (
    values(_latches, "series", "concurrency", "latch", y="wait_us", how="median").unstack("latch") / 1000
)
longest_latch, longest_wait_ms = _wait_ms.idxmax(axis="columns"), _wait_ms.max(axis="columns")

few_in_short_windows = recorded("num-ch7-1", "sim")[6]
few, few_alone = newest("num-ch7-1", "sim"), newest("own-redo-few-clients", "sim")

# A load in large transactions: the time between two mini-transactions of all workers together.
load = newest("fig-7-02", "sim")
_of_one = load.provenance["load"]
_mtrs = load.table["transactions"] * (
    _of_one["statements"] * _of_one["mtrs_per_statement"] + _of_one["commit_mtrs"]
)
mtr_us = load.with_table(load.table.assign(us=60e6 * load.table["load_time_minutes"] / _mtrs)).values(
    "build", y="us"
)
_minutes = load.tables["varied"].pivot_table("load_time_minutes", ["parameter", "factor"], "build")
varied_gain = _minutes["before"] / _minutes["after"]
published_minutes = published.rows("fig-7-02").set_index("build")["load_time_minutes"]

# What 250 clients do with their CPU time.
profile_sim, profile_host = newest("fig-7-04", "sim"), newest("fig-7-04", "host")
sim_percent, host_percent = (
    run.values("series", "component", y="share_percent") for run in (profile_sim, profile_host)
)
waited_ns = profile_sim.values("name", y="total_ns", table="waits", where="series == 'old_redo'")
caller_percent = newest("fig-7-05", "sim").values("caller", y="share_percent")
published_percent = published.rows("fig-7-04").set_index(["series", "component"])["share_percent"]
engine_profile = newest("own-redo-engine-profile", "sim")
engine_percent = engine_profile.values("series", "component", y="share_percent")
engine_caller_percent = engine_profile.values("series", "caller", y="share_percent", table="callers")
profile_windows = engine_profile.tables["windows"]

# A commit of a mini-transaction.
commit = newest("num-deg-3", "kernel")
locked_ops = commit.tables["counts"].set_index("series")["locked_ops"]
crowd_commit_ns = newest("num-deg-3", "sim").values("series", "threads", y="nanoseconds")

# Enough crashes to lose a commit in, and a window that 250 clients settle in.
_CRASH_RUNS = 60
_WARMUP_NS, _WINDOW_NS = 210_000_000, 300_000_000


def gain(run: Run, series: str = "new_redo") -> pd.Series[Any]:
    """Throughput over a log by that over the log of 5.7, where clients are few."""
    middle = run.values("series", "concurrency", y="throughput").unstack("series")
    return middle[series] / middle["old_redo"]


def seeds_agree(run: Run) -> pd.Series[bool]:
    """Whether all seeds have that gain on one side of 1."""
    of_seed = run.table.pivot(index=["concurrency", "repeat"], columns="series", values="throughput")
    gains = (of_seed["new_redo"] / of_seed["old_redo"]).unstack("repeat")
    return (gains < 1).all(axis="columns") | (gains > 1).all(axis="columns")


def clients_where(is_so: pd.Series[bool]) -> list[int]:
    return is_so.index[is_so].tolist()


def unsettled_clients(series: str) -> list[int]:
    """Where a crowd's throughput is not known when the longest window ends."""
    rows = throughput.table.query(f"series == '{series}' and is_settled == 0")
    return sorted(set(rows["concurrency"]))


def flips(run: Run) -> int:
    """How many variations of a single number give another verdict."""
    return len(fragile(run) or ())


def verdicts_in_order() -> str:
    """Of each simulated recording of figure 7-6."""
    made = history.recordings("fig-7-06", "sim")
    return ", ".join(f"{each.verdict} ({each.claims_held} of {each.claims_total})" for each in made)


def minute(run: Run) -> str:
    day, time = (run.recorded_at or "").split("T")
    return f"{time[:5]} UTC on {day}"


def expected_of_commits() -> list[bool]:
    """What came out of what was expected of a COMMIT with the log threads on and off."""
    from engineroom.chapters.redo_log.experiments.writer_threads import CLAIMS

    return [holds(switched) for holds in CLAIMS.values()]


def claimed_of_profiles() -> list[bool]:
    """Which of the ledger's claims of figures 7-4 and 7-5 hold of the whole engine."""
    from engineroom.chapters.redo_log.experiments.whole_engine import PROFILE_CLAIMS

    return [holds(engine_profile) for holds in PROFILE_CLAIMS.values()]


def times_5_7(series: str, *, threads: int = 1) -> str:
    """What a commit costs over that of 5.7, with an interval."""
    return figures.alone(figures.num_deg_3.rows(commit), series, threads=threads)


@functools.cache
def crashed(what: str) -> int:
    """Crashes, durable commits and lost ones of three designs, simulated while the page is made: it says that they are."""
    from engineroom._native import redo_log

    reports = (
        redo_log.crash_runs(design=design, seed=1, runs=_CRASH_RUNS) for design in ("5.6", "5.7", "8.0")
    )
    return sum(report[what] for report in reports)


def pace_us() -> float:
    """The time of one of the 20 statements of a SysBench transaction, with one client of 8.0 live."""
    seconds = re.search(r"(\d+) s a run", flushes_live.provenance["load"])
    assert seconds is not None
    committed = flushes_live.values("series", "concurrency", y="transactions")["flushes", 1]
    return float(1e6 * float(seconds[1]) / committed / 20)


def one_client_fsyncs(*, is_small: bool = False, is_paced: bool = False) -> float:
    """Fsyncs per transaction of one client of 8.0 nearer to the live run; no recording is on this machine or at this pace."""
    from engineroom._native import redo_log
    from engineroom.machine.presets import parameters
    from engineroom.simulating.loads import SYSBENCH

    machine = parameters(flushes_sim.provenance["machine_name"])
    if is_small:
        disk = {name: machine[name] for name in ("disk_fsync_quantiles_ps", "disk_ps_per_kib")}
        machine = parameters("laptop") | disk
    sysbench = dict(SYSBENCH)
    if is_paced:
        share = 1000 * pace_us() / (sysbench["statement_ns"] + sysbench["away_ns"])
        sysbench |= {name: round(share * sysbench[name]) for name in ("statement_ns", "away_ns")}
    seen = redo_log.simulate(
        design="8.0",
        parameters=machine,
        load=sysbench | {"clients": 1},
        seed=1,
        warmup_ns=_WARMUP_NS,
        run_ns=_WINDOW_NS,
    )
    return float(seen["fsyncs"] / seen["transactions"])


def two_processors_percent() -> float:
    """The share of 5.7's reservation on a simulated machine of two processors, which no recording has."""
    from engineroom._native import redo_log
    from engineroom.chapters.redo_log.experiments.simulated import components
    from engineroom.machine.presets import parameters
    from engineroom.simulating.loads import TPCC

    seen = redo_log.simulate(
        design="5.7",
        parameters=parameters("laptop"),
        load={**TPCC, "clients": 250},
        warmup_ns=_WARMUP_NS,
        run_ns=_WINDOW_NS,
    )
    cpu_ps = components(seen["activities"])
    return 100 * cpu_ps["log_reservation"] / sum(cpu_ps.values())


def on_and_off() -> Table:
    """Transactions in runs of equal length on 9.7 with its log threads on and off."""

    def shown(committed: Any) -> list[str]:
        return [f"{each.median:,.0f} ({each.min:,.0f} to {each.max:,.0f})" for each in committed.itertuples()]

    rows = {
        "clients": committed_on.index,
        "log threads on": shown(committed_on),
        "log threads off": shown(committed_off),
        "off over on": off_over_on.map("{:.2f}".format),
    }
    caption = "Transactions committed on 9.7.4 in runs of equal length: median and range of the repeats."
    return Table(pd.DataFrame(rows), caption, origin_of(flushes_live), "compact")


def waits() -> Table:
    """How long waits last, on the simulated machine and on real threads."""
    about = profile_host.provenance
    columns = {
        f"{machine}: {name}": run.values("series", "name", y=column, table="waits").map(_duration)
        for machine, run in (
            ("simulated, 176 threads", profile_sim),
            (f"real, {about['cores']} processors", profile_host),
        )
        for name, column in (("median", "p50_ns"), ("99 %", "p99_ns"))
    }
    order = profile_sim.tables["waits"][["series", "name"]].drop_duplicates()
    both = pd.DataFrame(columns).reindex(pd.MultiIndex.from_frame(order)).dropna().reset_index()
    both["series"] = both["series"].map({"old_redo": "5.7", "new_redo": "8.0"})
    return Table(
        both.rename(columns={"series": "log of", "name": "latch or event"}),
        "How long a wait for each latch or event lasts, 250 clients: half of the waits are shorter than the median.",
        f"Simulated: {_day(profile_sim)}. Real threads: {_day(profile_host)}, {about['scheduling']} scheduling.",
    )


def regimes() -> Table:
    """What a commit of one thread costs over the design of 5.7 in each regime, that of a server first."""
    alone = pd.concat([commit.table, commit.tables["loads"]]).query("threads == 1")
    rows = []
    for (buffer_bytes, between_ns), one in alone.groupby(["log_buffer_bytes", "between_ns"], sort=False):
        cpu_ns = one.pivot(index="repeat", columns="series", values="cpu_ns")
        rows.append(
            {
                "log buffer": _size(buffer_bytes),
                "ns between two commits": f"{between_ns:,g}",
                "5.7, ns per commit": f"{cpu_ns['mtr_5_7'].median():.0f}",
                **{
                    f"{figures.LABELS_NUM_DEG_3[series]}, of 5.7's": paired_ratio(
                        cpu_ns[series], cpu_ns["mtr_5_7"]
                    ).times()
                    for series in ("mtr_8_0_writer_threads_off", "mtr_8_0")
                },
            }
        )
    return Table(
        pd.DataFrame(rows),
        "CPU time of one thread's commit, by the size of the log buffer and what lies between two commits: the regime of a server first.",
        f"{commit.table['repeat'].nunique()} processes, {_day(commit)}; intervals of 90 % over processes.",
    )


def _size(n_bytes: Any) -> str:
    return f"{n_bytes / (1 << 20):g} MiB" if n_bytes >= 1 << 20 else f"{n_bytes / (1 << 10):g} KiB"


def _duration(ns: float) -> str:
    return f"{ns / 1e6:.3g} ms" if ns >= 1e6 else f"{ns / 1e3:.3g} us"


def _day(run: Run) -> str:
    return (run.recorded_at or "")[:10]
