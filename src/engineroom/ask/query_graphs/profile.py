"""Where a running server plans: samples of its call stacks by `perf`, its enumerator told from what it calls.

A distribution's server exports the names of most functions but not those of one file alone, such as the enumerator. The
table for unwinding still knows where each function begins, and the enumerator is known by its callers and callees (`Enumerator`).
"""

from __future__ import annotations

import bisect
import itertools
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from engineroom.errors import EngineRoomError
from engineroom.measuring import perf

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["Enumerator", "Stack", "enumerator", "folded", "function_starts", "sample", "shares"]

PLANNER = "FindBestQueryPlan"
STATEMENT = "dispatch_command"
Stack = tuple[str, ...]  # outermost function first; one without an exported name is named by where it begins


@dataclass(frozen=True)
class Enumerator:
    """The enumerator's three functions, which MySQL calls ExpandSubgraph, EnumerateComplementsTo and ExpandComplement."""

    subgraph: str
    complements: str
    complement: str


def enumerator(stacks: Sequence[Stack]) -> Enumerator | None:
    """The enumerator by its calls, or None when they do not single it out. This is the rule, written before any run:

    Of the functions below the planner that have no exported name (the enumerator that only counts pairs, for simplification,
    has one): some `run` calls `subgraph`, which calls itself, and `complements`, which `subgraph` calls, too; `complements`
    calls `complement`, which calls itself. There must be exactly one such triple.
    """
    calls: set[tuple[str, str]] = set()
    for stack in stacks:
        if PLANNER in stack:
            below = stack[stack.index(PLANNER) + 1 :]
            calls |= {pair for pair in itertools.pairwise(below) if all("+" in name for name in pair)}
    callees: dict[str, set[str]] = {}
    for caller, callee in calls:
        callees.setdefault(caller, set()).add(callee)
    recursive = {caller for caller, callee in calls if caller == callee}
    found = {
        Enumerator(a, b, c)
        for run in callees
        for a in callees[run] & recursive - {run}
        for b in callees[run] & callees[a] - {run, a}
        for c in callees.get(b, set()) & recursive - {run, a, b}
    }
    return found.pop() if len(found) == 1 else None


def shares(stacks: Sequence[Stack], known: Enumerator | None) -> dict[str, float]:
    """Percent of a statement's samples in the plan search, in growing sets, and in what the growing functions call.

    With an unknown enumerator only the first, and as all of the planner.
    """
    growing = {known.subgraph, known.complements, known.complement} if known else {PLANNER}
    statement = search = connecting = 0
    for stack in stacks:
        if STATEMENT not in stack:
            continue
        statement += 1
        if not growing & set(stack):
            continue
        search += 1
        connecting += stack[-1] not in growing
    if statement == 0:
        raise EngineRoomError(
            "no sample is of a statement", remedy="let the statement run while it is sampled"
        )
    if known is None:
        return {"plan_search": 100 * search / statement}
    return {
        "plan_search": 100 * search / statement,
        "connecting_pairs": 100 * connecting / statement,
        "growing_subgraphs": 100 * (search - connecting) / statement,
    }


def folded(stacks: Sequence[Stack], known: Enumerator | None) -> dict[Stack, int]:
    """How many samples each call path below the planner has: calls of oneself once, and the enumerator by its names."""
    names = (
        dict(
            zip(
                vars(known).values(),
                ("ExpandSubgraph", "EnumerateComplementsTo", "ExpandComplement"),
                strict=True,
            )
        )
        if known
        else {}
    )
    paths: dict[Stack, int] = {}
    for stack in stacks:
        if PLANNER not in stack:
            continue
        path: list[str] = []
        for name in stack[stack.index(PLANNER) :]:
            said = names.get(name, re.sub(r"[(<].*", "", name))
            if not path or path[-1] != said:
                path.append(said)
        paths[tuple(path)] = paths.get(tuple(path), 0) + 1
    return paths


def sample(server: Server, work: Callable[[], None], *, seconds: float, hertz: int = 499) -> list[Stack]:
    """Run `work` again and again, and return the call stacks of the server's threads, `hertz` a second of CPU time."""
    if server.pid is None:
        raise EngineRoomError(
            "the server is not a process of this machine",
            remedy="start one here: engineroom doctor lists them",
        )
    # A planner recurses deeply, and each sample takes the stack along.
    samples = perf.of_process(
        server.pid,
        work,
        seconds=seconds,
        hertz=hertz,
        stack_bytes=16384,
        script=["--no-inline", "-F", "comm,ip,sym,dso"],
    )
    starts: dict[str, list[int]] = {}
    return [_stack(each, starts) for each in samples]


def _stack(block: str, starts: dict[str, list[int]]) -> Stack:
    frames = []
    for line in block.splitlines()[1:]:
        address, rest = line.split(maxsplit=1)
        name, _, file = rest.rpartition(" (")
        file = file.rstrip(")")
        if name == "[unknown]" and Path(file).is_file():
            if file not in starts:
                starts[file] = function_starts(Path(file))
            at = bisect.bisect_right(starts[file], int(address, 16)) - 1
            name = f"{Path(file).name}+{starts[file][at]:x}" if at >= 0 else name
        frames.append(name)
    return tuple(reversed(frames))


def function_starts(file: Path) -> list[int]:
    """Where each function of a 64-bit ELF file begins, by its table for unwinding, which stripping leaves."""
    bytes_ = file.read_bytes()
    if bytes_[:5] != b"\x7fELF\x02":
        return []
    (headers,) = struct.unpack_from("<Q", bytes_, 0x20)
    size, n = struct.unpack_from("<HH", bytes_, 0x36)
    for i in range(n):
        kind, _, offset, address = struct.unpack_from("<IIQQ", bytes_, headers + i * size)
        if kind != 0x6474E550:  # PT_GNU_EH_FRAME
            continue
        version, _, count_form, table_form = struct.unpack_from("<BBBB", bytes_, offset)
        if (version, count_form, table_form) != (1, 0x03, 0x3B):
            return []
        (count,) = struct.unpack_from("<I", bytes_, offset + 8)
        table = np.frombuffer(bytes_, dtype="<i4", count=2 * count, offset=offset + 12)
        return [int(each) for each in table[::2].astype(np.int64) + address]
    return []
