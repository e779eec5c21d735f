"""`make test`: everything that is checked, in the order in which a mistake is cheapest to find."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import click

from engineroom import children, paths, system_check

__all__ = ["CHECKS", "Check", "tests_of"]


@dataclass(frozen=True)
class Check:
    """A named list of commands; the first that fails ends the check. `needs` are tools of the system, not of the lock.

    One that `runs_beside` the others compiles for minutes, on the processors that the book and the Python tests leave.
    """

    name: str
    commands: Sequence[Sequence[str]]
    needs: Sequence[str] = ()
    runs_beside: bool = False


def _native(folder: str, *options: str, only: str = "") -> list[list[str]]:
    """Build into _build/`folder` and run the tests, or those whose name matches `only`, from the files that have some.

    `native` is the folder in which the Python module was built: its kernels are tested as they are, compiled once.
    """
    build = str(Path("_build") / folder)
    return [
        [
            "cmake",
            "-S",
            ".",
            "-B",
            build,
            "-DENGINEROOM_TESTS=ON",
            f"-DENGINEROOM_TESTS_NAMED={only}",
            *options,
        ],
        ["cmake", "--build", build, "--parallel", "2", "--target", "engineroom_tests"],
        [
            "ctest",
            "--test-dir",
            build,
            "--output-on-failure",
            "--no-tests=error",
            *("--parallel", "2"),
        ],
    ]


def _without_random_addresses(command: Sequence[str]) -> list[str]:
    """The thread sanitizer of older compilers cannot place its memory where addresses are random over 32 bits."""
    prefix = ["setarch", "-R"]
    allowed = (
        shutil.which(prefix[0])
        and not subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode
    )
    return [*(prefix if allowed else []), *command]


def _sources() -> list[str]:
    return sorted(str(path) for path in Path("native").rglob("*.[ch]pp"))


_CLANG_FORMAT = system_check.clang_format() or "clang-format"
# Workers take file by file, whose tests may share a server. One more of them than processors, since they wait for servers; more than four
# would want more memory for servers.
_PYTEST = (
    *(sys.executable, "-m", "pytest", "-q"),
    *("--numprocesses", str(min(4, (os.cpu_count() or 1) + 1))),
    *("--dist", "loadfile", "--no-loadscope-reorder"),
    "--durations=25",
)
_WITH_THREADS = "Fast|OnTheHost|OnRealThreads|CommitCost"  # suites whose kernels run on several threads
# Tests of many runs, of which sanitizers make a part (native/tests/part_of.hpp).
_OF_MANY_RUNS = (
    "EachLog|SmallBuffers|LinkBuffer|OfTwoWhoAwaitGaps|AMiniTransactionIsRefused|Recovery|Designs|GroupCommitCrashes|"
    "GroupCommitMistakes|EachView|Histories|EachVersion|LockPolicies|LockShards|EachLockMistake|ADamagedFile|"
    "ALockIsOneThreads"
)

CHECKS = (
    Check("lint", [["ruff", "check", "."], ["ruff", "format", "--check", "."]]),
    Check("types", [["mypy"]]),
    Check("C++ format", [[_CLANG_FORMAT, "--dry-run", "-Werror", *_sources()]], needs=[_CLANG_FORMAT]),
    # All of them run under sanitizers. Faster, most would see nothing else, but threads meet in other ways.
    Check(
        "native tests, fast",
        _native("native", only=f"{_WITH_THREADS}|FramePool|{_OF_MANY_RUNS}"),
        needs=["cmake", "ctest"],
        runs_beside=True,
    ),
    Check(
        "native tests, sanitized",
        _native("sanitize", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DENGINEROOM_SANITIZE=address,undefined"),
        needs=["cmake", "ctest"],
        runs_beside=True,
    ),
    Check(
        "native tests, threads",
        _native(
            "threads", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DENGINEROOM_SANITIZE=thread", only=_WITH_THREADS
        ),
        needs=["cmake", "ctest"],
        runs_beside=True,
    ),
    Check("book", [[sys.executable, "-m", "engineroom.making.book", "build"]]),
    # Last: they open the book, and a runner's closing line is what a reader of the log looks for.
    Check("Python tests", [[*_PYTEST]]),
)
_LEFT_OUT = "not live and not container and not browser and not built and not slow"
# What a change anywhere may break, in some seconds.
_RULES = tuple(f"tests/test_{name}.py" for name in ("chapters", "forms", "house", "repository"))


def _changed() -> list[Path]:
    """What differs from the branch that this one comes from: committed since, or not yet."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
        return "" if done.returncode else done.stdout

    bases = (git("merge-base", "HEAD", branch).strip() for branch in ("@{upstream}", "origin/main", "main"))
    base = next(filter(None, bases), "HEAD")
    names = git("diff", "-z", "--name-only", "--diff-filter=d", base) + git(
        "ls-files", "-z", "--others", "--exclude-standard"
    )
    return [Path(name) for name in names.split("\0") if name]


