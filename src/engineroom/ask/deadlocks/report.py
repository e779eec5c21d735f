"""What deadlocks of a log have in common, each kind with a drawing of its circle, who lost, and what order would avoid it."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from engineroom.ask.deadlocks.reading import SUPREMUM, Lock, Report, Transaction
from engineroom.ask.digests.fingerprint import digest_of
from engineroom.ask.pages import templates

__all__ = ["Pattern", "advice", "as_json", "drawing", "page", "patterns", "text"]

_SHOWN, _LONGEST = 10, 160
_READS = re.compile(r"(?:insert|replace|create|update|delete)\b.*\b(?:select|join)\b")


@dataclass
class Pattern:
    """Deadlocks of the same statements, tables and indexes; the example is the one that shows most."""

    example: Report
    count: int = 0
    incomplete: int = 0
    times: list[str] = field(default_factory=list)  # the first and the last


def patterns(found: Iterable[Report]) -> list[Pattern]:
    """What is most frequent first."""
    kinds: dict[Any, Pattern] = {}
    for report in found:
        key = tuple(sorted(map(_kind, report.transactions)))
        pattern = kinds.setdefault(key, Pattern(report))
        pattern.count += 1
        pattern.incomplete += bool(report.problems)
        pattern.example = max(pattern.example, report, key=_fullness)
        if report.when:
            pattern.times[1:] = [report.when] if pattern.times else []
            pattern.times = pattern.times or [report.when]
    return sorted(kinds.values(), key=lambda pattern: -pattern.count)


def _fullness(report: Report) -> tuple[bool, int]:
    return not report.problems, sum(len(each.locks) for each in report.transactions)


# The same few shapes come again and again.
_shape = functools.lru_cache(1024)(functools.partial(digest_of, numbered_names_apart=True))


def _kind(transaction: Transaction) -> tuple[str, ...]:
    asked = transaction.asked
    where = (asked.table, asked.index, asked.mode) if asked else ("", "", "")
    return (_shape(transaction.statement), *where)


def drawing(report: Report) -> list[str]:
    """The circle: each transaction, what it waits for, and who holds that; the last one's arrow leads back."""
    lines = []
    for nth, each in enumerate(report.transactions):
        edge = "┌▶" if nth == 0 else "│ "
        of = ", ".join(filter(None, (f"session {each.session}" if each.session else "", each.client)))
        who = f" of {of}" if of else ""
        victim = ", rolled back" if report.victim == nth + 1 else ""
        lines.append(f"{edge} ({nth + 1}) transaction {each.trx}{who}{victim}")
        if each.statement:
            lines.append(f"│     {_cut(each.statement)}")
        if each.asked:
            lines.append(f"│     waits for {each.asked.said()}")
        holders = report.holders(nth)
        held = "; ".join(
            dict.fromkeys(
                f"({other + 1}) {'asked before for' if lock.is_waiting else 'holds'} {lock.mode} there"
                for other, lock in holders
            )
        )
        last = nth == len(report.transactions) - 1
        lines.append(f"{'└──' if last else '│  '}── {held or _not_shown(report, nth)}")
    return lines


def _not_shown(report: Report, nth: int) -> str:
    if report.transactions[nth].asked is None:
        return "what it waits for is not in the report"
    others = " or ".join(f"({n + 1})" for n in range(len(report.transactions)) if n != nth)
    return f"who holds that is not in the report: {f'{others}, or ' if others else ''}one between them"


def lost(report: Report) -> str:
    """Who was rolled back, and why."""
    weights = [each.weight for each in report.transactions]
    known = [weight for weight in weights if weight is not None]
    said = ", ".join(
        f"({n}) {each.lock_structs} locks + {each.undo_entries} changes"
        for n, each in enumerate(report.transactions, 1)
        if each.weight is not None
    )
    if report.victim is None or report.victim > len(weights):
        adds = "" if report.when else " (in a log: log_error_verbosity = 3 adds it)"
        return f"who lost is not in the report{adds}; InnoDB takes the lightest: {said}"
    own = weights[report.victim - 1]
    if own is None or len(known) < len(weights):
        return f"({report.victim}) was rolled back"
    if own > min(known):
        why = (
            "though it was not the lightest: the others changed tables without transactions, or have priority"
        )
    elif known.count(own) > 1:
        why = "no other was lighter"
    else:
        why = "the lightest"
    return f"({report.victim}) was rolled back, {why}: {said}"


