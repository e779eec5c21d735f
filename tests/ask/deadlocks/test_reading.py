"""Reports of each server, whole, cut, mixed and wrapped, and what is no report."""

from __future__ import annotations

import functools
import gzip
import html
import io
import json
import re
import textwrap
from pathlib import Path

import pytest
import zstandard
from click.testing import CliRunner

from engineroom import servers
from engineroom.ask.deadlocks import cli, reading
from engineroom.ask.deadlocks.report import advice
from engineroom.chapters.lock_sys.experiments import deadlock_log
from engineroom.errors import EngineRoomError
from engineroom.servers.catalogue import measured

KINDS = ("status", "5.5", "5.6", "5.7", "8.0", "8.0 without notes", "MariaDB")
REAL = sorted((Path(__file__).parent / "reports").iterdir())


def read(text: str) -> list[reading.Report]:
    return list(reading.reports(io.StringIO(text)))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_report_has_transactions_statements_locks_and_who_lost(kind, report):
    (found,) = read("something before\n" + report(kind))
    first, second = found.transactions
    assert (first.trx, first.session, second.client) == ("501", 11, "web7 10.0.0.7 shop updating")
    assert (first.statement, second.statement) == (
        "UPDATE acc SET c = 'x' WHERE id = 2",
        "UPDATE acc SET c = 'y'\nWHERE id = 1",
    )
    assert found.problems == []
    assert (first.asked.mode, first.asked.table, first.asked.rows) == ("X,REC_NOT_GAP", "shop.acc", ["(2)"])
    assert found.holders(0)[0][0] == 1
    assert bool(found.holders(1)) == (kind not in ("5.5", "5.6", "5.7")), (
        "up to 5.7 the first one's locks are not printed"
    )
    assert found.victim == (None if "without" in kind else 2)
    assert found.when[:4] == ("" if "without" in kind else "1305" if kind == "5.5" else "2024")
    assert [each.weight for each in found.transactions] == [4, 5]


@pytest.mark.parametrize("kind", KINDS)
def test_reports_one_after_another_are_counted(kind, report):
    between = "2024-05-06T07:08:10.1Z 0 [Warning] [MY-010055] [Server] IP address could not be resolved\n"
    found = read(report(kind) * 3 + between * 2 + report(kind) + between)
    assert [each.problems for each in found] == [[]] * 4


def _wrapped(text: str, *, width: int) -> str:
    return "".join(
        f"{line}\n"
        for whole in text.splitlines()
        for line in (textwrap.wrap(whole, width) if whole.startswith("RECORD LOCKS") else [whole])
    )


