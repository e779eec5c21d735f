"""The lines of SQL files as people have them: what mysqldump, mydumper and the mysql client write and read.

The client's own commands are read (DELIMITER, source, USE). What a comparison has no use for, or an account without powers may not do,
is skipped with a remark that names file and line.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from engineroom import files
from engineroom.errors import EngineRoomError

__all__ = ["DIRECTORY", "SYSTEM", "Dump", "Line", "read"]

SYSTEM = {"mysql", "sys", "performance_schema", "information_schema", "ndbinfo"}
_DEEPEST = 8
_NAME = r"(?:`(?:[^`]|``)+`|[\w$]+)"
_ACCOUNT = r"(?:`[^`]*`|'[^']*'|\"[^\"]*\"|[\w.%$-]+)"
_DEFINER = re.compile(
    rf"\bDEFINER\s*=\s*(?:CURRENT_USER(?:\s*\(\s*\))?|{_ACCOUNT}(?:\s*@\s*{_ACCOUNT})?)", re.IGNORECASE
)
_PROGRAM = re.compile(
    rf"(?:CREATE|ALTER|DROP)\s+(?:OR\s+REPLACE\s+)?(?:AGGREGATE\s+)?(TRIGGER|FUNCTION|PROCEDURE|EVENT|PACKAGE)\s+"
    rf"(?:IF\s+(?:NOT\s+)?EXISTS\s+)?(?:{_NAME}\s*\.\s*)?({_NAME})",
    re.IGNORECASE,
)
_DATABASE = re.compile(
    rf"(?:(?:CREATE|ALTER|DROP)\s+(?:DATABASE|SCHEMA)\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?|(USE)\s+)({_NAME}|[^\s;]+)",
    re.IGNORECASE,
)
_TABLE = re.compile(
    rf"(?:(?:CREATE|ALTER|DROP)\s+(?:OR\s+REPLACE\s+)?(?:TEMPORARY\s+)?(?:TABLE|VIEW)|(?:INSERT|REPLACE)(?:\s+IGNORE)?(?:\s+INTO)?"
    rf"|TRUNCATE(?:\s+TABLE)?|UPDATE|DELETE\s+FROM)\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?(?:({_NAME})\s*\.\s*)?({_NAME})",
    re.IGNORECASE,
)
# What a dump does for its own loading, and what is no business of an account without powers.
_QUIETLY = re.compile(r"(?:UN)?LOCK\s+(?:TABLES?|INSTANCE)\b", re.IGNORECASE)
_POWERS = re.compile(
    r"(GRANT|REVOKE|FLUSH|RESET|PURGE|CHANGE|STOP|INSTALL|UNINSTALL|KILL|SHUTDOWN|RESTART|CLONE|BINLOG|LOAD|IMPORT|"
    r"(?:CREATE|ALTER|DROP)\s+(?:USER|ROLE|SERVER|(?:UNDO\s+)?TABLESPACE|LOGFILE|INSTANCE|RESOURCE|SPATIAL|SEQUENCE))\b",
    re.IGNORECASE,
)
# What counts over the rows, which may come from elsewhere: mysqldump writes the histograms that a table had.
_ANALYZE = re.compile(r"ANALYZE\s+(?:NO_WRITE_TO_BINLOG\s+|LOCAL\s+)?TABLE\b", re.IGNORECASE)
_SET = re.compile(r"SET\s+(?!STATEMENT\b)(.*)", re.IGNORECASE | re.DOTALL)
_ASSIGNED = re.compile(
    r"\s*(?:(@(?!@)[\w$.]+)|(?:@@(?:SESSION|LOCAL)\s*\.\s*|@@(?!GLOBAL|PERSIST)|(?:SESSION|LOCAL)\s+)?(\w+))\s*:?=\s*(.+)",
    re.IGNORECASE | re.DOTALL,
)
# What a session may set for the lines that follow, and what is ours: the files are read as UTF-8, and no server here has a binary log.
_SETTABLE = {
    "foreign_key_checks", "unique_checks", "sql_mode", "time_zone", "autocommit", "sql_notes", "sql_safe_updates", "sql_auto_is_null",
    "innodb_strict_mode", "default_storage_engine", "explicit_defaults_for_timestamp", "auto_increment_increment", "group_concat_max_len",
    "cte_max_recursion_depth", "default_week_format", "lc_time_names", "optimizer_switch", "max_heap_table_size", "tmp_table_size",
}  # fmt: skip
_OURS = re.compile(
    r"(?:NAMES|CHARACTER\s+SET|CHARSET)\b|(?:@@\w+\.|SESSION\s+)?(?:character_set_|collation_|sql_log_bin|gtid_purged|sql_quote_show_create)|"
    r"@@GLOBAL\s*\.\s*gtid_purged",
    re.IGNORECASE,
)
_GONE_MODES = re.compile(
    r"\b(?:NO_AUTO_CREATE_USER|NO_FIELD_OPTIONS|NO_KEY_OPTIONS|NO_TABLE_OPTIONS|MYSQL323|MYSQL40|POSTGRESQL|ORACLE|MSSQL|DB2|MAXDB)\b,?",
    re.IGNORECASE,
)
DIRECTORY = re.compile(r"\b(?:DATA|INDEX)\s+DIRECTORY\s*=?\s*(?:'[^']*'|\"[^\"]*\")", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Line:
    """One statement of a file. `database` is one that it makes or needs, `sets` says that it is of the session."""

    sql: str
    file: str
    number: int
    table: str | None = None
    database: str | None = None
    sets: bool = False

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return f"{self.file}, line {self.number}" + (f", table {self.table}" if self.table else "")


@dataclass
class Dump:
    """Lines to run in order, those to run when all rows are there, and what was skipped, by kind: the first place, and the names."""

    lines: list[Line] = field(default_factory=list)
    late: list[Line] = field(default_factory=list)
    skipped: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    of_server: str = ""  # the server's own database that the lines are about
    used: str | None = None  # the database that the last USE has named

    def skip(self, kind: str, name: str, place: str) -> None:
        """Note something that is not run."""
        self.skipped.setdefault(kind, (place, []))[1].append(name)

    @property
    def remarks(self) -> list[str]:
        """What was skipped, a sentence per kind."""
        return [
            f"{place}: {kind} skipped: {', '.join(list(dict.fromkeys(names))[:4])}"
            + (f" and {len(set(names)) - 4} more" if len(set(names)) > 4 else "")
            for kind, (place, names) in self.skipped.items()
        ]


def read(path: Path, what: str, *, routines: Iterable[str] = (), largest: int | None = None) -> Dump:
    """The lines of a file, or of a folder as mydumper writes it, packed or not; stored routines only with these names.

    Raises EngineRoomError for a file that has more than `largest` bytes, of which none stands for the usual limit.
    """
    found = Dump()
    limit = largest or files.LARGEST_BYTES
    wanted = {name.casefold() for name in routines}
    for each in sorted(path.glob("*-schema-[tp]*.sql*")) if path.is_dir() else ():
        found.skip("files of triggers and routines are", each.name, path.name)
    for each, database in _of_folder(path, what) if path.is_dir() else [(path, None)]:
        if database:
            found.lines.append(
                Line(sql=f"USE {_quoted(database)}", file=each.name, number=1, database=database)
            )
        for sql, number, file in _statements(each, what, path if path.is_dir() else path.parent, limit):
            _take(found, sql, file, number, wanted)
    return found


def _of_folder(folder: Path, what: str) -> Iterator[tuple[Path, str | None]]:
    """mydumper's files in the order in which they can be run, each with its database: tables, then rows, then views."""
    kinds = (r"-schema-create", r"-schema") if what == "schema" else (r"(?<!-schema)(?:\.\d{3,})?",)
    last = (r"-schema-view",) if what == "schema" else ()
    names = sorted(each for each in folder.iterdir() if each.is_file())
    some = False
    for kind in (*kinds, *last):
        for each in names:
            stem = re.fullmatch(r"(.*)\.sql(?:\.gz|\.zst)?", each.name)
            if not stem or not (end := re.search(kind + r"$", stem[1])):
                continue
            if what != "schema" and re.search(r"-schema(?:-\w+)?$", stem[1]):
                continue
            some = True
            database = stem[1][: end.start()].partition(".")[0]
            yield each, None if kind.endswith("create") or "." not in stem[1] else database
    if not some:
        raise EngineRoomError(
            f"the folder {folder.name} has no file of a {what} as mydumper names them",
            remedy="name one file, or a folder with DATABASE.TABLE-schema.sql and DATABASE.TABLE.sql",
        )