def tests_of(changed: Iterable[Path]) -> list[str]:
    """The tests of what changed, and those of the repository's rules: a chapter's, or those of the module's name, or of its room."""
    chosen = [*_RULES]
    for path in changed:
        *folders, stem = path.with_suffix("").parts
        words = [name for name in (*folders, stem) if Path("tests/chapters", name).is_dir()]
        if words:
            chosen += [f"tests/chapters/{words[0]}", "tests/making/test_page.py"]
            continue
        named = sorted(Path("tests").rglob(f"test_{stem.removeprefix('test_')}.py"))
        rooms = [Path("tests", name) for name in folders if name != "tests" and Path("tests", name).is_dir()]
        chosen += map(str, named or rooms[-1:])
    return [name for name in dict.fromkeys(chosen) if Path(name).exists()]


def _quick(*, is_whole: bool) -> tuple[Check, ...]:
    return (
        *(check for check in CHECKS if check.name in ("lint", "types", "C++ format")),
        Check(
            "quick Python tests",
            [[*_PYTEST, "-m", _LEFT_OUT, *([] if is_whole else tests_of(_changed()))]],
        ),
    )


@click.command()
@click.option(
    "--quick", is_flag=True, help="Only what changed and needs no server, container, browser or compiler."
)
@click.option("--all", "is_whole", is_flag=True, help="With --quick: also what did not change.")
@click.argument("names", nargs=-1)
def _main(names: tuple[str, ...], quick: bool, is_whole: bool) -> None:
    """Run all checks, or those whose name contains one of NAMES; all run even when one fails."""
    os.chdir(paths.root())
    chosen = [
        check
        for check in (_quick(is_whole=is_whole) if quick else CHECKS)
        if not names or any(name in check.name for name in names)
    ]
    with ThreadPoolExecutor(1) as executor:
        try:
            beside = {check.name: executor.submit(_run, check) for check in chosen if check.runs_beside}
            passed = {check.name: _run(check) for check in chosen if not check.runs_beside}
            passed |= {name: result.result() for name, result in beside.items()}
        except BaseException:
            children.end_all()
            executor.shutdown(cancel_futures=True)
            raise
    failed = [check.name for check in chosen if not passed[check.name]]
    if failed:
        click.echo(f"failed: {', '.join(failed)}", err=True)
        sys.exit(1)


def _run(check: Check) -> bool:
    start = time.monotonic()
    missing = [tool for tool in check.needs if not shutil.which(tool)]
    if missing:
        click.echo(
            f"{check.name}: missing {', '.join(missing)}. What to do: engineroom doctor names the packages"
        )
        return False
    click.echo(f"{check.name} ...", err=True)
    passes = all(_passes(command) for command in check.commands)
    click.echo(f"{check.name}: {'ok' if passes else 'failed'} ({time.monotonic() - start:.0f} s)", err=True)
    return passes


def _passes(command: Sequence[str]) -> bool:
    """Run a command; its output is shown at once for the book and pytest, else only when it fails."""
    loud = not {"pytest", "engineroom.making.book"}.isdisjoint(command)
    if command[0] in ("cmake", "ctest"):
        command = ["nice", *_without_random_addresses(command)]
    done = children.run(command, is_read=not loud)
    if done.returncode and not loud:
        click.echo(done.stdout)
    return done.returncode == 0


if __name__ == "__main__":
    with children.ending_with_us():
        _main()
