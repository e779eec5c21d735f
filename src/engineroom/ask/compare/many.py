"""Many statements, side by side: the digests of a file or a slow log, and a table of what came of each."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engineroom import files, listing, sql_text
from engineroom.ask.compare import repeating
from engineroom.ask.compare.report import remedy, rows_text, seconds_text
from engineroom.ask.compare.sides import Comparison
from engineroom.ask.digests import slow_log
from engineroom.ask.digests.counting import Counted, Group, counted
from engineroom.ask.digests.report import remarks
from engineroom.ask.digests.slow_log import Event
from engineroom.errors import EngineRoomError

__all__ = ["Chosen", "choose", "counted_once", "interrupted", "json_of", "read", "text"]

_WIDTH = 100
_BEYOND_TOP = "--top is "
_INTERRUPTED = "interrupted before it"


@dataclass(frozen=True)
class Chosen:
    """The digests to measure, and those left out with the reason."""

    of: Counted
    taken: tuple[Group, ...]
    left_out: tuple[tuple[Group, str], ...]


def read(query: Path | None, largest_bytes: int | None) -> Counted | list[str]:
    """The digests of a slow log, what took most time first, or the statements of a file in its order."""
    name = query.name if query else "standard input"
    with files.Lines(query, "query") as lines:
        if slow_log.is_slow_log(lines.head()):
            skipped = Counter[str]()
            limit = largest_bytes or slow_log.LARGEST_BYTES
            found = counted(slow_log.events(lines, skipped, largest=limit), skipped)
            if not found.events:
                said = " ".join(["", *remarks(found)])
                raise EngineRoomError(
                    f"the slow log {name} holds no statement.{said}", remedy="name a log with statements"
                )
            for each in found.groups:
                each.statement = "; ".join(sql_text.statements(each.statement)) or each.statement
            return found
        parts, size, limit = list[str](), 0, largest_bytes or files.LARGEST_BYTES
        for line in lines:
            parts.append(line)
            size += len(line)
            if size > limit:
                raise EngineRoomError(
                    f"the query {name} has more than {limit // 2**20} MiB",
                    remedy="name a smaller file, or give --largest with its MiB",
                )
        if lines.damage:
            raise EngineRoomError(
                f"the query {name} is damaged: {lines.damage}", remedy="pack the file again"
            )
    text = sql_text.of_server("".join(parts), "query", name)
    return list(map(files.characters, sql_text.statements(text)))


def counted_once(statements: Sequence[str]) -> Counted:
    """The digests of statements that somebody wrote, in order: t1 and t2 are two tables there."""
    return counted((Event(each, 0.0) for each in statements), Counter(), numbered_names_apart=True)


def choose(found: Counted, most: int, unfit: Callable[[str], str] = lambda _: "") -> Chosen:
    """The first `most` digests that read, change rows or call a procedure, but those that `unfit` has something against."""
    taken: list[Group] = []
    left_out: list[tuple[Group, str]] = []
    for each in found.groups:
        word = repeating.verb(each.statement)
        if word not in repeating.READS | repeating.CHANGES | {"CALL"}:
            left_out.append((each, f"{word or 'it'} cannot be run again and again"))
        elif why := unfit(each.statement):
            left_out.append((each, why))
        elif len(taken) == most:
            left_out.append((each, f"{_BEYOND_TOP}{most}"))
        else:
            taken.append(each)
    return Chosen(found, tuple(taken), tuple(left_out))


def interrupted(chosen: Chosen, measured: int) -> Chosen:
    """What was measured of `chosen` when Ctrl-C came: the first `measured` digests."""
    late = [(each, _INTERRUPTED) for each in chosen.taken[measured:]]
    return Chosen(chosen.of, chosen.taken[:measured], (*late, *chosen.left_out))


def json_of(chosen: Chosen, compared: Sequence[Comparison]) -> dict[str, Any]:
    """Everything as plain JSON types; what is the same for all statements stands once."""
    common = ("equal_settings", "settings_that_differ", "provenance", "repeats", "made_rows")
    plain = [each.json() for each in compared]
    return {
        **({name: plain[0][name] for name in common} if plain else {}),
        "digests": [
            {
                **_of_log(chosen, each),
                **{name: value for name, value in found.items() if name not in common},
            }
            for each, found in zip(chosen.taken, plain, strict=True)
        ],
        "left_out": [{**_of_log(chosen, each), "why": why} for each, why in chosen.left_out],
        "skipped": dict(chosen.of.skipped),
    }


def _of_log(chosen: Chosen, each: Group) -> dict[str, Any]:
    return {
        "digest": each.name,
        "count": each.count,
        "log_s": round(each.log_s, 6),
        "share": round(chosen.of.share(each), 6),
    }


def text(chosen: Chosen, compared: Sequence[Comparison]) -> str:
    """A table by digest, what was refused, and the digests' texts."""
    lines: list[str] = []
    if compared:
        names = [side.name for side in compared[0].sides]
        is_by_cpu = all(found.is_by_cpu for found in compared)
        head = ["", "times", "in the log", "share", *names, "last / first", "first again", "results"]
        rows = [
            _row(i, chosen, each, found, is_by_cpu=is_by_cpu)
            for i, (each, found) in enumerate(zip(chosen.taken, compared, strict=True), start=1)
        ]
        lines += [
            f"{'Server CPU' if is_by_cpu else 'Elapsed'} time per statement, medians:",
            *listing.table(head, rows),
            "",
            *_legend(compared, is_by_cpu=is_by_cpu),
            "",
        ]
    for i, (each, found) in enumerate(zip(chosen.taken, compared, strict=True), start=1):
        lines += textwrap.wrap(
            f"#{i}  {each.name[:1000]}", _WIDTH, subsequent_indent="    ", max_lines=4, placeholder=" ..."
        )
        lines += [f"    {side.refusal}" for side in found.sides if side.refused]
        lines += [f"    {where}: {rows_text(some[:1])}" for where, some in found.differing_rows().items()]
        lines += [f"    {remark}" for remark in found.remarks if remark not in found.about_files]
    lines += compared[0].about_files if compared else ()
    lines += _left_out(chosen)
    lines += remarks(chosen.of)
    if compared and not any(found.measured for found in compared):
        lines += [
            "",
            f"What to do: {remedy([side for found in compared for side in found.sides], is_own=compared[0].is_own)}",
        ]
    return "\n".join(line.rstrip() for line in lines)


