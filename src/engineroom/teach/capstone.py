"""The capstone: recorded servers on twelve processors, what bounds each of them, and what came of a change.

Both are read off recordings. What bounds a server is in its counters; what a change gives is another run.
"""

from __future__ import annotations

import functools
import math
import random
import statistics
from typing import Any

from engineroom.teach import servers

__all__ = ["CAUSES", "bounded", "changes"]

Case = tuple[str, int, str, str]  # load, clients, version, setting
CAUSES = ("clients", "device", "processors", "rows")
COLUMNS = ("tps", "p95_ms", "server_cpus", "cpu_us", "switches", "fsyncs", "redo_bytes", "row_lock_waits", "row_lock_ms")  # fmt: skip
PROCESSORS = 12
MORE_CLIENTS = {1: 8, 8: 32, 16: 64, 32: 128, 64: 256}
LOADS = {"hot rows": "hot rows", "uniform": "read-write"}
# As many times as many transactions are "much", "some" or "less"; what is nearer than a twelfth to a limit is no question.
MUCH, SOME = 2, 1.2


@functools.cache
def _recorded() -> dict[Case, dict[str, float]]:
    repeats: dict[Case, list[dict[str, Any]]] = {}
    for row in servers.excerpt("devices"):
        repeats.setdefault((row["load"], row["clients"], row["series"], row["setting"]), []).append(row)
    return {
        case: {column: statistics.median(row[column] for row in rows) for column in COLUMNS}
        for case, rows in repeats.items()
    }


def _gain(before: Case, after: Case) -> float:
    """How many times as many transactions; 1 where one of the two was not recorded."""
    seen = _recorded()
    return seen[after]["tps"] / seen[before]["tps"] if before in seen and after in seen else 1.0


def _cause(case: Case) -> str:
    """What bounds a server, or nothing where that is not clear."""
    *_, setting = case
    seen, clients = _recorded()[case], case[1]
    without = _gain(case, (*case[:3], "usual")) if setting == servers.SLOW else 1.0
    if without > SOME:
        return "device" if without > 1.9 else ""
    if seen["row_lock_ms"] * seen["tps"] / 1000 > clients / 2:
        return "rows"
    if seen["server_cpus"] > 11:
        return "processors"
    return "clients" if clients == 1 else ""


def _shown(case: Case) -> dict[str, Any]:
    load, clients, version, setting = case
    said = {"load": LOADS[load], "version": version, "clients": clients}
    return said | {"fsync_us": 100 if setting == servers.SLOW else 0} | _recorded()[case]


def bounded(seed: int = 0) -> dict[str, tuple[dict[str, Any], str]]:
    """Six servers A to F: what they counted, and what bounds them.

    Each cause is among them. So are processors that are in use although the device is slow, and a crowd that takes long although nobody holds a row.
    """
    dice = random.Random(f"bounded-{seed}")
    of = {cause: [case for case in _recorded() if _cause(case) == cause] for cause in CAUSES}
    chosen = [(dice.choice(of[cause]), cause) for cause in ("clients", "device", "rows")]
    for cause, kind in (
        ("rows", [case for case in of["rows"] if case[3] == "usual"]),
        ("processors", [case for case in of["processors"] if case[3] == servers.SLOW]),
        ("processors", [case for case in of["processors"] if case[1] >= 128 and case[3] == "usual"]),
    ):
        chosen.append((dice.choice([case for case in kind if (case, cause) not in chosen]), cause))
    dice.shuffle(chosen)
    return {name: (_shown(case), cause) for name, (case, cause) in zip("ABCDEF", chosen, strict=True)}


def changes(seed: int = 0) -> dict[str, tuple[dict[str, Any], str]]:
    """Five changes A to E: what the server counted before, with `change`, and whether it then did "much" or "some" more, "less", or neither."""
    dice = random.Random(f"changed-{seed}")
    made = []
    for kind, loads in (
        ("version", {"hot rows"}),
        ("version", {"uniform"}),
        ("device", {"hot rows", "uniform"}),
        ("clients", {"hot rows"}),
        ("clients", {"uniform"}),
    ):
        before, after, said = dice.choice([each for each in _changes(kind) if each[0][0] in loads])
        made.append((_shown(before) | {"change": said}, _word(_gain(before, after))))
    dice.shuffle(made)
    return dict(zip("ABCDE", made, strict=True))


def _changes(kind: str) -> list[tuple[Case, Case, str]]:
    found: list[tuple[Case, Case, str]] = []
    for case in _recorded():
        load, clients, version, setting = case
        if kind == "device" and setting == servers.SLOW:
            found.append((case, (load, clients, version, "usual"), "fsync_us: 0"))
        elif kind == "version" and (version, setting) == ("5.7.22", "usual"):
            found.append((case, (load, clients, "9.7.4", setting), "version: 9.7.4"))
        elif kind == "clients" and setting == "usual" and clients in MORE_CLIENTS:
            more = MORE_CLIENTS[clients]
            found.append((case, (load, more, version, setting), f"clients: {more}"))
    return [each for each in found if each[1] in _recorded() and _is_clear(_gain(each[0], each[1]))]


def _is_clear(gain: float) -> bool:
    return all(abs(math.log(gain / limit)) > math.log(13 / 12) for limit in (MUCH, SOME, 1 / SOME))


def _word(gain: float) -> str:
    if gain > SOME:
        return "much" if gain > MUCH else "some"
    return "less" if gain < 1 / SOME else "none"
