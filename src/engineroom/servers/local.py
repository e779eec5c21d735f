"""Start a `mysqld` of this machine: a template datadir made once, a private copy for each server."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import filelock

from engineroom import paths, progress
from engineroom.errors import EngineRoomError
from engineroom.servers import manifest
from engineroom.servers.catalogue import Entry, Request, Setting, called, entry_of, release
from engineroom.servers.instance import Instance
from engineroom.servers.server import Address, Server, wait_until

__all__ = [
    "Installed",
    "Under",
    "free_port",
    "locked",
    "require_free_port",
    "require_space",
    "start",
    "wait_until_answers",
]

START_TIMEOUT_S = 120
UNDER_TIMEOUT_S = 600  # a program that runs another one may be fifty times slower
INITIALISE_TIMEOUT_S = 300
LOCK_TIMEOUT_S = 600


# What an installation feeds to a server that has no --initialize: statements before, files in the server's share, statements after.
MYSQL_BOOTSTRAP = (
    b"USE mysql;\n",
    ("mysql_system_tables.sql", "mysql_system_tables_data.sql", "fill_help_tables.sql"),
    b"DELETE FROM mysql.user WHERE user = '' OR host <> 'localhost';\nDELETE FROM mysql.db;\n",
)
MARIADB_BOOTSTRAP = (
    b"USE mysql;\nSET @auth_root_socket = NULL, @skip_auth_anonymous = 1, @current_hostname = 'localhost';\n",
    ("mariadb_system_tables.sql", "mariadb_performance_tables.sql", "mariadb_system_tables_data.sql"),
    b"",
)

# The words of a program that runs the server, such as valgrind's, for the private folder of the server; its files go with that.
Under = Callable[[Path], Sequence[str]]


class PortTakenError(EngineRoomError):
    """Somebody else listens on the port."""


@dataclass(frozen=True, kw_only=True)
class Installed:
    """A `mysqld` that can be run: the command before its options, and what it needs to find its parts."""

    version: str
    provider: str
    command: tuple[str, ...]
    share: Path
    options: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


def start(installed: Installed, request: Request, *, under: Under | None = None) -> Server:
    """Start a server on a copy of its template datadir, `under` another program or alone, and wait until it answers."""
    settings = request.settings()

    def begin() -> Server:
        return on_a_free_port(
            lambda port: _start(installed, request, settings, port, under), chosen=settings.get("port")
        )

    try:
        return begin()
    except PortTakenError:
        raise
    except EngineRoomError:
        if not _removed_if_damaged(_template_folder(installed, request), thorough=True):
            raise
    return begin()


def on_a_free_port(begin: Callable[[int], Server], *, chosen: Setting | None) -> Server:
    """Start on the port that the reader chose, or on a free one; somebody may take that before the server does."""
    if chosen is not None:
        require_free_port(int(chosen))
        return begin(int(chosen))
    for _ in range(3):
        try:
            return begin(free_port())
        except PortTakenError as error:
            taken = error
    raise taken


def _start(
    installed: Installed, request: Request, settings: Mapping[str, Setting], port: int, under: Under | None
) -> Server:
    source = template(installed, request)
    instance = Instance.create()
    # A socket's path has 108 bytes at most; the cache folder may be deeper than that.
    short = Path(tempfile.mkdtemp(prefix="er-"))
    try:
        _copy(source, instance.folder / "data", label=f"Copying the datadir of {installed.version}")
        temporary = instance.folder / "tmp"
        temporary.mkdir()
        address = Address(
            port=port,
            socket=str(short / "s"),
            password=secrets.token_urlsafe(12),
        )
        init_file = instance.folder / "init.sql"
        init_file.touch(mode=0o600)
        init_file.write_text(_accounts(installed.version, address.password))
        _write_options(
            instance.folder / "my.cnf",
            {
                **installed.options,
                "lc_messages_dir": str(installed.share),
                "character_sets_dir": str(installed.share / "charsets"),
                "tmpdir": str(temporary),
                "general_log_file": str(instance.folder / "data" / "general.log"),
                "slow_query_log_file": str(instance.folder / "data" / "slow.log"),
                **(
                    {"symbolic_links": "OFF"}
                    if request.confined and release(installed.version) < (8, 0)
                    else {}
                ),
                **settings,
                **_closed_files(installed.version, settings, instance.folder),
                # Where a reader switches the X protocol on it must not listen elsewhere either.
                "loose_mysqlx_bind_address": "127.0.0.1",
                "loose_mysqlx_socket": str(short / "x"),
                "datadir": str(instance.folder / "data"),
                "socket": address.socket or "",
                "pid_file": str(temporary / "mysqld.pid"),
                "init_file": str(init_file),
                "bind_address": "127.0.0.1",
                "port": address.port,
                **_as_root(),
            },
        )
        instance.launch(
            [
                *(under(temporary) if under else ()),
                *installed.command,
                f"--defaults-file={instance.folder / 'my.cnf'}",
            ],
            environment={**installed.environment, **({"TMPDIR": str(temporary)} if request.confined else {})},
            remove=[short],
            writable=[instance.folder / "data", temporary, short] if request.confined else [],
            shared=request.shared,
        )
        server = Server(
            version=installed.version,
            provider=installed.provider,
            address=address,
            instance=instance,
            pid=instance.pid,
            shared=request.shared,
            settings=settings,
            help_command=installed.command,
            help_environment=installed.environment,
        )
        wait_until_answers(server, instance, seconds=UNDER_TIMEOUT_S if under else START_TIMEOUT_S)
        instance.note(**server.facts())
    except BaseException:
        instance.remove()
        shutil.rmtree(short, ignore_errors=True)
        raise
    return server


def wait_until_answers(server: Server, instance: Instance, *, seconds: float = START_TIMEOUT_S) -> None:
    """Wait until the server lets us in; its log's tail is the message when it does not."""
    import mysql.connector

    deadline = time.monotonic() + float(os.environ.get("ENGINEROOM_START_TIMEOUT_S", seconds))
    with progress.bar(desc=f"Starting {server.called}", total=1, bar_format="{desc}: {elapsed}") as bar:
        while True:
            try:
                server.connect_once().close()
                return
            except (mysql.connector.Error, OSError):
                pass
            if not instance.alive():
                raise _died(
                    server.version, server.port, instance, in_container=server.provider == "container"
                )
            if time.monotonic() > deadline:
                raise EngineRoomError(
                    f"{server.called} did not answer in time; the end of its log:\n{instance.log_tail()}",
                    remedy="give a slow machine more time with ENGINEROOM_START_TIMEOUT_S=600",
                )
            bar.refresh()
            time.sleep(0.05)


