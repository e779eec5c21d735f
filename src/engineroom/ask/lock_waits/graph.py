"""Sessions that wait for locks and those that they wait for: as text, as JSON and as a picture."""

from __future__ import annotations

import html
import itertools
import json
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from engineroom.ask.digests.fingerprint import digest_of

__all__ = ["LockWaits", "Session", "Wait"]

_BOX_WIDTH, _BOX_HEIGHT, _GAP_X, _GAP_Y, _LETTERS = 320, 66, 30, 54, 44
_LONGEST_STATEMENT = 100
# What one screen holds: sessions named, kinds of waiters behind each, and how far behind.
_TOLD, _KINDS, _DEEPEST = 30, 6, 8


@dataclass(frozen=True, kw_only=True)
class Session:
    """A session, or a transaction that no session has; seconds are the server's, to one second."""

    id: int  # of the connection; below 0: there is none
    user: str = ""
    transaction_s: int | None = None  # since its transaction began; None: it has none
    idle_s: int | None = None  # since its last statement ended; None: it runs one
    rows_locked: int = 0
    rows_changed: int = 0
    isolation: str = ""
    statement: str = ""  # that it runs now, or ""
    host: str = ""
    program: str = ""
    last_statement: str = ""
    does: str = ""  # "rolls back", "prepared", "killed", "recovered", or "unseen": the unknown holder
    xids: tuple[str, ...] = ()  # of a prepared transaction; several: nothing tells which
    holds: tuple[str, ...] = ()  # what else than row locks is in others' way: "LOCK TABLES ... WRITE"

    @property
    def name(self) -> str:
        """What to call it in a sentence."""
        if self.id > 0:
            return f"session {self.id}"
        return {"prepared": "an XA transaction", "unseen": "a holder that is not to be seen"}.get(
            self.does, "a transaction without a session"
        )

    def said(self) -> str:
        """Who it is and what it does."""
        if self.does == "unseen":
            return self.statement
        if self.id > 0:
            who = [self.user + (f"@{self.host}" if self.host else ""), self.program]
            parts = [f"{self.name} ({', '.join(filter(None, who))})"]
        elif self.does == "prepared":
            parts = [f"XA transaction {self._which()}".rstrip() + ", prepared, no session"]
        else:
            parts = ["transaction without a session"]
        if self.transaction_s is None:
            parts += ["no InnoDB transaction"] * (self.id > 0)
        else:
            parts += [
                f"transaction of {self.transaction_s} s",
                f"{_rows(self.rows_locked)} locked",
                f"{self.rows_changed:,} changed",
            ]
        if self.holds:
            parts.append("holds " + " and ".join(self.holds))
        if self.does == "rolls back":
            parts.append(f"rolls back, {_rows(self.rows_changed)} left")
        elif self.does == "killed":
            parts.append("killed, ends soon")
        elif self.does == "prepared" and self.id > 0:
            parts.append(f"XA transaction {self._which()} prepared")
        elif self.id > 0:
            parts.append(
                f"idle for {self.idle_s} s" if self.idle_s is not None else f"runs {_short(self.statement)}"
            )
        return ", ".join(parts)

    def _which(self) -> str:
        more = f" or {len(self.xids) - _KINDS} more" if len(self.xids) > _KINDS else ""
        return " or ".join(self.xids[:_KINDS]) + more

    def remedy(self) -> list[str]:
        """Statements that end what is in the others' way, each with what it loses."""
        loses = "loses no changed row"
        if self.rows_changed:
            loses = f"loses {_rows(self.rows_changed, 'changed ')}"
        if self.transaction_s is None and self.does == "prepared":
            loses = "loses its changes"
        if self.does == "unseen":
            return []
        if self.does == "rolls back":
            left = _rows(self.rows_changed)
            return [f"-- it rolls back and has {left} left: wait; neither KILL nor a restart shortens that"]
        if self.does == "prepared":
            lines = [
                f"XA COMMIT {xid}; -- or XA ROLLBACK {xid}, which {loses}: as its transaction manager decided"
                for xid in self.xids[:_KINDS]
            ] or ["XA RECOVER CONVERT XID; -- names it: then XA COMMIT or XA ROLLBACK"]
            if len(self.xids) > 1:
                lines.insert(0, "-- one of these, all in XA RECOVER CONVERT XID; InnoDB does not tell which:")
            last = "-- KILL does not help: it has no session"
            if self.id > 0:
                last = (
                    f"-- in session {self.id}; in any other one after KILL {self.id}, which does not end it"
                )
            return [*lines, last]
        if self.id < 0:
            return [
                "-- KILL does not help: it has no session; the server ends it, after a crash or as its own task"
            ]
        if self.does == "killed":
            return [f"-- KILL was sent already: watch whether session {self.id} ends"]
        if self.user == "system user":
            return [
                "STOP REPLICA SQL_THREAD; -- up to 8.0.21 STOP SLAVE SQL_THREAD; it rolls back and repeats"
            ]
        lines = [f"KILL {self.id}; -- {', and '.join((loses, *map(_ending, self.holds)))}"]
        if self.xids and self.transaction_s is None and self.idle_s is not None and not self.holds:
            lines.append(
                f"-- if not: it left a prepared XA transaction, {self._which()}: XA COMMIT or XA ROLLBACK"
            )
        if self.idle_s is None:
            lines.insert(
                0, f"KILL QUERY {self.id}; -- ends the statement; an open transaction keeps its locks"
            )
        return lines


