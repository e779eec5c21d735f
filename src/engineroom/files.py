"""Files that a reader names: text and JSON of any origin, read whole or refused with a reason."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from engineroom.errors import EngineRoomError

__all__ = ["LARGEST_BYTES", "read_json", "read_text", "visible", "write_whole"]

# Far more than a statement, a graph or an exported run has; a device that never ends stops here.
LARGEST_BYTES = 64 * 2**20


def read_text(path: Path | None, what: str, *, remedy: str = "check the path and its permissions") -> str:
    """The text of a file, or of standard input for None; `what` names it in the error.

    Raises EngineRoomError for a file that cannot be read, is no UTF-8, or is larger than `LARGEST_BYTES`.
    """
    name = _name(path)
    try:
        if path is None:
            data = sys.stdin.buffer.read(LARGEST_BYTES + 1)
        else:
            with path.open("rb") as file:
                data = file.read(LARGEST_BYTES + 1)
        if len(data) > LARGEST_BYTES:
            raise EngineRoomError(
                f"the {what} {name} has more than {LARGEST_BYTES // 2**20} MiB", remedy="name a smaller file"
            )
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EngineRoomError(
            f"the {what} {name} is not UTF-8 text (byte {error.start})", remedy="save it as UTF-8"
        ) from error
    except (OSError, ValueError) as error:  # a path with a NUL is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise EngineRoomError(f"the {what} {name} cannot be read: {reason}", remedy=remedy) from error


def read_json(path: Path | None, what: str, *, remedy: str) -> Any:
    """The value in a JSON file; EngineRoomError also for one that is nested too deep or has a number too long."""
    text = read_text(path, what, remedy=remedy)
    name = _name(path)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise EngineRoomError(
            f"the {what} {name} is not JSON (line {error.lineno}: {error.msg})", remedy=remedy
        ) from None
    except RecursionError:
        raise EngineRoomError(f"the {what} {name} is nested too deep", remedy=remedy) from None
    except ValueError as error:
        raise EngineRoomError(f"the {what} {name} holds {error}", remedy=remedy) from None


def write_whole(path: Path, text: str) -> None:
    """Write `path` so that a reader sees the old text or the new, never a part."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    temporary.replace(path)


# All that moves a cursor, changes a colour or a title, or turns the direction of reading; lines and tabs stay.
_STEERING = (
    *(code for code in range(32) if chr(code) not in "\t\n"),
    *range(127, 160),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
)
_SHOWN = {code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" for code in _STEERING}


def visible(text: str) -> str:
    """`text` of foreign origin for a terminal: what would steer it is shown as an escape, not obeyed."""
    return text.translate(_SHOWN)


def _name(path: Path | None) -> str:
    """The file in words."""
    return "standard input" if path is None else visible(str(path)).replace("\n", "\\n")
