"""What a number needs beside it to be believed: the machine, its load, the revision and the command.

Nothing private is kept. `scrub` is the one gate through which provenance reaches a file: it drops names of hosts, users,
sockets and ports, and cuts paths down to their last part.
"""

from __future__ import annotations

import datetime
import getpass
import math
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from engineroom import paths

__all__ = ["cores", "machine", "scrub", "steal_s", "watch"]

# fmt: off
_PRIVATE_KEYS = frozenset((
    "admin_port", "basedir", "character_sets_dir", "datadir", "dsn", "general_log_file", "host",
    "hostname", "innodb_data_home_dir", "innodb_tmpdir", "lc_messages_dir", "log_bin_basename",
    "log_bin_index", "log_error", "mysqlx_port", "mysqlx_socket", "password", "password_hash",
    "pid", "pid_file", "plugin_dir", "port", "replica_load_tmpdir", "report_host",
    "secure_file_priv", "server_uuid", "slave_load_tmpdir", "slow_query_log_file", "socket",
    "tmpdir", "user", "username",
))
# fmt: on
# An absolute path of two parts or more, where a path can begin. /proc, /sys and /dev are the kernel's, not somebody's.
_PATH = re.compile(r"""(?<![\w./\\~])(?:~|[A-Za-z]:)?(?!/(?:proc|sys|dev)/)(?:[/\\][^\s/\\'",;:=()]+){2,}""")


def cores() -> int | None:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def machine(*, seed: int | None = None, storage: Path | None = None) -> dict[str, Any]:
    """The machine and the moment: JSON-able, the same keys on every platform, `None` for what it does not tell.

    `storage` is a path on the file system that the run uses (a datadir); the book's own folder by default.
    """
    return {
        "cores": cores(),
        "cpu": _cpu(),
        "caches": _caches(Path("/sys/devices/system/cpu/cpu0/cache")),
        "memory_bytes": psutil.virtual_memory().total,
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "storage": _storage(storage or paths.root()),
        "load": [round(value, 2) for value in psutil.getloadavg()],
        "steal_s": steal_s(),
        "python": platform.python_version(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "revision": _revision(),
        "command": scrub(_command(sys.argv, sys.orig_argv)),
        "seed": seed,
    }


@contextmanager
def watch() -> Iterator[dict[str, Any]]:
    """Fill a dict with what others did to the machine while the block ran.

    `steal_percent` is the share of all cores that the hypervisor withheld; `busy_percent` includes the run's own work.
    """
    seen: dict[str, Any] = {}
    before, start, load = psutil.cpu_times(), time.monotonic(), psutil.getloadavg()[0]
    try:
        yield seen
    finally:
        after, wall_s = psutil.cpu_times(), time.monotonic() - start
        spent = {name: getattr(after, name) - getattr(before, name) for name in after._fields}
        spent.pop("guest", None)  # already counted in user time
        spent.pop("guest_nice", None)
        total = sum(spent.values()) or 1.0
        idle = spent.get("idle", 0.0) + spent.get("iowait", 0.0)
        steal = spent.get("steal")
        seen.update(
            wall_s=round(wall_s, 3),
            load_before=round(load, 2),
            load_after=round(psutil.getloadavg()[0], 2),
            busy_percent=round(100 * (total - idle) / total, 1),
            steal_percent=None if steal is None else round(100 * steal / total, 1),
        )


def scrub(value: Any) -> Any:
    """`value` without hosts, users, sockets, ports and folders; safe to publish and JSON-able."""
    if isinstance(value, Mapping):
        return {str(key): scrub(item) for key, item in value.items() if str(key).lower() not in _PRIVATE_KEYS}
    if isinstance(value, list | tuple):
        return [scrub(item) for item in value]
    if isinstance(value, Path):
        return scrub(str(value))
    if isinstance(value, str):
        return _scrub_text(value)
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _scrub_text(text: str) -> str:
    text = _PATH.sub(lambda path: "…/" + re.split(r"[/\\]", path[0])[-1], text)
    for name, stand_in in ((platform.node(), "<host>"), (_user(), "<user>")):
        # "root" and the like are words of the trade; so is anything of two letters.
        if len(name) > 2 and name not in {"root", "mysql", "user", "localhost"}:
            text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", stand_in, text)
    return text


def _command(argv: Sequence[str], orig_argv: Sequence[str]) -> str:
    """What was typed, without servers' addresses: the script's name, or `python -m` with the module, whose file is only called __main__.py."""
    typed = orig_argv[1 : len(orig_argv) - len(argv) + 1]
    program = ["python", *typed] if "-m" in typed else [Path(argv[0]).name or "python"]
    words = [re.sub(r"mysql://.*", "mysql://…", each, flags=re.DOTALL | re.IGNORECASE) for each in argv[1:]]
    return shlex.join([*program, *words])


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no entry for this uid, as in some containers
        return ""


def _cpu() -> str | None:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    if platform.system() == "Darwin":
        return _output("sysctl", "-n", "machdep.cpu.brand_string")
    return platform.processor() or None


def _caches(folder: Path) -> list[str] | None:
    """The caches that one processor sees, nearest first: "L1 data 32K", "L3 unified 32768K"; None where the system does not tell."""
    said = []
    for each in sorted(folder.glob("index*")):
        try:
            level, kind, size = ((each / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        said.append(f"L{level} {kind.lower()} {size}")
    return said or None


def _storage(path: Path) -> str | None:
    """The kind of file system and, where Linux tells, of the disk under `path`; never its place or name."""
    real = path.resolve()
    best = None
    for part in psutil.disk_partitions(all=True):
        if real.is_relative_to(part.mountpoint) and (
            best is None or len(part.mountpoint) >= len(best.mountpoint)
        ):
            best = part
    if best is None:
        return None
    device = Path(best.device).name
    rotational = Path("/sys/class/block") / device / "queue" / "rotational"
    try:
        kind = f"rotational={rotational.read_text().strip()}"
    except OSError:
        kind = None
    return f"{best.fstype}, {kind}" if kind else best.fstype


def steal_s() -> float | None:
    """CPU time that the hypervisor has withheld from all cores; `None` where the system does not say."""
    return getattr(psutil.cpu_times(), "steal", None)


def _revision() -> str | None:
    """The commit, with `+changes` when tracked files differ from it; runs recorded just before make no difference."""
    head = _output("git", "rev-parse", "--short=12", "HEAD")
    if head is None:
        return None
    return head + (
        "+changes" if _output("git", "status", "--porcelain", "-uno", "--", ":!data/recorded") else ""
    )


def _output(*command: str) -> str | None:
    try:
        done = subprocess.run(
            command, cwd=paths.root(), capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
