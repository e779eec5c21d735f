"""A server of the reader's own, named in the environment.

`ENGINEROOM_DSN_9_7=mysql://user:password@127.0.0.1:3306` serves that series; `ENGINEROOM_DSN` serves whatever series
answers there. `?socket=/path` chooses a socket. What the address lacks of user and password is taken from [client] in
~/.my.cnf, as MySQL's own clients do. The book makes databases there when a lab loads tables, and never
changes a setting of the server.
"""

from __future__ import annotations

import configparser
import contextlib
import os
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from engineroom.errors import EngineRoomError
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


def attach(text: str, what: str) -> Server:
    """The server at an address, which `what` names in messages; it must answer."""
    address = _parsed(text, what)
    return Server(version=_version(address, what), provider=NAME, address=address, shared=True)


def database(text: str) -> str | None:
    """The database behind the address's last slash, None where there is none."""
    return unquote(urlsplit(text).path.strip("/")) or None


def named() -> Server | None:
    """The server that ENGINEROOM_DSN names, whatever series it is."""
    text = os.environ.get("ENGINEROOM_DSN")
    return attach(text, "ENGINEROOM_DSN") if text else None


def _address(request: Request) -> Address:
    return _parsed(_dsn(request) or "", _variable(request))


def _parsed(text: str, what: str) -> Address:
    parts = urlsplit(text)
    if parts.fragment or "@" in parts.path or ("@" in parts.query and "@" not in parts.netloc):
        raise EngineRoomError(
            f"{what} has one of / ? # in its user or password",
            remedy="write / as %2F, ? as %3F, # as %23, or leave the password out and put it into ~/.my.cnf",
        )
    try:
        port = parts.port or 3306
    except ValueError:
        port = 0
    if parts.scheme != "mysql" or not port or not (parts.hostname or parts.query):
        raise EngineRoomError(
            f"{what} is not a server's address",
            remedy="write it as mysql://user:password@host:port or mysql://user:password@/?socket=/path",
        )
    of_file = _option_file() if parts.password is None else {}
    return Address(
        host=parts.hostname or "127.0.0.1",
        port=port,
        socket=parse_qs(parts.query).get("socket", [None])[0],
        user=unquote(parts.username or "") or of_file.get("user") or "root",
        password=of_file.get("password", "") if parts.password is None else unquote(parts.password),
    )


def _option_file() -> dict[str, str]:
    """The options of [client] in ~/.my.cnf; none where that cannot be read."""
    parser = configparser.ConfigParser(allow_no_value=True, strict=False, interpolation=None)
    with contextlib.suppress(OSError, UnicodeDecodeError, configparser.Error):
        lines = (Path.home() / ".my.cnf").read_text(encoding="utf-8").splitlines()
        parser.read_string("\n".join(line for line in lines if not line.startswith("!")))
    options = parser["client"] if parser.has_section("client") else {}
    return {name: value.strip("'\"") for name, value in options.items() if value}


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
