"""The recorded sittings of each bench: how they are kept, and what pages show of them.

`python -m engineroom.bench --record [word ...]` measures and keeps. Sittings lie in `data/recorded/bench` as runs do: added,
never changed; the newest that is not withdrawn is shown.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from engineroom import runs
from engineroom.errors import EngineRoomError
from engineroom.show.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from engineroom.bench import Row

__all__ = ["Shown", "keep", "medians", "newest", "planning", "shown"]

FOLDER = "bench"
COLUMNS = {
    "series": "what was measured",
    "ours": "our value, in `unit`; of CPU times the best of the repeats",
    "unit": "the unit of `ours` and `peer_value`",
    "peer": "what it is compared with; empty where the goal is a limit of the same run, or a rate",
    "peer_value": "its value, in `unit`",
    "ratio": "what the goal is about: peer to ours or ours to peer, as the goal's side says, or a value with a limit",
    "goal": "the side and the limit, fixed before measuring",
    "holds": "whether the goal was reached; empty where the machine was too busy to judge",
}
MANY_ROWS = 12
# Goals that are none any more, and why; their rows stay in the sittings that have them.
WITHDRAWN = {
    "mini-transaction commit, 8.0 against 5.7, 1 thread(s)": "that 8.0 is dearer alone was expected of it and promises a reader nothing; "
    "num-deg-3 measures it in turns, with an interval",
}


def keep(word: str, rows: Sequence[Row], seen: dict[str, Any]) -> Path:
    """Add a sitting to the recorded ones; return the path of its CSV."""
    import pandas as pd

    table = pd.DataFrame([asdict(row) for row in rows]).rename(columns={"name": "series"})
    table = table.assign(peer=table["peer"].fillna(""), holds=table["holds"].astype("boolean"), repeat=0)
    run = runs.Run(_figure(word), "kernel", table, seen, summary="min", columns=COLUMNS)
    return runs.save(run, chapter=FOLDER)


def newest(word: str) -> runs.Run:
    """The newest sitting that is not withdrawn."""
    run = runs.latest(_figure(word), "kernel")
    if run is None:
        raise EngineRoomError(
            f"no sitting of the bench of {word!r} is recorded",
            remedy=f"`python -m engineroom.bench --record {word}` on a quiet machine",
        )
    return run


def _figure(word: str) -> str:
    return f"own-bench-{word.replace('_', '-')}"


@dataclass(frozen=True)
class Shown:
    """A sitting on a page: all rows, or with many the missed ones and each goal's narrowest, the others folded."""

    first: Table
    folded: Table | None

    def _repr_html_(self) -> str:
        if self.folded is None:
            return self.first._repr_html_()
        summary = html.escape(f"All {len(self.folded.rows)} rows")
        return f"{self.first._repr_html_()}<details><summary>{summary}</summary>{self.folded._repr_html_()}</details>"

    def __repr__(self) -> str:
        return repr(self.folded or self.first)


def shown(word: str) -> Shown:
    """The newest sitting for the page of its chapter: what was promised, what came of it, misses first."""
    run, sittings = newest(word), _sittings(word)
    table = run.table
    over = _over(sittings)
    said, origin = _counted(_promised(table)), _origin(run)
    said += (
        f" {_depending_said(len(_depending(table, over)))}"
        if len(sittings) > 1
        else " It is the only sitting so far."
    )
    said += "".join(
        f" The goal of {name!r} is withdrawn: {why}."
        for name, why in WITHDRAWN.items()
        if name in set(table["series"])
    )
    if len(table) <= MANY_ROWS:
        return Shown(Table(_for_readers(table, over), said, origin, kind="compact"), None)
    held = table[table["holds"].fillna(False)]
    margin = held.apply(lambda row: abs(_limit(row) / row["ratio"] - 1), axis=1)
    narrowest = margin.groupby(held["goal"], sort=False).idxmin().tolist()
    some = [*table.index[table["holds"].isna() | ~table["holds"].fillna(True)], *narrowest]
    said += " Shown are what was not held and, of each goal, the row that came nearest to it."
    return Shown(
        Table(_for_readers(table.loc[some], over), said, origin, kind="compact"),
        Table(_for_readers(table, over), "All rows of the sitting.", kind="compact"),
    )


def _promised(table: pd.DataFrame) -> pd.DataFrame:
    return table[~table["series"].isin(WITHDRAWN)].reset_index(drop=True)


def medians(words: Sequence[str]) -> Table:
    """One row per goal of the newest sittings: its ratio there, the median and the range of all sittings, and in how many it was held."""
    import pandas as pd

    rows = []
    for word in words:
        sittings = _sittings(word)
        over, every = _over(sittings), _rows(sittings)
        for name, goal, ratio in _promised(newest(word).table)[["series", "goal", "ratio"]].itertuples(
            index=False
        ):
            ratios = every[(every["series"] == name) & (every["goal"] == goal)]["ratio"]
            held, judged = over.get((name, goal), (0, 0))
            rows.append(
                {
                    "measured": f"{word}: {name}",
                    "goal": _goal(goal),
                    "newest": _number(ratio),
                    "median": f"{_number(ratios.median())} ({_number(ratios.min())} to {_number(ratios.max())})",
                    "held in sittings": f"{held} of {judged}",
                }
            )
    said = "The ratio that each goal is about, in the newest sitting and as the median and the range of all sittings with that goal."
    return Table(pd.DataFrame(rows), said, kind="compact")


