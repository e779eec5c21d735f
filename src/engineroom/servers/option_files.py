"""What a reader keeps for MySQL's own clients: [client] of ~/.my.cnf or of another option file, login paths, and MYSQL_PWD."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from engineroom.errors import EngineRoomError

__all__ = ["client", "password"]

_LINE = re.compile(r"""\s*([\w-]+)\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^#]*)""")
_ESCAPED = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "s": " ", "\\": "\\"}


def client(file: Path | None = None, login_path: str | None = None) -> dict[str, str]:
    """The options of [client], with underscores in their names; of ~/.my.cnf without a file, and none where there is none.

    As in MySQL's clients a login path has the last word: the one that is named, else that of the name client, where there is one.
    """
    return _of_file(file) | _of_login_path(login_path)


def _of_file(file: Path | None) -> dict[str, str]:
    where = file if file is not None else Path.home() / ".my.cnf"
    try:
        lines = where.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        if file is None:
            return {}
        raise EngineRoomError(
            f"the option file {file} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}",
            remedy="name a file with a section [client] as MySQL's clients read it, which you may read",
        ) from None
    section, found = "", {}
    for line in lines:
        if head := re.match(r"\s*\[([^\]]*)\]", line):
            section = head[1].strip()
        elif section == "client" and (option := _LINE.match(line)):
            value = option[2].strip()
            if value[:1] in ("'", '"') and value[-1:] == value[:1]:
                value = value[1:-1]
            found[option[1].replace("-", "_")] = re.sub(
                r"\\(.)", lambda escape: _ESCAPED.get(escape[1], escape[0]), value
            )
    if file is not None and not found:
        raise EngineRoomError(
            f"the option file {file} has no section [client] with options",
            remedy="write [client], and under it user=..., password=..., host=... or socket=...",
        )
    return found


def _of_login_path(name: str | None) -> dict[str, str]:
    """Options that mysql_config_editor keeps scrambled, by the program of MySQL's that reads them; EngineRoomError for a name that has none."""
    kept = Path(os.environ.get("MYSQL_TEST_LOGIN_FILE") or Path.home() / ".mylogin.cnf")
    reader = shutil.which("my_print_defaults")
    problem = (
        f"{kept.name} is missing"
        if not kept.is_file()
        else "my_print_defaults, which reads it, is not on PATH"
    )
    if reader and kept.is_file():
        command = [reader, "--no-defaults", "-s", f"--login-path={name or 'client'}", name or "client"]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        options = (line[2:].partition("=") for line in done.stdout.splitlines() if line.startswith("--"))
        if found := {option.replace("-", "_"): value for option, _, value in options}:
            return found
        problem = f"it is not in {kept.name}"
    if name is None:
        return {}
    raise EngineRoomError(
        f"the login path {name} cannot be read: {problem}",
        remedy=f"mysql_config_editor set --login-path={name} --host=... --user=... --password makes it; it and my_print_defaults are among"
        " MySQL's client programs",
    )


def password(options: dict[str, str]) -> str:
    """Where an address has none, as MySQL's clients do whatever the account: the file's, else MYSQL_PWD."""
    return options.get("password", os.environ.get("MYSQL_PWD", ""))
