"""What the system must have before anything of Python is installed.

Uses the standard library only and runs on old interpreters too, so that `make` can call it first:
`python3 src/engineroom/system_check.py [GROUP ...] [--optional GROUP ...]`, groups being read, build, servers, load, test and counts. Everything
missing is reported at once, with what it is for, one apt line and one conda line; what is optional does not fail. `engineroom
doctor` says the same.
"""

from __future__ import annotations

import ctypes.util
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

__all__ = ["GROUPS", "PIECES", "Piece", "clang_format", "missing", "report"]

OLDEST_PYTHON = (3, 11)

PROGRAM = """\
#include <bit>
#include <coroutine>
#include <span>
int main() { return std::span<const int>{}.empty() && std::has_single_bit(4u) ? 0 : 1; }
"""

GROUPS = {
    "read": "make read and make book",
    "build": "make book",
    "servers": "the museum servers 5.6 to 8.0.31, optional",
    "load": "labs under load and engineroom record, optional",
    "test": "make test",
    "counts": "engineroom compare --instructions, optional",
}


class Piece:
    """Something of the system: what it is for, whether it is here, and the packages that bring it."""

    def __init__(
        self, name: str, group: str, found: Callable[[], bool], *, apt: str, conda: str = ""
    ) -> None:
        self.name = name
        self.group = group
        self.found = found
        self.apt = apt
        self.conda = conda


def clang_format() -> str | None:
    """The name under which clang-format is here."""
    return next(filter(shutil.which, ("clang-format-19", "clang-format")), None)


def _program(*names: str) -> Callable[[], bool]:
    return lambda: any(shutil.which(name) for name in names)


def _programs(*names: str) -> Callable[[], bool]:
    # Debian puts some where only root's PATH looks.
    path = os.environ.get("PATH", "") + os.pathsep + "/usr/sbin"
    return lambda: all(shutil.which(name, path=path) for name in names)


def _library(name: str) -> Callable[[], bool]:
    # Another system than Linux has no use for it.
    return lambda: sys.platform != "linux" or ctypes.util.find_library(name) is not None


def _brought(name: str) -> Callable[[], bool]:
    """A library that the system has, or whose package apt unpacks beside the server that needs it."""
    return lambda: _library(name)() or _programs("apt-get", "dpkg-deb")()


def _header(*parts: str) -> Callable[[], bool]:
    folders = [
        Path("/usr/include"),
        Path("/usr/local/include"),
        Path(os.environ.get("CONDA_PREFIX", "/"), "include"),
    ]
    return lambda: any(folder.joinpath(*parts).exists() for folder in folders)


def _compiler() -> bool:
    """Whether some compiler builds a C++20 program with the standard headers that the kernels use."""
    for name in filter(None, (os.environ.get("CXX"), "c++", "g++", "clang++")):
        command = shutil.which(name.split()[0])
        if command is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "check.cpp")
            source.write_text(PROGRAM)
            done = subprocess.run(
                [command, *name.split()[1:], "-std=c++20", "-fsyntax-only", str(source)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )
        if done.returncode == 0:
            return True
    return False


def _python_headers() -> bool:
    return Path(sysconfig.get_path("include"), "Python.h").exists()


def _module(*names: str) -> Callable[[], bool]:
    return lambda: all(importlib.util.find_spec(name) is not None for name in names)


def _is_newer() -> bool:
    """Debian 13, Ubuntu 24.04, or later."""
    system = _os_release()
    try:
        release = float(system.get("VERSION_ID", "0"))
    except ValueError:
        release = 0
    return {"debian": release >= 13 or not release, "ubuntu": release >= 24.04}.get(
        system.get("ID", ""), False
    )


def _t64(name: str) -> str:
    """Debian's name of a library since its 64-bit time."""
    return name + "t64" if _is_newer() else name


def _network() -> bool:
    """Whether containers can have one: Podman's own tool or the older plugins, and what writes their rules."""
    files = (
        "/usr/lib/podman/netavark",
        "/usr/libexec/podman/netavark",
        "/usr/lib/cni/bridge",
        "/opt/cni/bin/bridge",
    )
    return any(Path(each).exists() for each in files) and (_programs("iptables")() or _programs("nft")())


def _os_release() -> dict[str, str]:
    if not hasattr(platform, "freedesktop_os_release"):
        return {}
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}


