"""Instructions of a statement in a real server, counted by Valgrind's callgrind: the same on every machine, whatever else it does.

    with instructions.counting("8.0.31") as counted:
        counted.server.execute(...)  # tables and rows, at a tenth of the usual speed
        profile = counted.measure("INSERT INTO t VALUES ...", before="START TRANSACTION", after="ROLLBACK", rows=1000)
        profile.per_row, profile.functions[0].name

Counting is switched on from outside around a statement, which then runs about fifty times slower. Counted is what the thread of the
connection does. A server's other threads (log, purge, page cleaner) go on meanwhile, more or less of it by chance: three INSERTs of
1,000 rows in 9.7.4 met 7.3, 0.4 and 0.3 million instructions of theirs, and took 46.5, 45.3 and 45.4 million of their own. An idle run's
count cannot be subtracted: Valgrind runs one thread at a time, so that beside a busy statement the others do less than when nobody
asks (0.3 million instead of 0.8 in 8.0.31). So callgrind tells threads apart, and what the others did stands beside, with what they do
in that time when idle. What they did for the statement, such as 8.0's and 9.7's log writer, shows only in the difference of the two.
"""

from __future__ import annotations

import functools
import platform
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engineroom.children import ends_with_its_parent
from engineroom.errors import EngineRoomError
from engineroom.measuring import callgrind
from engineroom.progress import bar

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = [
    "AGREE",
    "SETTINGS",
    "Counted",
    "Function",
    "Profile",
    "counting",
    "profile_of",
    "require",
    "valgrind",
    "why_not",
]

# Beside the book's settings, unless a reader's options say otherwise.
SETTINGS: Mapping[str, str | int | bool] = {"performance_schema": "OFF"}
AGREE = 0.01  # two repeats that are no further apart
MOST_RUNS = 8
LIMIT_S = 300.0
_CONTROL_S = 120
_IDLE_S = 1.0
_FILE = "counts"
_MARK = (
    "DO BENCHMARK(100000, 1 + 1)"  # by which a connection's thread is known: about 10 million instructions
)
_MARK_INSTRUCTIONS = 1_000_000

Work = str | Callable[[Any], object]