def planning() -> Table:
    """How long other engines plan queries of the same shapes, beside our enumeration; context, without a goal."""
    import pandas as pd

    run = newest("join_order")
    shape = re.compile(r", ((?:chain|star|cycle|clique) \d+)")
    cells: dict[str, dict[str, str]] = {}
    missing = []
    for name, value in run.provenance["planning of others, ms"].items():
        found = shape.search(name)
        if found is None:
            missing.append(f"{name}: {value}.")
        else:
            cells.setdefault(shape.sub("", name), {})[found[1]] = _number(value)
    ours = run.provenance["enumeration with costs, CPU ms"]
    columns = {"ours, CPU": {name: _number(value) for name, value in ours.items()}} | cells
    table = pd.DataFrame(columns).fillna("").rename_axis("tables").reset_index()
    said = (
        "Milliseconds of planning. Theirs is a whole EXPLAIN, of PostgreSQL its own Planning Time; ours enumerates and "
        "compares costs, without parsing, statistics or a plan to run: context, not a race."
    )
    return Table(table, " ".join([said, *missing]), _origin(run), kind="compact")


def _over(sittings: Sequence[runs.Run]) -> dict[tuple[str, str], tuple[int, int]]:
    """For each row with its goal, in how many sittings it was held and in how many judged; a goal that was changed begins again."""
    judged = _rows(sittings).dropna(subset="holds")
    each = judged.assign(holds=judged["holds"].astype(int)).groupby(["series", "goal"])["holds"]
    return {
        (name, goal): (int(held), int(n))
        for (name, goal), held, n in each.agg(["sum", "count"]).itertuples(name=None)
    }


def _depending(
    table: pd.DataFrame, over: Mapping[tuple[str, str], tuple[int, int]]
) -> dict[str, tuple[int, int]]:
    """The goals of a sitting that were held in some sittings and missed in others, with how many held of how many judged."""
    promised = _promised(table)
    counted = {
        name: over.get((name, goal), (0, 0))
        for name, goal in zip(promised["series"], promised["goal"], strict=True)
    }
    return {name: (held, judged) for name, (held, judged) in counted.items() if 0 < held < judged}


def _depending_said(goals: int) -> str:
    return f"{goals or 'None'} of these goals {'were' if goals > 1 else 'was'} held in some sittings and missed in others."


def _for_readers(table: pd.DataFrame, over: Mapping[tuple[str, str], tuple[int, int]]) -> pd.DataFrame:
    import pandas as pd

    named = [
        f"{row['series']} ({row['unit']}" + (f"; peer: {row['peer']})" if row["peer"] else ")")
        for _, row in table.fillna({"peer": ""}).iterrows()
    ]
    return pd.DataFrame(
        {
            "measured": named,
            "ours": [_number(value) for value in table["ours"]],
            "peer": ["" if pd.isna(value) else _number(value) for value in table["peer_value"]],
            "ratio": [_number(value) for value in table["ratio"]],
            "goal": [_goal(value) for value in table["goal"]],
            "outcome": [
                "no goal"
                if name in WITHDRAWN
                else "not judged"
                if pd.isna(value)
                else "held"
                if value
                else "missed"
                for name, value in zip(table["series"], table["holds"], strict=True)
            ],
            "held in sittings": [
                f"{over[key][0]} of {over[key][1]}" if key in over and key[0] not in WITHDRAWN else ""
                for key in zip(table["series"], table["goal"], strict=True)
            ],
        }
    )


def _goal(text: str) -> str:
    return text.replace(">=", "\N{GREATER-THAN OR EQUAL TO}").replace("<=", "\N{LESS-THAN OR EQUAL TO}")


def _limit(row: pd.Series[Any]) -> float:
    return float(row["goal"].split()[1])


def _number(value: float) -> str:
    return f"{value / 1e6:.3g} M" if value >= 1e5 else f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _counted(table: pd.DataFrame) -> str:
    counts = {
        "held": int(table["holds"].fillna(False).sum()),
        "missed": int((~table["holds"].fillna(True)).sum()),
        "not judged, since the machine was busy": int(table["holds"].isna().sum()),
    }
    said = ", ".join(f"{n} {name}" for name, n in counts.items() if n or name != list(counts)[-1])
    return f"Of {len(table)} goals {said}."


def _origin(run: runs.Run) -> str:
    seen = run.provenance
    versions = "".join(f", {name} {version}" for name, version in seen["versions"].items())
    return (
        f"Recorded sitting {run.n}: {seen['date'][:10]}; {seen['cores']} cores, {seen['cpu']}; Python {seen['python']}{versions}; "
        f"load before {seen['load_before']}, after {seen['load_after']}, steal {seen['steal_percent']} %."
    )


def _sittings(word: str) -> list[runs.Run]:
    """All that are not withdrawn, the newest last."""
    return [run for run in runs.recorded(_figure(word), "kernel") if run.withdrawn is None]


def _rows(sittings: Sequence[runs.Run]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat([run.table for run in sittings], ignore_index=True)
