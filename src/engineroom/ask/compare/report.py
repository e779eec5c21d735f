"""A comparison as text for people."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from engineroom import listing
from engineroom.ask.compare.sides import Comparison, Side

__all__ = ["remark_lines", "remedy", "rows_text", "seconds_text", "statement_lines", "text"]

_WIDTH = 100


def text(comparison: Comparison) -> str:
    """The whole as lines: cost, result, counters, plans, settings."""
    sides = comparison.sides
    versions = [side.name for side in sides]
    lines = statement_lines(comparison)
    refused = [side.refusal for side in sides if side.refused]
    if not comparison.measured:
        return "\n".join(
            [
                *lines,
                "",
                *refused,
                *remark_lines(comparison),
                f"  What to do: {remedy(sides, is_own=comparison.is_own)}",
            ]
        )
    lines += ["", *listing.table(["", *versions], _cost(comparison)), ""]
    lines += [f"Results: {comparison.results}"]
    for where, found in comparison.differing_rows().items():
        lines.append(f"  {where}: {rows_text(found)}")
    lines += [*remark_lines(comparison), *refused]
    for side in comparison.measured:
        lines += ["", f"Plan of {side.name}:"]
        lines += [f"  {line}" for line in (side.plan or f"none: {side.plan_refused}").splitlines()]
    names = sorted({name for side in sides for name in side.counters})
    if names:
        rows = [[name, *(_count(side, name) for side in sides)] for name in names]
        lines += ["", "Counters that moved (least of the repeats):", *listing.table(["", *versions], rows)]
    made_equal = ", ".join(
        name if value is True else f"{name}={value}" for name, value in comparison.equal_settings.items()
    )
    lines += [
        "",
        *textwrap.wrap(f"Settings made equal: {made_equal or 'none, each version has its own'}.", _WIDTH),
    ]
    differing = comparison.differing_settings()
    common = {name: values for name, values in differing.items() if None not in values.values()}
    if common:
        rows = [[name, *(_short(values[version]) for version in versions)] for name, values in common.items()]
        lines += ["", "Settings that still differ:", *listing.table(["", *versions], rows)]
    if len(differing) > len(common):
        lines += [
            f"{len(differing) - len(common)} further settings or flags exist in some of these versions only; --format json lists them."
        ]
    return "\n".join(line.rstrip() for line in lines)


def statement_lines(comparison: Comparison) -> list[str]:
    """The statement, and what a side has in its place."""
    return [
        line
        for text in comparison.texts
        for line in textwrap.wrap(" ".join(text.split()), _WIDTH, max_lines=6, placeholder=" ...")
    ]


def remark_lines(comparison: Comparison) -> list[str]:
    """What the verdict rests on, and what was done otherwise than the files have it."""
    return [
        line
        for remark in comparison.remarks
        for line in textwrap.wrap(remark, _WIDTH, initial_indent="  ", subsequent_indent="    ")
    ]


def remedy(sides: Sequence[Side], *, is_own: bool = False) -> str:
    """What to do where no version ran the statement."""
    said = " ".join(str(side.refused) for side in sides)
    if is_own:
        if "of your own" in said:
            return "compare it on servers that are started for it, with --versions and --schema"
        if "READ ONLY" in said:  # a function in it writes
            return "on a test server give --allow-writes, and each run is rolled back"
        if "denied" in said:
            return "grant the account what the statement reads"
        if "doesn't exist" in said or "No database selected" in said:
            return "name the statement's database behind the last slash of --dsn"
    if any("doesn't exist" in str(side.refused) for side in sides):
        return (
            "give the tables with --schema (`mysqldump --no-data` of your database writes them), and rows with --data, or made ones with "
            "--rows 10000"
        )
    if any("denied" in str(side.refused) for side in sides):
        return "ask for less: it runs as an account that has rights on the databases of --schema alone, and on no file or setting"
    if any("Lost connection" in str(side.refused) or "interrupted" in str(side.refused) for side in sides):
        return "compare a statement that ends neither its session nor the server"
    if any("the limit" in str(side.refused) for side in sides):
        return "raise --limit, or give fewer rows"
    return "correct the statement"


def _cost(comparison: Comparison) -> list[list[str]]:
    sides = comparison.sides
    runs = max((len(side.cpu_repeats_s or side.wall_repeats_s) for side in sides), default=0)
    rows = [
        [f"server CPU, median of {runs}", *(seconds_text(side.server_cpu_s, side) for side in sides)],
        ["elapsed, median", *(seconds_text(side.wall_s, side) for side in sides)],
    ]
    at = 1 if comparison.is_by_cpu else 2
    rows[at:at] = _times_the_first(comparison)
    if any(side.affected_rows is not None for side in sides):
        rows.append(["rows changed", *(_number(side.affected_rows) for side in sides)])
    else:
        rows.append(["rows", *(_number(side.rows) for side in sides)])
    return rows


def _times_the_first(comparison: Comparison) -> list[list[str]]:
    """The medians, the repeats' ends and the control, as times of the first side's median."""
    seconds = [comparison.seconds(side) for side in comparison.sides]
    first = next((each for each in seconds if each), None)
    if first is None:
        return []
    repeats = [
        side.cpu_repeats_s if comparison.is_by_cpu else side.wall_repeats_s for side in comparison.sides
    ]
    rows = [
        ["times the first", *(f"{each / first:.2f}" if each else "-" for each in seconds)],
        [
            "least to most",
            *(f"{min(each) / first:.2f} to {max(each) / first:.2f}" if each else "-" for each in repeats),
        ],
    ]
    if comparison.control_s:
        rows.append(
            ["the first once more", f"{comparison.control_s / first:.2f}", *("" for _ in seconds[1:])]
        )
    return rows


def rows_text(rows: Sequence[Sequence[str | None]]) -> str:
    """Rows of a result on one line, long values cut."""
    texts = (", ".join("NULL" if value is None else _short(value) for value in row) for row in rows)
    return " ".join(f"({text})" for text in texts) or "nothing among the rows that were kept"


def seconds_text(value: float | None, side: Side) -> str:
    """A side's seconds in a unit that fits, or why there are none."""
    if side.refused:
        return "refused"
    if value is None:
        return "cannot be read"
    return listing.seconds(value)


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _count(side: Side, name: str) -> str:
    return "-" if side.refused else f"{side.counters.get(name, 0):,}"


def _short(value: str | None) -> str:
    shown = "-" if value is None else value or "(empty)"
    return shown if len(shown) <= 34 else shown[:31] + "..."