@functools.cache
def _pieces(delimiter: str) -> re.Pattern[str]:
    bulk = "" if re.search(r"[\w \t,()=]", delimiter) else r"[\w \t,()=]+|"
    return re.compile(
        rf"""(?P<end>{re.escape(delimiter)})
          | (?P<comment>--(?=\s|$)[^\n]*|\#[^\n]*|/\*(?![!+]).*?(?:\*/|\Z))
          | (?P<client>^[ \t]*(?:(?i:delimiter)[ \t]+(?P<delimiter>\S+)|(?:(?i:source)[ \t]+|\\\.[ \t]*)(?P<source>[^\n;]+?);?|(?i:use)[ \t]+(?P<use>{_NAME});?)[ \t]*\r?$)
          | (?P<text>'(?:[^'\\]|\\.|'')*+'|"(?:[^"\\]|\\.|"")*+"|`(?:[^`]|``)*+`|/\*.*?(?:\*/|\Z)|\\.|{bulk}.)""",
        re.DOTALL | re.VERBOSE | re.MULTILINE,
    )


def _statements(
    path: Path, what: str, root: Path, largest: int, *, depth: int = 0
) -> Iterator[tuple[str, int, str]]:
    """Each statement of a file and of those that it sources, with its line and file."""
    # Bytes of a BLOB, which mysqldump writes as they are, are kept as surrogates.
    text = files.read_text(
        path,
        what,
        largest=largest,
        smaller="name a smaller file, or give --largest with its MiB",
        errors="surrogateescape",
    ).removeprefix("\ufeff")
    pieces, now, begun = _pieces(";"), list[str](), 0
    at, line, counted = 0, 1, 0
    while at < len(text):
        piece = pieces.match(text, at)
        assert piece is not None
        line, counted = line + text.count("\n", counted, at), at
        at = piece.end()
        if piece["client"] is not None and not begun:
            if piece["delimiter"]:
                pieces = _pieces(piece["delimiter"])
                continue
            if piece["use"]:  # the client needs no delimiter behind it
                yield f"USE {piece['use']}", line, path.name
                continue
            other, place = _sourced(path, piece["source"].strip(), root), f"{path.name}, line {line}"
            if other is None or depth == _DEEPEST:
                raise EngineRoomError(
                    f"{place} sources {piece['source'].strip()}, "
                    + (
                        "which is no file in the folder of it"
                        if other is None
                        else "and files source each other"
                    ),
                    remedy="put all files into one folder, or name the one with the tables",
                )
            yield from _statements(other, what, root, largest, depth=depth + 1)
        elif piece["end"] is not None:
            if begun:
                yield "".join(now).strip(), begun, path.name
            now, begun = [], 0
        elif piece["comment"] is not None:
            now.append(" ")
        else:
            if not begun and piece[0].strip():
                begun = line
            now.append(piece[0])
    if begun:
        yield "".join(now).strip(), begun, path.name


