"""Downloads that are whole or not there: several tries, a checksum, and unpacking into a folder that is not yet used."""

from __future__ import annotations

import os
import re
import subprocess
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from engineroom.errors import EngineRoomError
from engineroom.servers import manifest

__all__ = ["attempt", "check", "extract", "extract_zip"]

TRIES = 4


def attempt(download: Callable[[], Path], *, what: str) -> Path:
    """Call `download` until it succeeds, a few times: registries have bad moments."""
    for number in range(TRIES):
        try:
            return download()
        except EngineRoomError:
            raise  # it says already what to do, and another try would change nothing
        except Exception as error:
            if number == TRIES - 1 or getattr(error, "errno", None) == 28:
                raise EngineRoomError(
                    f"cannot download {what}: {reason(error)}",
                    remedy="check the network and the client's own configuration (proxy, mirror), then start again; "
                    "what was fetched so far has been removed",
                ) from error
            time.sleep(1 + number)
    raise AssertionError


def reason(error: BaseException) -> str:
    """What a failed client said, without its banner and without addresses."""
    text = str(error)
    if isinstance(error, subprocess.CalledProcessError):
        text = (error.stderr or error.stdout or "").strip() or f"exit code {error.returncode}"
    elif isinstance(error, subprocess.TimeoutExpired):
        text = "no answer in time"
    if refused := re.search(
        r"certificate verify failed: ([^(\n]+?) \(|(SELF_SIGNED\w+|UNABLE_TO_\w+CERT\w*)", text
    ):
        return f"the registry's certificate was refused ({refused[1] or refused[2]})"
    text = re.sub(r"(?:https?://|/)[^\s'\"]*/[^\s'\"]*", "…", text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(lines[-3:])[-400:] or type(error).__name__


def check(path: Path, sha256: str, *, what: str) -> None:
    """Remove the file and refuse it unless it is the pinned one."""
    found = manifest.sha256(path)
    if found != sha256:
        path.unlink()
        raise EngineRoomError(
            f"the checksum of {what} is {found[:12]}…, not {sha256[:12]}… as pinned in data/servers.toml",
            remedy="start again; if it stays, the registry or something between serves another file: do not use it",
        )


def extract(archive: Path, tree: Path, *, strip: int = 0) -> None:
    """Unpack a tar archive into `tree` without its first `strip` folders. tar refuses members that lead out of it."""
    done = subprocess.run(
        ["tar", "-x", "-f", archive, "-C", tree, "--no-same-owner", f"--strip-components={strip}"],
        env={**os.environ, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise EngineRoomError(
            f"cannot unpack {archive.name}: {done.stderr.strip()[-200:]}",
            remedy="make room in the cache folder, then start again",
        )


def extract_zip(archive: Path, tree: Path) -> None:
    """Unpack a zip into `tree`, programs executable as they were. Members that lead out of it stay in it."""
    with zipfile.ZipFile(archive) as members:
        for member in members.infolist():
            path = Path(members.extract(member, tree))
            if mode := member.external_attr >> 16 & 0o777:
                path.chmod(mode)
