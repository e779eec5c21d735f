"""What `book/lock_sys.md` tells: row locks and latches of the mutex of 5.7, "before", and of the shards of 9.7, "after"."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pandas as pd

from engineroom.runs import newest, published, recorded
from engineroom.runs.summary import paired_ratio, values
from engineroom.servers.catalogue import release
from engineroom.show.table import Table
from engineroom.validation import sixteen  # noqa: F401 (for the page)

if TYPE_CHECKING:
    from engineroom._native.lock_sys import Playground

_latches = newest("own-lock-latches", "sim")
locks_per_s = _latches.values("series", "clients", y="row_locks_per_second")
mutex_per_s = locks_per_s["one_mutex"]
latches_per_transaction = _latches.values("series", "clients", y="latches_per_transaction")
most_clients = int(_latches.table["clients"].max())

# What guards the queues, up to 8.0.20 and since; each statement that locks anything is recorded once per transaction.
_GUARDS = ("lock_mutex", "lock_sys_global_rw_lock", "lock_sys_page_mutex", "lock_sys_table_mutex")
_counted = newest("own-demands", "live").tables["latches"].query("load == 'sysbench_read_write'")
server_latches = _counted[_counted["latch"].isin(_GUARDS)].groupby("series")["acquisitions"].sum()

scripts = newest("own-lock-conflicts", "live").table
scripts_servers = sorted(scripts["server"].unique())
differing_servers = sorted(scripts[scripts["equal"] == 0]["server"].unique())

_log = newest("fig-7-16", "live")
_log_servers = sorted(set(_log.table["server"]), key=release)
log_lines, log_bytes, teller_cpu_us = (
    _log.values("innodb_print_all_deadlocks", "server", y=y) for y in ("lines", "bytes", "teller_cpu_us")
)
teller_added_us = teller_cpu_us["on", _log_servers[-1]] - teller_cpu_us["off", _log_servers[-1]]

engine = newest("fig-7-07", "sim")
engine_tpm = engine.values("series", "concurrency", y="tpmC")
engine_clients = int(engine.table["concurrency"].max())
_crowd = engine.table["concurrency"] == engine_clients
mutex_is_settled = engine.table[_crowd & (engine.table["series"] == "before")]["is_settled"]
waits_us = values(
    engine.tables["latches"].query("concurrency == @engine_clients"),
    "series",
    "latch",
    y="wait_us",
    how="median",
)  # per transaction
shards_waits_us = waits_us["after"].filter(regex="_mutex$|_rw_lock$")

# Where the published gain of shards begins.
published_tpm = published.in_our_columns("fig-7-07").set_index(["series", "concurrency"])["tpmC"]
published_gain = published_tpm["after"] / published_tpm["before"]
gain_clients = int(published_gain[published_gain > 1.2].index[0])
fewer_clients = int(published_gain.index[published_gain.index < gain_clients][-1])

row_locks = newest("own-bench-lock-sys", "kernel").provenance["of a row lock"]  # the chapter's bench


def two_digits(value: float) -> float:
    """2,600,000: a simulated rate is not known to more."""
    return float(f"{value:.2g}")


def gain(rows: pd.DataFrame) -> float:
    """The shards over the mutex where the published gain begins, seed by seed."""
    crowd = rows[rows["concurrency"] == gain_clients].sort_values("repeat").set_index("series")["tpmC"]
    return paired_ratio(crowd[["after"]], crowd[["before"]]).value


gain_ratio = gain(engine.table)


def scripts_that_differ() -> Table:
    """The scripts, of all runs, after which server and kernel showed different locks."""
    from engineroom.chapters.lock_sys.experiments.scripts import scripts

    shown = []
    for run in recorded("own-lock-conflicts", "live"):
        made = list(scripts(int(run.provenance["scripts"]), seed=int(run.provenance["seed"])))
        for row in run.table[run.table["equal"] == 0].to_dict("records"):
            shown.append(
                {
                    "run": run.n,
                    "server": row["server"],
                    "the script so far": so_far(made[row["script"]].text(), row["sql"]),
                    "only the kernel (+), only the server (-)": row["difference"],
                }
            )
    return Table(pd.DataFrame(shown), "Scripts after which server and kernel showed different locks.")


def so_far(script: str, sql: str) -> str:
    """The lines of a script up to the statement after which something differed."""
    lines = script.splitlines()
    ends = [i for i, line in enumerate(lines) if sql.partition(": ")[2].split(" FORCE")[0] in line]
    return "\n".join(lines[: ends[0] + 1] if ends else lines)


# What readers predict is asked of the kernel itself: its answers are the same on every machine, and take no time.


def _table(design: str, sessions: int) -> Playground:
    """Ids 10, 20 and 30 for some sessions."""
    from engineroom._native import lock_sys as kernel

    return kernel.Playground(
        design=design, reads_committed=[False] * sessions, columns=2, rows=[[10, 0], [20, 0], [30, 0]]
    )


def behind_the_range(design: str) -> str:
    """What becomes of an update of row 30 when another session has read 15 to 25 for an update."""
    two = _table(design, 2)
    two.read(0, low=15, high=25)
    return two.update(1, 1, 1, low=30, high=30)


def objects_of_insert(*, is_asked: bool) -> int:
    """Locks on records that a session has after an insert, or once another has asked for the row."""
    two = _table("9.7", 2)
    two.insert(0, [40, 0])
    if is_asked:
        two.read(1, low=40, high=40)
    return sum(owner == 0 and index >= 0 for owner, index, *_ in two.locks())


def freed(design: str) -> list[str]:
    """The sessions that go on when A lets a row go for which B (reads), C (writes) and D (reads) wait."""
    four = _table(design, 4)
    four.update(0, 1, 1, low=20, high=20)
    four.read(1, for_share=True, low=20, high=20)
    four.update(2, 1, 1, low=20, high=20)
    four.read(3, for_share=True, low=20, high=20)
    four.commit(0)
    return [name for session, name in enumerate("ABCD") if session and four.result(session) == "ok"]


@cache
def latches_of_one_row(design: str) -> int:
    """Latches of the lock system that a transaction of one row takes: a count of the kernel's, the same on every machine.

    Whole transactions of a window that begins and ends in one, so that the mean is off a whole number by little.
    """
    from engineroom._native import lock_sys as kernel

    seen = kernel.simulate(
        design=design, parameters={}, load={"rows": 1}, run_ns=5_000_000, warmup_ns=100_000
    )
    taken = sum(seen[f"{kind}_latches"] for kind in ("global", "page", "table"))
    return round(float(taken / seen["transactions"]))


# Of a report of random runs what is 0 without a mistake.
_BROKEN = (
    "conflicts", "disorders", "waits_for_nobody", "wrong_blockers", "phantoms", "lost_updates", "intruders",
    "needless_victims", "stale_weights", "hangs", "leftovers",
)  # fmt: skip


@cache
def checked() -> pd.Series[int]:
    """Counts of random runs of each design without a mistake: made while the page is, so that they are of the kernel that the page describes."""
    from engineroom._native import lock_sys as kernel

    reports = pd.DataFrame(
        [kernel.random_runs(design=design, seed=1, runs=30) for design in kernel.designs()]
    )
    return reports[["runs", "transactions", "waits", "deadlocks", *_BROKEN]].sum()


def broken() -> int:
    """Broken rules in those runs."""
    return int(checked()[list(_BROKEN)].sum())