@dataclass(frozen=True, kw_only=True)
class Wait:
    """One lock that a session waits for, and one that is in its way. Modes are as the server writes them."""

    waiting: int
    blocking: int
    table: str = ""
    index: str = ""
    data: str = ""
    asked: str = ""
    held: str = ""
    waited_s: int
    kind: str = "row lock"

    def said(self) -> str:
        """What is asked for, of what, behind what."""
        if self.kind != "row lock":
            what = " ".join(filter(None, (self.kind, self.asked)))
            what += f" of {self.table}" if self.table else ""
        elif not self.asked:
            what = "a row lock, not read"
        else:
            what = f"{self.asked} on {self.data or 'the table'} of {self.table}"
            what += f", index {self.index}" if self.index else ""
        return what + (f", behind {self.held}" if self.held else "")


@dataclass(frozen=True)
class _Told:
    """One session of the tree, with those that wait like it."""

    session: int
    wait: Wait | None = None  # None: it stands first
    alike: Sequence[Wait] = ()
    indent: str = ""
    deeper: str = ""


@dataclass(frozen=True)
class LockWaits:
    """The sessions that wait or are waited for, and their waits; printed as text, shown as a picture in a notebook.

    Of a session that waits for one lock behind many, `waits` has those that were granted; behind none of them, one that waits itself.
    """

    server: str
    sessions: Mapping[int, Session]
    waits: Sequence[Wait]
    remarks: Sequence[str] = ()
    history: Mapping[str, Any] | None = field(default=None)

    @cached_property
    def waiting(self) -> list[int]:
        """The sessions that wait, by number."""
        return sorted({wait.waiting for wait in self.waits})

    @cached_property
    def _tree(self) -> tuple[list[int], dict[int, list[Wait]], Counter[int]]:
        """Who stands first, and below each session its waiters, each once and as near to the start as can be; and how many in all."""
        behind: defaultdict[int, list[Wait]] = defaultdict(list)
        for wait in self.waits:
            behind[wait.blocking].append(wait)
        waiting = set(self.waiting)
        starts = sorted(behind.keys() - waiting, key=lambda session: (-len(behind[session]), session))
        below: dict[int, list[Wait]] = {}
        order: list[tuple[int, int]] = []
        told = set(starts)
        # A cycle that nobody has ended yet has no start: it begins with its lowest number.
        for start in itertools.chain([None], self.waiting):
            if start is not None:
                if start in told:
                    continue
                told.add(start)
                starts.append(start)
            near = deque(starts if start is None else [start])
            while near:
                session = near.popleft()
                for wait in behind[session]:
                    if wait.waiting not in told:
                        told.add(wait.waiting)
                        below.setdefault(session, []).append(wait)
                        order.append((session, wait.waiting))
                        near.append(wait.waiting)
        n_behind: Counter[int] = Counter()
        for session, waiter in reversed(order):
            n_behind[session] += 1 + n_behind[waiter]
        starts.sort(key=lambda session: (session in waiting, -n_behind[session], session))
        return starts, below, n_behind

    @cached_property
    def roots(self) -> list[int]:
        """The sessions that others wait for and that wait for nobody: where to look first. Those for whom most wait come first."""
        waiting = set(self.waiting)
        return [session for session in self._tree[0] if session not in waiting]

    @cached_property
    def _blockers(self) -> Mapping[int, set[int]]:
        """Of each waiter, all who wait for nobody and are in its way."""
        found: defaultdict[int, set[int]] = defaultdict(set)
        roots = set(self.roots)
        for wait in self.waits:
            if wait.blocking in roots:
                found[wait.waiting].add(wait.blocking)
        return found

    @cached_property
    def _told(self) -> list[_Told]:
        return list(itertools.islice(self._all_told(), _TOLD))

    def _all_told(self) -> Iterator[_Told]:
        for start in self._tree[0]:
            yield _Told(start)
            yield from self._told_below(start, "", 1)

    def _told_below(self, session: int, indent: str, depth: int) -> Iterator[_Told]:
        _, below, n_behind = self._tree
        alike: dict[Any, list[Wait]] = {}
        for wait in sorted(below.get(session, ()), key=lambda w: (-w.waited_s, w.waiting)):
            key: Any = wait.waiting
            if not n_behind[wait.waiting]:
                shape = digest_of(self.sessions[wait.waiting].statement, numbered_names_apart=True)
                key = (wait.kind, wait.table, wait.index, wait.asked, shape)
            alike.setdefault(key, []).append(wait)
        shown = list(alike.values())[:_KINDS]
        for nth, (first, *more) in enumerate(shown):
            last = nth == len(shown) - 1
            deeper = indent + ("   " if last else "│  ")
            yield _Told(first.waiting, first, more, indent + ("└─ " if last else "├─ "), deeper)
            if depth < _DEEPEST:
                yield from self._told_below(first.waiting, deeper, depth + 1)

    def text(self) -> str:
        """A tree per session that waits for nobody, its waiters below it, those that wait alike on one line."""
        n = len(self.waiting)
        kind_of = {wait.waiting: wait.kind for wait in self.waits}
        kinds = Counter(kind_of.values())
        what = f"{n} {'session waits' if n == 1 else 'sessions wait'} for {_plural(next(iter(kinds), ''))}"
        if len(kinds) > 1:
            what = f"{n} sessions wait: " + ", ".join(
                f"{count} for {_plural(kind)}" for kind, count in kinds.most_common()
            )
        if not n:
            what = "no session waits for a row lock or a metadata lock"
        lines = [f"MySQL {self.server}: {what}", *(f"! {remark}" for remark in self.remarks)]
        xids: set[tuple[str, ...]] = set()
        for told in self._told:
            session = self.sessions[told.session]
            if told.wait is None and session.does == "prepared" and len(session.xids) > 1:
                if session.xids in xids:
                    lines += [session.said(), "  -- one of the same: see above"]
                    continue
                xids.add(session.xids)
            lines += self._lines(told)
        if left := n - sum(
            1 + len(told.alike) for told in self._told if told.wait or told.session in kind_of
        ):
            lines.append(f"{left:,} more wait that are not shown: --format json has them")
        return "\n".join([*lines, *self._history_lines()])

    def _lines(self, told: _Told) -> Iterator[str]:
        session = self.sessions[told.session]
        if told.wait is None:
            yield session.said()
            for wait in itertools.islice((w for w in self.waits if w.waiting == told.session), 1):
                yield f"  a cycle: it waits for {self.sessions[wait.blocking].name} itself, {wait.said()}; end one of them"
            yield from _more(session)
            return
        wait = told.wait
        others = sorted(self._blockers[wait.waiting] - {wait.blocking})
        also = f", also behind {_listed(others, lambda n: self.sessions[n].name)}" if others else ""
        yield f"{told.indent}session {wait.waiting} waits {wait.waited_s} s: {wait.said()}{also}"
        if session.statement:
            yield f"{told.deeper}{_short(session.statement)}"
        if told.alike:
            places = len({each.data for each in (wait, *told.alike)})
            where = "for the same" if places == 1 else f"for {places} rows there"
            n, numbers = len(told.alike), _listed([each.waiting for each in told.alike], str)
            who, them = ("waits", "session") if n == 1 else ("wait", "sessions")
            yield f"{told.deeper}{n:,} more {who} {where} with the same statement: {them} {numbers}"

    def _history_lines(self) -> Iterator[str]:
        if self.history is None:
            return
        yield (
            f"history list: {self.history['length']:,} committed transactions that purge has not removed yet; it has come to transaction"
            f" {self.history['purged_to']}"
        )
        if self.history["holder"] is None:
            yield "no transaction has a view: nobody holds purge back"
            return
        session = Session(**self.history["holder"])
        yield f"the oldest with a view, up to which purge comes: {session.said()}"
        yield from _more(session)

    def json(self, *, indent: int | None = 2) -> str:
        """Everything that was read."""
        return json.dumps(
            {
                "server": self.server,
                "remarks": list(self.remarks),
                "roots": self.roots,
                "behind": {number: self._tree[2][number] for number in self.roots},
                "remedies": {number: self.sessions[number].remedy() for number in self.roots},
                "sessions": [asdict(self.sessions[number]) for number in sorted(self.sessions)],
                "waits": [asdict(wait) for wait in self.waits],
                "history": self.history,
            },
            indent=indent,
        )

    def _levels(self, waits: Sequence[Wait]) -> list[list[int]]:
        """The sessions that wait for nobody first, then each one below the farthest one that it waits for."""
        level = {told.session: 0 for told in self._told}
        for _ in level:  # a cycle moves for ever
            for wait in waits:
                level[wait.waiting] = max(level[wait.waiting], min(level[wait.blocking] + 1, len(level) - 1))
        rows: dict[int, list[int]] = {}
        for session, at in sorted(level.items()):
            rows.setdefault(at, []).append(session)
        return [rows[at] for at in sorted(rows)]

    def svg(self) -> str:
        """The graph: a box per session, those that wait alike in one, and an arrow from each to the one in its way."""
        shown = {told.session: told for told in self._told}
        pairs = {(w.waiting, w.blocking): w for w in self.waits if w.waiting in shown and w.blocking in shown}
        waits = list(pairs.values())
        levels = self._levels(waits)
        width = max([len(row) for row in levels], default=1) * (_BOX_WIDTH + _GAP_X) + _GAP_X
        height = max(1, len(levels)) * (_BOX_HEIGHT + _GAP_Y) + _GAP_Y // 2
        at = {
            session: (_GAP_X + x * (_BOX_WIDTH + _GAP_X), _GAP_Y // 2 + y * (_BOX_HEIGHT + _GAP_Y))
            for y, row in enumerate(levels)
            for x, session in enumerate(row)
        }
        parts = [self._arrow(wait, at) for wait in waits]
        parts += [self._box(shown[session], *place) for session, place in at.items()]
        if not levels:
            parts = [f'<text x="{_GAP_X}" y="40">No session waits for a row lock or a metadata lock.</text>']
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
            f'aria-label="{html.escape(self._alt(waits), quote=True)}" font-family="system-ui, sans-serif" font-size="13" fill="currentColor">'
            '<defs><marker id="er-waits-for" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="9" markerHeight="9" orient="auto">'
            '<path d="M0 0 L8 4 L0 8 z"/></marker></defs>' + "".join(parts) + "</svg>"
        )

    def _alt(self, waits: Sequence[Wait]) -> str:
        said = "; ".join(
            f"{self.sessions[w.waiting].name} waits for {self.sessions[w.blocking].name}, {w.said()}"
            for w in waits
        )
        return f"Graph of lock waits on MySQL {self.server}: {said or 'none'}."

    @staticmethod
    def _arrow(wait: Wait, at: Mapping[int, tuple[int, int]]) -> str:
        (x1, y1), (x2, y2) = at[wait.waiting], at[wait.blocking]
        x1, x2 = x1 + _BOX_WIDTH // 2, x2 + _BOX_WIDTH // 2
        down = y2 < y1
        y1, y2 = (y1, y2 + _BOX_HEIGHT) if down else (y1 + _BOX_HEIGHT, y2)
        label = wait.kind if wait.kind != "row lock" else _cut(f"{wait.asked} on {wait.data or 'the table'}")
        return (
            f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="currentColor" stroke-width="1.5" marker-end="url(#er-waits-for)"/>'
            f'<text x="{(x1 + x2) // 2 + 8}" y="{(y1 + y2) // 2 + 5}">{html.escape(label)}</text>'
        )

    def _box(self, told: _Told, x: int, y: int) -> str:
        session = self.sessions[told.session]
        # The box to look at first is filled and thick.
        look = (
            'fill="#E69F00" fill-opacity="0.35" stroke-width="3"'
            if told.session in self.roots
            else 'fill="none" stroke-width="1.5"'
        )
        state = f"idle for {session.idle_s} s" if session.idle_s is not None else "runs a statement"
        if told.wait:
            state = f"waits {told.wait.waited_s} s" + (f", and {len(told.alike)} alike" if told.alike else "")
        elif session.does:
            state = {"unseen": ""}.get(session.does, session.does)
        age = (
            "no transaction" if session.transaction_s is None else f"transaction of {session.transaction_s} s"
        )
        lines = (
            f"{session.name}, {session.user}".removesuffix(", "),
            ", ".join(filter(None, (state, age))),
            session.statement or f"{session.rows_locked:,} rows locked, {session.rows_changed:,} changed",
        )
        said = "".join(
            f'<text x="{x + 10}" y="{y + 20 + 19 * i}"{" font-weight=" + chr(34) + "700" + chr(34) if i == 0 else ""}>{html.escape(_cut(line))}</text>'
            for i, line in enumerate(lines)
        )
        return f'<rect x="{x}" y="{y}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="6" stroke="currentColor" {look}/>{said}'

    __str__ = __repr__ = text
    _repr_html_ = svg


