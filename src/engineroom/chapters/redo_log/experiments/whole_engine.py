"""Figure 7-1, and the chapter's statement on fewer than 50 connections, by a whole engine of which nothing but the redo log differs.

Both engines have the lock system of 8.0.15 and one mutex over transactions, as builds of 8.0 around the new redo log had, and statements
ask for what they asked of 8.0.15 with one client. For figure 7-1 a third engine has the new log and the latches over row locks and
transactions that came later: it shows which queue takes over from the log, and whether the loss is that queue's. Machine, load and designs
are fixed before the first comparison. Since the twelfth recording of figure 7-1, the ninth of the statement and the fourth of the profile, an
intention lock looks at no other one, as in 8.0 (`own-table-locks`); none of them had been simulated so before, but what
that moves in engines like these had been seen there. What the redo log does alone are figures of our own (simulated.py).

A figure of our own has the profile of figures 7-4 and 7-5 by a whole engine, as figure 7-3 has it: that of 5.7 with the latches over row locks
and transactions of late 8.0, and the same with the redo log of 8.0. `PROFILE_CLAIMS` are what the ledger asks figures 7-4 and 7-5. Seen before they
were put here were the figures by the redo log alone, and 50 ms of each engine by one seed, to learn which call paths there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from engineroom.chapters.redo_log.experiments.simulated import caller, components
from engineroom.runs import Run
from engineroom.simulating import settling
from engineroom.simulating.activities import percent, time_by
from engineroom.simulating.engine import COLUMNS, COUNTS, Design, of_design, run
from engineroom.simulating.experiment import Given, Seen
from engineroom.simulating.sources import designs_under_tpcc

SERVER = "8.0.15"
LOGS = {
    "old_redo": Design(lock_design="8.0.15", locks=COUNTS, latches="8.0", redo="5.7"),
    "new_redo": Design(lock_design="8.0.15", locks=COUNTS, latches="8.0"),
}
# Is it the hand-over from thread to thread?
FEW = {
    **LOGS,
    "threads_off": Design(lock_design="8.0.15", locks=COUNTS, latches="8.0", redo="8.0, writer threads off"),
}
BUILDS = {"before": LOGS["old_redo"], "after": LOGS["new_redo"], "new_latches": Design(locks=COUNTS)}

throughput_engine_sim = designs_under_tpcc(
    "fig-7-01",
    "throughput of a whole engine over the log of 5.7 and of 8.0, and over that of 8.0 with later latches",
    BUILDS,
    server=SERVER,
    concurrency=(50, 100, 150, 200, 250, 300),
)


def _few_clients(point: Mapping[str, Any], given: Given, **window: int) -> Seen:
    seen = of_design(point, given, **window)
    return replace(seen, rows=[{**row, "throughput": row["tps"]} for row in seen.rows])


few_clients_engine_sim = replace(
    designs_under_tpcc(
        "num-ch7-1",
        "the chapter's statement on fewer than 50 connections: a whole engine over the log of 5.7 and of 8.0, and over that without its threads",
        FEW,
        server=SERVER,
        concurrency=(1, 2, 5, 10, 20, 40),
        # Few clients commit seldom, and are soon simulated.
        window={"first_ms": 1_000, "longest_ms": 10_000, "warmup_ms": 200},
        columns={"throughput": COLUMNS["tps"]},
    ),
    measure=_few_clients,
)


FCFS = {"policy": "fcfs, 5.7", **COUNTS}
PROFILED = {"old_redo": Design(locks=FCFS, redo="5.7"), "new_redo": Design(locks=FCFS)}
PROFILED_CLIENTS = 250


def _where_time_goes(point: Mapping[str, Any], given: Given, **window: int) -> Seen:
    """A row per component, and as further tables the callers of the reservation and how long the window was."""
    design = Design(**given.load["designs"][point["series"]])
    seen = run(design, given, clients=point["concurrency"], **window)
    activities = seen["activities"]
    shares, callers = percent(components(activities)), percent(time_by(activities, caller))
    return Seen(
        [{"component": name, "share_percent": share} for name, share in shares.items()],
        {
            "callers": [{"caller": name, "share_percent": share} for name, share in callers.items()],
            "windows": [{"transactions": seen["transactions"], **settling.window(seen)}],
        },
    )


profile_engine_sim = replace(
    designs_under_tpcc(
        "own-redo-engine-profile",
        "where the clients of a whole engine spend their CPU time over the log of 5.7 and of 8.0, and on whose behalf in the reservation",
        PROFILED,
        server="5.7.22",
        concurrency=(PROFILED_CLIENTS,),
        columns={
            "component": "what the clients do: the innermost name on the call path",
            "caller": "what a client does when it reserves or waits for the reservation",
            "share_percent": "share of the clients' time on a CPU: computing, waiting for cache lines, spinning; of that in the reservation by caller",
        },
    ),
    measure=_where_time_goes,
)


def _shares(run: Run, series: str) -> Mapping[str, float]:
    return dict(run.values("component", y="share_percent", where=f"series == '{series}'"))


def _among_two_largest(run: Run) -> bool:
    shares = _shares(run, "old_redo")
    return len(shares) >= 4 and sum(each > shares["log_reservation"] for each in shares.values()) <= 1


def _mtr_commit_calls(run: Run) -> bool:
    callers = dict(run.values("caller", y="share_percent", table="callers", where="series == 'old_redo'"))
    return len(callers) >= 2 and callers["mtr_commit"] > 50


# What the ledger asks figures 7-4 and 7-5 -> whether a run has it so.
PROFILE_CLAIMS: Mapping[str, Callable[[Run], bool]] = {
    "over the log of 5.7, the reservation is among the two largest of at least four parts": _among_two_largest,
    "its share is smaller over the log of 8.0": lambda run: (
        _shares(run, "new_redo").get("log_reservation", 0.0) < _shares(run, "old_redo")["log_reservation"]
    ),
    "over the log of 5.7, most time in the reservation is on behalf of commits of mini-transactions": _mtr_commit_calls,
}
