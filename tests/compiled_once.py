"""A launcher of the compiler for copies of the repository: what was compiled of the same bytes in the real one is taken from there.

The build of a copy is what a reader's is, from its configuration to the linked module; a test of it is not about compiling for
minutes what was compiled a moment ago. A file is taken if it was compiled by the same command, and if each file that it was
compiled of, headers of the system and of packages too, has the same bytes and has not changed since. Else it is compiled.

    python compiled_once.py COPY=REAL [ENVIRONMENT=ENVIRONMENT ...] -- COMPILER ARGUMENTS
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str]) -> None:
    cut = arguments.index("--")
    places = [each.split("=", 1) for each in arguments[:cut]]
    command = arguments[cut + 1 :]
    made = _made_before(command, places)
    if made is None:
        os.execvp(command[0], command)
    shutil.copyfile(made, command[command.index("-o") + 1])
    if "-MF" in command:
        # Complete for a build that is made once.
        Path(command[command.index("-MF") + 1]).write_text(f"{command[command.index('-o') + 1]}:\n")


def _made_before(command: Sequence[str], places: list[list[str]]) -> Path | None:
    """The real repository's object of the same command and the same bytes, if there is one."""
    asked = [_replaced(each, places) for each in _without_dependencies(command)]
    build = Path(_replaced(str(Path.cwd()), places))
    try:
        known = json.loads((build / "compile_commands.json").read_text())
        of_source = [each["command"] for each in known if each["file"] == asked[asked.index("-c") + 1]]
        if not any(_by_program(shlex.split(each)) == _by_program(asked) for each in of_source):
            return None
        made = build / asked[asked.index("-o") + 1]
        since = made.stat().st_mtime
        # What was read from precompiled headers is among these headers' own sources.
        precompiled = [Path(f"{word}.gch") for word in asked if word.endswith("/cmake_pch.hxx")]
        for source in [each for of in (made, *precompiled) for each in _sources(build, of)]:
            original = Path(_replaced(source, [place[::-1] for place in places]))
            if Path(source).stat().st_mtime > since:
                return None
            if str(original) != source and original.read_bytes() != Path(source).read_bytes():
                return None
    except (OSError, ValueError, subprocess.CalledProcessError):
        return None
    return made


def _by_program(command: Sequence[str]) -> list[str]:
    """The compiler has several names."""
    return [os.path.realpath(shutil.which(command[0]) or command[0]), *command[1:]]


def _without_dependencies(command: Sequence[str]) -> list[str]:
    """Ninja asks for a list of headers; the list of commands leaves that out."""
    kept, words = [], iter(command)
    for word in words:
        if word in ("-MF", "-MT"):
            next(words)
        elif word != "-MD":
            kept.append(word)
    return kept


def _sources(build: Path, made: Path) -> list[str]:
    """What Ninja knows that an object was compiled of; an error if it knows nothing that is up to date."""
    said = subprocess.run(
        ["ninja", "-C", str(build), "-t", "deps", str(made.relative_to(build))],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    first, *sources = said.split("\n\n")[0].splitlines()
    if not first.endswith("(VALID)") or not sources:
        raise ValueError(first)
    return [os.path.normpath(build / each.strip()) for each in sources]


def _replaced(text: str, places: list[list[str]]) -> str:
    for one, other in sorted(places, key=lambda place: -len(place[0])):  # one may lie in another
        text = text.replace(one, other)
    return text


if __name__ == "__main__":
    main(sys.argv[1:])
