"""Every reader of foreign text takes time and memory linear in it: nasty patterns of 1 kB to 10 MB, each as long as a step is short."""

from __future__ import annotations

import contextlib
import io
import json
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engineroom import sql_text
from engineroom._native import binlog
from engineroom.ask import binlog_files
from engineroom.ask.compare import dumps, repeating
from engineroom.ask.deadlocks import reading
from engineroom.ask.digests import slow_log
from engineroom.ask.digests.fingerprint import digest_of
from engineroom.ask.query_graphs import explain, graphs, plan
from engineroom.ask.whatif import transactions
from engineroom.errors import EngineRoomError
from engineroom.ledger import exchange
from engineroom.teach.grading import submissions

SIZES = [10**n for n in range(3, 8)]
LONG_S = 0.016  # no further step behind one of this time: it would take ten times as long
MOST_TIMES, LEAST_S = 40, 0.0004  # of ten times the text; what is quadratic takes a hundred times as long
TRACED, MOST_BYTES = (2**10, 2**14), 100  # per character of the text

NASTY: dict[str, Callable[[int], str]] = {
    "nested parentheses": lambda n: "(" * n,
    "VALUES that never close": lambda n: "values (()," * (n // 11),
    "lists within lists": lambda n: "in ((1,2)," * (n // 10),
    "an open quote": lambda n: "'" + "a" * n,
    "quotes and escapes": lambda n: "'" + "a''\\" * (n // 4) + "\\",
    "escaped quotes": lambda n: "'" + "\\'" * (n // 2),
    "backslashes": lambda n: "'" + "\\" * n,
    "backticks": lambda n: "`" * (n | 1),
    "all quotes": lambda n: "`'\"" * (n // 3),
    "hints that never close": lambda n: "/*+" * (n // 3),
    "executable comments": lambda n: "/*!1 */" * (n // 7),
    "NULs and signs": lambda n: "\0+-" * (n // 3),
    "one long name": lambda n: "_a1" * (n // 3),
    "unions": lambda n: "select a union select b union " * (n // 30),
    "digits": lambda n: "1" * n,
    "spaces": lambda n: " " * n,
    "brackets": lambda n: "[" * n,
    "lines that begin as a head": lambda n: "\n# Time: 1;" * (n // 11),
    "heads that never end": lambda n: (
        f"# User@Host: {'[' * (n // 4)}\n/x{', Version: ' * (n // 44)}\n# {'a' * (n // 4)}\nuse {' ' * (n // 4)};x"
    ),
    "semicolons": lambda n: ";\n" * (n // 2),
}


def of_file(text: str | bytes, folder: Path, read: Callable[[Path], object]) -> object:
    (folder / "file").write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(folder / "file")


def slow_logged(text: str, _: Path) -> None:
    log = f"# User@Host: a[a] @ {text}\n# Query_time: 1\n{text};\n# Query_time: 1\nSELECT 1;\n# {text}"
    for event in slow_log.events(io.StringIO(log), Counter()):
        assert event.user + event.host is not None


def deadlocked(text: str, _: Path) -> None:
    head = "TRANSACTION 1, ACTIVE 1 sec\nMySQL thread id 1, query id 1 a\n"
    lock = "RECORD LOCKS space id 1 page no 1 index a of table b trx id 1 lock_mode X\n"
    list(
        reading.reports(
            io.StringIO(f"{head}{text}\n***\n{text} lock struct\n{lock}{lock[:33]}{text}\n 0: len {text}")
        )
    )


# The lines that a trace has for two tables, and what begins a line that is read.
TRACED_LINES = [
    "After pushdown;", "* Inner join", "  * a", "  * b", "", "Constructed hypergraph:", "digraph G {", '  a -> b [label="x (0.5)"]',
    "}", "", "Enumerating subplans:", "Found node b [rows=2]", "Found node a [rows=2]", "Found sets {a} and {b}, connected by condition x",
]  # fmt: skip
READ_LINES = (
    "After ",
    "Found node ",
    "Found sets {",
    " - current access paths for {a,b}: {A, cost=1",
    "Final cost is ",
)


def trace(lines: list[str]) -> list[dict[str, Any]]:
    return explain.of_trace(json.dumps({"select#": 1, "join_optimizer": lines}), "SELECT 1 FROM a JOIN b")


def dumped(text: str, folder: Path) -> None:
    for before in ("", "SET @a = ", "/*!40101 SET ", "CREATE TABLE t (a INT) DATA DIRECTORY ", "source "):
        with contextlib.suppress(EngineRoomError):
            of_file(before + text, folder, lambda path: dumps.read(path, "schema"))


def handed_in(text: str, _: Path) -> None:
    cells = [{"cell_type": "code", "source": text}, {"cell_type": "code", "source": f"{text}\n%{text}"}]
    submissions._notebook("a.ipynb", lambda: json.dumps({"cells": cells}).encode())
    for cell in cells:
        submissions.bound_names(cell["source"])
        submissions.used_names(cell["source"])
        submissions.CLIENT_CELL.search(cell["source"])


READERS: dict[str, Callable[[str, Path], object]] = {
    "statements": lambda text, _: sql_text.statements(text),
    "first word": lambda text, _: sql_text.first_word(text) + sql_text.first_word(f"/*!{text}"),
    "without texts": lambda text, _: sql_text.without_texts(text),
    "digest": lambda text, _: digest_of(text),
    "names": lambda text, _: repeating.names(text),
    "undo": lambda text, _: (repeating.undo(f"SELECT {text}", engines={}), repeating.writes(text)),
    "explain": lambda text, _: explain.asked(f"EXPLAIN SELECT {text}1"),
    "only reads": lambda text, _: explain.refuse_unless_it_only_reads(f"SELECT {text}1"),
    "slow log": slow_logged,
    "deadlocks": deadlocked,
    "dump": dumped,
    "plan": lambda text, _: plan.read(f"-> a  (actual time=1..1 rows=1 loops=1)\n-> {text}\n{text}", "x"),
    "trace": lambda text, _: [trace([*TRACED_LINES, each + text]) for each in READ_LINES],
    "graph": lambda text, folder: of_file(json.dumps({"nodes": 2, "edges": [text]}), folder, lambda path: graphs.read(str(path))),
    "graph, raw": lambda text, folder: of_file(text, folder, lambda path: graphs.read(str(path))),
    "notebook": handed_in,
    "exported run": lambda text, folder: of_file(json.dumps({"format": text}), folder, exchange.load),
    "transactions": lambda text, folder: of_file(
        f"[[transaction]]\nname = 'a'\nstatements = [{json.dumps('SELECT ' + text)}]", folder, transactions.read
    ),
}  # fmt: skip


# What is nasty for one reader alone.
def _trace_of(part: str) -> Callable[[int, Path], object]:
    return lambda n, _: trace([*TRACED_LINES, *(part.format(k) for k in range(n // len(part)))])


def _line_of_trace(begin: str, part: str) -> Callable[[int, Path], object]:
    return lambda n, _: trace([*TRACED_LINES, begin + part * (n // len(part))])


def _log_of_deadlocks(part: str) -> Callable[[int, Path], object]:
    locks = "RECORD LOCKS space id 1 page no 1 index a of table b trx id {} lock_mode X waiting\n"
    head = f"TRANSACTION 1, ACTIVE\nTRANSACTION 2, ACTIVE\n{locks.format(1)}{locks.format(2)}"
    return lambda n, _: list(reading.reports(io.StringIO(head + part * (n // len(part)))))


def _dump_of(part: str) -> Callable[[int, Path], object]:
    return lambda n, folder: of_file(
        "\n".join(part.format(k) for k in range(n // len(part))), folder, lambda path: dumps.read(path, "x")
    )


TABLE = binlog.Table("shop", "item", ["int", "text"], key=[0], id=9)


def _binlog_of(*calls: tuple[Any, ...]) -> Callable[[int, Path], object]:
    head, writer = binlog.Writer(position=4), binlog.Writer()
    head.format_description("9.7.4", flags=0x40)  # a relay log's, whose positions are not its own
    for name, *arguments in calls:
        getattr(writer, name)(*arguments)
    begin, events = b"\xfebin" + head.take(), writer.take()

    def read(n: int, folder: Path) -> None:
        for each in (
            lambda path: binlog_files.sizes(path, levels=()),
            lambda path: list(binlog_files.rows(path)),
        ):
            of_file(begin + events * (n // len(events)), folder, each)

    return read


INSERT = ("rows", binlog.Statement(TABLE, "insert", after=[[1, "a"]]))
OWN: dict[str, Callable[[int, Path], object]] = {
    "trace: tables": lambda n, _: trace(["After pushdown;", *(f"* a{k}" for k in range(n // 6))]),
    "trace: nodes of no tree": lambda n, _: trace(
        ["Enumerating subplans:", *(f"Found node {k} [rows=1]" for k in range(n // 20))]
    ),
    "trace: plannings": _trace_of("Enumerating subplans:"),
    "trace: rows": _line_of_trace("Found node a", " [rows="),
    "trace: sets": _line_of_trace("Found sets {a", "} and {"),
    "trace: paths": _line_of_trace(" - current access paths for {a,b}: ", "{A, cost=1, join_order=("),
    "trace: rules": lambda n, _: trace(
        [*TRACED_LINES[:7], '  a -> b [label="x' + " [conflict rule: {" * (n // 18) + ' (0.5)"]', "}", ""]
    ),
    "graph: edges": lambda n, folder: of_file(
        json.dumps({"nodes": 2, "edges": [[0, 1]] * (n // 6)}), folder, lambda path: graphs.read(str(path))
    ),
    "deadlocks: indexes": _log_of_deadlocks(
        "RECORD LOCKS space id 1 page no 1" + " index a of table" * 3000 + "\n"
    ),
    "deadlocks: tables": _log_of_deadlocks("TABLE LOCK table " + "`a`" * 20_000 + "\n"),
    "deadlocks: locks and dates": _log_of_deadlocks(
        "RECORD LOCKS space id 1 page no 1 index a of table b trx id 1 lock_mode X waiting\n2024-01-01T00:00:00 1 [Note] a\n"
    ),
    "dump: delimiters": _dump_of("delimiter x{}"),
    "dump: parts": lambda n, folder: of_file(
        "SET @a = " + "('a'," * (n // 5), folder, lambda path: dumps.read(path, "x")
    ),
    "binlog: transactions": _binlog_of(("begin",), ("table_map", TABLE), INSERT, ("xid", 1)),
    "binlog: table maps": _binlog_of(("table_map", TABLE)),
    "binlog: one transaction": _binlog_of(INSERT),
}


def assert_linear(read: Callable[[int, Path], object], folder: Path) -> None:
    """Ten times the text takes about ten times the time; of what looks like more, the best of three."""

    def cpu_s(n: int) -> float:
        before = time.process_time()
        with contextlib.suppress(EngineRoomError):
            read(n, folder)
        return time.process_time() - before

    past_s = 0.0
    for n in SIZES:
        now_s = cpu_s(n)
        if now_s > MOST_TIMES * max(past_s, LEAST_S):
            now_s = min(now_s, cpu_s(n), cpu_s(n))
            assert now_s <= MOST_TIMES * max(past_s, LEAST_S), (
                f"{n} characters take {now_s} s, a tenth {past_s} s"
            )
        if now_s > LONG_S:
            return
        past_s = now_s


def peak_bytes(read: Callable[[str, Path], object], text: str, folder: Path) -> int:
    tracemalloc.start()
    try:
        with contextlib.suppress(EngineRoomError):
            read(text, folder)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("pattern", NASTY)
def test_time_and_memory_of_reading_grow_no_faster_than_the_text(pattern: str, tmp_path: Path):
    found = []
    for name, read in READERS.items():
        try:
            assert_linear(lambda n, folder, read=read: read(NASTY[pattern](n), folder), tmp_path)
        except AssertionError as error:
            found.append(f"{name}: {error}")
        least, most = (peak_bytes(read, NASTY[pattern](n), tmp_path) for n in TRACED)
        if most - least > MOST_BYTES * TRACED[1]:
            found.append(f"{name}: {most - least} bytes more for {TRACED[1] - TRACED[0]} characters")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("pattern", OWN)
def test_what_is_nasty_for_one_reader_grows_no_faster_than_the_text(pattern: str, tmp_path: Path):
    assert_linear(OWN[pattern], tmp_path)
