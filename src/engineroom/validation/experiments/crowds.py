"""The simulated machine against what others measured on many cores: one word and one lock under crowds.

`crowds_sim` runs the loop of each study of `data/studies` on the machine that the study describes. Nothing is fitted. The time of one
thread alone is where the cost of an uncontended turn was taken from: such points are drawn and not counted. Goals and the rules of
`steps` and `orders` were written before the machine was first held against a study in a run that is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from itertools import combinations, pairwise
from typing import Any

import pandas as pd

from engineroom import paths
from engineroom.runs import Run
from engineroom.runs.sitting import Sitting
from engineroom.simulating.sweep import sweep
from engineroom.validation import studies
from engineroom.validation.studies import Series, Study

SEEDS = (1, 2, 3)
RUN_NS, WARMUP_NS = 4_000_000, 1_000_000
GOAL_PERCENT = 30.0  # the median error of throughput that is hoped for
# What a study measured moves, or tells two locks apart, when it changes by more than this.
MOVES_PERCENT = 10.0
FACTORS = (0.5, 1.5)
# Tried beside the machine of the book, which has none: a line stays until the next request has come half of its way. Half, since of a
# transfer the request goes one way and the line comes back the same; nobody measured it.
LINE_STAY_PERMILLE = 500

COLUMNS = {
    "study": "the study, by its file in data/studies",
    "lock": "the lock or operation",
    "threads": "threads that take turns without end",
    "series": "published: what the study measured; simulated: in virtual time on the machine that the study describes",
    "ns_per_turn": "time between two turns of all threads together, ns",
    "where": "where the second CPU lies, seen from the first",
    "how": "how a CPU finds out that it is its turn; of the blind turns the distances are made",
    "published_ns": "ns per turn of both CPUs, the median of the second CPUs read",
    "simulated_ns": "the same in virtual time",
    "parameter": "the varied number of the study's machine",
    "factor": "times its value there",
    "line_stay_permille": "of the way of the next request, for how much a line stays with its owner",
}


def _ns_per_turn(study: Study, series: Series, threads: int, seed: int, line_stay_permille: int = 0) -> float:
    from engineroom._native import machine

    running = min(threads, study.pool) if study.pool else threads
    seen = machine.crowd(
        parameters={**study.machine_for(running), "line_stay_permille": line_stay_permille},
        threads=running,
        cpus=study.cpus(running),
        run_ns=RUN_NS,
        warmup_ns=WARMUP_NS,
        seed=seed,
        **series.options,
    )
    return float(seen["window_ns"] / max(1, seen["turns"].sum()))


def _turn_of_two(operation: str, transfer_ps: int, rmw_ps: int, load_ps: int) -> float:
    """ns per turn of two CPUs that are so far apart."""
    from engineroom._native import machine

    apart = {"cores_per_socket": 2, "same_socket_ps": transfer_ps, "rmw_ps": rmw_ps, "load_ps": load_ps}
    seen = machine.crowd(parameters=apart, operation=operation, threads=2, run_ns=RUN_NS, warmup_ns=WARMUP_NS)
    return float(seen["window_ns"] / max(1, seen["turns"].sum()))


def _pairs(study: Study) -> list[dict[str, Any]]:
    """Two CPUs at each of the study's distances. Blind turns give the distance; turns behind a look do not."""
    read = pd.read_csv(paths.data() / "studies" / f"{study.name}.pairs.csv")
    middle = read.groupby(["where", "series"], sort=False)["published"].median().unstack()
    machine = {name: value for name, value in study.machine.values().items() if isinstance(value, int)}
    operations = {"blind compare-and-swap": "blind_turns", "look, then increment": "turns"}
    rows = []
    for where, published in middle.iterrows():
        transfer_ps = round(1000 * published["blind compare-and-swap"]) - machine["rmw_ps"]
        for how, operation in operations.items():
            simulated_ns = _turn_of_two(operation, transfer_ps, machine["rmw_ps"], machine["load_ps"])
            rows.append(
                {"where": where, "how": how, "published_ns": published[how], "simulated_ns": simulated_ns}
            )
    return rows