def _sourced(path: Path, name: str, root: Path) -> Path | None:
    """A file that another one names; none outside the folder of the first."""
    found = (path.parent / name.strip("'\"")).resolve()
    return found if found.is_relative_to(root.resolve()) and found.is_file() else None


def _take(found: Dump, sql: str, file: str, number: int, routines: set[str]) -> None:
    """Put one statement among the lines to run, or among what is skipped."""
    place = f"{file}, line {number}"
    sql = _without_outer_comment(sql)
    head = re.sub(r"/\*!\d*|\*/", " ", sql[:1000])
    if re.match(r"\s*CREATE\b", head, re.IGNORECASE):
        sql = _DEFINER.sub(" ", sql[:1000], count=1) + sql[1000:]
        head = _DEFINER.sub(" ", head, count=1)
    head = head.strip()
    database = _DATABASE.match(head)
    if database:
        name = _bare(database[2])
        found.of_server = name if name.casefold() in SYSTEM else ""
    if found.of_server:
        if not database:
            found.skip("the server's own databases are", found.of_server, place)
    elif program := _PROGRAM.match(head):
        kind, name = program[1].lower(), _bare(program[2])
        if kind not in ("function", "procedure") or name.casefold() not in routines:
            found.skip(f"{kind}s are", name, place)
        elif head[:4].upper() != "DROP":
            found.lines.append(Line(sql=sql, file=file, number=number))
    elif _QUIETLY.match(head):
        return
    elif _ANALYZE.match(head):
        found.late.append(Line(sql=sql, file=file, number=number, database=found.used))
    elif powers := _POWERS.match(head):
        found.skip("what needs powers or files is", " ".join(powers[1].upper().split()), place)
    elif setting := _SET.match(head):
        _set(found, setting[1], file, number)
    elif database:
        if database[1]:
            sql, found.used = f"USE {_quoted(name)}", name
        found.lines.append(Line(sql=sql, file=file, number=number, database=name))
    else:
        if re.match(r"(?:CREATE|ALTER)\b", head, re.IGNORECASE) and DIRECTORY.search(sql):
            found.skip("the server's own folders take the tables; other ones are", "DIRECTORY", place)
            sql = DIRECTORY.sub(" ", sql)
        table = _TABLE.match(head)
        named = _bare(table[2]) if table else None
        found.lines.append(Line(sql=sql, file=file, number=number, table=named))


