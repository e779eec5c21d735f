"""No command ends in a traceback, whatever it is given: hostile arguments, files and folders, by seed.

Servers are refused in this test (the only provider is an address where nobody listens), so that a case takes milliseconds;
what happens with a server that runs is tested in servers/, compare/ and query_graphs/.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from engineroom import cli, paths
from engineroom.errors import EngineRoomError, refuse_unwritable

CASES = 2400
PARTS = 8
DAMAGES = 150

NUMBERS = (
    "0",
    "-1",
    "1",
    "2",
    "-0",
    "1e9",
    "99999999999999999999",
    "0x10",
    "nan",
    "inf",
    "",
    " ",
    "½",
    "1;2",
    "9" * 5000,
)
WORDS = (
    "",
    " ",
    "-",
    "--",
    "..",
    "/",
    "\x00",
    "a\x00b",
    "\n",
    "\x1b[31mred",
    "%s%n",
    "{0}",
    "'; drop table t; --",
    "é" * 200,
    "x" * 20_000,
    "\udcff",
    "fig-7-22",
    "fig-7-99",
    "FIG-7-22",
    "own-",
    "redo_log",
    "9.7",
    "5.7.22",
    "9.7.4.1",
    "9",
    "-1.0",
    "8.0.99999999999999999999",
    "latest",
    "9" * 5000,
    "[" * 5000,
)
OPTIONS = ("a=b", "=b", "a", "a=", "datadir=/", "port=1", "port=x", "a=\n", "\x00=1", "x" * 5000 + "=1")


def nasty_files(folder: Path) -> list[Path]:
    """Files that no command expects, and some that are nearly right."""
    root = paths.root()
    exported = {"format": "engineroom-run-1"}
    texts: dict[str, bytes] = {
        "empty": b"",
        "zeros": b"\0" * 4096,
        "binary": bytes(range(256)) * 16,
        "no-utf8": b"select '\xff\xfe'",
        "bom": b"\xef\xbb\xbfselect 1",
        "one": b"select 1",
        "two": b"select 1; select 2",
        "comment": b"-- nothing\n",
        "open-quote": b"select 'abc",
        "long": b"select " + b"1+" * 50_000 + b"1",
        "delimiter": b"delimiter //\ncreate procedure p() begin select 1; end//",
        "deep.json": b"[" * 100_000,
        "deep-object.json": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        "nan.json": b"NaN",
        "null.json": b"null",
        "list.json": b"[1, 2, 3]",
        "string.json": b'"x"',
        "huge-number.json": b'{"nodes": 1e999, "edges": []}',
        "deep.toml": b"a = " + b"[" * 100_000,
        "digits.toml": b"a = " + b"9" * 5000,
        "spaces": b"select" + b" " * 20_000 + b"1",
        "digits.json": b'{"nodes": ' + b"9" * 5000 + b', "edges": []}',
        "run-bare.json": json.dumps(exported).encode(),
        "run-types.json": json.dumps(
            {
                **exported,
                "figure": 7,
                "method": [],
                "table": "x",
                "tables": 3,
                "provenance": None,
                "summary": {},
                "not_attributable": 1,
                "recorded_at": 5,
            }
        ).encode(),
        "run-figure.json": json.dumps(
            {
                **exported,
                "figure": "fig-7-22",
                "method": "live",
                "table": {"series": ["a"], "wrong": [1]},
                "tables": {"a": [1]},
                "provenance": {},
                "summary": "mean",
                "not_attributable": None,
                "recorded_at": None,
            }
        ).encode(),
    }
    graphs: list[object] = [
        {"nodes": 3, "edges": [{"left": [0], "right": [1]}, {"left": [1], "right": [2]}]},
        {"nodes": -1, "edges": []},
        {"nodes": 0, "edges": []},
        {"nodes": 65, "edges": []},
        {"nodes": 10**9, "edges": []},
        {"nodes": 2.5, "edges": []},
        {"nodes": "3", "edges": []},
        {"nodes": 3},
        {"edges": []},
        {"nodes": 3, "edges": 5},
        {"nodes": 3, "edges": [5]},
        {"nodes": 3, "edges": [{"left": [], "right": [1]}]},
        {"nodes": 3, "edges": [{"left": [0], "right": [0]}]},
        {"nodes": 3, "edges": [{"left": [0], "right": [3]}]},
        {"nodes": 3, "edges": [{"left": [-1], "right": [1]}]},
        {"nodes": 3, "edges": [{"left": ["a"], "right": [1]}]},
        {"nodes": 3, "edges": [{"left": [0.5], "right": [1]}]},
        {"nodes": 3, "edges": [{"left": [2**70], "right": [1]}]},
        {"nodes": 3, "edges": [{"left": 0, "right": 1}]},
        {"nodes": 3, "edges": [{"left": [0], "right": [1], "selectivity": "x"}]},
        {"nodes": 3, "edges": [{"left": [0], "right": [1]}] * 10_000},
    ]
    for number, graph in enumerate(graphs):
        texts[f"graph-{number}.json"] = json.dumps(graph).encode()
    files = []
    for name, content in texts.items():
        (folder / name).write_bytes(content)
        files.append(folder / name)
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("nowhere")
    (folder / "unreadable").write_text("select 1")
    (folder / "unreadable").chmod(0)
    return [
        *files,
        *(
            folder / name
            for name in ("folder", "loop", "dangling", "unreadable", "missing", "missing/deeper")
        ),
        Path("/dev/null"),
        Path("/dev/full"),
        root / "data" / "querygraphs" / "job.json",
    ]


def cases(seed: int, n: int, files: list[Path]) -> list[list[str]]:
    """`n` command lines; the same for the same seed."""
    random_ = random.Random(seed)
    pick = random_.choice

    def word() -> str:
        return pick(WORDS)

    def file() -> str:
        return str(pick(files))

    def graph() -> str:
        return file() + pick(("", "", "#29a", "#", "#nothing", "#\x00"))

    def option() -> list[str]:
        return ["-o", pick(OPTIONS)]

    makers: list[Callable[[], list[str]]] = [
        lambda: [word(), word()],
        lambda: ["server", pick(("list", "status")), *pick(([], ["--format", word()], [word()]))],
        lambda: ["server", "start", word(), *option(), *pick(([], ["--port", pick(NUMBERS)], ["--provider", word()]))],
        lambda: ["server", "stop", *pick(([], ["--all"], [word()], ["--all", word()]))],
        lambda: ["server", "fetch", word(), *pick(([], ["--available"], [word()]))],
        lambda: ["server", "sql", word(), word(), *pick(([], ["--database", word()]))],
        lambda: ["ledger", *pick(([], ["--figure", word()], ["--chapter", word()], ["--format", pick(("json", word()))]))],
        lambda: ["ledger", "export", word(), "-o", file(), *pick(([], ["-n", pick(NUMBERS)], ["--method", word()]))],
        lambda: ["server", "clean", *pick(([], [word()]))],
        lambda: ["ledger", "read", file()],
        lambda: ["ledger", "protocols", word(), *pick(([], ["--method", word()]))],
        lambda: ["ledger", "judge", *pick(([], [word()]))],
        lambda: ["ledger", "withdraw", word(), pick(NUMBERS), "--reason", word()],
        lambda: ["calibrate", "--samples", pick(("0", "-1", "1001", "x")), "--output", file()],
        lambda: ["calibrate", "--samples", "1", "--folder", file(), "--output", str(files[0].parent / "folder")],
        lambda: ["join-order", "enumerate", graph(), *pick(([], ["--quiet"])), *pick(([], ["--algorithm", word()]))],
        lambda: ["join-order", "explain", "--trace", file(), "--format", pick(("text", "json", "dot", word()))],
        lambda: ["join-order", "explain", word(), *pick(([], ["--version", word()], ["--database", word()]))],
        lambda: [
            "compare", file(), *pick(([], ["--schema", file()])), *pick(([], ["--data", file()])),
            *pick(([], ["--rows", pick(NUMBERS)], ["--repeats", pick(NUMBERS)], ["--versions", word()], option())),
            *pick(([], [], ["--rows", "9", "--statistics", file()])),
            *pick(([], ["--format", pick(("json", word()))], ["--against", file()], ["--dsn", word()], ["--b-query", file()])),
        ],
        lambda: [
            "digest", file(), *pick(([], [file()], ["--by", word()], ["--since", word()], ["--top", pick(NUMBERS)])),
            *pick(([], ["--largest", pick(NUMBERS)], ["--format", pick(("json", "html", word()))])),
        ],
        lambda: ["binlog", "sizes", file(), *pick(([], ["--levels", pick(NUMBERS)], ["--key", word()], ["--format", word()]))],
        lambda: ["binlog", "rows", file()],
        lambda: ["locks", *pick((["--dsn", word()], ["--version", word()], ["--format", word()]))],
        lambda: ["deadlock", *pick(([], [file()])), *pick(([], ["--dsn", word()], ["--format", pick(("json", "html", word()))]))],
        lambda: [
            "whatif", *pick(([], [file()])), *pick((["--demands", file()], ["--dsn", word()])), "--clients", pick(NUMBERS),
            *pick(([], ["--machine", word()], ["--machine", file()], ["--version", word()], ["--format", word()])),
        ],
        lambda: ["kit", "make", file(), "--servers", "4.1," + word()],
        lambda: ["kit", "read", *pick(([file()], [file(), "--format", pick(("html", word()))]))],
        lambda: ["class", "make", "--secret", file(), "--roster", file(), "--chapter", word(), "--target", file()],
        lambda: ["class", "grade", file(), "--out", file(), "--class", file(), *pick(([], ["--format", word()]))],
        lambda: ["class", "links", *pick((["--hub", word()], ["--branch", word()], [word()]))],
        lambda: ["class", "student", *pick(([file()], [file(), "--seed", word()], []))],
        lambda: ["record", *pick((["--list", word()], [f"no-{word()}"], ["--method", word()], []))],
        lambda: ["doctor", "--check", word()],
    ]  # fmt: skip
    return [pick(makers)() for _ in range(n)]


@pytest.fixture(scope="module")
def somewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book of its own that may be withdrawn from, and hostile files."""
    folder = tmp_path_factory.mktemp("faults")
    real = paths.root()
    recorded = folder / "data" / "recorded" / "hash_join"
    recorded.mkdir(parents=True)
    for name in ("published", "workloads", "querygraphs", "machine", "join_order", "servers.toml"):
        if (real / "data" / name).exists():
            (folder / "data" / name).symlink_to(real / "data" / name)
    kept = real / "data" / "recorded" / "hash_join"
    for path in (kept / "protocols.json", *kept.glob("fig-7-22.*")):
        shutil.copy(path, recorded)
    # What engines of a what-if compute under their latches.
    (recorded.parent / "engine").mkdir()
    for path in (real / "data" / "recorded" / "engine").glob("own-engine-holds.*"):
        shutil.copy(path, recorded.parent / "engine")
    (folder / "files").mkdir()
    return folder


