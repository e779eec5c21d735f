"""The system libraries that servers before 9 are linked to, libaio and libnuma, also where the system has them not.

A newer Debian or Ubuntu calls the same library `libaio.so.1t64`; a link of the old name is enough. Where the library is
missing and apt can fetch its package, it is unpacked beside the server, without root.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from engineroom import system_check
from engineroom.errors import EngineRoomError

__all__ = ["environment"]

PACKAGES = {"libaio.so.1": ("libaio1t64", "libaio1"), "libnuma.so.1": ("libnuma1",)}


def environment(mysqld: Path, tree: Path) -> dict[str, str]:
    """Environment variables with which this `mysqld` finds its libraries."""
    private = tree / "private-libraries"
    variables = {"LD_LIBRARY_PATH": f"{mysqld.parent}:{private}"}
    lacking = _not_found(mysqld, variables)
    if lacking:
        private.mkdir(exist_ok=True)
        for soname in lacking:
            if not _link_twin(soname, private):
                _fetch(soname, private)
        lacking = _not_found(mysqld, variables)
    if lacking:
        pieces = [piece for piece in system_check.PIECES if f"{piece.name}.so.1" in lacking]
        command = system_check.apt_line(pieces) or "install the packages that hold them"
        raise EngineRoomError(
            f"this MySQL needs {' and '.join(lacking)}, which the system has not", remedy=command
        )
    return variables


def _not_found(mysqld: Path, variables: dict[str, str]) -> list[str]:
    done = subprocess.run(
        ["ldd", mysqld], env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    return re.findall(r"^\s*(\S+) => not found", done.stdout, re.MULTILINE)


def _link_twin(soname: str, private: Path) -> bool:
    ldconfig = shutil.which("ldconfig", path=os.environ.get("PATH", "") + ":/sbin:/usr/sbin")
    if ldconfig is None:
        return False
    listed = subprocess.run([ldconfig, "-p"], capture_output=True, text=True, check=False).stdout
    twin = re.search(rf"^\s*{re.escape(soname)}t64 .*x86-64.*=> (\S+)$", listed, re.MULTILINE)
    if twin is None:
        return False
    (private / soname).unlink(missing_ok=True)
    (private / soname).symlink_to(twin[1])
    return True


def _fetch(soname: str, private: Path) -> bool:
    """Take the library out of its package, which apt fetches and checks."""
    for package in PACKAGES.get(soname, ()):
        with tempfile.TemporaryDirectory(dir=private) as name:
            folder = Path(name)
            try:
                subprocess.run(
                    ["apt-get", "-q", "download", package],
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=120,
                    check=True,
                )
                subprocess.run(
                    ["dpkg-deb", "-x", next(folder.glob("*.deb")), folder], capture_output=True, check=True
                )
            except (OSError, StopIteration, subprocess.SubprocessError):
                continue
            for library in folder.rglob(f"{soname}*"):
                shutil.copy(library, private / soname)  # follows the link to the library itself
                return True
    return False
