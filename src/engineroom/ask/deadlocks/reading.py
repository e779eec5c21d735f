"""Reports of deadlocks from an error log or SHOW ENGINE INNODB STATUS, of MySQL 5.5 to 9.7 and MariaDB.

A lock belongs to the transaction whose number it has, wherever it stands: releases differ in what they print and in which order, and since
8.0 a log of the usual verbosity has neither headlines nor who lost. Up to 8.0.17 a report has two transactions of the circle, and what the
second holds; whom the second waits for is then not in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from engineroom import files
from engineroom.ask.deadlocks import pasted
from engineroom.ask.deadlocks.pasted import DATE, WRITER
from engineroom.ask.lock_waits.reading import excludes
from engineroom.errors import EngineRoomError

__all__ = ["Lock", "Report", "Transaction", "lines", "reports"]

_LONGEST_LINE, _LONGEST_STATEMENT, _LONGEST_CLIENT = 2**16, 10_000, 300
_MOST = 256  # transactions of a report; the server's search gives up before
_MOST_COMPARED = 1_000_000  # locks, to tell where a report without headlines ends
SUPREMUM = "supremum pseudo-record"
_GAVE_UP = "the server gave up the search: over 200 transactions wait for each other"
# How the rest of a lock's line begins where it was wrapped, and how what came before ends.
_GOES_ON = re.compile(
    r"(?:\d+ )?(?:space|id|page|no|n bits|bits|index|of table|table|trx|lock[ _]mode|mode|waiting|locks|rec|but|not|gap|before|insert|intention)\b|`"
)
_IS_CUT = re.compile(r" (?:space|id|page|no|bits|index|of|table|trx|lock|lock_mode|mode)$")
_DATED = re.compile(rf"^({DATE})(.*)")
_INT = r"\d{1,18}"  # what a counter has at most: Python turns no text of 5,000 digits into a number
_BEGINS = re.compile(r"transactions deadlock detected|LATEST DETECTED DEADLOCK", re.IGNORECASE)
_NUMBERED = re.compile(rf"^\**\s*\(({_INT})\) TRANSACTION\b")  # a page may have eaten the stars
_SECTION = re.compile(
    rf"^(?:\*\*\*|\**\s*\({_INT}\) (?:HOLDS|WAITING)\b|WAITING FOR THIS LOCK|CONFLICTING WITH)"
)
_HEAD = re.compile(r"[*-]|\(\d|TRANSACTION|RECORD LOCKS|TABLE LOCK")
_OF_CLUSTER = re.compile(r"^\*\*\* (?:Priority|Victim) TRANSACTION")
_LOST = re.compile(rf"WE ROLL BACK TRANSACTION \(({_INT})\)")
_TRANSACTION = re.compile(
    rf"^TRANSACTION (?:\d+ )?([\w*]+),(?: XID .{{0,400}}?,)? (?:ACTIVE|not started)(?: (?:\(\w+\) )?({_INT}) sec)?"
)
_THREAD = re.compile(r"(?:MySQL|MariaDB) thread id")
_IS_WHOLE = re.compile(r"query id \d+ +\S")
_CLIENT = re.compile(rf"^(?:MySQL|MariaDB) thread id ({_INT}), .*?query id \d+\s?(.*)")
# Where mail has put the statement behind the client.
_SQL = (
    r"(?:/\*.{0,2000}?\*/\s*)?(?:insert\s+(?:ignore\s+|low_priority\s+|delayed\s+)*into|replace\s+into|delete\s+(?:\w+\s+)?from|select|call"
    r"|update\s+(?:ignore\s+)?[`\"\w.]+\s+(?:as\s+\w+\s+)?(?:set|inner|left|join)|load\s+data|alter\s+table)\b"
)
_GLUED = re.compile(rf"\s(?={_SQL})", re.IGNORECASE)
_STATEMENT = re.compile(rf"\(*{_SQL}|update\b", re.IGNORECASE)
_REMARK = re.compile(r"--\s|[^\x00-\x7f]")  # by the person who pasted it
_IS_LOCK = ("RECORD LOCKS", "TABLE LOCK")
_QUOTES = ' `"'
_PLACE = re.compile(r"space id (\d+) page no (\d+)")
_TABLE = re.compile(r"(?:(?:`[^`]*+`|\"[^\"]*+\")\.?+)++|[^\s`]++")
_OWNER = re.compile(r"\btrx +id (?:\d+ (?=[0-9A-F]+ ))?([\w*]+)")
_MODE = re.compile(r"\block[ _]mode (.*)")
# Aurora writes len=4; bufptr=0x2b; hex= 80000001. Of long columns 30 bytes are printed, and how many there are.
_FIELD = re.compile(
    rf"(?:^|;;)\s*\d+: (?:len[ =]({_INT}); (?:bufptr=\w+; )?hex=? ([0-9a-f]*);(?: asc .{{0,64}}?; \(total ({_INT}) bytes\))?|SQL NULL)"
)
_STRUCTS = re.compile(rf"(?<!\d)({_INT}) lock struct\(s\)")
_UNDO = re.compile(rf"undo log entries ({_INT})(?!\d)")


@dataclass
class Lock:
    """A lock on rows of an index, or on a table (index ""); its mode as performance_schema writes it."""

    table: str
    index: str
    mode: str
    is_waiting: bool
    page: str = ""
    places: set[str] = field(default_factory=set)  # equal for the same row; none: the report was cut
    rows: list[str] = field(default_factory=list)

    def meets(self, other: Lock) -> bool:
        """Whether both are on the same row or table; where a report was cut, on the same page."""
        if (self.table, self.index, self.page) != (other.table, other.index, other.page):
            return False
        return not (self.places and other.places and self.places.isdisjoint(other.places))

    def said(self) -> str:
        """The mode and where."""
        where = f"{' and '.join(self.rows[:3]) or 'rows'} of {self.table}, index {self.index}"
        return f"{self.mode} on {where if self.index else self.table}"


@dataclass
class Transaction:
    """One of a deadlock."""

    trx: str
    session: int | None = None
    client: str = ""  # host, user and what it did
    active_s: int | None = None
    statement: str = ""
    lock_structs: int | None = None
    undo_entries: int = 0
    locks: list[Lock] = field(default_factory=list)

    @property
    def asked(self) -> Lock | None:
        """The lock that it waits for."""
        return next((lock for lock in self.locks if lock.is_waiting), None)

    @property
    def weight(self) -> int | None:
        """By what InnoDB chooses whom it rolls back: the lightest."""
        return None if self.lock_structs is None else self.lock_structs + self.undo_entries


@dataclass
class Report:
    """One deadlock, transactions in the report's order; `victim` counts from 1."""

    when: str = ""
    transactions: list[Transaction] = field(default_factory=list)
    victim: int | None = None
    problems: list[str] = field(default_factory=list)

    def holders(self, nth: int) -> list[tuple[int, Lock]]:
        """Whose locks in the report are in the way of one transaction, both counted from 0: granted ones, else those asked for."""
        asked = self.transactions[nth].asked
        if asked is None:
            return []
        data = asked.rows[0] if asked.rows else ""
        found = [
            (other, lock)
            for other, each in enumerate(self.transactions)
            for lock in each.locks
            if other != nth and lock.meets(asked) and excludes(lock.mode, asked.mode, data=data)
        ]
        granted = [each for each in found if not each[1].is_waiting]
        # Without rows, who asked before may have asked for another one.
        return granted or [each for each in found if asked.places or not asked.index]

    def is_closed(self) -> bool:
        """Whether nothing of a circle is missing, as far as its release prints one."""
        n = len(self.transactions)
        if all(any(not lock.is_waiting for lock in each.locks) for each in self.transactions):
            return n > 1 and all(self.holders(nth) for nth in range(n))
        return n == 2 and bool(self.holders(0))


