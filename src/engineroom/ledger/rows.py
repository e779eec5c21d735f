"""The ledger's rows: one for each figure and method that has a recorded run, one for each figure without.

Judging all of them takes thousands of resamples, so the rows are kept in `data/recorded/ledger.json`, together with a hash of all that they
were made of: the files of the recordings and the claims. With any other hash they are judged anew. `engineroom record` and `engineroom ledger
withdraw` keep them again, so that a change of a verdict is seen where the run is added.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from engineroom import files, paths

__all__ = ["FRAGILE_BELOW", "RESCHEDULED", "TOKENS", "Row", "keep", "rows"]

# Each verdict with the sign that stands beside it, so that colour is never the only channel.
TOKENS = {
    "reproduced": "✓",
    "partly": "◐",
    "undecided": "≈",
    "contradicted": "✗",
    "not_attributable": "?",
    "context": "·",
    "open": "○",
}
# Of a stable verdict at least so many resamples say the same.
FRAGILE_BELOW = 0.8
# Simulated figures once more, with the scheduling that was held against real threads.
RESCHEDULED = "own-machine-configuration"


@dataclass(frozen=True)
class Row:
    """One line of the ledger, in the words of its JSON.

    `stability` is from 0 to 1, None where there is no verdict of a run; `protocols` has an entry for each that the figure has had, with its
    recordings and the verdict of each; `fragile` the varied numbers of a simulated machine that change the verdict; `varied` on how many
    machines and loads a simulated run was tried beside its own, 0 where it was never varied and None for other methods; `rescheduled` the
    verdict that one seed gives with the scheduling held against real threads, if the same seed gives another without; else None.
    """

    figure: str
    chapter: str
    method: str | None
    verdict: str
    claims_held: int
    claims_total: int
    origin: str | None
    recorded_at: str | None
    fragile: tuple[str, ...] | None = None
    stability: float | None = None
    protocols: list[dict[str, Any]] = field(default_factory=list)
    repeats: int = 0
    reason: str | None = None
    varied: int | None = None
    rescheduled: str | None = None

    @property
    def is_fragile(self) -> bool:
        """Whether too few resamples and variations of the run say the same."""
        return self.stability is not None and self.stability < FRAGILE_BELOW

    def json(self) -> dict[str, Any]:
        """The row as a program reads it."""
        return asdict(self)


def rows(*, chapter: str | None = None) -> list[Row]:
    """Every figure of the sources, in their order; all, or those that a chapter owns."""
    found = _kept(_made_of())
    if found is None:
        from engineroom.ledger import judging

        found = judging.rows()
    return [row for row in found if chapter in (None, row.chapter)]


def keep() -> Path:
    """Judge every figure that has a recording and keep the rows; return the path of their file."""
    from engineroom.ledger import judging

    kept = {"made_of": _made_of(), "rows": [row.json() for row in judging.rows()]}
    files.write_whole(_file(), json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    return _file()


def _kept(made_of: str) -> list[Row] | None:
    """The rows that were kept; None where there are none, or they were made of something else."""
    if not _file().exists():
        return None
    held = json.loads(_file().read_text(encoding="utf-8"))
    if held["made_of"] != made_of:
        return None
    return [
        Row(**{**row, "fragile": None if row["fragile"] is None else tuple(row["fragile"])})
        for row in held["rows"]
    ]


def _file() -> Path:
    return paths.data() / "recorded" / "ledger.json"


def _made_of() -> str:
    """A hash of the claims and of every file of a recording that is judged: name and bytes, in the order of the names."""
    hashed = hashlib.sha256((paths.data() / "published" / "figures.yaml").read_bytes())
    found = (file for kind in ("*/*.*.*", "*/withdrawn/*.*.*") for file in _file().parent.glob(kind))
    for file in sorted(found):
        if not file.name.startswith("own-") or file.name.startswith(f"{RESCHEDULED}."):
            hashed.update(f"{file.name}\0".encode() + file.read_bytes())
    return hashed.hexdigest()
