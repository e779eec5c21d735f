"""Slow logs as MySQL, Percona Server, MariaDB and their Windows builds write them, event by event and in bounded memory."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from engineroom import files

__all__ = ["LARGEST_BYTES", "Event", "events", "is_slow_log"]

LARGEST_BYTES = 16 * 2**20  # of one statement
# More than 30 years come from a clock that was set, and more rows than this from a counter below zero.
_LONGEST_S, _MOST_ROWS = 1e9, 1e15

# A line that begins an event wherever it stands, and one that does so behind a semicolon or another line of a head.
_BEGIN = re.compile(
    r"# (?:Time: (?:\d{6} |\d{4}-\d\d-\d\d[T ])|User@Host: [^[]*+\[[^]]*+\] @ |Query_time: \S++ ++Lock_time: )"
)
_HEAD = re.compile(r"#\s++[A-Z][\w@]*+: ")
_TIME = re.compile(r"# Time: (?:(\d\d)(\d\d)(\d\d) +(\d+):(\d\d:\d\d)|(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d))")
_PAIR = re.compile(r"\b(\w++): *+([^\s:]++)(?=\s|$)")
_USE = re.compile(r"use ([^;\n]++);?\s*+")
_SET = re.compile(r"SET (?:(?:last_insert_id|insert_id|timestamp)=\d++(?:\.\d++)?,?)++;?\s*+")
_WHO = re.compile(
    r"# User(?:@Host)?: ([^\[]*+)\[([^\]]*+)\] @ *+([^\s\[]*+) *+\[([^\]]*+)\]|# User(?:@Host)?: (\S*) @ (\S*)"
)
_NUMBER = re.compile(r"[0-9]{1,30}(?:\.[0-9]{1,30})?(?:e-?[0-9]{1,2})?")
_OTHERS = {"Lock_time": _LONGEST_S, "Rows_sent": _MOST_ROWS, "Rows_examined": _MOST_ROWS}
_ADMINISTRATOR = "# administrator command: "


@dataclass(slots=True)
class Event:
    """One statement of a log. `at` is its time as the log prints it, YYYY-MM-DD hh:mm:ss, or nothing."""

    statement: str
    seconds: float
    lock_s: float = 0.0
    rows_sent: int = 0
    rows_examined: int = 0
    at: str = ""
    database: str = ""
    who: str = ""
    one_of: int = 1  # events or sessions that the server sampled this one from

    @property
    def user(self) -> str:
        """The account by which it was authenticated."""
        found = _WHO.match(self.who)
        return (found[1] or "").strip() or found[2] or found[5] or "" if found else ""

    @property
    def host(self) -> str:
        """The name of the client's host, or its address."""
        found = _WHO.match(self.who)
        return found[3] or found[4] or found[6] or "" if found else ""


def is_slow_log(text: str) -> bool:
    """Whether the beginning of a file has the headers of a slow log."""
    return re.search(r"^# Query_time: ", text, re.MULTILINE) is not None


def events(lines: Iterable[str], skipped: Counter[str], *, largest: int = LARGEST_BYTES) -> Iterator[Event]:
    """The events of a log. What is damaged is left out and counted in `skipped`, by what is wrong."""
    reader = _Reader(skipped, largest)
    for line in lines:
        if found := reader.take(line):
            yield found
    if found := reader.finished():
        yield found
    if isinstance(lines, files.Lines) and lines.damage:
        skipped[f"the end of a packed log ({lines.damage})"] += 1
    elif not reader.is_whole_line:
        skipped["the end of a log, which stops within a line"] += 1


