"""What a reader keeps for MySQL's own clients: [client] of ~/.my.cnf or of another option file, and MYSQL_PWD."""

from __future__ import annotations

import os
import re
from pathlib import Path

from engineroom.errors import EngineRoomError

__all__ = ["client", "password"]

_LINE = re.compile(r"""\s*([\w-]+)\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^#]*)""")
_ESCAPED = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "s": " ", "\\": "\\"}


def client(file: Path | None = None) -> dict[str, str]:
    """The options of [client], with underscores in their names; of ~/.my.cnf without a file, and none where there is none."""
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


def password(options: dict[str, str]) -> str:
    """Where an address has none, as MySQL's clients do whatever the account: the file's, else MYSQL_PWD."""
    return options.get("password", os.environ.get("MYSQL_PWD", ""))
