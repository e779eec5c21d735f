"""Counts by pattern, the drawing, who lost and why, what would avoid it, and the command."""

from __future__ import annotations

import io
import json
import re

import pytest
from click.testing import CliRunner

from engineroom.ask.deadlocks import cli, reading
from engineroom.ask.deadlocks import report as shown

# Modes as reports write them.
X, NEXT, GAP = "_mode X locks rec but not gap", "_mode X", "_mode X locks gap before rec"
S, SHARED, NUMBERS = " mode S locks rec but not gap", " mode S", " mode AUTO-INC"
INSERT, INSERTED = f"{GAP} insert intention", f"{NEXT} insert intention"
GAPS, UNIQUE, READ = (
    "each has locked a gap",
    "several insert the same value of a unique index",
    "have read-locked the same row",
)
BEHIND = "who has it asks for another lock on it, behind the other's request"


def read(text: str) -> reading.Report:
    return next(reading.reports(io.StringIO(text)))


def two(verbs, *locks):
    """Two transactions by their statements and, of each, "table.index" and mode of the lock that it holds and of the one it waits for."""
    return [
        (
            str(n),
            n,
            f"{verb.replace('_', ' ')} t",
            [(*where.split("."), mode, 1, waits) for waits, (where, mode) in enumerate(of) if mode],
        )
        for n, (verb, of) in enumerate(zip(verbs.split(), locks, strict=True), 1)
    ]


@pytest.mark.parametrize(
    ("verbs", "first", "second", "words"),
    [
        (
            "update update",
            (("b.PRIMARY", X), ("a.PRIMARY", X)),
            (("a.PRIMARY", X), ("b.PRIMARY", X)),
            "such as shop.a, then shop.b",
        ),
        (
            "update update",
            (("t.k", X), ("t.PRIMARY", X)),
            (("t.PRIMARY", X), ("t.k", X)),
            "by different ways, PRIMARY and k",
        ),
        ("update update", (("t.k", S), ("t.k", X)), (("t.k", S), ("t.k", X)), READ),
        ("insert insert", (("t.k", GAP), ("t.k", INSERT)), (("t.k", GAP), ("t.k", INSERT)), GAPS),
        ("insert insert", (("t.k", SHARED), ("t.k", INSERT)), (("t.k", SHARED), ("t.k", INSERT)), UNIQUE),
        ("delete insert", (("t.k", ""), ("t.k", X)), (("t.k", X), ("t.k", SHARED)), BEHIND),
        (
            "insert_t_select insert",
            (("t.k", ""), ("t.k", SHARED)),
            (("t.k", X), ("t.k", INSERT)),
            "in its SELECT or JOIN",
        ),
        ("select insert", (("t.k", ""), ("t.k", NEXT)), (("t.k", NEXT), ("t.k", INSERT)), "the parent's"),
        (
            "insert insert",
            (("t.k", X), ("t.", NUMBERS)),
            (("t.", NUMBERS), ("t.k", X)),
            "innodb_autoinc_lock_mode = 2",
        ),
    ],
)
def test_each_kind_has_its_advice(verbs, first, second, words, report):
    assert words in shown.advice(read(report("8.0", two(verbs, first, second))))


@pytest.mark.parametrize(
    ("verbs", "waits", "held", "words"),
    [
        ("insert insert", (INSERTED, INSERTED), NEXT, GAPS),
        ("insert insert", (INSERT, INSERT), GAP, GAPS),
        ("insert insert", (INSERTED, INSERTED), SHARED, UNIQUE),
        ("delete delete", (NEXT, SHARED), X, BEHIND),
        ("delete delete", (NEXT, NEXT), X, BEHIND),
        ("delete delete", (X, NEXT), NEXT, BEHIND),
        ("delete delete", (X, NEXT), X, BEHIND),
        ("delete delete", (X, X), X, BEHIND),
        ("delete insert", (NEXT, INSERT), X, BEHIND),
        ("delete insert", (NEXT, INSERT), SHARED, READ),
        ("delete insert", (NEXT, INSERT), NEXT, BEHIND),
        ("delete insert", (NEXT, SHARED), X, BEHIND),
        ("update update", (X, SHARED), X, BEHIND),
    ],
)
def test_shapes_of_published_collections_close_their_circles(verbs, waits, held, words, report):
    first, second = waits
    found = read(report("5.7", two(verbs, (("t.k", ""), ("t.k", first)), (("t.k", held), ("t.k", second)))))
    assert found.is_closed()
    assert found.holders(0)[0][0] == 1
    assert words in shown.advice(found)


def test_two_rows_of_a_table_are_named(report):
    words = "take the rows of shop.acc, index PRIMARY, in one order, here (1) and (2)"
    assert words in shown.advice(read(report("8.0")))


@pytest.mark.parametrize("mark", ["*** (1) WAITING", "*** (2) TRANSACTION", "*** (2) WAITING"])
def test_of_a_cut_report_nothing_is_guessed(report, mark):
    assert "nothing can be said" in shown.advice(read(report().partition(mark)[0]))