@pytest.fixture
def little_memory() -> Iterator[None]:
    """What would take all memory, such as reading a device to its end, fails here instead."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("part", range(PARTS))
def test_no_command_ends_in_a_traceback(part: int, somewhere: Path, monkeypatch: pytest.MonkeyPatch):
    files = somewhere / "files" / str(part)
    files.mkdir()
    hostile = nasty_files(files)
    monkeypatch.setenv("ENGINEROOM_ROOT", str(somewhere))
    monkeypatch.setenv("ENGINEROOM_CACHE", str(somewhere / "cache"))
    monkeypatch.setenv("ENGINEROOM_PROVIDER", "dsn")
    monkeypatch.chdir(files)
    failures = []
    for arguments in cases(part, CASES // PARTS, hostile):
        result = CliRunner().invoke(cli._cli, arguments)
        error = result.exception
        if error is None or isinstance(error, EngineRoomError | SystemExit):
            if isinstance(error, EngineRoomError) and not (error.problem and error.remedy):
                failures.append(f"{arguments!r}: an error without a remedy: {error}")
            continue
        where = "".join(traceback.format_exception(error)[-2:])
        failures.append(f"{[a[:80] for a in arguments]!r}:\n{where}")
    assert not failures, f"{len(failures)} of {CASES // PARTS}:\n" + "\n".join(failures[:12])


# What MySQL 9.7 says of `SELECT 1 FROM a JOIN b ON a.x = b.y`, without the lines that are not read.
TRACE = {
    "select#": 1,
    "join_optimizer": [
        "After pushdown; remaining WHERE conditions are (none), table filters are (none):",
        "* Inner join [companion set 0x5555850076f8] (equijoin condition = (a.x = b.y))",
        "  * a [companion set 0x5555850076f8]",
        "  * b [companion set 0x5555850076f8]",
        "",
        "Constructed hypergraph:",
        "digraph G {  # 1 edges",
        '  a -> b [label="(a.x = b.y) (0.5)",arrowhead=none]',
        "}",
        "",
        "Enumerating subplans:",
        "Found node b [rows=2]",
        " - current access paths for {b}: {TABLE_SCAN, cost=0.59, init_cost=0, rows=2})",
        "Found node a [rows=2]",
        " - current access paths for {a}: {INDEX_SCAN, cost=0.59, init_cost=0, rows=2})",
        "Found sets {a} and {b}, connected by condition (a.x = b.y)",
        " - current access paths for {a,b}: {HASH_JOIN, cost=2.16, init_cost=1.26, rows=2, join_order=(a,b)})",
        "Enumerated 3 subplans keeping a total of 4 access paths, got 1 candidate(s) to finalize:",
        "Final cost is 2.2.",
    ],
}
ASKED = {
    "sql": "DO 1",
    "cpu_us": 9.0,
    "cpu_us_median": 9.5,
    "mtrs": 1.5,
    "redo_bytes": 90.0,
    "row_locks": 1.0,
}
DEMANDS = {
    "format": 1, "server": "9.7.4", "isolation": "READ-COMMITTED", "has_binlog": True, "flushes_each_commit": True, "measured_at": "",
    "kinds": [
        {
            "name": "k", "weight": 1, "autocommit": False, "values": {"id": {"rows": 9, "distribution": "uniform"}},
            "statements": [{**ASKED, "access": "changes", "shared": False, "table": "t", "value": "id"}], "commit": ASKED,
        }
    ],
}  # fmt: skip
SLOW_LOG = """# Time: 2026-01-01T10:00:00.5Z
# User@Host: app[app] @ web [10.0.0.1]  Id: 1
# Query_time: 1.5  Lock_time: 0.5 Rows_sent: 2  Rows_examined: 100
use shop;
SET timestamp=1767261600;
SELECT id FROM acct WHERE bal > 5 AND note = "x";
# Query_time: 0.5  Lock_time: 0.5 Rows_sent: 0  Rows_examined: 0
COMMIT;
"""
PLAN = """-> Limit: 3 row(s)  (cost=900 rows=3) (actual time=28.3..28.4 rows=3 loops=1)
    -> Filter: (a.y > 3)  (cost=74.3 rows=29.6) (actual time=0.9..1.4 rows=400 loops=1)
        -> Table scan on a  (cost=74.3 rows=800) (actual time=0.04..0.5 rows=800 loops=1)