@dataclass(frozen=True, kw_only=True)
class Function:
    """A function, or several of one short name, in one run of the statement. `own` leaves out what it calls; `inclusive` does not."""

    name: str  # as `callgrind.short` spells it
    full_names: tuple[str, ...]  # as callgrind does, most instructions first
    own: int
    inclusive: int
    calls: int
    own_events: Mapping[str, int]  # by callgrind's name of the event
    rows: int  # of the statement

    @property
    def own_per_row(self) -> float:
        """Own instructions per row of the statement."""
        return self.own / self.rows

    @property
    def calls_per_row(self) -> float:
        """Calls per row of the statement."""
        return self.calls / self.rows


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What one run of a statement cost the thread that serves the connection, in instructions."""

    version: str
    rows: int
    events: tuple[str, ...]
    own: Mapping[tuple[str, ...], tuple[int, ...]] = field(repr=False)  # by call path and event
    calls: Mapping[tuple[str, ...], int] = field(repr=False)
    repeats: tuple[int, ...]  # instructions of every run: the first warms up, the last is this profile
    others: int  # instructions of all other threads meanwhile
    others_idle: int  # what they would take in that time if nobody asked anything
    elsewhere: Sequence[callgrind.Part] = field(default=(), repr=False)  # all other threads', where asked for

    @property
    def instructions(self) -> int:
        """Instructions per statement."""
        return self.event("Ir")

    @property
    def per_row(self) -> float:
        """Instructions per row."""
        return self.instructions / self.rows

    def event(self, name: str) -> int:
        """How often one of callgrind's events happened, such as "DLmr": a read that simulated caches do not hold."""
        if name not in self.events:
            raise EngineRoomError(
                f"{name} was not counted, only {', '.join(self.events)}",
                remedy="count with caches=True (I1mr, D1mr, DLmr and others) or branches=True (Bcm, Bim)",
            )
        at = self.events.index(name)
        return sum(counts[at] for counts in self.own.values())

    @property
    def differs_by(self) -> float:
        """How far the last two repeats lie apart, as a share."""
        one, other = self.repeats[-2:]
        return _apart(one, other)

    @property
    def is_settled(self) -> bool:
        """Whether they agree."""
        return self.differs_by <= AGREE

    @property
    def nameless_share(self) -> float:
        """The share of instructions in functions that have no symbol."""
        nameless = sum(counts[0] for path, counts in self.own.items() if callgrind.is_nameless(path[-1]))
        return nameless / max(1, self.instructions)

    @functools.cached_property
    def paths(self) -> dict[tuple[str, ...], int]:
        """Own instructions by call path in short names, outermost first: what a flame graph is drawn of."""
        found: Counter[tuple[str, ...]] = Counter()
        for path, counts in self.own.items():
            found[callgrind.keys(path)] += counts[0]
        return dict(found)

    @functools.cached_property
    def functions(self) -> tuple[Function, ...]:
        """All functions by short name, those with most own instructions first."""
        own: dict[str, Counter[str]] = {}
        full: dict[str, Counter[str]] = {}
        inclusive: Counter[str] = Counter()
        calls: Counter[str] = Counter()
        for path, counts in self.own.items():
            keyed = list(callgrind.keyed(path))
            of_path = dict(zip(self.events, counts, strict=True))
            own.setdefault(keyed[-1][1], Counter()).update(of_path)
            for key in {key for _, key in keyed}:  # once, also of one that calls itself
                inclusive[key] += counts[0]
            for name, key in keyed:
                full.setdefault(key, Counter())[name] += counts[0] if name == path[-1] else 0
        for path, n in self.calls.items():
            calls[callgrind.keys(path)[-1]] += n
        found = [
            Function(
                name=name,
                full_names=tuple(each for each, _ in full[name].most_common()),
                own=own.get(name, Counter())["Ir"],
                inclusive=inclusive[name],
                calls=calls[name],
                own_events={event: own.get(name, Counter())[event] for event in self.events},
                rows=self.rows,
            )
            for name in inclusive
        ]
        return tuple(sorted(found, key=lambda function: (-function.own, function.name)))

    def function(self, name: str) -> Function | None:
        """The function of this short name, None where none was called."""
        return next((function for function in self.functions if function.name == name), None)


def profile_of(part: callgrind.Part, *, version: str, rows: int = 1, **more: Any) -> Profile:
    """A profile of one part of a file of callgrind's."""
    about = {"repeats": (part.totals[0],) * 2, "others": 0, "others_idle": 0, **more}
    return Profile(version=version, rows=rows, events=part.events, own=part.own, calls=part.calls, **about)


def why_not() -> str | None:
    """The reason why nothing can be counted on this machine, or None."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        return f"instructions are counted on Linux and x86-64, this is {platform.system()} on {platform.machine()}"
    missing = [name for name in ("valgrind", "vgdb") if shutil.which(name) is None]
    return f"{' and '.join(missing)} cannot be found: Valgrind is not installed" if missing else None


def require() -> None:
    """EngineRoomError where nothing can be counted."""
    if reason := why_not():
        brings = (
            "Debian, Ubuntu: apt-get install valgrind" if "Valgrind" in reason else "count on such a machine"
        )
        raise EngineRoomError(reason, remedy=f"{brings}; CPU time is measured without it")


def valgrind(
    folder: Path, *, caches: bool = False, branches: bool = False, from_start: bool = False
) -> list[str]:
    """The words before a program that callgrind is to count, with all of Valgrind's files in `folder`."""
    return [
        *("valgrind", "--command-line-only=yes", "--quiet", "--tool=callgrind"),
        *(f"--vgdb-prefix={folder / 'vgdb'}", f"--callgrind-out-file={folder / _FILE}"),
        *("--separate-threads=yes", f"--separate-callers={callgrind.CALLERS}", "--dump-line=no"),
        *(
            f"--instr-atstart={_yes(from_start)}",
            f"--cache-sim={_yes(caches)}",
            f"--branch-sim={_yes(branches)}",
        ),
    ]


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


