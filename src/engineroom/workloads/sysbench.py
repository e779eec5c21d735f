"""SysBench against a live server: what its clients did, what it cost them, and how far the server's counters moved meanwhile.

A script is one of SysBench's own (`oltp_read_write`) or a file of Lua. Seeds are fixed, so that repeats ask for the same rows.
"""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engineroom.errors import EngineRoomError

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["Ran", "Sysbench", "require"]


def require() -> None:
    """Refuse to go on without SysBench: to be asked before a server is started for it."""
    if shutil.which("sysbench") is None:
        raise EngineRoomError(
            "this load on live servers needs sysbench, and there is none",
            remedy="apt-get install sysbench, or look at the recorded run",
        )


@dataclass(frozen=True)
class Ran:
    """One run of SysBench. `moved` has all status counters of the server, as differences over the run."""

    threads: int
    seconds: float
    client_cpu_s: float
    transactions: int
    ignored_errors: int  # of single statements, such as a deadlock's, after which a transaction begins anew
    latency_ms: Mapping[str, float]  # min, avg, p50, p99, max of a transaction
    moved: Mapping[str, int]

    @property
    def client_cpu_percent(self) -> float:
        """CPU time of SysBench over the time of the run; 100 is one core."""
        return 100 * self.client_cpu_s / self.seconds

    @property
    def rolled_back(self) -> int:
        """Transactions that the server began and did not commit: deadlock victims, and what the end of the run cut off."""
        return self.moved["Com_begin"] - self.moved["Com_commit"]


class Sysbench:
    """A script with its tables on one server: `prepare` fills them, `run` has so many threads use them for so many seconds."""

    def __init__(
        self,
        server: Server,
        script: str = "oltp_read_write",
        *,
        database: str = "sbtest",
        tables: int = 1,
        table_rows: int = 10_000,
        seed: int = 1,
        options: Sequence[str] = (),
        ignored_errors: str = "all",
    ) -> None:
        require()
        self.server, self.script, self.database = server, script, database
        self._options = (
            f"--tables={tables}",
            f"--table-size={table_rows}",
            "--percentile=99",
            "--histogram=on",
            *options,
        )
        self._seed, self._ignored = seed, ignored_errors
        self._user, self._password = self._account()

    def prepare(self) -> None:
        """Create and fill the tables."""
        self._command("prepare", seed=self._seed)

    def run(self, *, threads: int, seconds: int, seed: int | None = None) -> Ran:
        """So many clients for so many seconds. `ignored_errors` of single transactions, as of deadlocks, are ignored and counted.

        A load whose rows get random values wants another `seed` each time: with the same, it writes what is there already, and a
        server commits nothing.
        """
        before, cpu_s = self.server.status(), _children_cpu_s()
        said = self._command(
            "run",
            f"--threads={threads}",
            f"--time={seconds}",
            f"--mysql-ignore-errors={self._ignored}",
            seed=self._seed if seed is None else seed,
        )
        cpu_s = _children_cpu_s() - cpu_s
        after = self.server.status()
        return Ran(
            threads=threads,
            seconds=seconds,
            client_cpu_s=cpu_s,
            transactions=int(_said(said, r"transactions:\s+(\d+)")),
            ignored_errors=int(_said(said, r"ignored errors:\s+(\d+)")),
            latency_ms={
                **{
                    name: _said(said, rf"{label}:\s+([\d.]+)")
                    for name, label in (
                        ("min", "min"),
                        ("avg", "avg"),
                        ("p99", "99th percentile"),
                        ("max", "max"),
                    )
                },
                "p50": _median(said),
            },
            moved={name: value - before.get(name, 0) for name, value in after.items()},
        )

    def _account(self) -> tuple[str, str]:
        """A user that SysBench can log in as: many of its builds do not know the newer way of 8.0."""
        server = self.server
        server.execute(f"CREATE DATABASE IF NOT EXISTS {self.database}")
        if not server.version.startswith("8."):
            return server.user, server.password
        password = server.password
        server.execute(
            f"CREATE USER IF NOT EXISTS sysbench@localhost IDENTIFIED WITH mysql_native_password BY '{password}'",
            f"GRANT ALL ON {self.database}.* TO sysbench@localhost",
        )
        return "sysbench", password

    def _command(self, command: str, *options: str, seed: int) -> str:
        server = self.server
        reached = (
            [f"--mysql-socket={server.socket}"]
            if server.socket
            else [f"--mysql-host={server.host}", f"--mysql-port={server.port}"]
        )
        # The password in a file that is ours alone: every user of the computer can list the arguments.
        with tempfile.NamedTemporaryFile("w", suffix=".cnf", encoding="utf-8") as secret:
            secret.write(f"mysql-password={self._password}\n")
            secret.flush()
            account = [f"--config-file={secret.name}", f"--mysql-user={self._user}"]
            done = subprocess.run(
                [
                    *("sysbench", *account, self.script, *reached, f"--mysql-db={self.database}"),
                    *(*self._options, f"--rand-seed={seed}", *options, command),
                ],
                capture_output=True,
                text=True,
                check=False,
            )
        if done.returncode:
            said = (done.stdout + done.stderr).replace(self._password, "...").strip().splitlines()
            raise EngineRoomError(
                f"sysbench {command} failed on MySQL {server.version}: {said[-1] if said else 'it said nothing'}",
                remedy="run it again; if it fails again, report it with this message",
            )
        return done.stdout


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _median(text: str) -> float:
    """Of the histogram, whose lines are a time, a bar and a count: the time of the transaction in the middle."""
    lines = [
        (float(ms), int(count)) for ms, count in re.findall(r"^\s+([\d.]+) \|.* (\d+)$", text, re.MULTILINE)
    ]
    left = sum(count for _, count in lines) / 2
    for ms, count in lines:
        left -= count
        if left <= 0:
            return ms
    raise EngineRoomError(
        "sysbench's report has no histogram",
        remedy="its version may word it in another way: 1.0 is known to serve",
    )


def _said(text: str, pattern: str) -> float:
    found = re.search(pattern, text)
    if found is None:
        raise EngineRoomError(
            f"sysbench's report has nothing like {pattern!r}",
            remedy="its version may word it in another way: 1.0 is known to serve",
        )
    return float(found[1])