def lines(path: Path | None) -> Iterator[str]:
    """The lines of a file of any encoding, packed or not, or of standard input."""
    with files.Lines(path, "log") as found:
        yield from map(files.characters, found)
        if found.damage:
            name = "of standard input" if path is None else files.visible(str(path))
            raise EngineRoomError(
                f"the log {name} is damaged: {found.damage}", remedy="copy it again, or unpack what is there"
            )


def reports(text: Iterable[str]) -> Iterator[Report]:
    """The reports in the lines of a log or a status, in order."""
    reader = _Reader()
    for line in pasted.plain(text):
        yield from reader.read(line)
    yield from reader.finish()


@dataclass
class _Partial:
    """A report whose end is not read yet."""

    report: Report = field(default_factory=Report)
    is_named: bool = False  # by a headline; since 8.0 a log may leave those out
    is_of_cluster: bool = False  # of Galera: a remote write has ended a transaction, which is no deadlock
    is_others: bool = False  # what follows is the lock of another transaction
    is_statement: bool = False
    lock: Lock | None = None
    columns: list[tuple[int, str]] | None = None  # of a row: size, bytes
    early: list[tuple[str, Lock]] = field(default_factory=list)  # before their transactions, as MariaDB's are
    n_between: int = 0
    is_closed: bool | None = None  # as far as it is read; not known since another lock or row came
    n_compared: int = 0  # locks, for that


