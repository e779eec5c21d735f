"""Cuts the text of an SQL file into statements: quotes, comments and semicolons, and nothing of the grammar."""

from __future__ import annotations

import re
from pathlib import Path

from engineroom import files
from engineroom.errors import EngineRoomError

__all__ = ["first_word", "one_statement", "read", "statements", "without_texts"]

_PIECE = re.compile(
    r"""(?P<comment>--(?=\s|$)[^\n]*|\#[^\n]*|/\*(?![!+]).*?\*/)      # an executable comment or a hint is text
      | (?P<text>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`|/\*.*?\*/)
      | (?P<end>;)
      | (?P<rest>.)""",
    re.DOTALL | re.VERBOSE,
)


def statements(text: str) -> list[str]:
    """The statements of `text` without comments and empty ones, in order."""
    found, now = [], ""
    for piece in _PIECE.finditer(text):
        if piece["end"]:
            found.append(now)
            now = ""
        else:
            now += " " if piece["comment"] is not None else piece[0]
    return [each.strip() for each in (*found, now) if each.strip()]


def read(path: Path, what: str) -> str:
    """The text of a file; `what` names it in the error."""
    text = files.read_text(path, what)
    if re.search(r"(?im)^\s*delimiter\b", text):
        raise EngineRoomError(
            f"the {what} {path.name} uses DELIMITER, a command of the mysql client and not of the server",
            remedy="leave stored programs out: what is compared are tables, rows and one statement",
        )
    return text


def one_statement(text: str, name: str) -> str:
    """The only statement of `text`."""
    found = statements(text)
    if len(found) != 1:
        raise EngineRoomError(
            f"{name} holds {len(found) or 'no'} statement{'s' if len(found) > 1 else ''}, not one",
            remedy="keep one statement; a comparison takes tables by --schema and rows by --data",
        )
    return found[0]


def first_word(statement: str) -> str:
    """The statement's first keyword in upper case, behind parentheses and executable comments."""
    found = re.match(r"(?:\s|\(|/\*.*?\*/)*(\w*)", statement, re.DOTALL)
    return found[1].upper() if found else ""


def without_texts(statement: str) -> str:
    """The statement with what stands in quotes and hints blanked: its keywords, names without quotes, signs."""
    return "".join(
        " '' " if piece["text"] is not None and not piece[0].startswith("/*!") else piece[0]
        for piece in _PIECE.finditer(statement)
    )