def _legend(compared: Sequence[Comparison], *, is_by_cpu: bool) -> list[str]:
    """What the columns mean, and how many statements came to which result."""
    counts = Counter(each.results for each in compared)
    last, first = (compared[0].sides[i].name for i in (-1, 0))
    return [
        *textwrap.wrap(
            f"last / first: {'CPU' if is_by_cpu else 'elapsed'} time of {last} by {first}'s. first again: {first} measured once more in the same turns, by its own; what "
            "differs from 1 there is noise, and a ratio no further from 1 says nothing. A result is compared where two versions answer.",
            _WIDTH,
        ),
        f"Results of {len(compared)} statements: "
        + ", ".join(f"{n} {outcome}" for outcome, n in counts.most_common())
        + ".",
    ]


def _left_out(chosen: Chosen) -> list[str]:
    """Each digest that cannot be measured, and how many were not since --top is lower."""
    unfit = [(each, why) for each, why in chosen.left_out if not why.startswith(_BEYOND_TOP)]
    beyond = [(each, why) for each, why in chosen.left_out if why.startswith(_BEYOND_TOP)]
    lines = ["", "Left out:"] if chosen.left_out else []
    lines += [
        "  "
        + textwrap.shorten(f"{_time_of(chosen, each)}{why}: {each.name[:1000]}", _WIDTH, placeholder=" ...")
        for each, why in unfit
    ]
    if beyond:
        top = int(beyond[0][1].removeprefix(_BEYOND_TOP))
        took = sum(each.log_s for each, _ in beyond)
        whole = chosen.of.log_s
        of_log = f" They took {took:.3g} s of the {whole:.3g} s of all in the log." if took else ""
        lines += textwrap.wrap(
            f"{len(beyond)} further digest{'' if len(beyond) == 1 else 's'}, since --top is {top}.{of_log} "
            f"--top {top + len(beyond)} measures all; --format json lists them.",
            _WIDTH,
            initial_indent="  ",
            subsequent_indent="  ",
        )
    return lines


def _time_of(chosen: Chosen, each: Group) -> str:
    times = "once" if each.count == 1 else f"{each.count:,} times"
    share = f"{chosen.of.share(each):.1%} of the log"
    return f"{listing.seconds(each.log_s)}, {share}, {times}: " if each.log_s else ""


def _row(number: int, chosen: Chosen, each: Group, found: Comparison, *, is_by_cpu: bool) -> list[str]:
    seconds = [side.server_cpu_s if is_by_cpu else side.wall_s for side in found.sides]
    control = found.control_cpu_s if is_by_cpu else found.control_wall_s
    first, last = seconds[0], seconds[-1]
    return [
        f"#{number}",
        f"{each.count:,}",
        f"{each.log_s:.3g} s" if each.log_s else "-",
        f"{chosen.of.share(each):.1%}" if each.log_s else "-",
        *(seconds_text(each, side) for each, side in zip(seconds, found.sides, strict=True)),
        f"{last / first:.2f}" if first and last and len(seconds) > 1 else "-",
        f"{control / first:.2f}" if first and control else "-",
        found.results,
    ]
