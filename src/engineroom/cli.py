"""The `engineroom` command. Each subcommand is loaded only when it is called."""

from __future__ import annotations

import errno
import importlib
import os
import re
import resource
import sys
from pathlib import Path
from typing import NoReturn

import click

import engineroom
from engineroom import files
from engineroom.errors import EngineRoomError

__all__ = ["main"]

# Subcommand -> (module, attribute, one line of help). The help stands here so that `engineroom --help` imports nothing.
COMMANDS = {
    "doctor": ("engineroom.doctor", "doctor", "What this machine has, lacks, and can run."),
    "server": ("engineroom.servers.cli", "server", "List, start, query and stop MySQL servers."),
    "ledger": ("engineroom.ledger.cli", "ledger", "Every published figure and its verdict."),
    "calibrate": ("engineroom.machine.calibrate", "calibrate", "Measure this machine for the simulated one."),
    "join-order": (
        "engineroom.ask.query_graphs.cli",
        "join_order",
        "Enumerate join orders and explain a statement's.",
    ),
    "compare": ("engineroom.ask.compare.cli", "compare", "Your own statement on several server versions."),
    "digest": (
        "engineroom.ask.digests.cli",
        "digest",
        "Where the time of a slow log went, without a server.",
    ),
    "binlog": ("engineroom.ask.binlog_files.cli", "binlog", "Where a binary log's bytes go, and its rows."),
    "locks": (
        "engineroom.ask.lock_waits.cli",
        "locks",
        "Who waits for whose locks on a server, and what ends it.",
    ),
    "deadlock": (
        "engineroom.ask.deadlocks.cli",
        "deadlock",
        "Deadlocks of an error log or a server: who waited for whom, and what avoids it.",
    ),
    "whatif": (
        "engineroom.ask.whatif.cli",
        "whatif",
        "Your own transactions with more clients: which queue forms first.",
    ),
    "kit": (
        "engineroom.ask.kit.cli",
        "kit",
        "Servers among crowds on another computer, beside the book's sixteen processors.",
    ),
    "class": ("engineroom.teach.grading.cli", "classes", "Grade the exercises of a class."),
    "record": ("engineroom.recording", "record", "Measure again and keep the runs."),
}


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in COMMANDS.items()])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(engineroom.__version__)
def _cli() -> None:
    """The Engine Room: every published figure re-run."""


_NO_MEMORY = "engineroom: there is too little memory for this command\n  What to do: end other programs, or raise the limit (ulimit -v)\n"


def main() -> None:
    """Entry point: an `EngineRoomError`, an output that is full and a want of memory become a message and exit code 1, never a traceback."""
    try:
        _main()
    except MemoryError:  # also where there was none to tell of the first
        _end_without_memory()


def _end_without_memory() -> NoReturn:
    # At once: an interpreter that ends in order needs memory too, and was seen to crash for want of it.
    os.write(2, _NO_MEMORY.encode())
    os._exit(1)


def _main() -> None:
    try:
        try:
            _cli()
        finally:
            sys.stdout.flush()
    except EngineRoomError as error:
        click.echo(f"engineroom: {files.visible(str(error))}", err=True)
        sys.exit(1)
    except ModuleNotFoundError as error:
        if error.name != "engineroom._native":
            raise
        click.echo(
            "engineroom: this computes with compiled kernels, and the package was installed without them\n"
            "  What to do: install a wheel that has them, or make book in a clone; locks, deadlock, digest, compare and"
            " join-order explain --plan need none",
            err=True,
        )
        sys.exit(1)
    except Exception as error:
        if _lacks_memory(error):
            _end_without_memory()
        if not isinstance(error, OSError):
            raise
        # What Python still holds for the output would fail once more while it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        where = "the output" if error.filename is None else files.visible(str(error.filename))
        click.echo(
            f"engineroom: {where} cannot be used: {error.strerror}\n  What to do: make room there, or name another place",
            err=True,
        )
        sys.exit(1)


def _lacks_memory(error: BaseException) -> bool:
    """Whether that is why it failed: said by itself, by what it comes from, or by how near the process came to its limit.

    The last is for what says something else, such as a parser of Python's that finds no memory and blames the source.
    """
    each: BaseException | None = error
    while each is not None:
        if isinstance(each, MemoryError) or getattr(each, "errno", None) == errno.ENOMEM:
            return True
        if any(words in str(each) for words in ("failed to map segment", "start new thread")):
            return True
        each = each.__cause__ or each.__context__
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    peak = re.search(r"VmPeak:\s*(\d+) kB", _status())
    return most != resource.RLIM_INFINITY and peak is not None and int(peak[1]) * 1024 > 0.8 * most


def _status() -> str:
    try:
        return Path("/proc/self/status").read_text()
    except OSError:  # no Linux
        return ""
