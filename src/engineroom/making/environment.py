"""The virtual environment of `make`: there whole or not at all, and filled by its own pip.

`python -m engineroom.making.environment FOLDER TRIES ARGUMENTS OF PIP...` makes it where it is missing or broken, then calls its pip until
that succeeds, TRIES times at most: a registry can fail for a moment. What else is installed waits. One Ctrl-C ends all of it. Uses the
standard library only.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from engineroom import certificates, children

__all__ = ["install", "make"]

PAUSE_S = 5


def make(folder: Path) -> Path:
    """The environment's Python. An environment that is not whole is made beside its place and comes there by one rename."""
    python = folder / "bin" / "python"
    if _is_whole(python):
        return python
    fresh = folder.with_name(folder.name + ".new")
    for left in (folder, fresh):
        shutil.rmtree(left, ignore_errors=True)
    # Not this interpreter where it is the broken environment's own.
    interpreter = getattr(sys, "_base_executable", sys.executable)
    made = children.run([interpreter, "-m", "venv", "--prompt", folder.name, fresh], is_read=True)
    if made.returncode:
        raise SystemExit(f"{made.stdout}Python's venv failed with exit code {made.returncode}")
    # Programs name their interpreter by its full path, which is about to be another.
    here, there = os.fsencode(fresh.absolute()), os.fsencode(folder.absolute())
    for file in [fresh / "pyvenv.cfg", *(fresh / "bin").iterdir()]:
        if not file.is_symlink() and here in (text := file.read_bytes()):
            file.write_bytes(text.replace(here, there))
    fresh.rename(folder)
    return python


def _is_whole(python: Path) -> bool:
    """Whether there is an environment whose pip answers, made by a Python that is still here."""
    try:
        answer = subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False)
    except OSError:  # none, or the link leads nowhere
        return False
    return answer.returncode == 0


def install(python: Path, arguments: Sequence[str], *, tries: int) -> int:
    """Call pip at most `tries` times; its exit code."""
    pip = [str(python), "-m", "pip"]
    configured = subprocess.run([*pip, "config", "list"], capture_output=True, text=True, check=False).stdout
    if ".cert=" not in configured:
        os.environ.update(certificates.variables())
    for number in range(1, tries + 1):
        code = children.run([*pip, *arguments]).returncode
        if code == 0 or number == tries:
            return code
        print(f"pip failed; try {number + 1} of {tries} in {number * PAUSE_S} s", file=sys.stderr)
        time.sleep(number * PAUSE_S)
    raise ValueError(f"tries is {tries}, not 1 or more")


def main() -> None:
    folder, tries, *arguments = sys.argv[1:]
    os.environ.pop("PYTHONPATH", None)  # by which this module was found, and nothing else is to be
    try:
        with children.ending_with_us():
            python = make(Path(folder))
            with Path(folder, "pip.lock").open("wb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                sys.exit(install(python, arguments, tries=int(tries)))
    except KeyboardInterrupt:
        sys.exit("interrupted; the next make goes on from here")


if __name__ == "__main__":
    main()
