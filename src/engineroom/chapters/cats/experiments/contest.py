"""A schedule of your own against those of the servers and of the literature, on one load.

The load is SysBench's read-write transactions of 300 clients over 10,000 rows, most of them on few: on it the order matters most of the
five loads of `own-cats-policies`. The engine is a stock one of late 8.0, and no deadlock is printed. A place on the board is the
median over the seeds; on another load it may be another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from engineroom import progress
from engineroom.chapters.cats.experiments.policies import LOADS, load_of
from engineroom.chapters.cats.standings import POLICIES
from engineroom.errors import EngineRoomError
from engineroom.machine.presets import parameters
from engineroom.simulating.engine import Design, GrantOrder, observed
from engineroom.simulating.experiment import Given
from engineroom.simulating.sources import MACHINE

LOAD = "special"
SEEDS = (1, 2, 3, 4, 5)
WINDOW: Mapping[str, int] = {"first_ms": 300, "longest_ms": 300, "warmup_ms": 200}


def leaderboard(
    yours: Mapping[str, GrantOrder], *, seeds: Sequence[int] = SEEDS, policies: Mapping[str, str] = POLICIES
) -> pd.DataFrame:
    """The schedules, the fastest first: `tps` is the median over `seeds`, `least` and `most` are the ends, `over_cats` is over that of CATS.

    `yours` are functions by name: each gets the waiters of a record in queue order, each a dict of trx, started, weight, mode and
    is_urgent, and returns their places in the order in which they are tried; who is left out waits on. A run takes a second.
    Raises ValueError for a place that no waiter has, EngineRoomError for a name that a policy has already.
    """
    if taken := sorted(set(yours) & set(policies)):
        raise EngineRoomError(f"{', '.join(taken)} is a policy already", remedy="give yours another name")
    entries: dict[str, GrantOrder | None] = {**dict.fromkeys(policies), **yours}
    rows = []
    with progress.bar(desc="Leaderboard", total=len(entries) * len(seeds)) as bar:
        for name, order in entries.items():
            for seed in seeds:
                rows.append({"schedule": name, **_run(policies.get(name, ""), order, seed)})
                bar.update()
    board = (
        pd.DataFrame(rows)
        .groupby("schedule")
        .agg(
            tps=("tps", "median"),
            least=("tps", "min"),
            most=("tps", "max"),
            deadlocks_per_1000=("deadlocks_per_1000", "median"),
        )
    )
    if "cats" in board.index:
        board.insert(1, "over_cats", board["tps"] / board["tps"]["cats"])
    return board.sort_values("tps", ascending=False)


def _run(policy: str, order: GrantOrder | None, seed: int) -> dict[str, float]:
    clients, _ = LOADS[LOAD]
    given = Given(machine=parameters(MACHINE), load=load_of(LOAD), seed=seed)
    seen, _ = observed(
        Design(locks={"policy": policy} if policy else {}), given, order, clients=clients, **WINDOW
    )
    return {"tps": seen["tps"], "deadlocks_per_1000": 1000 * seen["deadlocks"] / max(1, seen["transactions"])}
