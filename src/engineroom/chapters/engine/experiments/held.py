"""The figures of whole engines once more: with latches held as long as a server holds them at most, and asked for in its order.

The engine holds a latch for what it reads, writes and copies inside, and for some tens of nanoseconds of its own. A server is there
longer (`own-hold-times`). Here the time by which a server's session is longer in the functions of a part, per transaction of SysBench, is given
to what the engine does under that part's latches: to each lock that it creates, each mini-transaction that it reserves, each view that
it opens. The server's functions compute before and behind their latches, too, so this is the most that it can be; another
run has half of it, and a third one the locks' alone. From the views' part nothing is taken off: the engine's clock has no name for what it is there.
The time comes on top of what statements compute, some hundredths of it.

The engine writes the redo of a statement in one piece behind its locks, and that of a commit before the commit has its number. A server goes
index by index, and takes the number first (`own-latch-order`, from which that order of the engine was written). Another figure has the engine in it, and with the times as sampled besides.

What was expected before any figure had been simulated so stands on the page with what came out: it is about verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import pandas as pd

from engineroom.chapters.engine.experiments.beside_servers import FSYNC_US, SERVERS, computer
from engineroom.chapters.engine.experiments.hold_times import LOAD, PARTS, WINDOW, part_of
from engineroom.runs import Run
from engineroom.runs.sitting import Sitting
from engineroom.runs.summary import values
from engineroom.simulating.activities import time_by
from engineroom.simulating.again import Asked, simulated_again
from engineroom.simulating.engine import run
from engineroom.simulating.experiment import SEEDS, Experiment, Given

__all__ = ["FIGURE", "OF_ORDER", "ORDERS", "WAYS", "Way", "held_sim", "holds_of", "order_sim"]

FIGURE, OF_ORDER = "own-engine-holds", "own-engine-order"
# Part of the engine -> design of it -> options.
Holds: TypeAlias = Mapping[str, Mapping[str, Mapping[str, int]]]
_LOCKS, _REDO, _VIEWS = PARTS
# A part of the engine: the option that says what one of its actions computes under its latches, and its actions per transaction.
_OPTIONS: Mapping[str, tuple[str, str]] = {
    _LOCKS: ("locks", "create_ns"),
    _REDO: ("log", "reserve_ns"),
    _VIEWS: ("trx_sys", "prepare_ns"),
}
# The designs of each part that have a server's times: those of 9.7.4 are in 8.0.25 and 8.0.26.
_DESIGNS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "locks": {"5.7.22": ["5.7"], "8.0.15": ["8.0.15"], "9.7.4": ["9.7"]},
    "log": {"5.7.22": ["5.7"], "8.0.15": ["8.0"], "9.7.4": ["8.0, writer threads off"]},
    "trx_sys": {"5.7.22": ["5.7"], "8.0.15": ["8.0"], "9.7.4": ["8.0, split", "8.0, sharded"]},
}


@dataclass(frozen=True)
class Way:
    """How engines are simulated: of the times of a part, which share is given; and whether latches are asked for in a server's order."""

    shares: Mapping[str, float] = field(default_factory=dict)
    in_server_order: bool = False


_AS_SAMPLED = dict.fromkeys(PARTS, 1.0)
WAYS: Mapping[str, Way] = {
    "as sampled": Way(_AS_SAMPLED),
    "half": Way(dict.fromkeys(PARTS, 0.5)),
    "locks alone": Way({_LOCKS: 1.0}),
}
ORDERS: Mapping[str, Way] = {
    "in a server's order": Way(in_server_order=True),
    "and as sampled": Way(_AS_SAMPLED, in_server_order=True),
}
COLUMNS = {
    "held": "how latches are held: as long as sampled, half as much more, so in the lock system alone, or in a server's order",
    "server": "version",
    "part": "functions that take a part's latches and let them go",
    "server_us": "CPU time of the server in them per transaction, median, microseconds",
    "before_us": "the same of the engine as its figures have it; of views nothing is known",
    "added_ns": "given to each action under the part's latches, ns: a lock created, a mini-transaction reserved, a view opened",
    "actions": "of the engine per transaction",
    "after_us": "the engine's time with what was given",
}
_PROBE_NS = 100_000  # so much that what is drawn otherwise does not matter