def test_the_drawing_goes_round_and_says_what_is_not_in_the_report(report):
    lines = shown.drawing(read(report("8.0")))
    assert lines[0] == "┌▶ (1) transaction 501 of session 11, web7 10.0.0.7 shop updating"
    assert "│     waits for X,REC_NOT_GAP on (2) of shop.acc, index PRIMARY" in lines
    assert lines[3] == "│  ── (2) holds X,REC_NOT_GAP there"
    assert lines[4].endswith("rolled back")
    assert lines[-1] == "└──── (1) holds X,REC_NOT_GAP there"
    assert (
        shown.drawing(read(report("5.7")))[-1]
        == "└──── who holds that is not in the report: (1), or one between them"
    )
    behind = shown.drawing(
        read(report("8.0", two("delete insert", (("t.k", ""), ("t.k", X)), (("t.k", X), ("t.k", SHARED)))))
    )
    assert behind[-1] == "└──── (1) asked before for X,REC_NOT_GAP there"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            lambda report: report(victim=1),
            r"(1) was rolled back, the lightest: (1) 3 locks + 1 changes, (2) 4 locks + 1 changes",
        ),
        (lambda report: report(victim=2), "(2) was rolled back, though it was not the lightest"),
        (
            lambda report: report().replace("4 lock struct", "3 lock struct"),
            "(2) was rolled back, no other was lighter",
        ),
        (lambda report: report("8.0 without notes"), "log_error_verbosity = 3 adds it"),
        (lambda report: report("MariaDB", victim=0), "who lost is not in the report"),
        (lambda report: report().replace("3 lock struct(s), ", ""), "(2) was rolled back"),
        (lambda report: report(victim=7), "who lost is not in the report"),
    ],
)
def test_who_lost_and_why(text, words, report):
    assert words in shown.lost(read(text(report)))


def test_a_log_is_counted_by_statements_tables_and_indexes(report):
    other = report("8.0", two("insert insert", *[(("t.k", GAP), ("t.k", INSERT))] * 2))
    log = (
        report("8.0") * 3 + other + report("8.0").replace("id = 2", "id = 77").replace("07:08:09", "09:09:09")
    )
    log += report("8.0").partition("*** (2) WAITING")[0]
    found = shown.patterns(reading.reports(io.StringIO(log)))
    assert [each.count for each in found] == [4, 1, 1]
    assert found[0].times == ["2024-05-06T07:08:09.1Z", "2024-05-06T09:09:09.1Z"]
    assert found[0].incomplete == 0
    text = shown.text(found, "error.log")
    assert text.startswith("error.log: 6 deadlocks of 3 kinds\n\n1. 4 times, 2024-05-06T07:08:09.1Z to ")
    assert "! what (2) waits for is not in it" in text


def run(*arguments, **more):
    return CliRunner().invoke(cli.deadlock, arguments, **more)


def test_the_command_reads_a_file_or_standard_input_in_each_form(tmp_path, report):
    (tmp_path / "error.log").write_text(report("8.0").replace("'x'", "'<b>\x1b[2J'"))
    said = {
        form: run(str(tmp_path / "error.log"), "--format", form).output for form in ("text", "json", "html")
    }
    assert "error.log: 1 deadlock\n\n1. once, " in said["text"]
    (told,) = json.loads(said["json"])
    assert (told["circle"], told["example"]["victim"], told["count"]) == ([[2], [1]], 2, 1)
    assert "&lt;b&gt;\\x1b[2J" in said["html"]
    assert "\x1b" not in said["text"] + said["html"]
    assert "standard input: 1 deadlock" in run("-", input=report()).output


def test_the_command_says_what_it_lacks(tmp_path, monkeypatch):
    monkeypatch.delenv("ENGINEROOM_DSN", raising=False)
    (tmp_path / "empty").touch()
    assert "empty holds no deadlock in 0 lines" in str(run(str(tmp_path / "empty")).exception)
    assert "innodb_print_all_deadlocks" in str(run("-", input="no\nreport\n").exception)
    waits = "------- TRX HAS BEEN WAITING 7 SEC FOR THIS LOCK TO BE GRANTED:\n" * 2
    assert "only 2 waits: `engineroom locks` asks a server" in str(run("-", input=waits).exception)
    announced = json.dumps({"err_code": 12468, "msg": "Transactions deadlock detected, dumping"}) + "\n"
    assert "only 1 announcement: a log in JSON leaves" in str(run("-", input=announced).exception)
    assert "only 1 conflict: a write of another node" in str(
        run("-", input="*** Victim TRANSACTION:\n").exception
    )
    assert "neither FILE nor a server is named" in str(run().exception)
    assert "two sources" in str(run("x", "--dsn", "mysql://h").exception)
    assert "--dsn is not a server's address" in str(run("--dsn", "h").exception)


def test_of_what_a_report_does_not_show_nothing_is_claimed(report):
    # Percona Server prints no rows: another one of the same page may be asked for.
    bare = re.sub(r"(?m)^(?:Record lock| \d+: len).*\n", "", report("5.7"))
    assert shown.drawing(read(bare))[-1].endswith(
        "who holds that is not in the report: (1), or one between them"
    )
    assert "which the report does not show" in shown.advice(read(bare))
    gaps = two("insert insert", *[(("t.k", SHARED), ("t.k", INSERTED))] * 2)
    others = [(trx, session, f"{verb} {trx}", locks) for trx, session, verb, locks in gaps]
    assert "read-locked a gap in which the other inserts" in shown.advice(read(report("8.0", others)))
    assert "(1) transaction 501, " in shown.drawing(read(re.sub("MySQL thread .*", "", report(victim=1))))[0]


def test_a_report_without_its_headline_has_the_time_that_stands_before_it(report):
    text = report().partition("LATEST DETECTED DEADLOCK\n")[2].partition("\n")[2]
    assert read(f"some words\n{text}").when == "2024-05-06 07:08:09"
    assert read(f"2020-01-01 00:00:00\nwords\n{text.partition(chr(10))[2]}").when == ""
