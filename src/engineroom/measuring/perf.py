"""Samples of CPU time by Linux's perf: what it is asked, and its answer as blocks of text, one a sample."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from engineroom.errors import EngineRoomError

__all__ = ["of_process", "of_program", "why_not"]

REMEDY = "as root, or with kernel.perf_event_paranoid at most 1"


def why_not() -> str | None:
    """The reason why nothing can be sampled, as far as it is known before it is tried, or None."""
    return "perf is not installed" if shutil.which("perf") is None else None


def of_process(
    pid: int,
    work: Callable[[], None],
    *,
    seconds: float,
    thread: int | None = None,
    hertz: int = 999,
    stack_bytes: int = 4096,
    script: Sequence[str],
) -> list[str]:
    """Run `work` again and again for so long, and sample the process meanwhile, or one thread of it.

    The stack is unwound by the binary's own tables, so that it needs neither frame pointers nor debug symbols; each sample takes
    `stack_bytes` of it along. `script` are options of `perf script`.
    """
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "perf.data"
        whom = ("-p", str(pid)) if thread is None else ("-t", str(thread))
        command = [*_record(data, hertz, stack_bytes), *whom, "--", "sleep", str(seconds)]
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace"
        ) as perf:
            while perf.poll() is None:
                work()
            said = perf.stderr.read() if perf.stderr else ""
        _refuse(perf.returncode, said, data)
        return _samples(data, script)


def of_program(
    command: Sequence[str], *, hertz: int = 997, stack_bytes: int = 4096, script: Sequence[str]
) -> tuple[str, list[str]]:
    """Run a command to its end: what it printed, and its samples."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "perf.data"
        done = subprocess.run(
            [*_record(data, hertz, stack_bytes), "--", *command],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        _refuse(done.returncode, done.stderr, data)
        return done.stdout, _samples(data, script)


def _record(data: Path, hertz: int, stack_bytes: int) -> list[str]:
    if reason := why_not():
        raise EngineRoomError(reason, remedy="Debian: apt-get install linux-perf")
    return [
        *("perf", "record", "-q", "-e", "cpu-clock", "-F", str(hertz)),
        *("--call-graph", f"dwarf,{stack_bytes}", "-o", str(data)),
    ]


def _refuse(code: int, said: str, data: Path) -> None:
    if code or not data.exists():
        raise EngineRoomError(f"perf record ended with {code}: {said.strip()[-200:]}", remedy=REMEDY)


def _samples(data: Path, script: Sequence[str]) -> list[str]:
    done = subprocess.run(
        ["perf", "script", "-i", str(data), *script],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise EngineRoomError(
            f"perf script ended with {done.returncode}: {done.stderr.strip()[-200:]}", remedy=REMEDY
        )
    return [sample for sample in done.stdout.strip().split("\n\n") if sample.strip()]
