"""A `mysqld` on PATH: conda's, the distribution's, or one that the reader put there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from engineroom.errors import EngineRoomError
from engineroom.servers import local
from engineroom.servers.catalogue import Request
from engineroom.servers.server import Server

NAME = "on_path"

_LACKING = re.compile(r"error while loading shared libraries: (\S+): cannot open")


def refusal(request: Request) -> str | None:
    mysqld = _find()
    if mysqld is None:
        return "no mysqld on PATH"
    said = _said(mysqld)
    if lacking := _LACKING.search(said):
        return f"the mysqld on PATH lacks the library {lacking[1]}, which the system has not"
    version = _version(said)
    if version is None:
        return f"{mysqld.name} on PATH is not MySQL's"
    if not request.accepts(version):
        return f"the mysqld on PATH is {version}"
    return None


def start(request: Request) -> Server:
    return local.start(install(request), request)


def fetch(request: Request) -> None:
    """Initialise a datadir, so that a later start takes a second."""
    local.template(install(request), request)


def install(request: Request) -> local.Installed:  # noqa: ARG001 (as the archives' is called; there is one)
    """The server that is there."""
    mysqld = _find()
    version = _version(_said(mysqld)) if mysqld else None
    if mysqld is None or version is None:
        raise EngineRoomError("no mysqld on PATH", remedy="install one, or let the book choose a provider")
    return local.Installed(version=version, provider=NAME, command=(str(mysqld),), share=_share(mysqld))


def _find() -> Path | None:
    # Distributions put the server where only root's PATH looks.
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])
    found = shutil.which("mysqld", path=path)
    return Path(found).resolve() if found else None


def _said(mysqld: Path) -> str:
    """What it answers to the question for its version, the loader's complaint included; nothing where it cannot be run."""
    try:
        done = subprocess.run(
            [mysqld, "--no-defaults", "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def _version(said: str) -> str | None:
    """The release, `None` for MariaDB's server or anything else of that name."""
    found = re.search(r"Ver (\d+\.\d+\.\d+)", said)
    return None if found is None or "MariaDB" in said else found[1]


def _share(mysqld: Path) -> Path:
    """The folder of error messages and character sets, beside the program or in the system's place."""
    base = mysqld.parent.parent
    for folder in (base / "share" / "mysql", base / "share", Path("/usr/share/mysql")):
        if (folder / "charsets").is_dir():
            return folder
    raise EngineRoomError(
        f"the mysqld on PATH has no share folder near {base.name}",
        remedy="install the whole server package, or choose another provider",
    )