PIECES = (
    Piece(
        f"Python {OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]} or newer",
        "read",
        lambda: sys.version_info >= OLDEST_PYTHON,
        apt="python3",
        conda="python",
    ),
    Piece("Python's venv", "read", _module("venv", "ensurepip"), apt="python3-venv", conda="python"),
    Piece("Python's headers", "build", _python_headers, apt="python3-dev", conda="python"),
    Piece(
        "a C++20 compiler (g++ 11, clang 14 or newer)", "build", _compiler, apt="g++", conda="cxx-compiler"
    ),
    Piece("make", "read", _program("make", "gmake"), apt="make", conda="make"),
    Piece("CMake", "build", _program("cmake"), apt="cmake", conda="cmake"),
    Piece("libaio", "servers", _brought("aio"), apt=_t64("libaio1"), conda="libaio"),
    Piece("libnuma", "servers", _brought("numa"), apt="libnuma1", conda="libnuma"),
    Piece("npm (brings MySQL 5.6)", "servers", _program("npm"), apt="npm", conda="nodejs"),
    Piece("sysbench", "load", _program("sysbench"), apt="sysbench", conda="sysbench"),
    Piece("GoogleTest", "test", _header("gtest", "gtest.h"), apt="libgtest-dev", conda="gtest"),
    Piece(
        "clang-format",
        "test",
        lambda: clang_format() is not None,
        apt="clang-format",
        conda="clang-format",
    ),
    Piece("Node.js", "test", _program("node", "nodejs"), apt="nodejs", conda="nodejs"),
    Piece("Chromium", "test", _program("chromium", "chromium-browser", "google-chrome"), apt="chromium"),
    Piece(
        "clang 19 for WebAssembly",
        "test",
        _programs("clang-19", "wasm-ld-19"),
        apt="clang-19 lld-19 wasi-libc libc++-19-dev-wasm32 libc++abi-19-dev-wasm32 libclang-rt-19-dev-wasm32",
    ),
    Piece(
        "Podman, runc and mmdebstrap",
        "test",
        _programs("podman", "runc", "mmdebstrap"),
        apt="podman runc mmdebstrap",
    ),
    Piece(
        "a network for Podman: its plugins, and iptables",
        "test",
        _network,
        apt=("netavark" if _is_newer() else "containernetworking-plugins") + " iptables",
    ),
    Piece("Valgrind", "counts", _programs("valgrind", "vgdb"), apt="valgrind", conda="valgrind"),
)


def missing(groups: Iterable[str] = ("build",)) -> list[Piece]:
    """What of these groups the system lacks."""
    wanted = set(groups)
    return [piece for piece in PIECES if piece.group in wanted and not piece.found()]


def apt_line(pieces: Iterable[Piece]) -> str:
    """The one command that adds these on Debian and Ubuntu, also where no list of packages is yet."""
    names = dict.fromkeys(piece.apt for piece in pieces if piece.apt)
    sudo = "" if hasattr(os, "geteuid") and os.geteuid() == 0 else "sudo "
    return f"{sudo}apt-get update && {sudo}apt-get install {' '.join(names)}" if names else ""


def conda_line(pieces: Iterable[Piece]) -> str:
    """The one command that adds these from conda-forge."""
    names = dict.fromkeys(piece.conda for piece in pieces if piece.conda)
    return "conda install -c conda-forge " + " ".join(names) if names else ""


def report(pieces: Iterable[Piece]) -> str:
    """Everything that is missing and how to add it, as one text; empty when nothing is."""
    pieces = list(pieces)
    if not pieces:
        return ""
    lines = ["Missing from this system:"]
    lines += [f"  {piece.name} (for {GROUPS[piece.group]})" for piece in pieces]
    for label, line in (("Debian, Ubuntu", apt_line(pieces)), ("conda", conda_line(pieces))):
        if line:
            lines.append(f"{label + ':':<16} {line}")
    return "\n".join(lines)


def main() -> None:
    words = sys.argv[1:]
    at = words.index("--optional") if "--optional" in words else len(words)
    groups, optional = words[:at] or ["read", "build"], words[at + 1 :]
    unknown = [group for group in [*groups, *optional] if group not in GROUPS]
    if unknown:
        sys.exit(f"unknown group {unknown[0]}; choose from {', '.join(GROUPS)}")
    needed = missing(groups)
    if text := report([*needed, *missing(optional)]):
        print(text, file=sys.stderr)
    sys.exit(1 if needed else 0)


if __name__ == "__main__":
    main()
