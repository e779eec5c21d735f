"""What must be undone before a statement is run again, and what in it does not answer the same twice: from its parse."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from engineroom import sql_text

__all__ = [
    "CHANGES",
    "READS",
    "Undo",
    "all_of",
    "chance",
    "may_roll_back",
    "names",
    "parsed",
    "qualifiers",
    "undo",
    "verb",
    "writes",
]

# It says on standard error what it does not parse; here that is no news.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

READS = frozenset(
    ("SELECT", "TABLE", "VALUES", "DO", "SHOW", "EXPLAIN", "DESCRIBE", "DESC", "HELP", "CHECKSUM", "")
)
CHANGES = frozenset(("INSERT", "UPDATE", "DELETE", "REPLACE"))
_SESSION = frozenset((
    "SET", "USE", "BEGIN", "START", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "XA", "PREPARE", "EXECUTE", "DEALLOCATE", "LOCK",
    "UNLOCK", "KILL", "SHUTDOWN", "RESTART", "SIGNAL", "RESIGNAL", "GET",
))  # fmt: skip
_MAIN = CHANGES | {"SELECT", "TABLE", "VALUES", "WITH"}
_LONGEST_PARSED = 200_000
_LEFT_IN_SESSION = re.compile(
    r"(?<![@\w])@(?!@)|\b(?:GET_LOCK|RELEASE_LOCK|RELEASE_ALL_LOCKS|LAST_INSERT_ID)\s*\(\s*[^\s)]",
    re.IGNORECASE,
)
_CHANCE = re.compile(
    r"""\b(?:(UUID(?:_SHORT)?|CONNECTION_ID|RANDOM_BYTES|RAND(?=\s*\(\s*\))|NOW|SYSDATE|CURDATE|CURTIME|UTC_(?:DATE|TIME|TIMESTAMP)
      |UNIX_TIMESTAMP(?=\s*\(\s*\))|CURRENT_(?:DATE|TIME|TIMESTAMP|USER)|LOCALTIME(?:STAMP)?|(?:SESSION_|SYSTEM_)?USER|VERSION|GET_LOCK
      |LAST_INSERT_ID|ANY_VALUE|PS_CURRENT_THREAD_ID)\s*\(|(CURRENT_(?:DATE|TIME|TIMESTAMP|USER)|LOCALTIME(?:STAMP)?|UTC_(?:DATE|TIME|TIMESTAMP)
      |information_schema|performance_schema)\b)|(@@?[\w.$]*)""",
    re.IGNORECASE | re.VERBOSE,
)
_WRITES = re.compile(
    r"\bINTO\s+(?:OUTFILE|DUMPFILE)\b|\bFOR\s+(?:UPDATE|SHARE)\b|\bLOCK\s+IN\s+SHARE\s+MODE\b",
    re.IGNORECASE,
)
_NAMES = re.compile(r"`([^`]++(?:``[^`]*+)*+)`|([^\W\d][\w$]*+|(?<!\d)\d++[^\W\d][\w$]*+)")
_ORDERED = (exp.RowNumber, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue, exp.Ntile)


@dataclass(frozen=True, kw_only=True)
class Undo:
    """What is done around each run: a transaction that is rolled back, a session of its own, tables made afresh."""

    rollback: bool = False
    session: bool = False
    copy: bool = False
    why: str = ""  # tables are made afresh


def all_of(undos: Iterable[Undo]) -> Undo:
    """What does for all servers."""
    each = list(undos)
    return Undo(
        rollback=any(one.rollback for one in each),
        session=any(one.session for one in each),
        copy=any(one.copy for one in each),
        why=next((one.why for one in each if one.copy), ""),
    )


def verb(statement: str) -> str:
    """What a statement does, in upper case: of WITH what follows the expressions, of EXPLAIN ANALYZE what is analyzed."""
    words = _words(statement)
    at = next((i for i, (word, _) in enumerate(words) if word), len(words))
    first, depth = words[at] if at < len(words) else ("", 0)
    if first in ("EXPLAIN", "DESCRIBE", "DESC"):
        rest = [word for word, _ in words[at + 1 :]]
        if "ANALYZE" not in rest[:3]:
            return first
        at = next((i for i in range(at + 1, len(words)) if words[i][0] in _MAIN), len(words))
        if at == len(words):
            return first
        first, depth = words[at]
    if first == "WITH":
        main = _MAIN - {"WITH"}
        return next((word for word, deep in words[at + 1 :] if deep == depth and word in main), "SELECT")
    return first


def writes(statement: str) -> str:
    """What in a statement may change something or lock rows: its verb, or a clause of a SELECT; nothing where it only reads."""
    main = verb(statement)
    if main not in READS:
        return main
    clause = _WRITES.search(_bare(statement).replace("''", " "))  # a hint may stand between its words
    return " ".join(clause[0].upper().split()) if clause else ""


def may_roll_back(statement: str) -> bool:
    """Whether a ROLLBACK may undo a run: by the statement alone, whatever its tables."""
    return verb(statement) in READS | CHANGES and not writes(statement).endswith("FILE")


def undo(
    statement: str,
    *,
    engines: Mapping[str, str],
    routines: frozenset[str] = frozenset(),
    views: Mapping[str, str] | None = None,
) -> Undo:
    """How a run is undone; `engines` are those of the tables that no rollback changes back, by the table's name in lower case."""
    main, bare = verb(statement), _bare(statement)
    session = bool(_LEFT_IN_SESSION.search(bare)) or main in _SESSION
    named = names(statement, views)
    calls = bool(routines & named)
    if ";" in bare:
        return Undo(session=True, copy=True, why="it may be several statements")
    if main not in READS | CHANGES | _SESSION or (main in _SESSION and calls):
        return Undo(session=True, copy=True, why=f"{main} is not rolled back")
    if main not in CHANGES and not calls:
        return Undo(session=session)
    # A stored function may change any table.
    lasting = {name: engine for name, engine in engines.items() if calls or name in named}
    if lasting:
        name, engine = min(lasting.items())
        return Undo(session=session, copy=True, why=f"{engine}, the engine of {name}, rolls nothing back")
    return Undo(rollback=True, session=session)


def names(statement: str, views: Mapping[str, str] | None = None) -> frozenset[str]:
    """Every word that may name a table, a column or a routine, in lower case; those of the views' texts that are named, too."""
    found, rest, waiting = set[str](), dict(views or {}), [statement]
    while waiting:
        words = {
            (quoted.replace("``", "`") or word).casefold() for quoted, word in _NAMES.findall(waiting.pop())
        }
        found |= words
        waiting += [rest.pop(name) for name in words & rest.keys()]
    return frozenset(found)


def qualifiers(statement: str) -> set[str]:
    """The databases whose tables a statement names."""
    tree = parsed(statement)
    return {table.db for table in tree.find_all(exp.Table) if table.db} if tree else set()


def chance(statement: str) -> list[str]:
    """What in a statement may answer otherwise in each run, or on each server, whatever the version: as it is named in SQL."""
    found: dict[str, None] = {}
    for called, word, variable in _CHANCE.findall(_bare(statement)):
        name = f"{called.upper()}()" if called else word.upper() if word else variable
        found[
            "a system variable"
            if name.startswith("@@")
            else "a user variable"
            if name.startswith("@")
            else name
        ] = None
    tree = parsed(statement)
    for node in tree.walk() if tree else ():
        if isinstance(node, exp.Limit | exp.Fetch) and not (node.parent and node.parent.args.get("order")):
            found["LIMIT without ORDER BY"] = None
        elif isinstance(node, exp.GroupConcat) and not node.find(exp.Order):
            found["GROUP_CONCAT without ORDER BY"] = None
        elif isinstance(node, exp.Window) and isinstance(node.this, _ORDERED) and not node.args.get("order"):
            found["a window without ORDER BY"] = None
    words = [word for word, _ in _words(statement)]
    if tree is None and "LIMIT" in words and "ORDER" not in words:
        found["LIMIT without ORDER BY"] = None
    return list(found)


def parsed(statement: str) -> exp.Expr | None:
    """The statement's tree; None where sqlglot does not know its syntax."""
    if len(statement) > _LONGEST_PARSED:
        return None
    try:
        tree = sqlglot.parse_one(statement, read="mysql")
    except (SqlglotError, RecursionError):
        return None
    return None if isinstance(tree, exp.Command) else tree


def _bare(statement: str) -> str:
    """The statement without texts, with what stands in executable comments: a version may run it."""
    return re.sub(r"/\*!\d*|\*/", " ", sql_text.without_texts(statement))


def _words(statement: str) -> list[tuple[str, int]]:
    """Keywords and names in upper case, each with how many parentheses are open."""
    found, depth = [], 0
    for piece in re.findall(r"[()]|[^\W\d]\w*", _bare(statement)):
        if piece in "()":
            depth += 1 if piece == "(" else -1
        else:
            found.append((piece.upper(), depth))
    return found