def _set(found: Dump, text: str, file: str, number: int) -> None:
    """The assignments of a SET that a session may make; others are skipped, with a remark unless they are ours."""
    taken = []
    for part in _parts(text):
        assigned = _ASSIGNED.match(part)
        if assigned and assigned[1]:
            taken.append(f"{assigned[1]} = {assigned[3]}")
        elif assigned and assigned[2].lower() in _SETTABLE:
            value = _GONE_MODES.sub("", assigned[3]).replace(",'", "'")
            taken.append(f"SESSION {assigned[2]} = {value}")
        elif not _OURS.match(part.strip()):
            name = part.partition("=")[0].strip()
            found.skip("settings that are not of a list are", f"SET {name}", f"{file}, line {number}")
    if taken:
        found.lines.append(Line(sql=f"SET {', '.join(taken)}", file=file, number=number, sets=True))


def _parts(text: str) -> list[str]:
    """A list's parts: commas in quotes and parentheses part nothing."""
    parts, depth = [""], 0
    for piece in re.findall(
        r"'(?:[^'\\]|\\.|'')*+'|\"(?:[^\"\\]|\\.|\"\")*+\"|[^'\"(),]+|.", text, re.DOTALL
    ):
        depth += (piece == "(") - (piece == ")")
        if piece == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    return [part for part in parts if part.strip()]


def _without_outer_comment(sql: str) -> str:
    """What stands in an executable comment alone, for a SET of any version; others keep theirs."""
    only = re.fullmatch(r"/\*!\d*\s*(SET\b.*?)\s*\*/", sql, re.DOTALL | re.IGNORECASE)
    return only[1] if only and "*/" not in only[1] else sql


def _bare(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