class _Reader:
    """The event that is being read: its head, then what the server writes before a statement, then the statement."""

    def __init__(self, skipped: Counter[str], largest: int) -> None:
        self._skipped, self._largest = skipped, largest
        self._at = self._database = ""  # of the last event that had them: they stand only where they change
        self.is_whole_line = True
        self._begin(is_head=False)

    def _begin(self, *, is_head: bool) -> None:
        self._is_head = self._has_head = is_head
        self._head = dict[str, str]()
        self._body, self._size = list[str](), 0
        self._who = self._used = self._stamp = self._last = ""

    def take(self, line: str) -> Event | None:
        """The event before `line`, when the line ends it."""
        is_start, self.is_whole_line = self.is_whole_line, line.endswith("\n")
        found = None
        if is_start and line.startswith("#"):
            if line.startswith(_ADMINISTRATOR) and not self._body:
                self._is_head = False
                self._keep(line[2:])
                return None
            if self._is_head or _BEGIN.match(line) or (self._is_between() and _HEAD.match(line)):
                # A second head ends the first, which has no statement then.
                is_second = line.startswith("# Time: ") or ("Query_time" in self._head and _BEGIN.match(line))
                if not self._is_head or is_second:
                    found = self.finished()
                    self._begin(is_head=True)
                self._take_head(line)
                return found
        elif is_start and (", Version: " in line or self._is_between()) and _is_opening(line):
            found = self.finished()
            self._begin(is_head=False)
            self._database = ""
            return found
        self._is_head = False
        if not self._body and (not line.strip() or self._is_of_server(line)):
            return None
        self._keep(line)
        return None

    def finished(self) -> Event | None:
        """The event that was read, unless it is damaged."""
        if self._size > self._largest:
            self._skipped[f"a statement cut after {self._largest / 2**20:g} MiB"] += 1
        text = files.characters("".join(self._body)).strip().removesuffix(";").rstrip() or self._used
        seconds = _number(self._head.get("Query_time", ""), _LONGEST_S)
        if not self._has_head and not text:
            return None
        if not self._has_head or not text or seconds is None:
            missing = "a head" if not self._has_head else "a Query_time in seconds" if text else "a statement"
            self._skipped[f"an event without {missing}"] += 1
            return None
        others = [_number(self._head.get(name, "0"), most) for name, most in _OTHERS.items()]
        if None in others:
            self._skipped["a Lock_time, Rows_sent or Rows_examined that is no number, taken as 0"] += 1
        lock_s, sent, examined = (value or 0.0 for value in others)
        return Event(
            statement=text,
            seconds=seconds,
            lock_s=lock_s,
            rows_sent=int(sent),
            rows_examined=int(examined),
            at=self._at or _stamped(self._stamp),
            database=files.characters(
                self._database if self._used else self._head.get("Schema", self._database)
            ),
            who=files.characters(self._who),
            one_of=int(_number(self._head.get("Log_slow_rate_limit", "1"), _MOST_ROWS) or 1),
        )

    def _is_between(self) -> bool:
        """Whether a statement has ended, or none has begun."""
        return not self._body or self._last.rstrip().endswith(";")

    def _take_head(self, line: str) -> None:
        at = line.find("# User")
        if at >= 0:
            self._who = line[at:]
        if line.startswith("# Time: "):
            found = _TIME.match(line)
            year, month, day, hour, minute, date, time = found.groups() if found else [""] * 7
            self._at = (
                f"{date} {time}" if date else f"20{year}-{month}-{day} {hour:0>2}:{minute}" if found else ""
            )
        elif at < 0:
            if "Schema: " in line:
                self._head["Schema"] = ""  # unless it has a name
            self._head.update(_PAIR.findall(line))

    def _is_of_server(self, line: str) -> bool:
        """Whether a line tells the database or the time of the statement that follows."""
        if line.startswith("use ") and not self._used and (found := _USE.fullmatch(line)):
            self._used = files.characters(line.strip().removesuffix(";"))
            self._database = found[1].strip("`")
            return True
        if line.startswith("SET ") and not self._stamp and _SET.fullmatch(line):
            self._stamp = line
            return True
        return False

    def _keep(self, line: str) -> None:
        self._last = line
        self._size += len(line)
        if self._size <= self._largest:
            self._body.append(line)


def _number(text: str, largest: float) -> float | None:
    """A number that can be true."""
    found = float(text) if _NUMBER.fullmatch(text) else largest
    return found if found < largest else None


def _stamped(setting: str) -> str:
    """The seconds since 1970 of a SET timestamp, as a time of UTC."""
    found = re.search(r"timestamp=(\d+)", setting)
    with contextlib.suppress(ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(int(found[1]), UTC).strftime("%Y-%m-%d %H:%M:%S") if found else ""
    return ""


def _is_opening(line: str) -> bool:
    """Whether a server writes this line when it opens the file."""
    return (
        (", Version: " in line and ("started with:" in line or "embedded library" in line))
        or line[:10].lower() == "tcp port: "
        or (line.startswith("Time") and line.split()[:3] == ["Time", "Id", "Command"])
    )