def _points(chosen: Sequence[Study]) -> list[dict[str, Any]]:
    """Each study, lock and number of threads, once."""
    points = []
    for study in chosen:
        published = study.published()
        for series in study.series:
            mine = published[published["series"] == series.name]
            points += [
                {"study": study, "series": series, "threads": int(n)} for n in sorted(set(mine["threads"]))
            ]
    return points


def crowds_sim(
    *,
    names: Sequence[str] | None = None,
    seeds: Sequence[int] = SEEDS,
    factors: Sequence[float] = FACTORS,
    executor: Executor | None = None,
) -> Run:
    """All studies, or those named: what they measured, and the same on their machines by each seed.

    The table `varied` has each contended point again with each number of the machine that is cited or estimated times each of `factors`;
    `stays` has each of them where lines stay with their owners; `pairs` has two CPUs at the distances of the one study that published them.
    """
    chosen = [studies.study(name) for name in names or studies.names()]
    points = _points(chosen)
    contended = [point for point in points if point["threads"] > 1]
    with Sitting("sim", seed=seeds[0]) as sitting:
        simulated = sweep(
            _ns_per_turn,
            [{**point, "seed": seed} for point in points for seed in seeds],
            executor=executor,
            desc="studies",
        )
        changes = [
            (point, parameter, factor)
            for point in contended
            for parameter in point["study"].machine.uncertain()
            for factor in factors
        ]
        varied = sweep(
            _ns_per_turn,
            [
                {**point, "study": point["study"].varied(parameter, factor), "seed": seeds[0]}
                for point, parameter, factor in changes
            ],
            executor=executor,
            desc="studies, varied",
        )
        stays = {"seed": seeds[0], "line_stay_permille": LINE_STAY_PERMILLE}
        stayed = sweep(
            _ns_per_turn,
            [{**point, **stays} for point in contended],
            executor=executor,
            desc="studies, where lines stay",
        )
        pairs = [row for study in chosen if _has_pairs(study) for row in _pairs(study)]
    rows = [
        {"study": study.name, "lock": each.series, "threads": each.threads, "series": "published"}
        | {"repeat": each.repeat, "ns_per_turn": each.ns_per_turn}
        for study in chosen
        for each in study.published().itertuples()
    ]
    turns = [(point, repeat) for point in points for repeat in range(len(seeds))]
    rows += [
        {**_named(point), "series": "simulated", "repeat": repeat, "ns_per_turn": ns}
        for (point, repeat), ns in zip(turns, simulated, strict=True)
    ]
    tables = {
        "varied": [
            {**_named(point), "parameter": parameter, "factor": factor, "ns_per_turn": ns}
            for (point, parameter, factor), ns in zip(changes, varied, strict=True)
        ],
        "stays": [
            {**_named(point), "line_stay_permille": LINE_STAY_PERMILLE, "ns_per_turn": ns}
            for point, ns in zip(contended, stayed, strict=True)
        ],
        "pairs": pairs,
    }
    return sitting.run(
        "own-machine-crowds",
        rows,
        tables={name: table for name, table in tables.items() if table},
        columns=COLUMNS,
        run_ns=RUN_NS,
        warmup_ns=WARMUP_NS,
        machines={study.name: study.machine.values() for study in chosen},
    )


def _has_pairs(study: Study) -> bool:
    return (paths.data() / "studies" / f"{study.name}.pairs.csv").exists()


def _named(point: dict[str, Any]) -> dict[str, Any]:
    name = str(point["study"].name)
    return {"study": name, "lock": point["series"].name, "threads": point["threads"]}


def off(table: pd.DataFrame) -> pd.DataFrame:
    """One row a contended point: medians of both, and how far our throughput is off in percent of the published one."""
    middle = (
        table.groupby(["study", "lock", "threads", "series"], sort=False)["ns_per_turn"]
        .median()
        .unstack("series")
        .reset_index()
    )
    middle = middle[middle["threads"] > 1]
    return middle.assign(off_percent=100 * (middle["published"] / middle["simulated"] - 1)).reset_index(
        drop=True
    )