class _Reader:
    """Takes a line at a time; holds one report."""

    def __init__(self) -> None:
        self._now = _Partial()
        self._date = ""  # of a line that has nothing else, before a report without a headline
        self._held = ""  # a lock or a client, until it is known that it ends

    def read(self, line: str) -> Iterator[Report]:
        held = self._held
        if held.startswith(_IS_LOCK):
            is_cut = _IS_CUT.search(held) and not line.startswith(("*", "-", "TRANSACTION"))
            goes_on = bool(is_cut or _GOES_ON.match(line))
        else:
            is_new = _HEAD.match(line) or _STATEMENT.match(line)
            goes_on = 0 < len(held) < _LONGEST_CLIENT and line != "" and not is_new
        if goes_on:
            self._held = f"{held} {line}"[:_LONGEST_LINE]
            if held.startswith(_IS_LOCK) or not _IS_WHOLE.search(self._held):
                return
            held, line = self._held, ""
        self._held = ""
        if held:
            yield from self._take(held)
        if line.startswith(_IS_LOCK) or (_THREAD.match(line) and not _IS_WHOLE.search(line)):
            self._held = line
        elif line or not goes_on:
            yield from self._take(line)

    def finish(self) -> Iterator[Report]:
        """The last report."""
        yield from self._take(self._held)
        yield from self.end()

    def _take(self, line: str) -> Iterator[Report]:
        dated = _DATED.match(line)
        if dated:
            line = WRITER.sub("", dated[2], count=1)
        report = self._now.report
        n = len(report.transactions)
        if _BEGINS.search(line):
            yield from self.end()
            self._now.is_named = True
        elif found := _NUMBERED.match(line):
            if found[1] == "1" and n:
                yield from self.end()
                self._now.report.when = self._date
            elif found[1] == "1":
                report.when = report.when or self._date
            elif int(found[1]) != n + 1:
                report.problems.append(f"({found[1]}) follows ({n}): lines are missing")
            self._now.is_named, self._now.is_statement = True, False
        elif _OF_CLUSTER.match(line):
            yield from self.end()
            self._now.is_of_cluster = True
        elif found := _LOST.search(line):
            report.victim = int(found[1]) or None
            yield from self.end()
        elif "TOO DEEP OR LONG SEARCH" in line:
            report.problems.append(_GAVE_UP)
            report.victim = 1 if "FOLLOWING TRANSACTION" in line else report.victim
        elif found := _TRANSACTION.match(line):
            self._row()
            is_alone = self._now.is_of_cluster and n == 1
            if n == _MOST or is_alone or (not self._now.is_named and self._is_closed()):
                yield from self.end()
            self._now.report.transactions.append(
                Transaction(found[1], active_s=int(found[2]) if found[2] else None)
            )
            self._now.is_statement, self._now.lock, self._now.is_closed = False, None, None
        elif re.match(r"-{4,}\s*$|END OF INNODB MONITOR", line):
            if n:
                yield from self.end()
        elif n and dated and line and not self._now.is_named and self._is_closed():
            yield from self.end()
        elif n:
            self._inside(line, is_dated=dated is not None)
        if dated and self._now.is_named:
            self._now.report.when = self._now.report.when or dated[1]
        if line or dated:
            self._date = dated[1] if dated and not line else ""

    def _is_closed(self) -> bool:
        """Whether the report is complete as it stands, which each line of something else asks again."""
        now, transactions = self._now, self._now.report.transactions
        if now.is_closed is None:
            now.n_compared += len(transactions) * sum(len(each.locks) for each in transactions)
            now.is_closed = now.n_compared < _MOST_COMPARED and now.report.is_closed()
        return now.is_closed

    def _inside(self, line: str, *, is_dated: bool) -> None:
        now = self._now
        transaction = now.report.transactions[-1]
        if lock := _lock(line):
            self._row()
            now.is_statement = False
            now.lock = lock
            now.is_closed = None
            found = _OWNER.search(line)
            trx = found[1] if found else ""
            owner = next((each for each in now.report.transactions if each.trx == trx), None)
            if not owner and not trx.isalnum() and not now.is_others:
                owner = transaction  # a number that somebody has left out or masked
            if owner:
                owner.locks.append(lock)
            else:
                now.early.append((trx, lock))
        elif _SECTION.match(line):
            now.is_statement, now.is_others = False, "CONFLICTING" in line
        elif now.lock and (found := re.match(r"Record lock, heap no (\d+)", line)):
            self._row()
            now.columns = []
            now.lock.places.add(found[1])
            now.is_closed = None
        elif now.columns is not None and (fields := _FIELD.findall(line)):
            now.columns += [(int(whole or size or -1), digits) for size, digits, whole in fields]
        elif is_dated and line:
            now.n_between += 1
            now.is_statement = False
        elif found := _CLIENT.match(line):
            transaction.session = int(found[1])
            transaction.client, *statement = _GLUED.split(found[2], maxsplit=1)
            transaction.statement = "".join(statement)
            now.is_statement = True
        elif line.startswith("```"):
            now.is_statement = now.is_statement and not transaction.statement
        elif not (transaction.statement or transaction.locks) and _STATEMENT.match(line):
            transaction.statement, now.is_statement = line, True
        elif now.is_statement and not transaction.statement and _REMARK.match(line):
            pass
        elif now.is_statement and len(transaction.statement) < _LONGEST_STATEMENT:
            transaction.statement = f"{transaction.statement}\n{line}".strip()
        elif found := _STRUCTS.search(line):
            transaction.lock_structs = int(found[1])
            if undo := _UNDO.search(line):
                transaction.undo_entries = int(undo[1])

    def _row(self) -> None:
        """The row whose columns were read, as values of its index."""
        if self._now.lock and self._now.columns:
            sizes = [size for size, _ in self._now.columns]
            # In a clustered index the key ends where the transaction's number and the pointer to its undo log begin.
            ends = [n for n in range(1, len(sizes) - 1) if sizes[n : n + 2] == [6, 7]]
            shown = [_value(size, digits) for size, digits in self._now.columns[: ends[0] if ends else None]]
            row = SUPREMUM if shown == ["'supremum'"] else f"({', '.join(shown[:4])})"
            self._now.lock.rows.append(row)
            self._now.is_closed = None
        self._now.columns = None

    def end(self) -> Iterator[Report]:
        """The report as far as it came, with what is missing."""
        self._row()
        now, self._now = self._now, _Partial()
        report, by_trx = now.report, {each.trx: each for each in now.report.transactions}
        for trx, lock in now.early:
            if trx in by_trx:
                by_trx[trx].locks.append(lock)
        if lost := sorted({trx for trx, _ in now.early} - by_trx.keys()):
            report.problems.append(
                f"it has locks of transaction {', '.join(lost)} but not the transaction: cut, or mixed with another report"
            )
        if len(by_trx) < len(report.transactions):
            report.problems.append("a transaction stands in it twice: mixed with another report")
        if len(report.transactions) == 1 and _GAVE_UP not in report.problems:
            report.problems.append("only one transaction is in it: it was cut")
        elif silent := [n for n, each in enumerate(report.transactions, 1) if each.asked is None]:
            report.problems.append(f"what ({', '.join(map(str, silent))}) waits for is not in it: it was cut")
        if now.n_compared >= _MOST_COMPARED:
            report.problems.append("it has too many locks to tell where it ends")
        if now.n_between:
            report.problems.append(f"{now.n_between} lines of something else stand in it and were left out")
        # Elsewhere a status and a log print transactions as well: of a foreign key that failed, of a conflict in a cluster.
        is_deadlock = now.is_named or any(each.asked for each in report.transactions)
        if report.transactions and is_deadlock and not now.is_of_cluster:
            yield report