"""
PLAN_NODE = {
    "operation": "Limit: 3 row(s)", "estimated_rows": 3.0, "actual_rows": 3.0, "actual_loops": 1, "actual_last_row_ms": 28.4,
    "inputs": [{"operation": "Scan", "heading": "Select #2", "estimated_rows": 9.5, "actual_rows": 4.0, "actual_loops": 2, "actual_last_row_ms": 2.5}],
}  # fmt: skip
DEADLOCK = """LATEST DETECTED DEADLOCK
2026-05-06 07:08:09 0x7f1
*** (1) TRANSACTION:
TRANSACTION 501, ACTIVE 3 sec starting index read
LOCK WAIT 3 lock struct(s), heap size 1136, 2 row lock(s), undo log entries 1
MySQL thread id 11, OS thread handle 140455164438208, query id 62 web7 10.0.0.7 shop updating
UPDATE acc SET c = 1 WHERE id = 2
*** (1) WAITING FOR THIS LOCK TO BE GRANTED:
RECORD LOCKS space id 6 page no 3 n bits 72 index PRIMARY of table `shop`.`acc` trx id 501 lock_mode X locks rec but not gap waiting
Record lock, heap no 3 PHYSICAL RECORD: n_fields 4; compact format; info bits 0
 0: len 4; hex 80000002; asc     ;;