def holds_of(sampled: Run) -> tuple[dict[str, dict[str, dict[str, int]]], list[dict[str, Any]]]:
    """What each design of a part is given, in the form of a load's `holds`, and a row per server and part."""
    medians = values(
        sampled.table[sampled.table["series"] == "server"], "server", "part", y="cpu_us", how="median"
    )
    holds: dict[str, dict[str, dict[str, int]]] = {"locks": {}, "log": {}, "trx_sys": {}}
    rows: list[dict[str, Any]] = []
    for server in SERVERS:
        usual = _engine_us(server, {})
        for part, (of, option) in _OPTIONS.items():
            default = _default(of, option)
            more = _engine_us(server, {of: {option: default + _PROBE_NS}})
            actions = (more[part] - usual[part]) / _PROBE_NS * 1000
            before_us = None if part == _VIEWS else usual[part]
            missing_us = max(0.0, float(medians[server, part]) - (before_us or 0.0))
            added_ns = round(1000 * missing_us / actions)
            for design in _DESIGNS[of][server]:
                holds[of][design] = {option: default + added_ns}
            after = _engine_us(server, {of: {option: default + added_ns}})
            rows.append(
                {
                    "server": server,
                    "part": part,
                    "server_us": float(medians[server, part]),
                    "before_us": before_us,
                    "added_ns": added_ns,
                    "actions": actions,
                    "after_us": None if part == _VIEWS else after[part],
                }
            )
    return holds, rows


def _default(part: str, option: str) -> int:
    """The option's value in the figures."""
    from engineroom._native import lock_sys, read_views, redo_log

    options = {
        "locks": lock_sys.lock_options,
        "log": redo_log.log_options,
        "trx_sys": read_views.trx_sys_options,
    }
    return int(next(each.default for each in options[part]() if each.name == option))


def _engine_us(server: str, given: Mapping[str, Mapping[str, int]]) -> dict[str, float]:
    """CPU time per transaction by part, of the server's engine with one client and one of its parts' options set; of views, what is computed at all."""
    load = LOAD.in_engine(server)
    design = SERVERS[server].design
    of_design = {"locks": design.lock_design, "trx_sys": design.latches, "log": design.redo}
    holds = {part: {of_design[part]: dict(options)} for part, options in given.items()}
    seen = run(
        design,
        Given(machine=computer(FSYNC_US), load={**load, "holds": holds}, seed=1),
        clients=1,
        **WINDOW,
    )
    spent = time_by(seen["activities"], part_of, states=("work",))
    for part, ps in time_by(seen["activities"], part_of, states=("memory", "spin")).items():
        if part != _VIEWS:
            spent[part] = spent.get(part, 0) + ps
    return {part: ps / max(1, seen["transactions"]) / 1e6 for part, ps in spent.items()}


def _simulated(
    figure: str,
    of: Mapping[str, Way],
    /,
    *,
    asked: Sequence[Asked],
    sampled: Run,
    ways: Sequence[str] | None = None,
    seeds: Sequence[int] = SEEDS,
    executor: Executor | None = None,
) -> Run:
    """A row per way and figure; its points by each seed are in a table of the figure's name, in the form of its own recordings and with `held`.

    The table `given` says what each part of each server's engine was given.
    """
    rows: list[dict[str, Any]] = []
    tables: dict[str, list[pd.DataFrame]] = {}
    columns = dict(COLUMNS)
    with Sitting("sim", seed=seeds[0]) as sitting:
        holds, given = holds_of(sampled)
        for name in of if ways is None else ways:
            again = simulated_again(
                asked, partial(_otherwise, of[name], holds), seeds=seeds, executor=executor
            )
            rows += [{**row, "held": name} for row in again.rows]
            for each, table in again.tables.items():
                tables.setdefault(each, []).append(table.assign(held=name))
            columns |= again.columns
    return sitting.run(
        figure,
        rows,
        tables={
            "given": given,
            **{each: pd.concat(parts, ignore_index=True) for each, parts in tables.items()},
        },
        columns=columns,
        holds=holds,
        sampled_in_recording=sampled.n,
    )


held_sim = partial(_simulated, FIGURE, WAYS)
order_sim = partial(_simulated, OF_ORDER, ORDERS)


def _otherwise(way: Way, holds: Holds, whole: Experiment) -> dict[str, Any]:
    """The experiment's own load with what the way gives."""
    load = whole.load() if callable(whole.load) else whole.load
    engine = {"engine": {"server_order": True}} if way.in_server_order else {}
    return {"load": {**load, "holds": _share(holds, way.shares), **engine}}


def _share(holds: Holds, shares: Mapping[str, float]) -> dict[str, dict[str, dict[str, int]]]:
    """Of what is given to each part, a share."""
    shared: dict[str, dict[str, dict[str, int]]] = {}
    for part, (of, option) in _OPTIONS.items():
        default = _default(of, option)
        shared[of] = {
            design: {option: default + round(shares.get(part, 0.0) * (given[option] - default))}
            for design, given in holds[of].items()
        }
    return shared