# What Docker and Podman return for a container that never ran: their own failure, or a command they could not start.
ENGINE_FAILED = (125, 126, 127)


def _exit_code(instance: Instance) -> int | None:
    """How the process ended; the keeper writes it just after, and cannot on a full disk."""
    wait_until(lambda: instance.exit_code is not None, seconds=1)
    return instance.exit_code


def _telling(log: str, lines: int = 12) -> str:
    """The last lines of a log, and the errors that the notes of a shutdown have pushed further up."""
    rows = log.splitlines()
    errors = [row for row in rows[:-lines] if "[ERROR]" in row]
    return "\n".join([*errors[-lines:], *rows[-lines:]])


def _died(version: str, port: int, instance: Instance, *, in_container: bool = False) -> EngineRoomError:
    log = instance.log_tail(1000)
    tail = _telling(log)
    ending = f"\nThe end of its log:\n{tail}" if tail else ""
    if "another mysqld server running on port" in log or "address already in use" in log.lower():
        return _port_taken(port)
    if _disk_is_full(instance.folder) or "No space left on device" in log:
        return EngineRoomError(
            f"{called(version)} could not start: the disk of the cache folder is full{ending}",
            remedy="make room there, or set ENGINEROOM_CACHE to a folder on another disk",
        )
    code = _exit_code(instance)
    if in_container and code in ENGINE_FAILED:
        return EngineRoomError(
            f"the container engine could not start {called(version)} (exit code {code}){ending}",
            remedy="mend what the engine complains about, or set ENGINEROOM_PROVIDER=unpack to do without containers",
        )
    return EngineRoomError(
        f"{called(version)} ended while starting (exit code {code}){ending}",
        remedy="correct the option that the log complains about; without options of yours, report the log",
    )


