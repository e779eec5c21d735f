"""Random histories of the kernel against its oracle: reads at READ COMMITTED and REPEATABLE READ, and each planted mistake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engineroom import _native
from engineroom.progress import bar
from engineroom.runs import Run
from engineroom.runs.sitting import Sitting


@dataclass(frozen=True)
class Design:
    """A transaction system as a server has it, or as the remedy would make it."""

    latches: str
    views: str


# By the version whose design it is; the remedied one is nobody's.
DESIGNS: Mapping[str, Design] = {
    "5.6": Design("5.6", "removed"),
    "5.7": Design("5.7", "kept"),
    "5.7, remedied": Design("5.7", "removed_at_once"),
    "8.0": Design("8.0", "kept"),
    "8.0, split": Design("8.0, split", "kept"),
    "9.7": Design("8.0, sharded", "kept"),
}
# What is 0 without a mistake.
FAILURES = ("wrong_reads", "missing_history", "wrong_views", "purge_too_far", "wrongly_active", "leftovers")
COLUMNS = {
    "series": "whose transaction system",
    "mistake": "the rule that is broken, or none",
    "runs": "histories, each with a seed of its own",
    "reads": "of one row in one snapshot, each compared with the oracle",
    "reads_of_older": "of those, from an undo log",
    "views_reused": "reads that opened their last view again without the mutex",
    "commits": "transactions that wrote",
    "purged": "undo logs removed",
    "failures": "reads, views and purges that were wrong, of every kind",
    "wrong_reads": "another value than the snapshot has",
    "missing_history": "reads that needed an undo log which purge had removed",
    "wrong_views": "views whose limits contradict each other",
    "purge_too_far": "purge's limit beyond that of an open view",
    "wrongly_active": "transactions found active behind their end",
    "leftovers": "histories that end with an id, a view or an undo log left",
}


def histories_kernel(*, runs: int = 1_500, seed: int = 1) -> Run:
    """Histories of each design without a mistake, and of 5.7's and 9.7's with each that can be made."""
    kernel = _native.read_views
    asked = [(name, "none") for name in DESIGNS]
    asked += [
        (name, mistake) for name in ("5.7", "9.7") for mistake in kernel.mistakes() if mistake != "none"
    ]
    rows: list[dict[str, Any]] = []
    with Sitting("kernel", seed=seed) as sitting:
        for name, mistake in bar(asked, desc="histories", unit="design"):
            design = DESIGNS[name]
            seen = kernel.histories(
                {"runs": runs, "seed": seed}, latches=design.latches, views=design.views, mistake=mistake
            )
            rows.append(
                {
                    "series": name,
                    "mistake": mistake,
                    "repeat": 0,
                    "failures": sum(seen[failure] for failure in FAILURES),
                    **{key: seen[key] for key in COLUMNS if key in seen},
                }
            )
    return sitting.run("own-read-views-histories", rows, columns=COLUMNS)
