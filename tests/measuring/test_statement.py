"""One statement measured: its cost, its counters and its plan, alike on every version and in every caller."""

from __future__ import annotations

import types

import pytest

from engineroom import servers
from engineroom.errors import EngineRoomError
from engineroom.measuring import statement
from engineroom.measuring.statement import Measured, join_of, measure, plan
from engineroom.servers.catalogue import measured

live = pytest.mark.live
everywhere = pytest.mark.parametrize(
    "version",
    [
        pytest.param(v, marks=pytest.mark.skipif(not servers.runnable(v), reason=f"{v} does not run here"))
        for v in measured()
    ],
)


@pytest.fixture(scope="module")
def connected():
    """Opens one server per version, with a table of 300 rows, when a test asks for it."""
    import contextlib

    with contextlib.ExitStack() as opened:
        known: dict[str, tuple[servers.Server, object]] = {}

        def connect(version: str):
            if version not in known:
                server = opened.enter_context(servers.start(version))
                rows = ", ".join(f"({i}, {i % 7})" for i in range(300))
                server.execute("CREATE DATABASE measured")
                server.execute(
                    "CREATE TABLE t (n INT PRIMARY KEY, k INT NOT NULL)",
                    f"INSERT INTO t VALUES {rows}",
                    database="measured",
                )
                known[version] = server, opened.enter_context(contextlib.closing(server.connect("measured")))
            return known[version]

        yield connect


@live
@everywhere
def test_the_counters_are_those_of_the_statement_alone(connected, version) -> None:
    server, connection = connected(version)
    scan = "SELECT MAX(n), MIN(k) FROM t WHERE k < 100"
    first, second = (measure(server, connection, scan) for _ in range(2))
    assert first.answer == second.answer == [(299, 0)]
    assert first.columns == ("MAX(n)", "MIN(k)")
    read = "Handler_read_rnd_next"
    assert first.counters[read] == second.counters[read] == 301  # the last call finds the end
    assert second.cpu_s > 0
    # The server's own threads read pages whenever they like.
    nothing = measure(server, connection, "DO 0").counters
    assert not [name for name in nothing if not name.startswith("Innodb_")]


@live
@everywhere
def test_several_statements_are_measured_as_one_and_rolled_back(connected, version) -> None:
    server, connection = connected(version)
    deletes = [f"DELETE FROM t WHERE n = {n}" for n in (3, 5)]
    for _ in range(2):
        seen = measure(server, connection, *deletes, "UPDATE t SET k = -1 WHERE n < 10", rolled_back=True)
        assert seen.counters["Handler_delete"] == 2
        assert seen.affected_rows == 8
        assert seen.columns == ()
        assert seen.answer == []
    assert server.query("SELECT COUNT(*), MIN(k) FROM t", database="measured") == [(300, 0)]


@live
def test_settings_are_made_before_the_statement_and_are_not_counted(connected) -> None:
    server, connection = connected("9.7")
    seen = measure(server, connection, "SELECT @@sort_buffer_size", settings=["SET sort_buffer_size = 65536"])
    assert seen.answer == [(65536,)]
    assert "Handler_read_rnd_next" not in seen.counters


@live
@everywhere
def test_a_plan_is_a_tree_or_the_table_s_lines(connected, version) -> None:
    server, connection = connected(version)
    shown = plan(server, connection, "SELECT k FROM t WHERE n = 3")
    if server.supports("explain_tree"):
        assert shown.startswith("-> Rows fetched before execution")
    else:
        assert shown == "t: const, key PRIMARY, 1 rows"
    assert plan(server, connection, "SELECT 1 FROM t WHERE FALSE").startswith(
        ("->", "-: -, key none, - rows, Impossible")
    )


def test_the_join_of_a_tree_has_no_costs() -> None:
    tree = "-> Aggregate: count(0)  (cost=9 rows=1)\n    -> Inner hash join (a.x = b.x)  (cost=1 rows=2)\n        -> Hash"
    assert join_of(tree) == "Inner hash join (a.x = b.x)"
    assert join_of("refused: syntax") == "refused: syntax"


def test_cpu_time_is_read_when_two_readings_agree(monkeypatch) -> None:
    monkeypatch.setattr(statement.time, "sleep", lambda _: None)
    readings = iter([1.0, 1.5, 1.75, 1.75, 9.0])
    server = types.SimpleNamespace(cpu_seconds=lambda: next(readings))
    assert statement._cpu_seconds(server) == 1.75


def test_cpu_time_that_nobody_can_read_is_an_error_only_for_those_who_ask() -> None:
    assert statement._cpu_seconds(types.SimpleNamespace(cpu_seconds=lambda: None)) is None
    seen = Measured(answer=[], columns=(), affected_rows=0, wall_s=0.1, known_cpu_s=None, counters={})
    with pytest.raises(EngineRoomError, match="CPU time cannot be read") as refused:
        _ = seen.cpu_s
    assert "engineroom doctor" in refused.value.remedy