def template(installed: Installed, request: Request) -> Path:
    """The datadir to copy from, made at the first start of this build with these options."""
    made = _template_folder(installed, request)
    if made.is_dir() and manifest.damage(made, _manifest(made)) is None:
        return made
    _removed_if_damaged(made, thorough=False)
    with _template_locked(made):
        if not made.is_dir():
            require_space(made.parent, megabytes=400)
            _initialise(installed, request.entry, _fixed(request), made)
    return made


def _fixed(request: Request) -> dict[str, Setting]:
    """The options that can only be chosen when a datadir is made."""
    options = request.entry.initialise_options
    return {name: value for name, value in request.settings().items() if name in options}


def _template_folder(installed: Installed, request: Request) -> Path:
    build = (installed.provider, Path(installed.command[-1]).stat().st_size)
    key = hashlib.sha256(repr((build, sorted(_fixed(request).items()))).encode()).hexdigest()[:8]
    folder = paths.cache() / "templates"
    folder.mkdir(exist_ok=True)
    return folder / f"{installed.version}-{key}"


def _manifest(template: Path) -> Path:
    """Beside the datadir, which is copied with all that is in it."""
    return template.with_name(template.name + ".json")


def _template_locked(template: Path) -> AbstractContextManager[None]:
    return locked(template.with_name(template.name + ".lock"), what=f"the initialisation of {template.name}")


def _removed_if_damaged(template: Path, *, thorough: bool) -> bool:
    """Remove a template that is not what it was when it was made; whether it was one."""
    with _template_locked(template):
        found = manifest.damage(template, _manifest(template), thorough=thorough)
        if found is None:
            return False
        print(
            f"the datadir of {template.name} in the cache is damaged and is made again: {found}",
            file=sys.stderr,
        )
        _manifest(template).unlink()
        shutil.rmtree(template, ignore_errors=True)
    return True


def _initialise(installed: Installed, entry: Entry, fixed: Mapping[str, Any], template: Path) -> None:
    instance = Instance.create()
    try:
        data = instance.folder / "data"
        data.mkdir(mode=0o700)
        options = {
            **installed.options,
            "datadir": str(data),
            "lc_messages_dir": str(installed.share),
            "character_sets_dir": str(installed.share / "charsets"),
            "innodb_log_file_size": entry.settings.get("innodb_log_file_size"),
            "explicit_defaults_for_timestamp": "ON",
            "secure_file_priv": "",
            **fixed,
            **_as_root(),
        }
        _write_options(instance.folder / "my.cnf", options)
        stdin = None
        if release(installed.version) < (5, 7) or entry.product != "MySQL":
            (data / "mysql").mkdir()
            stdin = instance.folder / "bootstrap.sql"
            stdin.write_bytes(_bootstrap_sql(installed.share, entry.product))
            mode = "--bootstrap"
        else:
            mode = "--initialize-insecure"
        instance.launch(
            [*installed.command, f"--defaults-file={instance.folder / 'my.cnf'}", mode],
            environment=dict(installed.environment),
            stdin=stdin,
        )
        deadline = time.monotonic() + INITIALISE_TIMEOUT_S
        label = f"Initialising {called(installed.version)} (once)"
        with progress.bar(desc=label, total=1, bar_format="{desc}: {elapsed}") as bar:
            while instance.alive() and time.monotonic() < deadline:
                bar.refresh()
                time.sleep(0.1)
        if instance.alive():
            raise EngineRoomError(
                f"{called(installed.version)} was not initialised in time; the end of its log:\n{instance.log_tail()}",
                remedy="try again when the machine is less busy",
            )
        if _exit_code(instance) != 0:
            raise _died(installed.version, 0, instance)
        # The identity of a server is its own, not the template's.
        (data / "auto.cnf").unlink(missing_ok=True)
        manifest.write(data, _manifest(template))
        data.rename(template)
    finally:
        instance.remove()


def _bootstrap_sql(share: Path, product: str) -> bytes:
    """What `mysql_install_db` feeds to MariaDB, or to MySQL before 5.7, with root@localhost as the only account."""
    parts, names, end = MARIADB_BOOTSTRAP if product == "MariaDB" else MYSQL_BOOTSTRAP
    return b"".join([parts, *((share / name).read_bytes() + b"\n" for name in names), end])