WRAPPED = {
    "docker": lambda text: "".join(f"mysql_1  | {line}\n" for line in text.splitlines()),
    "syslog": lambda text: "".join(
        f"May  6 07:08:09 db7 mysqld[812]: {line}\n" for line in text.splitlines()
    ),
    "client without \\G": lambda text: f"InnoDB\t\t\n====\n{text}".replace("\n", "\\n") + "\n",
    "indented": lambda text: "".join(f"\t  {line}\n" for line in text.splitlines()),
    "Windows": lambda text: text.replace("\n", "\r\n"),
    "status around it": lambda text: (
        f"{text}------------\nTRANSACTIONS\n------------\nHistory list length 6\n---TRANSACTION 7, ACTIVE 9 sec\n"
    ),
    "Latin-1 in it": lambda text: text.replace("'x'", "'\udce9'"),
    "a listing": lambda text: "".join(f"{n:4} {line}\n" for n, line in enumerate(text.splitlines(), 1)),
    "a mail": lambda text: "".join(f"> > {line}\n" for line in text.splitlines()),
    "a container": lambda text: "".join(
        f"2024-05-06T07:08:09.1Z stdout F {line}\n" for line in text.splitlines()
    ),
    "syslog of today": lambda text: "".join(
        f"2024-05-06T07:08:09+00:00 db7 mysqld[812]: {line}\n" for line in text.splitlines()
    ),
    "blank lines between": lambda text: text.replace("\n", "\n\n"),
    "Aurora": lambda text: re.sub(r"len (\d+); hex (\w*);", r"len=\1; bufptr=0x2ad14a50e633; hex= \2;", text),
    "5.1": lambda text: text.replace("TRANSACTION 50", "TRANSACTION 0 50").replace(
        "trx id 50", "trx id 0 50"
    ),
    "partitions": lambda text: text.replace("`shop`.`acc`", "`shop`.`acc` /* Partition `p1` */"),
    "a list with dots": lambda text: "".join(
        f"    {n}.{line}\n" for n, line in enumerate(text.splitlines(), 1)
    ),
    "names in ANSI quotes": lambda text: text.replace("`", '"'),
    "a row per line": lambda text: text.replace(";;\n ", ";; "),
    "a program": lambda text: "".join(f'        + "{line}\\n"\n' for line in text.splitlines()),
    "remarks of a program": lambda text: "".join(f"\t// {line}\n" for line in text.splitlines()),
    "grep -n -A": lambda text: "".join(
        f"error.log{':-'[n % 2]}{n}{':-'[n % 2]}{line}\n" for n, line in enumerate(text.splitlines(), 1)
    ),
    "a page": lambda text: f"<pre><code>{html.escape(text)}</code></pre>\n",
    "paragraphs": lambda text: "".join(f"<p>{html.escape(line)}<br /></p>" for line in text.splitlines()),
    "a log in JSON": lambda text: "".join(
        json.dumps({"log": f"{line}\n", "stream": "stderr", "time": "2024-05-06T07:08:09.1Z"}) + "\n"
        for line in text.splitlines()
    ),
    "a cloud": lambda text: json.dumps([{"json": {"message": line}} for line in text.splitlines()]),
    "printed JSON": lambda text: "".join(
        f'{{\n  "msg": {json.dumps(line)},\n}}\n' for line in text.splitlines()
    ),
    "a row in JSON": lambda text: json.dumps([{"Type": "InnoDB", "Name": "", "Status": text}]),
    "streams of a cloud": lambda text: "".join(
        f"2024-05-06T07:08:0{n % 10}.123000+00:00 db7 {line}\n" for n, line in enumerate(text.splitlines())
    ),
    "no-break spaces": lambda text: text.replace(" ", "\xa0"),
    "colours": lambda text: "".join(f"\x1b[33mdb_1  |\x1b[0m {line}\n" for line in text.splitlines()),
    "Markdown": lambda text: re.sub(r"([*_`])", r"\\\1", text),
    "without stars": lambda text: text.replace("*** ", ""),
    "on one line": lambda text: " ".join(text.split()),
    "a wrapped client": lambda text: text.replace("query id 62 ", "query id 62\n"),
    "a client wrapped twice": lambda text: text.replace(", OS", ",\nOS").replace(", query", ",\nquery"),
    "the statement behind the client": lambda text: text.replace("updating\n", "updating "),
    "quotes of a blog": lambda text: text.replace("`", "\u2019"),
    "rows behind the lock": lambda text: re.sub(r"\nRecord lock", " Record lock", text),
    "remarks in it": lambda text: text.replace("RECORD LOCKS", "/* two\n * rows */\nRECORD LOCKS"),
    "Percona 5.6": lambda text: re.sub(
        r"( trx id \d+ lock.*)",
        r" trx table locks 1 total table locks 2 \1 lock hold time 0 wait time before grant 0",
        text,
    ),
    "XA": lambda text: re.sub(
        r"TRANSACTION (50\d),",
        r"TRANSACTION \1, XID X'676a',X'6b',1,",
        re.sub(r"(trx id 50\d)", r"\1 XID X'676a',X'6b',1", text),
    ),
    "typed off": lambda text: text.replace("index PRIMARY", "index`PRIMARY`").replace(" trx id", " trx  id"),
    **{
        f"wrapped at {width}": functools.partial(_wrapped, width=width)
        for width in (24, 33, 40, 55, 66, 72, 79, 90, 110)
    },
}


@pytest.mark.parametrize("how", WRAPPED)
def test_what_stands_around_a_report_does_not_matter(how, tmp_path, report):
    path = tmp_path / "log"
    path.write_bytes(WRAPPED[how](report()).encode(errors="surrogateescape"))
    (found,) = reading.reports(reading.lines(path))
    assert (len(found.transactions), found.victim, found.problems) == (2, 2, [])
    assert [each.asked.rows for each in found.transactions] == [["(2)"], ["(1)"]]
    assert [each.asked.table for each in found.transactions] == ["shop.acc"] * 2
    assert found.transactions[0].statement.startswith("UPDATE acc SET c = ")
    assert found.transactions[0].client == "web7 10.0.0.7 shop updating"
    text = path.read_bytes()
    for packed in (gzip.compress(text), zstandard.ZstdCompressor().compress(text)):
        path.write_bytes(packed)
        assert len(list(reading.reports(reading.lines(path)))) == 1


