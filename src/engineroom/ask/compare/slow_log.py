"""The statements of a file or of a slow log, grouped by digest: the text with its values taken out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from engineroom import files, sql_text
from engineroom.errors import EngineRoomError

__all__ = ["Digest", "digest_of", "digests", "is_slow_log", "read"]

# What a server writes before a statement, and once when it opens the file.
_HEAD = re.compile(r"# (?:Time: |User@Host: |Query_time: |administrator command: )")
_OPENED = re.compile(r"\S.*, Version: .*\bstarted with:$|Tcp port: |Time +Id +Command +Argument")
_QUERY_TIME = re.compile(r"# Query_time: ([\d.]+)")
_NOT_OF_IT = re.compile(r"(?:use\s+\S+|SET timestamp=\d+)\s*;?", re.IGNORECASE)
_VALUE = re.compile(
    r"""(?P<name>`(?:[^`]|``)*`|[A-Za-z_$][\w$]*|/\*\+.*?\*/)
      | (?P<value>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)
      | (?P<comment>/\*.*?\*/)""",
    re.DOTALL | re.VERBOSE,
)


@dataclass
class Digest:
    """Statements that differ in their values alone. `statement` is the one that took longest, `log_s` what all took in the log."""

    digest: str
    statement: str
    count: int = 0
    log_s: float = 0.0
    longest_s: float = -1.0


def is_slow_log(text: str) -> bool:
    """Whether a text has the headers of a slow log."""
    return any(_QUERY_TIME.match(line) for line in text.splitlines())


def read(path: Path) -> list[Digest]:
    """The digests of a file of statements in its order, or of a slow log, what took most time first."""
    text = files.read_text(path, "query")
    if not is_slow_log(text):
        return digests((statement, 0.0) for statement in sql_text.statements(sql_text.read(path, "query")))
    found = digests(_logged(text))
    if not found:
        raise EngineRoomError(
            f"the slow log {path.name} holds no statement", remedy="name a log with statements"
        )
    return sorted(found, key=lambda each: -each.log_s)


def digests(timed: Iterable[tuple[str, float]]) -> list[Digest]:
    """Statements with their seconds by digest, in the order of the first of each."""
    found: dict[str, Digest] = {}
    for statement, seconds in timed:
        name = digest_of(statement)
        each = found.setdefault(name, Digest(name, statement))
        each.count += 1
        each.log_s += seconds
        if seconds > each.longest_s:
            each.statement, each.longest_s = statement, seconds
    return list(found.values())


def digest_of(statement: str) -> str:
    """The statement with ? for each value, one ? for a list of values, and single spaces."""
    text = _VALUE.sub(lambda found: found["name"] or (" " if found["comment"] else "?"), statement)
    text = " ".join(text.split())
    text = re.sub(r"\( ?\?(?: ?, ?\?)+ ?\)", "(?, ...)", text)
    return re.sub(r"(\((?:\?|\?, \.\.\.)\))(?: ?, ?\1)+", r"\1, ...", text)


def _logged(text: str) -> Iterator[tuple[str, float]]:
    """Each statement of a slow log with its seconds."""
    seconds, lines = 0.0, list[str]()
    for line in [*text.splitlines(), "# Time: "]:
        if _HEAD.match(line) or _OPENED.match(line):
            yield from ((statement, seconds) for statement in _statements(lines))
            lines = []
            if found := _QUERY_TIME.match(line):
                seconds = float(found[1])
        else:
            lines.append(line)


def _statements(lines: Iterable[str]) -> list[str]:
    return [each for each in sql_text.statements("\n".join(lines)) if not _NOT_OF_IT.fullmatch(each)]
