"""A running server, whoever started it: connections, counters, CPU time and provenance."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.servers.catalogue import called, entry_of, features, plain_release, release, series_of
from engineroom.servers.instance import Instance

__all__ = ["ONE_STATEMENT", "Address", "Server", "lost_connection", "session_status"]

# The same on every generation; the client's own default differs from server to server.
CHARSET = {"charset": "utf8mb4", "collation": "utf8mb4_general_ci"}

# The client's flags for foreign SQL: what a comment hides behind a semicolon is an error, and no second statement.
ONE_STATEMENT = (-(1 << 16),)

# fmt: off
PLACES = frozenset((
    "basedir", "character_sets_dir", "datadir", "general_log_file", "hostname", "init_file", "lc_messages_dir", "log_error",
    "pid_file", "plugin_dir", "port", "report_port", "slave_load_tmpdir", "slow_query_log_file", "socket", "tmpdir",
))
# fmt: on
# How `--help` writes a default that the server works out when it starts, or that it does not show.
AUTOMATIC = frozenset(("-1", "0", "", "(No default value)", "18446744073709551615"))


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a server listens and who may log in."""

    host: str = "127.0.0.1"
    port: int = 3306
    socket: str | None = None
    user: str = "root"
    password: str = field(default="", repr=False)


class Server:
    """A MySQL server that answers. Use it in a `with` block: a private server ends with the block."""

    def __init__(
        self,
        *,
        version: str,
        provider: str,
        address: Address,
        instance: Instance | None = None,
        pid: int | None = None,
        shared: bool = False,
        settings: Mapping[str, Any] | None = None,
        help_command: Sequence[str] | None = None,
        help_environment: Mapping[str, str] | None = None,
    ) -> None:
        self.version = plain_release(version)
        self.series = series_of(version)
        self.provider = provider
        self.pid = pid
        self.shared = shared
        self.settings = dict(settings or {})
        self._address = address
        self._instance = instance
        self._help_command = list(help_command) if help_command else None
        self._help_environment = dict(help_environment or {})

    @property
    def socket(self) -> str | None:
        """The path of the server's socket, `None` when it is reached over TCP only."""
        return self._address.socket

    @property
    def host(self) -> str:
        """The TCP address, 127.0.0.1 for every server that the book starts."""
        return self._address.host

    @property
    def port(self) -> int:
        """The TCP port."""
        return self._address.port

    @property
    def user(self) -> str:
        """The account with all rights."""
        return self._address.user

    @property
    def password(self) -> str:
        """Its password, made for this server."""
        return self._address.password

    @property
    def note(self) -> str:
        """What to know before relying on this generation; empty for a maintained one."""
        entry = entry_of(self.version)
        return entry.note if entry else ""

    @property
    def called(self) -> str:
        """Its release with its product: MySQL 5.7.22, MariaDB 11.8.3."""
        return called(self.version)

    @property
    def is_mysql(self) -> bool:
        """Whether it is MySQL, whose releases say what a server has."""
        return self.called.startswith("MySQL")

    @property
    def is_debug(self) -> bool:
        """Whether it is a debug build that we started."""
        return self._help_command is not None and self._help_command[-1].endswith("-debug")

    def __repr__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        return f"<{self.called} by {self.provider}{note}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """What fails because the server is gone, be it a client, a load or a reader of its counters, says that it is gone."""
        try:
            if isinstance(error, Exception) and not isinstance(error, EngineRoomError):
                self._raise_if_dead(error, gone=True, during="a measurement")
        finally:
            if not self.shared:
                self.stop()

    def connect(self, database: str | None = None, **options: Any) -> Any:
        """A new mysql-connector connection: utf8mb4, autocommit, through the socket where there is one."""
        import mysql.connector

        try:
            return self.connect_once(database, **options)
        except mysql.connector.Error as error:
            self._raise_if_dead(error)
            raise

    def connect_once(self, database: str | None = None, **options: Any) -> Any:
        """Like `connect`, with the client's own error when there is no server yet."""
        import mysql.connector

        where: dict[str, Any] = (
            {"unix_socket": self.socket} if self.socket else {"host": self.host, "port": self.port}
        )
        arguments = {
            "user": self.user,
            "password": self.password,
            "autocommit": True,
            "connection_timeout": 20,
            "allow_local_infile": False,  # or whatever answers there could ask for any file of the reader's
            **CHARSET,
            **where,
            **({"database": database} if database else {}),
            **options,
        }
        return mysql.connector.connect(**arguments)

    def identify(self, version: str, *, pid: int | None) -> None:
        """Say which release this is, for a server that tells only when it runs."""
        self.version = plain_release(version)
        self.series = series_of(version)
        self.pid = pid

    def query(self, sql: str, database: str | None = None) -> list[tuple[Any, ...]]:
        """The rows of one statement, on a connection of its own."""
        import mysql.connector

        with contextlib.closing(self.connect(database)) as connection:
            try:
                cursor = connection.cursor()
                cursor.execute(sql)
                return list(cursor.fetchall()) if cursor.with_rows else []
            except mysql.connector.Error as error:
                self._raise_if_dead(error)
                raise

    def execute(self, *statements: str, database: str | None = None) -> None:
        """Run statements in order on one connection and throw away their rows."""
        import mysql.connector

        with contextlib.closing(self.connect(database)) as connection:
            try:
                cursor = connection.cursor()
                for sql in statements:
                    cursor.execute(sql)
                    if cursor.with_rows:
                        cursor.fetchall()
            except mysql.connector.Error as error:
                self._raise_if_dead(error)
                raise

    def supports(self, feature: str) -> bool:
        """Whether this release has a feature of `data/servers.toml`, such as "hash_join" or "explain_tree"."""
        first = features().get(feature)
        if first is None:
            raise EngineRoomError(
                f"no server feature is called {feature!r}",
                remedy=f"ask for one of: {', '.join(sorted(features()))}",
            )
        return self.is_mysql and release(self.version) >= release(first)

    def status(self) -> dict[str, int]:
        """All global status counters that are whole numbers."""
        return _integers(self.query("SHOW GLOBAL STATUS"))

    def variables(self) -> dict[str, str]:
        """All global variables."""
        return {str(name): str(value) for name, value in self.query("SHOW GLOBAL VARIABLES")}

    def cpu_seconds(self) -> float | None:
        """CPU time of the server so far: all its threads, also those that ended. `None` when it runs elsewhere."""
        if self.pid is None:
            return None
        # The kernel's CPU-time clock of another process, as clock_getcpuclockid(3) makes its number.
        with contextlib.suppress(OSError, OverflowError):
            return time.clock_gettime((~self.pid << 3) | 2)
        try:
            tasks = [path.read_text() for path in Path(f"/proc/{self.pid}/task").glob("*/schedstat")]
        except OSError:
            return None
        return sum(int(text.split()[0]) for text in tasks) / 1e9 if tasks else None

    def alive(self) -> bool:
        """Whether the server runs, or, for a server that the book did not start, whether it answers."""
        if self._instance is not None:
            return self._instance.alive()
        return self._answers(within_s=20)

    def _answers(self, *, within_s: int) -> bool:
        import mysql.connector

        try:
            self.connect_once(connection_timeout=within_s).close()
        except (OSError, mysql.connector.Error):
            return False
        return True

    def log_tail(self, lines: int = 20) -> str:
        """The end of the server's error log; empty for a server that the book did not start."""
        return self._instance.log_tail(lines) if self._instance else ""

    def stop(self) -> None:
        """End the server and remove what it left. A server that the book did not start is left alone."""
        if self._instance is not None:
            self._instance.remove()

    def variables_differing(self) -> dict[str, str] | None:
        """Global variables whose value is not this version's compiled default; `None` when nothing tells.

        Left out: where the server keeps its files, and what a server before 8.0 sized by itself.
        """
        variables = {name: value for name, value in self.variables().items() if name not in PLACES}
        defaults = self._compiled_defaults()
        if self.is_mysql and release(self.version) >= (8, 0):
            set_somewhere = {
                str(name).lower()
                for (name,) in self.query(
                    "SELECT variable_name FROM performance_schema.variables_info WHERE variable_source <> 'COMPILED'"
                )
            }
            variables = {name: value for name, value in variables.items() if name in set_somewhere}
        elif defaults is None:
            return None
        else:
            variables = {
                name: value
                for name, value in variables.items()
                if name in self.settings or defaults.get(name, "") not in AUTOMATIC
            }
        defaults = defaults or {}
        return {
            name: value
            for name, value in sorted(variables.items())
            if name not in defaults or _plain(value) != _plain(defaults[name])
        }

    def _compiled_defaults(self) -> dict[str, str] | None:
        if self._help_command is None:
            return None
        done = subprocess.run(
            [*self._help_command, "--no-defaults", "--verbose", "--help"],
            env={**os.environ, **self._help_environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            check=False,
        )
        # Two columns under a line of dashes, up to an empty line.
        _, found, table = done.stdout.partition("\n------")
        if not found:
            return None
        rows = table.partition("\n")[2].partition("\n\n")[0].splitlines()
        pairs = (row.split(None, 1) for row in rows)
        return {pair[0].replace("-", "_"): pair[1].strip() if len(pair) > 1 else "" for pair in pairs if pair}

    def provenance(self) -> dict[str, Any]:
        """What a number measured on this server needs beside it, as plain JSON types."""
        from engineroom.runs import provenance

        variables = self.variables()
        storage = Path(variables["datadir"]) if self.pid is not None and self._instance else None
        if storage is not None and not storage.is_dir():
            storage = paths.cache()
        return {
            "server_version": variables["version"],
            "build": " ".join(
                variables[name]
                for name in ("version_comment", "version_compile_os", "version_compile_machine")
                if variables.get(name)
            ),
            "provider": self.provider,
            "note": self.note,
            "settings": {name: str(value) for name, value in self.settings.items()},
            "variables_differing": self.variables_differing(),
            "status": self.status(),
            **provenance.machine(storage=storage),
        }

    def facts(self) -> dict[str, Any]:
        """What another process needs to talk to this server."""
        return {
            "version": self.version,
            "provider": self.provider,
            "address": asdict(self._address),
            "pid": self.pid,
            "shared": self.shared,
            "settings": self.settings,
            "help_command": self._help_command,
            "help_environment": self._help_environment,
        }

    @classmethod
    def attach(cls, instance: Instance) -> Server:
        """The server that another process started in this instance's folder."""
        facts = instance.facts()
        return cls(
            version=facts["version"],
            provider=facts["provider"],
            address=Address(**facts["address"]),
            instance=instance,
            pid=facts["pid"],
            shared=facts["shared"],
            settings=facts["settings"],
            help_command=facts["help_command"],
            help_environment=facts["help_environment"],
        )

    def _raise_if_dead(self, error: Exception, *, gone: bool = False, during: str = "this statement") -> None:
        """Turn an error into one that says that the server is gone, when it is; `gone` if the error may come of that."""
        if self._instance is None:
            return
        # A client may see the closed socket before the keeper, or a container's engine, has seen the process end.
        if gone or lost_connection(error):
            wait_until(lambda: not self.alive() or self._answers(within_s=1), seconds=10)
        if not self.alive():
            tail = self.log_tail()
            raise EngineRoomError(
                f"{self.called} died or was stopped during {during} ({error})"
                + (f"; the end of its log:\n{tail}" if tail else ""),
                remedy="start a new one with `servers.start`; if it dies again, look at memory and disk space",
            ) from error


def wait_until(condition: Callable[[], bool], *, seconds: float, every: float = 0.02) -> bool:
    """Wait until `condition()` holds, at most `seconds`; whether it came to hold."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(every)
    return True


def session_status(connection: Any) -> dict[str, int]:
    """The status counters of one connection that are whole numbers."""
    cursor = connection.cursor()
    cursor.execute("SHOW SESSION STATUS")
    return _integers(cursor.fetchall())


def _integers(rows: Sequence[tuple[Any, ...]]) -> dict[str, int]:
    return {str(name): int(value) for name, value in rows if str(value).lstrip("-").isdigit()}


def lost_connection(error: Exception) -> bool:
    """Whether a client's error means that the server went away, or that there is none."""
    return getattr(error, "errno", None) in {2002, 2003, 2006, 2013, 2055, 1053}


def _plain(value: str) -> str:
    """One spelling for a value that `--help` and `SHOW VARIABLES` write differently."""
    text = value.strip().upper()
    text = {"TRUE": "ON", "FALSE": "OFF", "(NO DEFAULT VALUE)": "", "YES": "ON", "NO": "OFF"}.get(text, text)
    try:
        return str(float(text))
    except ValueError:
        return text