def until(mark, kind="status"):
    return lambda report: report(kind).partition(mark)[0]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (until("*** (2) TRANSACTION"), "only one transaction is in it"),
        (until("*** (2) WAITING"), r"what \(2\) waits for is not in it"),
        (until("RECORD LOCKS"), "only one transaction"),
        (
            lambda report: report().replace("*** (2) TRANSACTION", "*** (3) TRANSACTION"),
            r"\(3\) follows \(1\): lines are missing",
        ),
        (
            lambda report: report("8.0").partition("*** (2) TRANSACTION")[0] + report("8.0"),
            "only one transaction",
        ),
        (
            lambda report: report().replace("trx id 502", "trx id 777"),
            "locks of transaction 777 but not the transaction",
        ),
        (lambda report: report().replace("502", "501"), "a transaction stands in it twice"),
        (
            lambda report: report("5.7").replace(
                "UPDATE acc SET c = 'x'", "2024-05-06T07:08:10Z 9 [Warning] Aborted connection\nUPDATE"
            ),
            "1 lines of something else",
        ),
        (
            lambda report: report().replace(
                "*** WE", "*** TOO DEEP OR LONG SEARCH IN THE LOCK TABLE WAITS-FOR GRAPH\n*** WE"
            ),
            "gave up",
        ),
    ],
)
def test_what_is_cut_or_mixed_is_named(text, problem, report):
    found = read(text(report))
    assert any(re.search(problem, each) for each in found[0].problems), found[0].problems
    assert [each.problems for each in found[1:]] == [[]] * (len(found) - 1), "the next one is whole"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\xff" * 50_000,
        b"no deadlock here\n",
        b"*** (1) TRANSACTION:\n",
        b"RECORD LOCKS space id 1\n---\n",
        b"x" * 300_000,
    ],
)
def test_what_is_no_report_gives_none(data, tmp_path):
    (tmp_path / "log").write_bytes(data)
    assert list(reading.reports(reading.lines(tmp_path / "log"))) == []


def test_transactions_that_a_status_prints_for_other_reasons_are_no_deadlock(report):
    whole = report()
    transaction = whole[whole.index("TRANSACTION 501") : whole.index("*** (1) HOLDS")]
    foreign = f"LATEST FOREIGN KEY ERROR\n{'-' * 24}\n2024-05-06 07:08:09 0x7f1 Transaction:\n{transaction}Foreign key constraint fails"
    assert read(foreign) == []
    (found,) = read(f"{foreign} for table `shop`.`acc`:\n{'-' * 24}\n{whole}")
    assert (found.problems, len(found.transactions)) == ([], 2)
    lock = whole[whole.index("RECORD LOCKS") : whole.index("*** (1) WAITING")]
    conflict = f"*** Priority TRANSACTION:\n{transaction}\n*** Victim TRANSACTION:\n{transaction}*** WAITING FOR THIS LOCK TO BE GRANTED:\n{lock}"
    assert read(conflict) == []
    assert [each.problems for each in read(conflict + report("8.0 without notes") + conflict)] == [[]]


def test_a_file_that_is_not_there_or_not_whole_is_said(tmp_path, report):
    with pytest.raises(EngineRoomError, match="cannot be read: No such file"):
        list(reading.lines(tmp_path / "none"))
    with pytest.raises(EngineRoomError, match="cannot be read"):
        list(reading.lines(tmp_path))
    with pytest.raises(EngineRoomError, match="a device, which may never end"):
        list(reading.lines(Path("/dev/full")))
    (tmp_path / "log.gz").write_bytes(gzip.compress(report().encode())[:-20])
    with pytest.raises(EngineRoomError, match="is damaged"):
        list(reading.lines(tmp_path / "log.gz"))


@pytest.mark.parametrize(
    ("size", "digits", "value"),
    [
        (4, "80000014", "20"),
        (4, "7fffffff", "2147483647"),
        (8, "0000000000000041", "65"),
        (4, "73616d65", "'same'"),
        (6, "534b55323030", "'SKU200'"),
        (30, "6162", "'ab'…"),
        (3, "ff00ff", "8323327"),
        (5, "99b4540000", "0x99b4540000"),
        (-1, "", "NULL"),
        (0, "", "''"),
    ],
)
def test_columns_are_shown_as_far_as_their_bytes_tell(size, digits, value):
    assert reading._value(size, digits) == value


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_reports_of_real_servers_are_whole(path):
    (found,) = reading.reports(reading.lines(path))
    assert found.problems == []
    assert len(found.transactions) == (3 if "three" in path.stem else 2)
    assert all(each.statement and each.asked and each.asked.rows for each in found.transactions)
    assert found.holders(0)


