"""The chapter's worked examples, its runbook and its counters on live servers, and the examples in the kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from engineroom import paths, servers
from engineroom.chapters.lock_sys.experiments.scripts import Script, Statement
from engineroom.chapters.lock_sys.experiments.seen import DATABASE, in_kernel, on_server
from engineroom.servers import Server
from engineroom.servers.catalogue import entry_of, release, series_of

DESIGNS = {"5.6": "5.7", "5.7": "5.7", "8.0.15": "8.0.15", "8.0.31": "9.7", "9.7": "9.7"}
A, B = 10, 20


def update(session: int, row: int) -> Statement:
    return Statement(session=session, verb="update", low=row, high=row)


def share(session: int, row: int) -> Statement:
    return Statement(session=session, verb="share", low=row, high=row)


def commit(session: int) -> Statement:
    return Statement(session=session, verb="commit")


def script(*statements: Statement) -> Script:
    sessions = 1 + max(statement.session for statement in statements)
    return Script(0, (False,) * sessions, statements)


T1, T2, T3, T4, T5 = range(5)
# T1 has A; T2 has B and waits for A; T3 and T4 wait for B; T5 waits for A and came before T2.
FIVE_SESSIONS = script(
    update(T1, A), update(T2, B), update(T5, A), update(T2, A), update(T3, B), update(T4, B), commit(T1)
)  # fmt: skip
# A reader, a writer and a reader wait for what session 0 has.
READER_WRITER_READER = script(update(0, B), share(1, B), update(2, B), share(3, B), commit(0))
OPPOSITE_ORDERS = script(update(0, A), update(1, B), update(0, B), update(1, A))
# A READ COMMITTED reader waits for an inserted row, which is rolled back: is row 30 behind its range free, and the gap before it?
GONE = Script(
    0,
    (False, True, False, False),
    (
        Statement(session=0, verb="insert", row=(25, 25, 20, 0)),
        Statement(session=1, verb="share", low=21, high=27),
        Statement(session=0, verb="rollback"),
        update(2, 30),
        Statement(session=3, verb="insert", row=(28, 28, 20, 0)),
    ),
)
FREED = {
    "5.7": ("waits", ("ok", "waits", "waits")),
    "8.0.15": ("waits", ("ok", "waits", "waits")),
    "9.7": ("ok", ("ok", "waits", "ok")),
}


@pytest.mark.parametrize("design", sorted(set(DESIGNS.values())))
def test_the_worked_examples_end_in_the_kernel_as_they_are_told(design):
    t2, readers = FREED[design]
    results = in_kernel(FIVE_SESSIONS, design)[-1].results
    assert (results[T2], results[T5]) == (t2, "ok" if t2 == "waits" else "waits")
    assert in_kernel(READER_WRITER_READER, design)[-1].results[1:] == readers
    assert in_kernel(OPPOSITE_ORDERS, design)[-1].results == ("ok", "deadlock")


@pytest.fixture(scope="module", params=list(DESIGNS))
def server(request) -> Iterator[Server]:
    with servers.start(request.param) as running:
        running.execute(f"CREATE DATABASE {DATABASE}")
        yield running


@pytest.mark.live
@pytest.mark.parametrize(
    "example",
    [FIVE_SESSIONS, READER_WRITER_READER, OPPOSITE_ORDERS, GONE],
    ids=["five", "readers", "orders", "gone"],
)
def test_a_server_frees_the_sessions_that_the_kernel_frees(server, example):
    live, model = on_server(server, example), in_kernel(example, DESIGNS[entry_of(server.version).name])
    assert [each.results for each in live] == [each.results for each in model]
    assert [each.waits for each in live] == [each.waits for each in model]


def deadlocks_counted(server: Server) -> int:
    ((count,),) = server.query(
        "SELECT COUNT FROM information_schema.innodb_metrics WHERE NAME = 'lock_deadlocks'"
    )
    return int(count)


@pytest.mark.live
def test_the_counter_of_deadlocks_misses_those_whose_victim_asked_last_before_a_thread_looks_for_them(server):
    before = deadlocks_counted(server)
    assert on_server(server, OPPOSITE_ORDERS)[-1].results == ("ok", "deadlock")
    is_counted = server.supports("background_deadlock_detection")
    assert deadlocks_counted(server) - before == int(is_counted)


def statements_for(word: str, version: str) -> list[str]:
    """The statements of a page's runbook that say by their comment that they are for this server."""
    page = (paths.root() / f"book/{word}.md").read_text(encoding="utf-8")
    found = []
    for block in re.findall(r"^```sql\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        for about, sql in re.findall(r"^-- ([^\n]+)\n((?:(?!-- ).*\n)+)", block, re.MULTILINE):
            named = about.split(":")[0].split(" (")[0]
            first = re.fullmatch(r"(\d+(?:\.\d+)+) and later", named)
            if first:
                is_for = release(version) >= release(first[1])
            else:
                is_for = series_of(version) in named.split(", ") or (
                    version.startswith("9.") and "9.x" in named
                )
            if is_for:
                found += [each.strip() for each in sql.split(";") if each.strip()]
    return found


@pytest.mark.parametrize(
    ("word", "counts"),
    [
        ("lock_sys", {"5.6": 5, "5.7": 9, "8.0.15": 9, "8.0.31": 9, "9.7": 9}),
        ("cats", {"5.6": 1, "5.7": 1, "8.0.15": 2, "8.0.31": 3, "9.7": 3}),
    ],
)
def test_the_runbook_has_statements_for_each_server(word, counts):
    assert {version: len(statements_for(word, version)) for version in DESIGNS} == counts


@pytest.mark.live
@pytest.mark.parametrize("word", ["lock_sys", "cats"])
def test_the_runbook_s_statements_run(server, word):
    for sql in statements_for(word, server.version):
        seen = server.query(sql)
        if sql.startswith("SHOW"):
            assert len(seen) == 1, f"{sql} shows nothing on {server.series}"


@pytest.mark.live
def test_printing_of_deadlocks_is_off_and_can_be_switched_at_once_on_any_version(server):
    (sql,) = (each for each in statements_for("cats", server.version) if each.startswith("SHOW"))
    assert server.query(sql) == [("innodb_print_all_deadlocks", "OFF")]
    server.execute("SET GLOBAL innodb_print_all_deadlocks = ON")
    assert server.query(sql) == [("innodb_print_all_deadlocks", "ON")]
    server.execute("SET GLOBAL innodb_print_all_deadlocks = OFF")
