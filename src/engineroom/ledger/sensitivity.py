"""How far a varied number of the simulated machine moves what a figure's claims ask for, beside what another seed moves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from engineroom.ledger.claims import figures
from engineroom.ledger.rows import RESCHEDULED
from engineroom.ledger.verdicts import Claim, judge
from engineroom.runs import Run, latest

__all__ = [
    "MOVES_PERCENT",
    "RESCHEDULED",
    "SEED",
    "farthest",
    "rescheduled",
    "sensitivity",
    "varied_runs",
]

# What stands beside the varied numbers: the usual machine with other seeds.
SEED = "another seed"
# A number that moves what a figure is asked by more needs a cited range.
MOVES_PERCENT = 10.0

COLUMNS = [
    "figure",
    "parameter",
    "factor",
    "claim",
    "moved_percent",
    "outcome",
    "usual_outcome",
    "verdict",
    "usual_verdict",
]


def varied_runs() -> list[Run]:
    """The newest simulated run of each figure of the sources, where its machine was varied."""
    newest = (latest(figure, "sim") for figure in figures())
    return [run for run in newest if run is not None and "varied" in run.tables and not run.not_attributable]


def rescheduled(runs: Iterable[Run], other: Run | None = None) -> pd.DataFrame:
    """As `sensitivity`, for the scheduling held against real threads: of the runs that were simulated with it, in `other` or its newest recording.

    The parameter is `RESCHEDULED`, and the factor is 1.
    """
    other = other or latest(RESCHEDULED, "sim")
    tables = {} if other is None else other.tables
    compared = [
        replace(run, tables={"varied": tables[run.figure].assign(parameter=RESCHEDULED, factor=1.0)})
        for run in runs
        if run.method == "sim" and run.figure in tables
    ]
    found = sensitivity(compared)
    return found[found["parameter"] == RESCHEDULED].reset_index(drop=True)


def sensitivity(runs: Iterable[Run]) -> pd.DataFrame:
    """One row per figure, varied number, factor and claim: how far the ratio of an effect moves, and what becomes of the claim.

    The varied machines were run by one seed, so they are compared with the same seed on the usual one. The rows of the parameter `SEED`
    have the run's other seeds, by their repeat. The truth of a shape does not move; its outcome may change.
    """
    rows = [row for run in runs for row in _rows(run)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _rows(run: Run) -> list[dict[str, object]]:
    usual = judge(run.with_table(run.table[run.table["repeat"] == 0]))
    before = {(claim.id, claim.part): claim for claim in usual.claims}
    others = run.table[run.table["repeat"] > 0]
    varied = pd.concat([others.assign(parameter=SEED, factor=others["repeat"]), run.tables["varied"]])
    found: list[dict[str, object]] = []
    for (parameter, factor), table in varied.groupby(["parameter", "factor"], sort=False):
        again = judge(run.with_table(table.assign(repeat=0)))
        found += [
            {
                "figure": run.figure,
                "parameter": parameter,
                "factor": factor,
                "claim": claim.id,
                "moved_percent": _moved(before[claim.id, claim.part], claim),
                "outcome": claim.outcome,
                "usual_outcome": before[claim.id, claim.part].outcome,
                "verdict": again.verdict,
                "usual_verdict": usual.verdict,
            }
            for claim in again.claims
            if claim.part != "direction"  # the magnitude has the same ratio
        ]
    return found


def _moved(before: Claim, after: Claim) -> float:
    """In percent of the ratio; nan for the truth of a shape, and where a ratio is missing."""
    if before.part == "shape" or not before.ours or after.ours is None:
        return float("nan")
    return 100 * (after.ours / before.ours - 1)


def farthest(found: pd.DataFrame) -> pd.DataFrame:
    """One row per figure, varied number and factor: the largest move of a ratio, by its sign, and whether the verdict flips."""
    found = found.reset_index(drop=True)
    known = found.assign(size=found["moved_percent"].abs().fillna(0))
    by = ["figure", "parameter", "factor"]
    most = known.loc[known.groupby(by, sort=False)["size"].idxmax(), [*by, "claim", "moved_percent"]]
    flips = (found["verdict"] != found["usual_verdict"]).groupby([found[each] for each in by], sort=False)
    outcomes = (found["outcome"] != found["usual_outcome"]).groupby([found[each] for each in by], sort=False)
    return (
        most.fillna({"moved_percent": 0.0})
        .set_index(by)
        .assign(flips=flips.any(), outcomes_changed=outcomes.sum())
        .reset_index()
    )