*** (2) TRANSACTION:
TRANSACTION 502, ACTIVE 2 sec starting index read
MySQL thread id 12, OS thread handle 140455164438208, query id 63 web7 10.0.0.7 shop updating
UPDATE acc SET c = 1 WHERE id = 1
*** (2) HOLDS THE LOCK(S):
RECORD LOCKS space id 6 page no 3 n bits 72 index PRIMARY of table `shop`.`acc` trx id 502 lock_mode X locks rec but not gap
Record lock, heap no 3 PHYSICAL RECORD: n_fields 4; compact format; info bits 0
 0: len 4; hex 80000002; asc     ;;
*** WE ROLL BACK TRANSACTION (2)
"""
VALUES = (
    "null", "-1", "1e999", "NaN", '"x"', "[]", "{}", '""', "true", "9" * 30, "[1]", '"\\u001b[31mred"', "0.5", "2026-01-01",
)  # fmt: skip


def damaged(text: str, random_: random.Random) -> bytes:
    """A file that was right before some bytes, or some values, became others."""
    held = bytearray(text.encode())
    if random_.random() < 0.4:
        for _ in range(random_.choice((1, 1, 3))):
            at = random_.randrange(len(held) or 1)
            change = random_.randrange(4)
            if change == 0:
                held[at : at + 1] = bytes([random_.randrange(256)])
            elif change == 1:
                del held[at : at + random_.randrange(1, 50)]
            elif change == 2:
                held[at:at] = held[at : at + random_.randrange(1, 80)]
            else:
                del held[at:]
        return bytes(held)
    values = list(re.finditer(r'"(?:[^"\\]|\\.)*"|(?<=[:,\[ ])-?\d[\d.e+-]*|null', text))
    for found in sorted(
        random_.sample(values, min(len(values), random_.choice((1, 1, 3)))), key=lambda found: -found.start()
    ):
        text = text[: found.start()] + random_.choice(VALUES) + text[found.end() :]
    return text.encode()


@pytest.mark.usefixtures("little_memory")
def test_a_damaged_file_ends_no_command_in_a_traceback_and_steers_no_terminal(
    somewhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ENGINEROOM_ROOT", str(somewhere))
    run = tmp_path / "run.json"
    exported = CliRunner().invoke(cli._cli, ["ledger", "export", "fig-7-22", "-n", "1", "-o", str(run)])
    assert exported.exit_code == 0, exported.exception
    whole = {
        ("ledger", "read"): run.read_text(),
        ("join-order", "explain", "--format", "text", "--trace"): json.dumps(TRACE),
        ("join-order", "explain", "--format", "dot", "--trace"): json.dumps(TRACE),
        ("join-order", "explain", "--plan"): PLAN,
        ("join-order", "explain", "--format", "json", "--plan"): json.dumps({"query_plan": PLAN_NODE}),
        ("deadlock",): DEADLOCK,
        ("deadlock", "--format", "html"): DEADLOCK,
        ("digest",): SLOW_LOG,
        ("digest", "--by", "user", "--since", "2026-01-01", "--format", "html"): SLOW_LOG,
        ("whatif", "--clients", "1", "--version", "9.7.4", "--varied", "0", "--demands"): json.dumps(DEMANDS),
    }
    random_ = random.Random(1)
    file = tmp_path / "damaged"
    failures = []
    for command, text in whole.items():
        file.write_text(text)
        assert CliRunner().invoke(cli._cli, [*command, str(file)]).exit_code == 0
        for _ in range(DAMAGES):
            held = damaged(text, random_)
            file.write_bytes(held)
            result = CliRunner().invoke(cli._cli, [*command, str(file)])
            if result.exception is not None and not isinstance(
                result.exception, EngineRoomError | SystemExit
            ):
                failures.append(f"{command}: {result.exception!r}: {held[:4000]!r}")
            if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", result.output):
                failures.append(f"{command}: {result.output!r}")
    assert not failures, "\n".join(failures[:5])


STATEMENTS = (
    "SELECT 1", "SHUTDOWN", "KILL CONNECTION_ID()", "KILL QUERY CONNECTION_ID()", "RESTART", "SELECT * FROM nowhere", "CALL nothing()",
    "SELECT 1; SELECT 2", "SELECT", "", "SELECT '", "BEGIN", "XA START 'a'", "LOCK TABLES user WRITE", "FLUSH TABLES WITH READ LOCK",
    "SELECT REPEAT('x', 1 << 20)", "SELECT NULL, 1e308, TIME '838:59:59', X'FF00', CAST('{}' AS JSON), POINT(1, 2), b'101'",
    "SELECT '\x1b[31m'", "SELECT 1 INTO OUTFILE '/evil'", "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE user", "SELECT ?", "SELECT :a",
    "SELECT SLEEP(1.5)", "SET SESSION sql_mode = 'ANSI_QUOTES'", "SET GLOBAL super_read_only = ON",
    "CREATE TABLE made (a INT)", "DROP TABLE IF EXISTS made", "INSERT INTO made VALUES (1)", "EXPLAIN SELECT 1", "DO RELEASE_ALL_LOCKS()",
    "SELECT a.user FROM user a JOIN user b ON a.user = b.user", "SELECT COUNT(*) FROM user JOIN db USING (host) FOR UPDATE",
    "WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT 1 FROM r) SELECT * FROM r", "SIGNAL SQLSTATE '45000'", "SELECT " + "(" * 3000,
)  # fmt: skip
LIVE_CASES = 100


@pytest.mark.live
def test_no_command_on_a_server_that_runs_ends_in_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from engineroom import servers
    from engineroom.servers import lifecycle

    if not servers.runnable("9.7"):
        pytest.skip("9.7 does not run here: engineroom doctor")
    monkeypatch.setattr(
        lifecycle, "chosen", lambda _=None: None
    )  # a server that somebody has started stays as it is
    random_ = random.Random(1)
    pick, failures, file = random_.choice, [], tmp_path / "statement.sql"
    with contextlib.ExitStack() as running:
        server = None
        for _ in range(LIVE_CASES):
            if server is None or not server.alive():  # one of the statements has ended it
                monkeypatch.delenv("ENGINEROOM_DSN_9_7", raising=False)
                server = servers.start("9.7", confined=True)
                running.callback(server.stop)
            address = f"mysql://root:{server.password}@127.0.0.1:{server.port}/mysql"
            monkeypatch.setenv("ENGINEROOM_DSN_9_7", address)
            statement, dsn = pick(STATEMENTS), ["--dsn", address]
            file.write_text(statement)
            arguments = pick([
                ["server", "sql", "9.7", statement, *pick(([], ["--database", pick(("mysql", "none"))]))],
                ["join-order", "explain", statement, "--database", "mysql", *pick(([], ["--run", "1"], ["--pairs", "1"]))],
                ["join-order", "explain", statement, *dsn, "--format", pick(("json", "dot", "html"))],
                ["compare", str(file), *dsn, "--repeats", "1", "--limit", "1", *pick(([], ["--allow-writes"]))],
                ["locks", *dsn, "--format", pick(("text", "json"))],
                ["deadlock", *dsn],
            ])  # fmt: skip
            result = CliRunner().invoke(cli._cli, arguments)
            if result.exception and not isinstance(result.exception, EngineRoomError | SystemExit):
                where = "".join(traceback.format_exception(result.exception)[-2:])
                failures.append(f"{[each[:80] for each in arguments]!r}:\n{where}")
            if arguments[0] != "server" and re.search(r"[\x00-\x08\x0b-\x1f]", result.output):
                failures.append(f"{arguments[:3]!r} steers the terminal: {result.output[:200]!r}")
    assert not failures, "\n".join(failures[:9])


def commands(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command that has none below it."""
    if not isinstance(command, click.Group):
        yield words
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from commands(below, (*words, name))