def _lock(line: str) -> Lock | None:
    """The lock that a line tells, also where somebody has shortened it."""
    index = ""
    if line.startswith("TABLE LOCK"):
        of = line.partition(" table ")[2]
    elif line.startswith(("RECORD LOCKS", "...", "…")):
        before, _, of = line.partition(" of table ")
        index = before.partition("index")[2].strip(_QUOTES)
    else:
        return None
    table, mode, place = _TABLE.match(of.lstrip()), _MODE.search(line), _PLACE.search(line)
    if table is None or mode is None:
        return None
    is_waiting = re.search(r"\bwaiting\b", mode[1]) is not None  # Percona Server writes on behind it
    return Lock(_name(table[0]), index, _mode(mode[1]), is_waiting, ":".join(place.groups()) if place else "")


def _name(table: str) -> str:
    return re.sub(f"[{_QUOTES.strip()}]", "", table).replace("/", ".")


def _mode(text: str) -> str:
    """The mode as performance_schema writes it: "X locks gap before rec" is X,GAP."""
    parts = [text.split(maxsplit=1)[0].replace("-", "_")] if text.split() else ["?"]
    for words, name in (
        ("rec but not gap", "REC_NOT_GAP"),
        ("gap before rec", "GAP"),
        ("insert intention", "INSERT_INTENTION"),
    ):
        if words in text:
            parts.append(name)
    return ",".join(parts)


def _value(size: int, digits: str) -> str:
    """A column as text or whole number, as far as its bytes tell."""
    if size < 0:
        return "NULL"
    data = bytes.fromhex(digits[: len(digits) // 2 * 2])
    if data and data.isascii() and bytes(data).decode().isprintable():
        return f"'{data.decode()}'" + ("…" if size > len(data) else "")
    if size in (1, 2, 3, 4, 8) and size == len(data):
        number = int.from_bytes(data, "big")
        return str(number - (1 << 8 * size - 1) if data[0] & 0x80 else number)
    text = data.decode(errors="replace")
    return f"'{text}'" if text.isprintable() and "\ufffd" not in text else f"0x{digits}"