def _closed_files(version: str, settings: Mapping[str, Setting], folder: Path) -> dict[str, str]:
    """Statements neither read nor write files of the server's machine. Releases that do not know NULL get an empty folder."""
    entry = entry_of(version)
    knows_null = release(version) >= (5, 6, 34) and (entry is None or entry.product == "MySQL")
    if settings.get("secure_file_priv") != "NULL" or knows_null:
        return {}
    nothing = folder / "no-files"
    nothing.mkdir(mode=0o700)
    return {"secure_file_priv": str(nothing)}


def _accounts(version: str, password: str) -> str:
    """Statements that open root to this password, over the socket and over 127.0.0.1."""
    if release(version) < (5, 7):
        return (
            f"SET PASSWORD FOR 'root'@'localhost' = PASSWORD('{password}');\n"
            f"GRANT ALL ON *.* TO 'root'@'127.0.0.1' IDENTIFIED BY '{password}' WITH GRANT OPTION;\n"
        )
    return (
        f"ALTER USER 'root'@'localhost' IDENTIFIED BY '{password}';\n"
        f"CREATE USER IF NOT EXISTS 'root'@'127.0.0.1' IDENTIFIED BY '{password}';\n"
        "GRANT ALL ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;\n"
    )


def _write_options(path: Path, options: Mapping[str, Any]) -> None:
    lines = ["[mysqld]"]
    for name, value in options.items():
        if value is None or value is False:
            continue
        lines.append(name if value is True else f"{name}={_quoted(str(value))}")
    path.write_text("\n".join(lines) + "\n")


def _quoted(value: str) -> str:
    """An option file's spelling of a value, in which # begins a comment and a backslash escapes."""
    if "\n" in value:
        raise EngineRoomError("an option's value has a line break", remedy="write the value on one line")
    return '"' + value.replace("\\", "\\\\") + '"' if value else ""


def _as_root() -> dict[str, str]:
    """mysqld refuses to run as root unless told to."""
    return {"user": "root"} if os.geteuid() == 0 else {}


def _copy(source: Path, target: Path, *, label: str) -> None:
    """Copy a datadir, by reference where the file system can."""
    with progress.bar(desc=label, total=1, bar_format="{desc}: {elapsed}"):
        try:
            done = subprocess.run(
                ["cp", "-a", "--reflink=auto", "--sparse=auto", f"{source}/.", str(target)],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode == 0:
                return
            if "No space left" in done.stderr:
                raise OSError(errno.ENOSPC, "No space left on device")
            # Not GNU cp.
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target)
        except OSError as error:
            raise EngineRoomError(
                f"cannot copy the datadir: {error.strerror}",
                remedy="make room in the cache folder, or set ENGINEROOM_CACHE to a folder on another disk",
            ) from error


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def require_free_port(port: int) -> None:
    """Refuse a port that somebody listens on."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError as error:
            raise EngineRoomError(
                f"this user may not listen on port {port}",
                remedy="choose a port from 1024 on, or leave it out to get a free one",
            ) from error
        except OSError as error:
            raise _port_taken(port) from error


def _port_taken(port: int) -> PortTakenError:
    return PortTakenError(
        f"port {port} of 127.0.0.1 is taken",
        remedy=f"leave the port out to get a free one, or find who has it with `ss -ltnp 'sport = :{port}'`",
    )


def require_space(folder: Path, *, megabytes: int) -> None:
    """Refuse to begin what the disk cannot hold."""
    free = shutil.disk_usage(folder).free // 2**20
    if free < megabytes:
        raise EngineRoomError(
            f"the disk of the cache folder is full: {free} MB are free, {megabytes} MB are needed",
            remedy="make room there, or set ENGINEROOM_CACHE to a folder on another disk",
        )


def _disk_is_full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < 4 * 2**20
    except OSError:
        return False


@contextmanager
def locked(path: Path, *, what: str) -> Iterator[None]:
    """A lock between processes; waiting longer than anything should take is an error."""
    lock = filelock.FileLock(path)
    try:
        lock.acquire(timeout=LOCK_TIMEOUT_S)
    except filelock.Timeout as error:
        raise EngineRoomError(
            f"waited {LOCK_TIMEOUT_S} s for {what} by another process",
            remedy="end that process, then start again",
        ) from error
    try:
        yield
    finally:
        lock.release()