def test_every_command_is_among_the_cases(tmp_path: Path):
    lines = [line for seed in range(PARTS) for line in cases(seed, CASES // PARTS, [tmp_path])]
    begun = {tuple(line[:n]) for line in lines for n in (1, 2)}
    lacking = set(commands(cli._cli)) - begun
    assert lacking == set(), "give it a line in cases()"


@pytest.mark.parametrize(
    "arguments",
    [
        ["ledger", "--chapter", "hash_join"],
        ["--help"],
        ["server", "list"],
        ["ledger", "--chapter", "hash_join", "--format", "json"],
    ],
)
def test_an_output_that_is_full_is_no_traceback(arguments: list[str], tmp_path: Path):
    with open("/dev/full", "w") as full:  # noqa: PTH123 (a device)
        done = subprocess.run(
            [sys.executable, "-c", "from engineroom.cli import main; main()", *arguments],
            env={**os.environ, "ENGINEROOM_CACHE": str(tmp_path)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "the output cannot be used: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("mib", [60, 130, 200, 250, 300])
def test_a_command_that_lacks_memory_says_so(mib: int):
    limited = f"ulimit -v {1024 * mib}; exec {shlex.quote(sys.executable)} -c 'from engineroom.cli import main; main()' ledger --figure fig-7-22"
    done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    # The C library and OpenBLAS end the process themselves where a thread finds no memory.
    ended = r"cannot allocate memory for thread-local data: ABORT|OpenBLAS error: Memory"
    assert re.search(ended, done.stderr) or (
        done.returncode == 1 and "too little memory for this command" in done.stderr
    ), done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_cache_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0)
    monkeypatch.setenv("ENGINEROOM_CACHE", str(folder))
    result = CliRunner().invoke(cli._cli, ["server", "status"])
    assert isinstance(result.exception, EngineRoomError)


@pytest.mark.parametrize("target", ["link", "nowhere"])
def test_a_link_that_leads_nowhere_is_said_before_the_work(target: str, tmp_path: Path):
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(EngineRoomError, match="leads nowhere"):
        refuse_unwritable(tmp_path / "link")
    assert [file.name for file in tmp_path.iterdir()] == ["link"]
