"""Sessions that wait for row locks and those that they wait for: as text, as JSON and as a picture."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

__all__ = ["LockWaits", "Session", "Wait"]

_BOX_WIDTH, _BOX_HEIGHT, _GAP_X, _GAP_Y, _LETTERS = 320, 66, 30, 54, 44
_LONGEST_STATEMENT = 100


@dataclass(frozen=True, kw_only=True)
class Session:
    """A session with a transaction; seconds are the server's, to one second."""

    id: int
    user: str
    transaction_s: int  # since its transaction began
    idle_s: int | None  # since its last statement ended; None: it runs one
    rows_locked: int
    rows_changed: int
    isolation: str
    statement: str  # that it runs now, or ""


@dataclass(frozen=True, kw_only=True)
class Wait:
    """One lock that a session waits for, and one that is in its way. Modes are as the server writes them."""

    waiting: int
    blocking: int
    table: str
    index: str
    data: str
    asked: str
    held: str
    waited_s: int


@dataclass(frozen=True)
class LockWaits:
    """The sessions that wait or are waited for, and their waits; printed as text, shown as a picture in a notebook."""

    server: str
    sessions: Mapping[int, Session]
    waits: Sequence[Wait]

    @cached_property
    def waiting(self) -> list[int]:
        """The sessions that wait, by number."""
        return sorted({wait.waiting for wait in self.waits})

    @cached_property
    def roots(self) -> list[int]:
        """The sessions that others wait for and that wait for nobody: where to look first. Those for whom most wait come first."""
        found = {wait.blocking for wait in self.waits} - set(self.waiting)
        return sorted(found, key=lambda session: (-len(self._behind(session)), session))

    def _behind(self, session: int) -> set[int]:
        """All who wait for a session, directly or not."""
        found: set[int] = set()
        new = {session}
        while new := {wait.waiting for wait in self.waits if wait.blocking in new} - found:
            found |= new
        return found

    def text(self) -> str:
        """A tree per session that waits for nobody, its waiters below it."""
        if not self.waits:
            return f"MySQL {self.server}: no session waits for a row lock"
        n = len(self.waiting)
        lines = [f"MySQL {self.server}: {n} {'session waits' if n == 1 else 'sessions wait'} for row locks"]
        told: set[int] = set()
        # A cycle that nobody has ended yet has no root: it begins with its lowest number.
        starts = list(self.roots)
        reached = set(starts).union(*(self._behind(root) for root in starts))
        for session in self.waiting:
            if session not in reached:
                starts.append(session)
                reached |= {session} | self._behind(session)
        for start in starts:
            lines.append(self._said(start))
            told.add(start)
            lines += self._tree(start, "", told)
        return "\n".join(lines)

    def _tree(self, session: int, indent: str, told: set[int]) -> Iterator[str]:
        below = sorted(
            (w for w in self.waits if w.blocking == session), key=lambda w: (-w.waited_s, w.waiting)
        )
        for nth, wait in enumerate(below):
            last = nth == len(below) - 1
            yield f"{indent}{'└─ ' if last else '├─ '}{self._waits(wait)}"
            if wait.waiting in told:
                continue
            told.add(wait.waiting)
            statement = self.sessions[wait.waiting].statement
            deeper = indent + ("   " if last else "│  ")
            if statement:
                yield f"{deeper}{_short(statement)}"
            yield from self._tree(wait.waiting, deeper, told)

    def _said(self, number: int) -> str:
        session = self.sessions[number]
        does = (
            f"idle for {session.idle_s} s"
            if session.idle_s is not None
            else f"runs {_short(session.statement)}"
        )
        return (
            f"session {number} ({session.user}), transaction of {session.transaction_s} s, {session.rows_locked:,} rows locked,"
            f" {session.rows_changed:,} changed, {does}"
        )

    @staticmethod
    def _waits(wait: Wait) -> str:
        return (
            f"session {wait.waiting} waits {wait.waited_s} s: {wait.asked} on {wait.data or 'the table'} of {wait.table}"
            + (f", index {wait.index}" if wait.index else "")
            + f", behind {wait.held}"
        )

    def json(self) -> str:
        """Everything that was read."""
        return json.dumps(
            {
                "server": self.server,
                "roots": self.roots,
                "sessions": [asdict(self.sessions[number]) for number in sorted(self.sessions)],
                "waits": [asdict(wait) for wait in self.waits],
            },
            indent=2,
        )

    def _levels(self) -> list[list[int]]:
        """The sessions that wait for nobody first, then each one below the farthest one that it waits for."""
        level = dict.fromkeys(sorted(self.sessions), 0)
        for _ in self.sessions:  # a cycle moves for ever
            for wait in self.waits:
                level[wait.waiting] = max(level[wait.waiting], min(level[wait.blocking] + 1, len(level) - 1))
        rows: dict[int, list[int]] = {}
        for session, at in level.items():
            rows.setdefault(at, []).append(session)
        return [rows[at] for at in sorted(rows)]

    def svg(self) -> str:
        """The graph: a box per session, an arrow from each waiter to the one in its way."""
        levels = self._levels() if self.waits else []
        width = max([len(row) for row in levels], default=1) * (_BOX_WIDTH + _GAP_X) + _GAP_X
        height = max(1, len(levels)) * (_BOX_HEIGHT + _GAP_Y) + _GAP_Y // 2
        at = {
            session: (_GAP_X + x * (_BOX_WIDTH + _GAP_X), _GAP_Y // 2 + y * (_BOX_HEIGHT + _GAP_Y))
            for y, row in enumerate(levels)
            for x, session in enumerate(row)
        }
        parts = [self._arrow(wait, at) for wait in self.waits]
        parts += [self._box(session, *place) for session, place in at.items()]
        if not levels:
            parts = [f'<text x="{_GAP_X}" y="40">No session waits for a row lock.</text>']
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
            f'aria-label="{html.escape(self._alt(), quote=True)}" font-family="system-ui, sans-serif" font-size="13" fill="currentColor">'
            '<defs><marker id="er-waits-for" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="9" markerHeight="9" orient="auto">'
            '<path d="M0 0 L8 4 L0 8 z"/></marker></defs>' + "".join(parts) + "</svg>"
        )

    def _alt(self) -> str:
        said = "; ".join(
            f"session {w.waiting} waits for session {w.blocking}, {w.asked} on {w.data or 'the table'} of {w.table}"
            for w in self.waits
        )
        return f"Graph of lock waits on MySQL {self.server}: {said or 'none'}."

    @staticmethod
    def _arrow(wait: Wait, at: Mapping[int, tuple[int, int]]) -> str:
        (x1, y1), (x2, y2) = at[wait.waiting], at[wait.blocking]
        x1, x2 = x1 + _BOX_WIDTH // 2, x2 + _BOX_WIDTH // 2
        down = y2 < y1
        y1, y2 = (y1, y2 + _BOX_HEIGHT) if down else (y1 + _BOX_HEIGHT, y2)
        label = _cut(f"{wait.asked} on {wait.data or 'the table'}")
        return (
            f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="currentColor" stroke-width="1.5" marker-end="url(#er-waits-for)"/>'
            f'<text x="{(x1 + x2) // 2 + 8}" y="{(y1 + y2) // 2 + 5}">{html.escape(label)}</text>'
        )

    def _box(self, number: int, x: int, y: int) -> str:
        session = self.sessions[number]
        is_root = number in self.roots
        # The box to look at first is filled and thick.
        look = (
            'fill="#E69F00" fill-opacity="0.35" stroke-width="3"'
            if is_root
            else 'fill="none" stroke-width="1.5"'
        )
        waited = max((wait.waited_s for wait in self.waits if wait.waiting == number), default=0)
        state = f"idle for {session.idle_s} s" if session.idle_s is not None else f"waits {waited} s"
        if session.idle_s is None and is_root:
            state = "runs a statement"
        lines = (
            f"session {number}, {session.user}",
            f"{state}, transaction of {session.transaction_s} s",
            session.statement or f"{session.rows_locked:,} rows locked, {session.rows_changed:,} changed",
        )
        said = "".join(
            f'<text x="{x + 10}" y="{y + 20 + 19 * i}"{" font-weight=" + chr(34) + "700" + chr(34) if i == 0 else ""}>{html.escape(_cut(line))}</text>'
            for i, line in enumerate(lines)
        )
        return f'<rect x="{x}" y="{y}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="6" stroke="currentColor" {look}/>{said}'

    __str__ = __repr__ = text
    _repr_html_ = svg


def _cut(text: str) -> str:
    return text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…"


def _short(statement: str) -> str:
    line = " ".join(statement.split())
    return line if len(line) <= _LONGEST_STATEMENT else line[: _LONGEST_STATEMENT - 1] + "…"