@pytest.mark.live
@pytest.mark.parametrize("version", measured())
def test_a_deadlock_of_a_real_server_is_read_from_its_log_and_its_status(version):
    with servers.start(version, options={"innodb_print_all_deadlocks": "ON"}) as server:
        server.execute(f"CREATE DATABASE {deadlock_log.DATABASE}")
        server.execute(*deadlock_log._TABLE, database=deadlock_log.DATABASE)
        with deadlock_log._Pair(server) as pair:
            for _ in range(3):
                pair.deadlock()
        assert len(read(server.log_tail(100_000))) == 3
        (found,) = read(server.query("SHOW ENGINE INNODB STATUS")[0][2])
        assert [each.statement for each in found.transactions] == [
            f"UPDATE sbtest1 SET k = k + 1 WHERE id = {row}" for row in (2, 1)
        ]
        assert (found.victim, found.problems, found.transactions[0].asked.rows) == (2, [], ["(2)"])
        address = f"mysql://{server.user}:{server.password}@/?socket={server.socket}"
        said = CliRunner().invoke(cli.deadlock, ["--dsn", address]).output
        assert said.startswith(f"MySQL {server.version}, the latest: 1 deadlock")
        assert server.password not in said


def test_a_table_lock_is_one_place(report):
    auto = ("acc", "", " mode AUTO-INC", 0)
    found = read(report(transactions=[(trx, 1, "INSERT", [(*auto, trx == "2")]) for trx in ("1", "2")]))
    assert found[0].transactions[1].asked.said() == "AUTO_INC on shop.acc"
    assert found[0].holders(1)[0][0] == 0


@pytest.mark.parametrize(
    "line",
    [
        "*** ({}) TRANSACTION:",
        "TRANSACTION 503, ACTIVE {} sec",
        "MySQL thread id {}, query id 1 a",
        "{} lock struct(s), undo log entries {}",
        " 0: len {}; hex 00;",
        "*** WE ROLL BACK TRANSACTION ({})",
    ],
)
def test_a_number_that_no_counter_can_have_is_no_traceback(line, report):
    whole = report("status")
    assert read(whole.replace("*** (2) WAITING", line.format("9" * 5000, "9" * 5000) + "\n*** (2) WAITING"))


def test_of_a_search_that_the_server_gave_up_the_one_transaction_is_the_loser(report):
    told = "130624 17:39:24TOO DEEP OR LONG SEARCH IN THE LOCK TABLE WAITS-FOR GRAPH, WE WILL ROLL BACK FOLLOWING TRANSACTION \n"
    one = report(transactions=[("1", 1, "INSERT", [("acc", "", " mode AUTO-INC", 0, True)])])
    of_one = one[one.index("TRANSACTION 1,") : one.index("*** (1) WAITING")]
    of_lock = one[one.index("TABLE LOCK") : one.index("*** WE")]
    head = "LATEST DETECTED DEADLOCK\n" + "-" * 24
    (found,) = read(
        f"{head}\n{told}\n*** TRANSACTION:\n{of_one}*** WAITING FOR THIS LOCK TO BE GRANTED:\n{of_lock}"
    )
    assert (found.victim, found.when) == (1, "130624 17:39:24")
    assert found.problems == ["the server gave up the search: over 200 transactions wait for each other"]
    assert "innodb_autoinc_lock_mode = 2" in advice(found)


def test_what_somebody_has_shortened_or_masked_is_read_as_far_as_it_goes(report):
    text = re.sub(r"(?m)^(?:Record lock| \d+: len| *mysql tables|MySQL thread|LOCK WAIT).*\n", "", report())
    for shortened in (
        text.replace(" space id 6 page no 3 n bits 72", " …"),
        text.replace("RECORD LOCKS space id 6 page no 3 n bits 72", "..."),
        re.sub(r"trx id 50\d", "trx id 50*", text),
        re.sub(r" trx id 50\d", "", text),
    ):
        (found,) = read(shortened)
        assert [each.statement[:10] for each in found.transactions] == ["UPDATE acc"] * 2
        assert [(each.asked.table, each.asked.index) for each in found.transactions] == [
            ("shop.acc", "PRIMARY")
        ] * 2
        assert found.holders(0)[0][0] == 1
        assert "which the report does not show" in advice(found)


def test_a_long_column_is_marked_as_cut(report):
    column = f"len 30; hex {'61' * 30}; asc {'a' * 30}; (total 36 bytes);"
    (found,) = read(re.sub(r"len 4; hex 80000001; asc     ;;", column, report()))
    assert found.transactions[1].asked.rows == [f"('{'a' * 30}'…)"]