def advice(report: Report) -> str:
    """What would avoid it, as far as the locks tell."""
    asked = [lock for each in report.transactions if (lock := each.asked)]
    held = [lock for each in report.transactions for lock in each.locks if not lock.is_waiting]
    modes = ",".join(lock.mode for lock in asked)
    places = list(dict.fromkeys((lock.table, lock.index) for lock in asked))
    tables = list(dict.fromkeys(lock.table for lock in asked))
    if "AUTO_INC" in modes:
        return "innodb_autoinc_lock_mode = 2 takes no lock on the table for new numbers (the binary log then has to be ROW)"
    if len(asked) < max(2, len(report.transactions)):
        return "nothing can be said: the report has too little"
    if any(_READS.match(_shape(each.statement)) and _is_shared(each) for each in report.transactions):
        return (
            "what a statement that changes rows reads besides, in its SELECT or JOIN, it read-locks: under READ COMMITTED it does not (but for"
            " DELETE); or read first, then change by keys"
        )
    inserts = all(
        _shape(each.statement).lower().startswith(("insert", "replace")) for each in report.transactions
    )
    if inserts and any(lock.mode.split(",")[0] == "S" for lock in held):
        is_other = len({each.statement for each in report.transactions}) > 1
        if is_other and modes.count("INSERT_INTENTION") == len(asked):
            return (
                "each has read-locked a gap in which the other inserts: after an insert of the same value in a unique index that was rolled back,"
                " repeat the transaction; under SERIALIZABLE, or where rows are read FOR SHARE before, lock them by SELECT ... FOR UPDATE or use"
                " READ COMMITTED"
            )
        return (
            "several insert the same value of a unique index, and the first rolled back: repeat the transaction after error 1213;"
            " fewer at a time, or one that owns the value"
        )
    if modes.count("INSERT_INTENTION") == len(asked):
        return (
            "each has locked a gap, in which the other inserts: insert first, without a locking read or an UPDATE that finds no row"
            " before it; or READ COMMITTED, which locks no gaps"
        )
    if any(lock.mode.startswith("S") for lock in held) and len(places) == 1 and _are_same(asked):
        return (
            f"both have read-locked the same row of {tables[0]} and then want to change it: lock it by SELECT ... FOR UPDATE, or"
            " change it first (an insert into a child table read-locks the row of its parent)"
        )
    if len(places) == 1 and _are_same(asked):
        behind = f"both want the same row of {tables[0]}, and who has it asks for another lock on it, behind the other's request"
        if "INSERT_INTENTION" in modes:
            return (
                f"{behind}: it inserts into the gap before the row; READ COMMITTED locks no gaps, or let both first lock a row"
                " that is there, such as the parent's"
            )
        return f"{behind}: take the strongest lock at once by SELECT ... FOR UPDATE; UPDATE, or INSERT ... ON DUPLICATE KEY UPDATE, instead of DELETE and INSERT"
    if len(tables) > 1:
        return f"take the tables in one order in every transaction, such as {', then '.join(sorted(tables))}"
    if len(places) > 1 or len({lock.index for lock in (*asked, *held)}) > 1:
        indexes = " and ".join(sorted({lock.index or "the table" for lock in (*asked, *held)}))
        return (
            f"they come to the rows of {tables[0]} by different ways, {indexes}: find them by one, such as by primary keys that"
            " were read before without locks"
        )
    if not all(lock.places or not lock.index for lock in asked):
        return (
            f"take the rows of {tables[0]}, index {places[0][1]}, in one order, ascending keys; if both want the same row, which the report"
            " does not show, take the strongest lock at once by SELECT ... FOR UPDATE"
        )
    rows = sorted({row for lock in asked for row in lock.rows if row != SUPREMUM})
    which = f", here {' and '.join(rows[:4])}" if len(rows) > 1 else ""
    return (
        f"take the rows of {tables[0]}, index {places[0][1]}, in one order{which}: ascending keys in every transaction, or"
        " SELECT ... ORDER BY key FOR UPDATE of all of them first"
    )


def _is_shared(transaction: Transaction) -> bool:
    return any(lock.mode.split(",")[0] == "S" for lock in transaction.locks)


def _are_same(locks: list[Lock]) -> bool:
    """Whether all are on one row, which a report without rows does not show."""
    return all(locks[0].meets(lock) and (lock.places or not lock.index) for lock in locks)


def text(found: list[Pattern], name: str) -> str:
    """All kinds, the most frequent first."""
    return "\n".join(
        [
            _headline(found, name),
            *(line for nth, each in enumerate(found[:_SHOWN], 1) for line in _told(nth, each)),
        ]
    )


def _headline(found: list[Pattern], name: str) -> str:
    n = sum(each.count for each in found)
    kinds = f" of {len(found)} kinds" if len(found) > 1 else ""
    more = f"; the {_SHOWN} most frequent follow, --format json has all" if len(found) > _SHOWN else ""
    return f"{name}: {n:,} deadlock{'s' if n > 1 else ''}{kinds}{more}"


def _told(nth: int, pattern: Pattern) -> Iterator[str]:
    report = pattern.example
    times = " to ".join(pattern.times)
    yield ""
    often = "once" if pattern.count == 1 else f"{pattern.count:,} times"
    yield f"{nth}. {often}{f', {times}' if times else ', at a time that the log does not tell'}"
    yield from drawing(report)
    yield f"lost: {lost(report)}"
    yield f"to avoid it: {advice(report)}; in any case, repeat the whole transaction after error 1213"
    for problem in report.problems:
        yield f"! {problem}"
    if pattern.incomplete > bool(report.problems):
        yield f"! {pattern.incomplete:,} of these reports are incomplete"


def as_json(found: list[Pattern]) -> list[dict[str, Any]]:
    """Everything that was read of each kind's example, and the counts."""
    return [
        {
            "count": each.count,
            "incomplete": each.incomplete,
            "times": each.times,
            "advice": advice(each.example),
            "lost": lost(each.example),
            "circle": [
                [other + 1 for other in dict.fromkeys(holder for holder, _ in each.example.holders(nth))]
                for nth in range(len(each.example.transactions))
            ],
            "example": asdict(each.example),
        }
        for each in found
    ]


def page(found: list[Pattern], name: str) -> str:
    """The same as a page that loads nothing."""
    told = [list(_told(nth, each))[1:] for nth, each in enumerate(found, 1)]
    template = templates(Path(__file__).parent).get_template("page.html.jinja")
    return template.render(title=_headline(found, name).partition(";")[0], told=told)


def _cut(statement: str) -> str:
    line = " ".join(statement.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