def staying(table: pd.DataFrame, stays: pd.DataFrame) -> pd.DataFrame:
    """As `off`, with what was simulated where lines stay."""
    published = table[table["series"] == "published"]
    return off(pd.concat([published, stays.assign(series="simulated", repeat=0)]))


def stays_as_varied(stays: pd.DataFrame) -> pd.DataFrame:
    """As the table `varied`: a number that is 0 has no half, so that its factor is the value that was tried instead."""
    return stays.rename(columns={"line_stay_permille": "factor"}).assign(parameter="line_stay_permille")


def _moved(before: float, after: float) -> bool:
    return abs(after / before - 1) > MOVES_PERCENT / 100


def steps(points: pd.DataFrame) -> pd.DataFrame:
    """From each number of threads to the next, where what was published moves: whether ours moves the same way."""
    rows = []
    for (study, lock), mine in points.groupby(["study", "lock"], sort=False):
        for one, other in pairwise(mine.sort_values("threads").to_dict("records")):
            if not _moved(one["published"], other["published"]):
                continue
            rises = other["published"] > one["published"]
            rows.append(
                {"study": study, "lock": lock, "threads": one["threads"], "to_threads": other["threads"]}
                | {"is_right": (other["simulated"] > one["simulated"]) == rises}
            )
    return pd.DataFrame(rows, columns=["study", "lock", "threads", "to_threads", "is_right"])


def orders(points: pd.DataFrame) -> pd.DataFrame:
    """Two locks of one study at one number of threads that the study tells apart: whether the same one is faster here."""
    rows = []
    for (study, threads), mine in points.groupby(["study", "threads"], sort=False):
        for one, other in combinations(mine.to_dict("records"), 2):
            if not _moved(one["published"], other["published"]):
                continue
            faster, slower = (one, other) if one["published"] < other["published"] else (other, one)
            rows.append(
                {"study": study, "threads": threads, "faster": faster["lock"], "slower": slower["lock"]}
                | {"is_right": faster["simulated"] < slower["simulated"]}
            )
    return pd.DataFrame(rows, columns=["study", "threads", "faster", "slower", "is_right"])


def pairs_off(pairs: pd.DataFrame) -> pd.DataFrame:
    """Turns behind a look, at each distance: how far our time is off, in percent."""
    looks = pairs[pairs["how"] == "look, then increment"]
    return looks.assign(off_percent=100 * (looks["simulated_ns"] / looks["published_ns"] - 1)).reset_index(
        drop=True
    )


def moves(table: pd.DataFrame, varied: pd.DataFrame, *, seed: str) -> pd.DataFrame:
    """How far throughput moves at each point with each parameter and factor, and with other seeds, which are a parameter `seed`."""
    points = ["study", "lock", "threads"]
    simulated = table[table["series"] == "simulated"]
    usual = simulated[simulated["repeat"] == 0].set_index(points)["ns_per_turn"].rename("usual_ns")
    others = simulated[(simulated["repeat"] > 0) & (simulated["threads"] > 1)]
    both = pd.concat([others.assign(parameter=seed, factor=others["repeat"]), varied]).join(usual, on=points)
    claim = both["study"] + ", " + both["lock"] + ", " + both["threads"].astype(str)
    return both.assign(claim=claim, moved_percent=100 * (both["usual_ns"] / both["ns_per_turn"] - 1))[
        ["parameter", "factor", "claim", "moved_percent"]
    ].reset_index(drop=True)


def sensitivities(table: pd.DataFrame, varied: pd.DataFrame) -> pd.DataFrame:
    """How far throughput moves with each parameter and factor, in the median over the points and at most; what moves it most first."""
    moved = moves(table[table["repeat"] == 0], varied, seed="")
    found = moved.assign(size=moved["moved_percent"].abs()).groupby(["parameter", "factor"])
    table = found.agg(median_percent=("moved_percent", "median"), most_percent=("size", "max")).reset_index()
    most = table.groupby("parameter")["most_percent"].max().sort_values(ascending=False)
    return table.set_index("parameter").loc[most.index].reset_index()
