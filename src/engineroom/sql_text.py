"""Cuts the text of an SQL file into statements: quotes, comments and semicolons, and nothing of the grammar."""

from __future__ import annotations

import re
from pathlib import Path

from engineroom import files, progress
from engineroom.errors import EngineRoomError

__all__ = ["NAME", "TEXT", "first_word", "of_server", "one_statement", "read", "statements", "without_texts"]

# A text and a name in quotes. Possessive repeats keep time and memory linear. What is opened and never closed runs to the end, as it
# does for a server.
TEXT = r"""'[^'\\]*+(?:(?:\\.?|'')[^'\\]*+)*+(?:'|\Z)|"[^"\\]*+(?:(?:\\.?|"")[^"\\]*+)*+(?:"|\Z)"""
NAME = r"`[^`]*+(?:`|\Z)"
_PIECE = re.compile(
    rf"""(?P<comment>--(?=\s|$)[^\n]*|\#[^\n]*|/\*(?!M?!|\+).*?\*/)      # an executable comment or a hint is text
      | (?P<text>{TEXT}|{NAME}|/\*.*?(?:\*/|\Z))
      | (?P<end>;)""",
    re.DOTALL | re.VERBOSE,
)


def statements(text: str) -> list[str]:
    """The statements of `text` without comments and empty ones, in order."""
    found, parts, at = list[str](), list[str](), 0
    with progress.bar(total=len(text), desc="statements", delay=2) as bar:
        for piece in _PIECE.finditer(text):
            if piece.lastgroup == "text":
                continue
            parts.append(text[at : piece.start()])
            at = piece.end()
            if piece.lastgroup == "end":
                found.append("".join(parts))
                parts = []
                bar.update(at - bar.n)
            else:
                parts.append(" ")
    found.append("".join([*parts, text[at:]]))
    return [each for each in map(str.strip, found) if each]


def read(path: Path, what: str) -> str:
    """The text of a file; `what` names it in the error."""
    as_text = "save it as UTF-8; of tables with binary columns, mysqldump --hex-blob writes text"
    return of_server(files.read_text(path, what, as_text=as_text), what, path.name)


def of_server(text: str, what: str, name: str) -> str:
    """`text`, unless it has commands that the mysql client alone knows."""
    if re.search(r"(?im)^[ \t]*delimiter\b", text):
        raise EngineRoomError(
            f"the {what} {name} uses DELIMITER, a command of the mysql client and not of the server",
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
    """The statement's first keyword in upper case, behind parentheses and comments.

    One executable comment that is the whole statement is looked into. In front of others it is not: which servers execute it is open.
    """
    found = re.match(r"(?:[\s(]|/\*.*?\*/)*+(\w*)", statement, re.DOTALL)
    whole = re.fullmatch(r"\s*+/\*M?!\d*+([^*]*+(?:\*(?!/)[^*]*+)*+)\*/\s*+", statement, re.DOTALL)
    if whole:
        return first_word(whole[1])
    return found[1].upper() if found else ""


def without_texts(statement: str) -> str:
    """The statement with what stands in quotes and hints blanked: its keywords, names without quotes, signs."""
    return _PIECE.sub(
        lambda piece: " '' " if piece["text"] is not None and not piece[0].startswith("/*!") else piece[0],
        statement,
    )
