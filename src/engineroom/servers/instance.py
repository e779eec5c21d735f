"""The private folder of one server, and the keeper process that ends the server and removes the folder.

A folder's lock is held by its keeper. A folder whose lock is free was left by a machine that lost its power, or by a
keeper that was killed: the next start sweeps it away.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import psutil

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.servers import supervisor

__all__ = ["Instance", "instances_folder", "sweep"]

# A folder younger than this may still be on its way to its lock.
SETTLING_S = 3600


def instances_folder() -> Path:
    """Where the folders of all running servers are."""
    folder = paths.cache() / "instances"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


class Instance:
    """A folder, its keeper and the process that the keeper runs."""

    def __init__(self, folder: Path, *, lock_fd: int | None = None) -> None:
        self.folder = folder
        self._lock_fd = lock_fd
        self._keeper: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()

    @classmethod
    def create(cls) -> Self:
        """A new folder that only this user can read, locked by this process."""
        try:
            fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=instances_folder()))
            lock_fd = os.open(fresh / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise EngineRoomError(
                f"cannot write to the cache folder: {error.strerror}",
                remedy="make room there, or set ENGINEROOM_CACHE to another folder",
            ) from error
        fcntl.flock(lock_fd, fcntl.LOCK_EX)
        folder = fresh.with_name(secrets.token_hex(4))
        fresh.rename(folder)
        return cls(folder, lock_fd=lock_fd)

    def launch(
        self,
        command: Sequence[str],
        *,
        environment: dict[str, str] | None = None,
        stdin: Path | None = None,
        on_stop: Sequence[Sequence[str]] = (),
        remove: Sequence[Path] = (),
        writable: Sequence[Path] = (),
        shared: bool = False,
    ) -> None:
        """Start `command` under a keeper. From here on the keeper removes the folder, also when this process dies.

        With `writable` folders the command writes nowhere else, where the kernel has Landlock.
        """
        assert self._lock_fd is not None
        launch = {
            "command": list(command),
            "environment": environment or {},
            "stdin": str(stdin) if stdin else "",
            "on_stop": [list(words) for words in on_stop],
            "remove": [str(path) for path in remove],
            "writable": [str(path) for path in writable],
        }
        (self.folder / "launch.json").write_text(json.dumps(launch))
        owner = 0 if shared else os.getpid()
        self._keeper = subprocess.Popen(
            [
                sys.executable,
                "-I",
                "-S",
                supervisor.__file__,
                str(self.folder),
                str(owner),
                str(self._lock_fd),
            ],
            stdin=subprocess.DEVNULL if shared else subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(self._lock_fd,),
            start_new_session=True,
        )
        os.close(self._lock_fd)
        self._lock_fd = None
        if shared:
            self._keeper.wait()  # it has left its child behind
            self._keeper = None
        deadline = time.monotonic() + 30
        while self.pid is None:
            ended = self._keeper is not None and self._keeper.poll() is not None
            if ended or time.monotonic() > deadline:
                self.remove()
                raise EngineRoomError(
                    "the keeper process of the server did not start",
                    remedy="look at the disk space and the process limit (`ulimit -u`), then start again",
                )
            time.sleep(0.005)

    def note(self, **facts: Any) -> None:
        """Add facts to the folder's `server.json`, which other processes read."""
        facts = {**self.facts(), **facts}
        new = self.folder / "server.new"
        new.touch(mode=0o600)
        new.write_text(json.dumps(facts))
        new.rename(self.folder / "server.json")

    def facts(self) -> dict[str, Any]:
        """What is written in the folder's `server.json`."""
        try:
            facts: dict[str, Any] = json.loads((self.folder / "server.json").read_text())
        except (OSError, ValueError):
            return {}
        return facts

    @property
    def pid(self) -> int | None:
        """The process that the keeper started."""
        try:
            return int((self.folder / "pid").read_text())
        except (OSError, ValueError):
            return None

    @property
    def exit_code(self) -> int | None:
        """How the process ended, `None` while it runs."""
        try:
            return int((self.folder / "exit").read_text())
        except (OSError, ValueError):
            return None

    def alive(self) -> bool:
        """Whether the process that the keeper started runs."""
        pid = self.pid
        if pid is None or self.exit_code is not None:
            return False
        try:
            return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False

    def log_tail(self, lines: int = 20) -> str:
        """The last lines of what the process wrote."""
        try:
            text = (self.folder / "log").read_text(errors="replace")
        except OSError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    def remove(self) -> None:
        """End the process and remove the folder. Safe to call twice; does nothing in a forked child."""
        if os.getpid() != self._owner:
            return
        if self._keeper is not None:
            if self._keeper.stdin is not None:
                self._keeper.stdin.close()
            try:
                self._keeper.wait(60)
            except subprocess.TimeoutExpired:
                # The process dies with its keeper.
                self._keeper.kill()
                self._keeper.wait()
            self._keeper = None
        elif (keeper := self._keeper_elsewhere()) is not None:
            keeper.send_signal(signal.SIGTERM)
            with contextlib.suppress(psutil.TimeoutExpired):
                keeper.wait(60)
        if self._lock_fd is not None:
            os.close(self._lock_fd)
            self._lock_fd = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def _keeper_elsewhere(self) -> psutil.Process | None:
        """The keeper that another process started, unless its number belongs to somebody else by now."""
        try:
            keeper = psutil.Process(int((self.folder / "keeper").read_text()))
            return keeper if str(self.folder) in keeper.cmdline() else None
        except (OSError, ValueError, psutil.Error):
            return None


def sweep() -> Iterator[Instance]:
    """Remove the folders that no keeper holds and yield the others."""
    for folder in sorted(instances_folder().iterdir()):
        if folder.name.startswith(".new-"):
            with contextlib.suppress(OSError):
                if time.time() - folder.stat().st_mtime > SETTLING_S:
                    shutil.rmtree(folder, ignore_errors=True)
            continue
        try:
            fd = os.open(folder / "lock", os.O_RDWR)
        except (
            FileNotFoundError
        ):  # what its keeper removes, or was killed over: a new folder comes here with its lock
            shutil.rmtree(folder, ignore_errors=True)
            continue
        except OSError:
            continue
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield Instance(folder)
            continue
        finally:
            os.close(fd)
        _remove_leftover(folder)


def _remove_leftover(folder: Path) -> None:
    try:
        launch = json.loads((folder / "launch.json").read_text())
    except (OSError, ValueError):
        launch = {"on_stop": [], "remove": []}
    for command in launch["on_stop"]:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    for path in [*launch["remove"], str(folder)]:
        shutil.rmtree(path, ignore_errors=True)
