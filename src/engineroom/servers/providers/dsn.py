"""A server of the reader's own, named in the environment.

`ENGINEROOM_DSN_9_7=mysql://user:password@127.0.0.1:3306` serves that series; `ENGINEROOM_DSN` serves whatever series
answers there. `?socket=/path` chooses a socket. What an address leaves out of account and password, MySQL's option files
have (`servers.option_files`). The book makes databases there when a lab loads tables, and never changes a setting of the server.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

import click

from engineroom.errors import EngineRoomError
from engineroom.servers import option_files
from engineroom.servers.catalogue import Request
from engineroom.servers.server import Address, Server

NAME = "dsn"


def refusal(request: Request) -> str | None:
    if _dsn(request) is None:
        return f"{_variable(request)} is not set"
    if request.options:
        return "options cannot be set on a server of your own"
    try:
        version = _version(_address(request))
    except EngineRoomError as error:
        return error.problem
    if not request.accepts(version):
        return f"the server there is {version}"
    return None


def start(request: Request) -> Server:
    address = _address(request)
    return Server(version=_version(address), provider=NAME, address=address, shared=True)


def fetch(request: Request) -> None:
    """Nothing: the server runs already."""


def _variable(request: Request) -> str:
    return "ENGINEROOM_DSN_" + request.entry.series.replace(".", "_")


def _dsn(request: Request) -> str | None:
    return os.environ.get(_variable(request)) or os.environ.get("ENGINEROOM_DSN")


def option(
    help_text: str, *, envvar: str | None = None, multiple: bool = False
) -> Callable[[Callable[..., Any]], Any]:
    """--dsn (`address`, with `multiple` a tuple) and --defaults-file (`defaults_file`), which together are a server of the reader's own."""

    def both(command: Callable[..., Any]) -> Any:
        of_file = click.option(
            "--defaults-file",
            type=click.Path(path_type=Path),
            help="Take what --dsn leaves out from [client] of this option file, instead of ~/.my.cnf.",
        )
        hidden = f" A password is better kept in {f'{envvar}, ' if envvar else ''}~/.my.cnf, a login path (mysql:///DATABASE?login-path=NAME) or MYSQL_PWD, which no list of processes shows."
        of_server = click.option(
            "--dsn", "address", envvar=envvar, multiple=multiple, help=help_text + hidden
        )
        return of_server(of_file(command))

    return both


def attach(text: str | None, what: str, *, defaults_file: Path | None = None) -> Server:
    """The server at an address, which `what` names in messages; it must answer. None: the one of the option file."""
    address = _parsed(text or "mysql://", what if text else "--defaults-file", defaults_file)
    return Server(version=_version(address, what), provider=NAME, address=address, shared=True)


def database(text: str | None) -> str | None:
    """The database behind the address's last slash, None where there is none."""
    return unquote(urlsplit(text or "").path.strip("/")) or None


def named() -> Server | None:
    """The server that ENGINEROOM_DSN names, whatever series it is."""
    text = os.environ.get("ENGINEROOM_DSN")
    return attach(text, "ENGINEROOM_DSN") if text else None


def _address(request: Request) -> Address:
    return _parsed(_dsn(request) or "", _variable(request))


def _parsed(text: str, what: str, defaults_file: Path | None = None) -> Address:
    parts = _split(text, what)
    if parts.password and what.startswith("--"):
        _hide(text, parts.password)
    query = parse_qs(parts.query)
    socket, login_path = (query.get(name, [None])[0] for name in ("socket", "login-path"))
    options = option_files.client(defaults_file, login_path)
    reached = options if not (parts.hostname or socket) else {}
    try:
        port = parts.port or int(reached.get("port", 3306))
    except ValueError:
        port = 0
    if (
        parts.scheme != "mysql"
        or not port
        or not (
            defaults_file
            or login_path
            or parts.hostname
            or socket
            or reached.keys() & {"host", "port", "socket"}
        )
    ):
        raise EngineRoomError(
            f"{what} is not a server's address",
            remedy="write it as mysql://user:password@host:port or mysql://user:password@/?socket=/path",
        )
    return Address(
        host=parts.hostname or reached.get("host", "127.0.0.1"),
        port=port,
        socket=socket or reached.get("socket"),
        user=unquote(parts.username or "") or options.get("user", "root"),
        password=option_files.password(options) if parts.password is None else unquote(parts.password),
    )


def _split(text: str, what: str) -> SplitResult:
    """The parts of an address; one whose password was cut at a / ? or # is refused, and no part of it shown."""
    with contextlib.suppress(ValueError):  # for a bracket, which means an address of IPv6
        parts = urlsplit(text)
        is_cut = "@" in parts.path or ("@" in parts.query and not parts.query.startswith("socket="))
        if not parts.fragment and not text.endswith("#") and not is_cut:
            return parts
    raise EngineRoomError(
        f"{what} has one of / ? # [ ] in its user or password",
        remedy="percent-encode it: / is %2F, ? is %3F, # is %23, [ is %5B, ] is %5D, @ is %40, % is %25; "
        "or leave the password out and keep it in ~/.my.cnf under [client]",
    )


def _hide(text: str, password: str) -> None:
    """Overwrite the password among this process's arguments, which every user of the computer can list."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields = (
            Path("/proc/self/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        )
        begin, end = int(fields[45]), int(fields[46])
        at = ctypes.string_at(begin, end - begin).find(text.encode())
        if at >= 0:
            at += text.encode().index(b":" + password.encode() + b"@") + 1
            ctypes.memset(begin + at, ord("x"), len(password.encode()))


def _version(address: Address, what: str = "ENGINEROOM_DSN") -> str:
    import mysql.connector

    server = Server(version="0", provider=NAME, address=address)
    try:
        with contextlib.closing(server.connect(connection_timeout=5)) as connection:
            version = str(connection.server_info)
    except mysql.connector.Error as error:
        raise EngineRoomError(
            f"the server of {what} does not let us in: {error}",
            remedy="correct the address and the password"
            + ("" if what.startswith("--") else ", or unset the variable"),
        ) from error
    if "mariadb" in version.lower():
        raise EngineRoomError(
            f"the server of {what} is MariaDB {version}",
            remedy="name a MySQL server; the book knows no other",
        )
    return version
