"""The lines of a log or a status as the server wrote them, from what collectors, mail programs, pages and chats have made of them.

What stands before the headlines of a report (a container's name, a time, `> `, `// `, a line's number) is learned from them, whatever it
is: other lines have the same but for its numbers.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["DATE", "WRITER", "plain"]

_QUOTES = dict.fromkeys((0x2018, 0x2019), "`")  # as blogs print those of names
_LONGEST_LINE, _LONGEST_PREFIX = 2**16, 200
DATE = r"\d{4}-\d\d-\d\d[T ] ?\d{1,2}:\d\d:\d\d\S*|\d{6} +\d{1,2}:\d\d:\d\d"
_DATE = re.compile(DATE)
# What the server writes behind the time of a message.
WRITER = re.compile(r"\s*(?:0x[0-9a-f]+|[0-9a-f]{6,}|\d+)?\s*(?:\[[^\]]*\]\s*)*(?:InnoDB:\s*)?")
_MARK = re.compile(
    r"LATEST DETECTED DEADLOCK|(?:\\?\*){0,3} ?\(\d{1,18}\) TRANSACTION\b"
    r"|(?<![-\w])(?<!\) )TRANSACTION (?:\d{1,20} )?[^\s,]{1,40}, (?:XID|ACTIVE)\b"
)
_ANNOUNCED = re.compile("deadlock detected", re.IGNORECASE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# Members of a JSON log in which collectors, clouds and the server's own sink have the text.
_TEXTS = {"log", "msg", "message", "textpayload", "status", "content", "line"}
_TIMES = ("time", "timestamp", "@timestamp", "date")
_MEMBER = re.compile(rf'"@?(?:{"|".join(_TEXTS)})" ?: ?("(?:[^"\\]|\\.)*+")', re.IGNORECASE)
_OTHER_MEMBER = re.compile(r'[{}\[\],\s]*|"[@\w]+" ?: .*')
_TAG = re.compile(
    r"</?(?:p|br|pre|code|div|span|li|td|tr|table|strong|em|b|i|blockquote|field|html|body)\b[^<>]{0,300}>",
    re.IGNORECASE,
)
_BREAK = re.compile(r"<br\b[^<>]{0,100}>|</(?:p|div|li|tr|pre)>", re.IGNORECASE)
# Where a report that has lost its line ends begins another line, and what stands on one line anyway.
_FLOWED = re.compile(
    r"\s+(?=\*\*\* ?(?:\(\d|WE |WAITING|CONFLICTING)|RECORD LOCKS space|TABLE LOCK table|Record lock, heap no"
    r"|TRANSACTION (?:\d+ )?\w+, ACTIVE|mysql tables in use|LOCK WAIT |\d+ lock struct|(?:MySQL|MariaDB) thread id|\d+: len[ =]\d)"
)
_ROW = re.compile(r"(?<=\S)\s+(?=Record lock, heap no \d)")


def plain(text: Iterable[str]) -> Iterator[str]:
    """The lines without line ends and what stands around them."""
    reader = _Reader()
    for line in text:
        yield from reader.read(line.rstrip("\r\n"))


class _Reader:
    def __init__(self) -> None:
        self._prefix: re.Pattern[str] | None = None
        self._is_of_source = False  # within the quotes of a program
        self._is_escaped = self._is_markup = self._is_members = self._is_report = False

    def read(self, line: str) -> Iterator[str]:
        found = _of_json(line)
        if self._is_members and found is None and _OTHER_MEMBER.fullmatch(line.strip()):
            return
        if found is not None:
            self._is_members = self._is_members or not line.endswith(("}", "]"))
            for each in found:
                for part in each.splitlines():
                    yield from self._of_text(part)
            return
        # Without \\G the client's batch mode writes a status on one line.
        self._is_escaped = self._is_escaped or "\\n---" in line
        for part in line.split("\\n") if self._is_escaped else [line]:
            yield from self._of_text(part)

    def _of_text(self, line: str) -> Iterator[str]:
        line = line.replace("\xa0", " ")
        if "\x1b" in line:
            line = _COLOUR.sub("", line)
        # A statement may have tags of its own.
        if "<" in line and not self._is_report and (_TAG.match(line.lstrip()) or _MARK.search(line)):
            self._is_markup = _TAG.search(line) is not None
        if self._is_markup:
            parts = [html.unescape(_TAG.sub("", part)) for part in _BREAK.split(line)]
        else:
            parts = [line]
        for part in parts:
            for each in self._flowed(part):
                yield self._without_prefix(each[:_LONGEST_LINE])

    def _flowed(self, line: str) -> list[str]:
        n_marks = line.count("*** (") + line.count("RECORD LOCKS") + line.count("TABLE LOCK table")
        if n_marks > 2 and "TRANSACTION" in line:
            return _FLOWED.split(line)
        return _ROW.split(line) if "Record lock, heap no" in line else [line]

    def _without_prefix(self, line: str) -> str:
        if mark := _MARK.search(line):
            self._is_report = True
            before = line[: mark.start()]
            self._prefix, self._is_of_source = _prefix(before), before.rstrip().endswith(('"', "'"))
        elif "WE ROLL BACK TRANSACTION" in line:
            self._is_report = False
        if self._prefix and (found := self._prefix.match(line.lstrip())):
            line = line.lstrip()[found.end() :]
            if self._is_of_source:
                line = re.sub(r"(?:\\n)?[\"'][\s+,;)]*$", "", line)
        line = line.strip()
        if line.startswith(("\\*", "RECORD LOCKS", "TABLE LOCK")):
            line = re.sub(r"\\([*_`])", r"\1", line).translate(_QUOTES)
        return line


def _of_json(line: str) -> list[str] | None:
    """The texts that a line of a JSON log has, or a line of one value that is printed over several; None for any other."""
    line = line.strip().rstrip(",")
    try:
        if line[:1] + line[-1:] in ("{}", "[]"):
            return list(_texts(json.loads(line))) or None
        found = _MEMBER.fullmatch(line)
        return [json.loads(found[1])] if found else None
    except (ValueError, RecursionError):
        return None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            if isinstance(each, str) and name.lower().lstrip("@") in _TEXTS:
                when = next((value[time] for time in _TIMES if isinstance(value.get(time), str)), "")
                yield f"{when} {each}" if when and _ANNOUNCED.search(each) and not _DATE.match(each) else each
                return
        for each in value.values():
            yield from _texts(each)


def _prefix(before: str) -> re.Pattern[str] | None:
    """What other lines begin with where a headline has this before it, unless it is of the server."""
    dates = list(_DATE.finditer(before))
    if dates and WRITER.fullmatch(before, dates[-1].end()):
        before = before[: dates[-1].start()]
    before = before.strip()
    if not before.strip("-= ") or len(before) > _LONGEST_PREFIX:
        return None
    pattern = re.sub(r"(?:\\ )+", r"\\s+", re.escape(before))
    # grep writes file:12: before what it has found and file-13- before what follows.
    pattern = re.sub(r":|\\-", "[:-]", pattern)
    pattern = re.sub(r"\d+(?:\\\.\d+)*", lambda _: r"\d+(?:\.\d+)*", pattern)
    return re.compile(re.sub(r"\bF$", "[FP]", pattern))
