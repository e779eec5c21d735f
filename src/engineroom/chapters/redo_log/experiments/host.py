"""Figures 7-4 and 7-5 on real threads: where 250 clients of the machine at hand spend their time, and where they wait.

The same kernel source as in the simulation. CPU time is told from samples of the threads' stacks, waits are counted by the latch.

The rule for `not_attributable`, fixed before any run was kept: the source measured a queue on a latch between threads that run at the same
time. With fewer processors than one socket of its machine has cores, clients queue for processors instead, and the shares say
how many processors there are, not what the latch costs.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from engineroom.chapters.redo_log.experiments.designs import LOGS, SERIES
from engineroom.chapters.redo_log.experiments.simulated import caller
from engineroom.measuring.probes import sampled_program
from engineroom.measuring.turns import in_turns
from engineroom.runs import Run
from engineroom.runs.sitting import Sitting
from engineroom.simulating.activities import Activity, percent, time_by
from engineroom.simulating.loads import TPCC

LEAST_PROCESSORS = 22
MS = 1_000_000

# Functions as the compiler names them, and the component of figure 7-4 that a sample below them belongs to: the innermost wins.
# Of the log of 8.0 the reservation without a wait is compiled into the client, and counts as the client's.
_COMPONENTS = (
    (re.compile("FlushList"), "flush_list"),
    (re.compile(r"Log\d\dI\w*E(6append|11append_late)"), "log_reservation"),
    (re.compile(r"Log\d\dI\w*E11write_up_to"), "log_write_up_to"),
)
_CLIENT = re.compile(r"8SessionsI\w*E7session")
_WORK = re.compile(r"HostMachine4work")


def component(stack: Sequence[str]) -> str | None:
    """What a client does in this sample, as the simulation names it; None when the sample is of somebody else."""
    if not any(_CLIENT.search(name) for name in stack):
        return None
    for name in stack:
        for pattern, said in _COMPONENTS:
            if pattern.search(name):
                return said
    return "statement" if any(_WORK.search(name) for name in stack) else "client"


def why_not_attributable(processors: int) -> str | None:
    """The reason by the rule above, or None."""
    if processors >= LEAST_PROCESSORS:
        return None
    return f"{processors} processors of at least {LEAST_PROCESSORS}: clients queue for processors, not for the latch"


_PROGRAM = """
import json
from engineroom import _native
print(json.dumps(_native.redo_log.run_on_host(**json.loads({arguments!r}))))
"""


def where_time_goes_host(
    load: Mapping[str, int] = TPCC, *, clients: int = 250, repeats: int = 3, run_ms: int = 2000, seed: int = 1
) -> list[Run]:
    """Figure 7-4 by samples of stacks, with the waits by latch; figure 7-5 by the clock that the threads read as they wait.

    Reading the clock is not free: the runs for figure 7-5 are other runs.
    """
    from engineroom import _native

    if repeats < 1:
        raise ValueError(f"repeats is {repeats}: pass 1 or more")
    shares: list[dict[str, Any]] = []
    waits: list[dict[str, Any]] = []
    callers: list[dict[str, Any]] = []
    with Sitting("host", seed=seed) as sitting:
        for repeat, series in in_turns(repeats, LOGS, desc="fig-7-04"):
            arguments = {
                "design": SERIES[series].name,
                "load": {**load, "clients": clients},
                "run_ns": run_ms * MS,
                "seed": seed + repeat,
                "profile": False,
            }
            printed, stacks = sampled_program(_PROGRAM.format(arguments=json.dumps(arguments)))
            seen = json.loads(printed.splitlines()[-1])
            found = [name for name in map(component, stacks) if name]
            shares += [
                {
                    "component": name,
                    "series": series,
                    "repeat": repeat,
                    "share_percent": 100 * found.count(name) / max(1, len(found)),
                    "samples": len(found),
                }
                for name in ("statement", "log_reservation", "log_write_up_to", "flush_list", "client")
            ]
            waits += [
                {"series": series, "repeat": repeat, "transactions": seen["transactions"], **wait}
                for wait in seen["waits"]
            ]
            if series == "old_redo":
                clocked = _native.redo_log.run_on_host(**{**arguments, "profile": True})
                callers += _callers(clocked["activities"], repeat)
    about: dict[str, Any] = {
        "not_attributable": why_not_attributable(os.cpu_count() or 1),
        "load": dict(load),
        "scheduling": _scheduling(),
        "columns": {
            "component": "what the clients do, the innermost of our names on the stack",
            "caller": "what a client does when it reserves or waits for the reservation",
            "share_percent": "7-4: share of the samples of the clients; 7-5: share of their time spinning or asleep in the reservation",
            "samples": "samples of the clients in this repeat",
            "transactions": "transactions of the run in which the waits were counted",
        },
    }
    return [
        sitting.run("fig-7-04", shares, tables={"waits": waits}, **about),
        sitting.run("fig-7-05", callers, **about),
    ]


def _scheduling() -> str:
    """How the system schedules this process and what it starts: `real time` when others cannot disturb the run."""
    return "real time" if os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR) else "normal"


def _callers(activities: Sequence[Activity], repeat: int) -> list[dict[str, Any]]:
    waited = time_by(activities, caller, states=("spin", "parked"))
    shares = percent({"mtr_commit": 0, "log_write_up_to": 0} | waited)
    return [
        {"caller": name, "series": "log_reservation_wait", "repeat": repeat, "share_percent": share}
        for name, share in shares.items()
    ]