def _more(session: Session) -> Iterator[str]:
    """What it did last, and what ends it."""
    if session.last_statement not in ("", session.statement):
        yield f"  last statement: {_short(session.last_statement)}"
    yield from (f"  {line}" for line in session.remedy())


def _cut(text: str) -> str:
    return text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…"


def _short(statement: str) -> str:
    line = " ".join(statement.split())
    return line if len(line) <= _LONGEST_STATEMENT else line[: _LONGEST_STATEMENT - 1] + "…"


def _rows(number: int, kind: str = "") -> str:
    return f"1 {kind}row" if number == 1 else f"{number:,} {kind}rows"


def _ending(held: str) -> str:
    """What a session holds, and the statement by which it would give it up itself."""
    ends = {"GET_LOCK": "RELEASE_LOCK", "LOCK INSTANCE": "UNLOCK INSTANCE"}
    return f"{held}, which {next((e for begins, e in ends.items() if held.startswith(begins)), 'UNLOCK TABLES')} there ends, too"


def _plural(kind: str) -> str:
    return kind if kind.endswith("flush") else f"{kind}s"


def _listed(numbers: Sequence[int], said: Callable[[int], str]) -> str:
    shown = ", ".join(said(number) for number in numbers[:_KINDS])
    return shown + (f" and {len(numbers) - _KINDS:,} more" if len(numbers) > _KINDS else "")
