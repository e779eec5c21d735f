"""Many statements, side by side: the digests of a file or a slow log, and a table of what came of each."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engineroom.ask.compare import repeating
from engineroom.ask.compare.report import rows_text, seconds_text, table
from engineroom.ask.compare.sides import Comparison
from engineroom.ask.compare.slow_log import Digest

__all__ = ["Chosen", "choose", "interrupted", "json_of", "text"]

_WIDTH = 100
_BEYOND_TOP = "--top is "
_INTERRUPTED = "interrupted before it"


@dataclass(frozen=True)
class Chosen:
    """The digests to measure, and those left out with the reason."""

    taken: tuple[Digest, ...]
    left_out: tuple[tuple[Digest, str], ...]


def choose(found: Sequence[Digest], most: int) -> Chosen:
    """The first `most` digests that read, change rows or call a procedure."""
    taken: list[Digest] = []
    left_out: list[tuple[Digest, str]] = []
    for each in found:
        word = repeating.verb(each.statement)
        if word not in repeating.READS | repeating.CHANGES | {"CALL"}:
            left_out.append((each, f"{word or 'it'} cannot be run again and again"))
        elif len(taken) == most:
            left_out.append((each, f"{_BEYOND_TOP}{most}"))
        else:
            taken.append(each)
    return Chosen(tuple(taken), tuple(left_out))


def interrupted(chosen: Chosen, measured: int) -> Chosen:
    """What was measured of `chosen` when Ctrl-C came: the first `measured` digests."""
    late = [(each, _INTERRUPTED) for each in chosen.taken[measured:]]
    return Chosen(chosen.taken[:measured], (*late, *chosen.left_out))


def json_of(chosen: Chosen, compared: Sequence[Comparison]) -> dict[str, Any]:
    """Everything as plain JSON types; what is the same for all statements stands once."""
    common = ("equal_settings", "settings_that_differ", "provenance", "repeats", "made_rows")
    plain = [each.json() for each in compared]
    return {
        **({name: plain[0][name] for name in common} if plain else {}),
        "digests": [
            {
                "digest": each.digest,
                "count": each.count,
                "log_s": each.log_s,
                **{name: value for name, value in found.items() if name not in common},
            }
            for each, found in zip(chosen.taken, plain, strict=True)
        ],
        "left_out": [
            {"digest": each.digest, "count": each.count, "why": why} for each, why in chosen.left_out
        ],
    }


def text(chosen: Chosen, compared: Sequence[Comparison]) -> str:
    """A table by digest, what was refused, and the digests' texts."""
    lines: list[str] = []
    if compared:
        versions = [side.version for side in compared[0].sides]
        head = ["", "times", "in the log", *versions, "last / first", "first again", "results"]
        rows = [
            _row(i, each, found)
            for i, (each, found) in enumerate(zip(chosen.taken, compared, strict=True), start=1)
        ]
        lines += ["Server CPU time per statement, medians:", *table(head, rows), "", *_legend(compared), ""]
    for i, (each, found) in enumerate(zip(chosen.taken, compared, strict=True), start=1):
        lines += textwrap.wrap(
            f"#{i}  {each.digest}", _WIDTH, subsequent_indent="    ", max_lines=4, placeholder=" ..."
        )
        lines += [f"    {side.refusal}" for side in found.sides if side.refused]
        lines += [f"    {where}: {rows_text(some[:1])}" for where, some in found.differing_rows().items()]
        lines += [f"    {remark}" for remark in found.remarks if remark not in found.about_files]
    lines += compared[0].about_files if compared else ()
    lines += _left_out(chosen)
    return "\n".join(line.rstrip() for line in lines)


def _legend(compared: Sequence[Comparison]) -> list[str]:
    """What the columns mean, and how many statements came to which result."""
    counts = Counter(each.results for each in compared)
    last, first = (compared[0].sides[i].version for i in (-1, 0))
    return [
        *textwrap.wrap(
            f"last / first: CPU time of {last} by {first}'s. first again: {first} measured once more in the same turns, by its own; what "
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
        "  " + textwrap.shorten(f"{why}: {each.digest}", _WIDTH, placeholder=" ...") for each, why in unfit
    ]
    if beyond:
        top = int(beyond[0][1].removeprefix(_BEYOND_TOP))
        took = sum(each.log_s for each, _ in beyond)
        late = sum(each.log_s for each, why in unfit if why == _INTERRUPTED)
        whole = took + late + sum(each.log_s for each in chosen.taken)
        of_log = f" They took {took:.3g} s of the {whole:.3g} s of all in the log." if took else ""
        lines += textwrap.wrap(
            f"{len(beyond)} further digest{'' if len(beyond) == 1 else 's'}, since --top is {top}.{of_log} "
            f"--top {top + len(beyond)} measures all; --format json lists them.",
            _WIDTH,
            initial_indent="  ",
            subsequent_indent="  ",
        )
    return lines


def _row(number: int, each: Digest, found: Comparison) -> list[str]:
    cpu = [side.server_cpu_s for side in found.sides]
    first, last = cpu[0], cpu[-1]
    return [
        f"#{number}",
        f"{each.count:,}",
        f"{each.log_s:.3g} s" if each.log_s else "-",
        *(seconds_text(side.server_cpu_s, side) for side in found.sides),
        f"{last / first:.2f}" if first and last and len(cpu) > 1 else "-",
        f"{found.control_cpu_s / first:.2f}" if first and found.control_cpu_s else "-",
        found.results,
    ]