@contextmanager
def counting(
    version: str,
    *,
    options: Mapping[str, str | int | bool] | None = None,
    provider: str | None = None,
    caches: bool = False,
    branches: bool = False,
    confined: bool = False,
) -> Iterator[Counted]:
    """A private server under callgrind, which ends with the block; its start takes 5 to 25 s.

    `options` are the server's; performance_schema is off without them. `confined` is as `servers.start` has it. With `caches` and `branches` their misses are simulated too,
    which takes about twice as long. EngineRoomError without Valgrind, on another system than Linux on x86-64, or for a version that
    only a container or a DSN provides.
    """
    from engineroom import servers

    require()
    folders: list[Path] = []

    def under(folder: Path) -> list[str]:
        folders.append(folder)
        return valgrind(folder, caches=caches, branches=branches)

    with servers.start(
        version,
        options={**SETTINGS, **(options or {})},
        provider=provider,
        confined=confined,
        under=under,
    ) as server:
        yield Counted(server, folders[-1])


class Counted:
    """A server under callgrind that counts when it is asked to."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server = server
        self._folder = folder
        self._connection: Any = None
        self._threads: dict[int, int] = {}  # callgrind's number of a thread by the connection's
        self._idle_per_s: float | None = None

    def measure(
        self,
        run: Work,
        *,
        before: Work | None = None,
        after: Work | None = None,
        rows: int = 1,
        connection: Any = None,
        elsewhere: bool = False,
        limit_s: float = LIMIT_S,
    ) -> Profile:
        """Count what `run` does, a statement or a function of a cursor, until two repeats agree to 1 %.

        The first run warms up: it fills the buffer pool, the table cache and Valgrind's translated code, and is not among those that
        must agree. `before` and `after` are not counted. Repeats that have not agreed after 8 runs make a profile that is not settled.
        `rows` is what `per_row` divides by; with `elsewhere` the other threads' paths are kept as well; `connection` is one of this server's, by default one of its own. A run that does not end
        within `limit_s` ends the server with EngineRoomError; a statement's own error is mysql.connector's.
        """
        if rows < 1:
            raise EngineRoomError(f"rows are {rows}", remedy="count at least one")
        connection = connection or self._own_connection()
        seen: list[int] = []
        with self._switched_on():
            with self._watched(_CONTROL_S, "the run that tells its thread"):
                thread = self._thread(connection)
            idle_per_s = self._idle(thread)
            while len(seen) < 3 or (_apart(*seen[-2:]) > AGREE and len(seen) < MOST_RUNS):
                with self._watched(limit_s, f"run {len(seen) + 1}"):
                    self._do(connection, before)
                    self._control("zero")
                    begun = time.monotonic()
                    self._do(connection, run)
                    counts = self._dump()
                    seconds = time.monotonic() - begun
                    self._do(connection, after)
                if thread not in counts:
                    raise EngineRoomError(
                        "the connection's thread is not among those that callgrind counted",
                        remedy="use a connection that stays open, and no thread pool",
                    )
                file, instructions = counts.pop(thread)
                seen.append(instructions)
        part = callgrind.read(file)[-1]
        return profile_of(
            part,
            version=self.server.version,
            rows=rows,
            repeats=tuple(seen),
            others=sum(n for _, n in counts.values()),
            others_idle=round(idle_per_s * seconds),
            elsewhere=[callgrind.read(file)[-1] for file, n in counts.values() if n and elsewhere],
        )

    def _own_connection(self) -> Any:
        if self._connection is None or not self._connection.is_connected():
            self._connection = self.server.connect()
        return self._connection

    def _do(self, connection: Any, work: Work | None) -> None:
        if work is None:
            return
        with connection.cursor() as cursor:
            if callable(work):
                work(cursor)
                return
            cursor.execute(work)
            if cursor.with_rows:
                cursor.fetchall()

    @contextmanager
    def _switched_on(self) -> Iterator[None]:
        """Counting slows the server down to a fiftieth, Valgrind without it to a tenth."""
        self._control("instrumentation", "on")
        try:
            yield
        finally:
            if self.server.alive():
                self._control("instrumentation", "off")

    def _thread(self, connection: Any) -> int:
        """The number under which callgrind knows the connection's thread: the one that spends as much on a statement each time.

        performance_schema, which knows the system's number of it, is off, and that is not callgrind's number. A thread that flushes or
        purges what was loaded before can be busier than the statement, but not equally so twice.
        """
        client = int(connection.connection_id)
        if client not in self._threads:
            before = self._marked(connection)
            for _ in range(MOST_RUNS):
                now = self._marked(connection)
                alike = [thread for thread, n in now.items() if _apart(n, before.get(thread, 0)) <= AGREE]
                if len(alike) == 1:
                    self._threads[client] = alike[0]
                    break
                before = now
            else:
                raise EngineRoomError(
                    f"the connection's thread is not known: of a statement that takes ten million instructions callgrind counted {now}",
                    remedy="count on a server that has nothing else to do; if it has not, report it with the versions of MySQL and of Valgrind",
                )
        return self._threads[client]

    def _marked(self, connection: Any) -> dict[int, int]:
        """Instructions of the threads that are busy while the connection asks for the mark."""
        self._control("zero")
        self._do(connection, _MARK)
        return {thread: n for thread, (_, n) in self._dump().items() if n >= _MARK_INSTRUCTIONS}

    def _idle(self, thread: int) -> float:
        """Instructions per second of all threads but one when nobody asks anything."""
        if self._idle_per_s is None:
            self._control("zero")
            begun = time.monotonic()
            time.sleep(_IDLE_S)
            counts = self._dump()
            counts.pop(thread, None)
            self._idle_per_s = sum(n for _, n in counts.values()) / (time.monotonic() - begun)
        return self._idle_per_s

    def _dump(self) -> dict[int, tuple[Path, int]]:
        """Each thread's file and instructions since the counts were set to zero. The files of the dump before go."""
        for old in self._files():
            old.unlink()
        # An answer reaches us before its thread is done with it; asking takes a tenth of a second, in which it comes to rest.
        self._control("dump")
        return {thread: (file, n) for file in self._files() for thread, n in [callgrind.totals(file)]}

    def _files(self) -> list[Path]:
        return list(self._folder.glob(f"{_FILE}.*"))

    def _control(self, *words: str) -> None:
        """Ask Valgrind from outside, over its pipes, as callgrind_control does."""
        command = ["vgdb", f"--vgdb-prefix={self._folder / 'vgdb'}", f"--pid={self.server.pid}", *words]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=_CONTROL_S,
                check=False, preexec_fn=ends_with_its_parent,  # a vgdb that is left holds the dead server as a zombie
            )  # fmt: skip
            said = f"exit code {done.returncode}: {done.stderr.strip()[-200:]}" if done.returncode else ""
        except subprocess.TimeoutExpired:
            said = f"no answer within {_CONTROL_S} s"
        if said and self.server.alive():
            raise EngineRoomError(
                f"Valgrind does not do `{' '.join(words)}` ({said})",
                remedy="in a container, allow ptrace: --cap-add=SYS_PTRACE; the system's Valgrind must be whole (valgrind --version)",
            )
        if said:
            raise self._died()

    def _died(self) -> EngineRoomError:
        return EngineRoomError(
            f"MySQL {self.server.version} died under Valgrind; the end of its log:\n{self.server.log_tail()}",
            remedy="look at memory and disk space, and try fewer rows",
        )

    @contextmanager
    def _watched(self, limit_s: float, what: str) -> Iterator[None]:
        """Shows how long it takes, and ends the server when that is too long: nothing else ends every statement."""
        import mysql.connector

        ended, too_long = threading.Event(), threading.Event()

        def watch() -> None:
            label = f"MySQL {self.server.version} under Valgrind, {what}"
            with bar(total=round(limit_s), desc=label, bar_format="{desc}: {elapsed}") as shown:
                deadline = time.monotonic() + limit_s
                while not ended.wait(min(1.0, max(0.0, deadline - time.monotonic()))):
                    shown.update()
                    if time.monotonic() >= deadline:
                        too_long.set()
                        self.server.stop()
                        return

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        except (mysql.connector.Error, OSError, EngineRoomError) as error:
            if too_long.is_set():
                raise EngineRoomError(
                    f"MySQL {self.server.version} under Valgrind did not end {what} within {limit_s:g} s, and was stopped: it is about "
                    "fifty times slower there",
                    remedy="give fewer rows, or a longer limit",
                ) from error
            if isinstance(error, mysql.connector.Error) and not self.server.alive():
                raise self._died() from error
            raise
        finally:
            ended.set()
            watcher.join()


def _apart(one: int, other: int) -> float:
    return abs(one - other) / max(1, min(one, other))
