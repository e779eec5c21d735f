"""What is made of demands: the mix that the kernel takes, the queues of a run, and which forms first."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from engineroom.ask.whatif import demands as files
from engineroom.ask.whatif.cli import whatif
from engineroom.ask.whatif.demands import MEDIAN, Asked, Demands, Kind
from engineroom.ask.whatif.prediction import (
    DISK,
    PROCESSORS,
    Point,
    Prediction,
    designed,
    longest,
    not_known,
    predicted,
    waiting,
)
from engineroom.ask.whatif.report import text
from engineroom.errors import EngineRoomError
from engineroom.machine.presets import preset
from engineroom.simulating.executors import HERE


def made(
    *, rows=100_000, value: str | None = "id", cpu_us=20.0, access="changes", server="9.7.4", **more
) -> Demands:
    asked = Asked(
        sql="UPDATE t", cpu_us=cpu_us, cpu_us_median=2 * cpu_us, mtrs=2, redo_bytes=300, row_locks=1.0
    )
    kind = Kind(
        name="change",
        weight=1,
        autocommit=False,
        values={"id": {"rows": rows, "distribution": "uniform"}},
        statements=(replace(asked, access=access, table="t", value=value),),
        commit=Asked(sql="COMMIT", cpu_us=10, cpu_us_median=10, mtrs=1, redo_bytes=100),
    )
    about = {
        "isolation": "READ-COMMITTED",
        "has_binlog": True,
        "flushes_each_commit": True,
        "measured_at": "",
    }
    return Demands(**{"server": server, **about, **more}, kinds=(kind,))


def test_a_statement_is_given_as_it_was_measured():
    ((kind,),) = [made().mix()]
    (statement,) = kind["statements"]
    assert (statement["computing_ns"], statement["mtrs_permille"], statement["mtr_bytes"]) == (
        40_000,
        2000,
        150,
    )
    assert (statement["draw"], statement["rows"], kind["draws"]) == (
        0,
        1,
        [{"rows": 100_000, "distribution": "uniform"}, {"rows": 1}],
    )
    computing = [made().mix(slower)[0]["statements"][0]["computing_ns"] for slower in (0.0, 0.5, MEDIAN, 2.0)]
    assert computing == [20_000, 30_000, 40_000, 60_000], "the least batch, the median, and as far above it"


def test_a_statement_without_a_value_is_given_the_one_row():
    statement = made(value=None).mix()[0]["statements"][0]
    assert statement["draw"] == 1


def test_demands_come_back_from_their_file(tmp_path):
    file = tmp_path / "demands.json"
    made().save(file)
    assert files.load(file) == made()


@pytest.mark.parametrize(
    "change",
    [
        lambda read: read.update(format=2),
        lambda read: read.pop("kinds"),
        lambda read: read["kinds"][0].pop("commit"),
        lambda read: read["kinds"][0]["statements"][0].update(access="drops"),
        lambda read: read["kinds"][0]["statements"][0].update(cpu_us="much"),
        lambda read: read["kinds"][0].update(statements=[]),
        lambda read: read["kinds"][0].update(weight=0),
    ],
)
def test_a_file_without_demands_is_refused_before_anything_is_simulated(tmp_path, change):
    file = tmp_path / "demands.json"
    made().save(file)
    read = json.loads(file.read_text())
    change(read)
    file.write_text(json.dumps(read))
    with pytest.raises(EngineRoomError, match="holds no demands"):
        files.load(file)


@pytest.mark.parametrize(
    ("processors", "has_binlog", "has_log_threads"),
    [
        (2, False, False),
        (4, False, False),
        (5, False, True),
        (5, True, False),
        (31, True, False),
        (32, True, True),
    ],
)
def test_9_7_has_log_threads_where_the_server_would_switch_them_on(processors, has_binlog, has_log_threads):
    where = {"processors": processors, "has_binlog": has_binlog}
    assert (designed("9.7.4", **where).redo == "8.0") == has_log_threads
    assert designed("8.0.15", **where).redo == "8.0"  # it has no such setting
    assert designed("5.7.22", **where).redo == "5.7"


RUN = {
    "window_ns": 1000,
    "lock_wait_ns": 500,
    "cpu_ns": 1000,
    "waits": [
        {"name": "trx_sys_mutex", "total_ns": 3000},
        {"name": "log_flush_events", "total_ns": 9000},
        {"name": "log_writer_event", "total_ns": 1000},
    ],
    "activities": [
        (("client",), "runnable", 1_500_000),
        (("client", "statement"), "runnable", 500_000),
        (("log_writer",), "runnable", 900_000),
        (("client",), "work", 700_000),
    ],
}


def test_who_waits_is_counted_in_threads_and_what_log_threads_wait_for_is_not():
    assert waiting(RUN, processors=1) == {DISK: 9.0, "trx_sys_mutex": 3.0, PROCESSORS: 2.0, "row locks": 0.5}


def test_a_machine_with_idle_processors_makes_nobody_wait_for_one():
    assert PROCESSORS not in waiting(RUN, processors=2)


def test_the_longest_queue_is_no_disk_and_has_a_thread_in_the_mean():
    assert longest({DISK: 9.0, "trx_sys_mutex": 1.5, "row locks": 1.2}) == "trx_sys_mutex"
    assert longest({DISK: 9.0, "trx_sys_mutex": 0.99}) is None
    assert longest({}) is None


def point(clients: int, queue: float, *varied: str) -> Point:
    others = [{name: 2.0} for name in varied]
    return Point("9.7.4", clients, 10.0, 8.0, 12.0, {"trx_sys_mutex": queue}, True, others)


def test_the_first_queue_is_that_of_the_fewest_clients_and_is_told_with_the_machines_that_agree():
    found = Prediction(
        made(), "m", [point(1, 0.1), point(16, 1.5, "trx_sys_mutex", "row locks"), point(64, 40.0)]
    )
    first = found.first("9.7.4")
    assert first is not None
    assert (first.clients, found.agree(first)) == (16, 1)
    assert (
        "9.7.4: trx_sys_mutex, with 16 clients: 1.5 threads wait, the longest on 1 of 2 varied machines"
        in text(found)
    )
    assert found.as_dict()["first_queue"]["9.7.4"]["machines_that_agree"] == 1


def test_what_had_not_settled_is_no_number_to_compare():
    unsettled = replace(point(16, 0.5, "row locks"), tps=98765.0, highest_tps=98765.0, is_settled=False)
    said = text(Prediction(made(), "m", [point(1, 0.1), unsettled]))
    assert "98,765" not in said
    assert "9.7.4    10   -" in said
    assert "-: had not settled" in said
    assert "had not settled" not in text(Prediction(made(), "m", [point(1, 0.1)]))


def test_no_queue_is_told_as_none():
    found = Prediction(made(), "m", [point(1, 0.1), point(16, 0.5)])
    assert found.first("9.7.4") is None
    assert "9.7.4: none up to 16 clients" in text(found)


def test_all_clients_at_one_row_wait_for_rows_and_at_many_rows_do_not():
    """The hot row gives one transaction at a time what it asks for: ten clients are no faster than three."""
    machine, how = preset("four_sockets_176"), {"versions": ["9.7.4"], "varied": 1, "executor": HERE}
    hot = predicted(made(rows=1), machine, clients=[3, 10], **how)
    assert hot.first("9.7.4").queue == "row locks"
    three, ten = hot.points
    assert ten.tps < 1.3 * three.tps
    cold = predicted(made(), machine, clients=[3, 10], **how)
    assert cold.first("9.7.4") is None
    assert cold.points[1].tps > 2.5 * cold.points[0].tps
    assert all(each.lowest_tps <= each.tps <= each.highest_tps for each in (*hot.points, *cold.points))


def test_more_clients_than_processors_wait_for_these():
    found = predicted(
        made(access="computes", value=None, cpu_us=500.0),
        preset("laptop"),
        clients=[16],
        versions=["9.7.4"],
        varied=0,
        executor=HERE,
    )
    assert found.points[0].queue == PROCESSORS


def test_what_is_not_known_depends_on_what_was_measured():
    assert not any("REPEATABLE" in each or "binary log" in each for each in not_known(made(has_binlog=False)))
    assert any("REPEATABLE-READ" in each for each in not_known(made(isolation="REPEATABLE-READ")))
    assert any("binary log" in each for each in not_known(made()))
    assert any("the same rows" in each for each in not_known(made(value=None)))


def test_the_command_simulates_what_was_kept_and_touches_no_server(tmp_path):
    file = tmp_path / "demands.json"
    made(rows=1).save(file)
    asked = [
        "--demands",
        str(file),
        "--clients",
        "4",
        "--version",
        "9.7.4",
        "--varied",
        "0",
        "--format",
        "json",
    ]
    done = CliRunner().invoke(whatif, asked, catch_exceptions=False)
    said = json.loads(done.output)
    assert said["first_queue"]["9.7.4"]["queue"] == "row locks"
    assert [each["clients"] for each in said["points"]] == [4]
    assert said["not_known"]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ([], "neither --dsn nor --demands"),
        (["--demands", "d.json", "--dsn", "mysql://root@h"], "both given"),
        (["f.toml", "--demands", "d.json"], "has the transactions already"),
        (["--dsn", "mysql://root@127.0.0.1:1"], "no file of transactions"),
        (["--demands", "none.json"], "none.json"),
        (["--demands", "d.json", "--machine", "mainframe"], "there is no machine 'mainframe'"),
    ],
)
def test_what_cannot_be_done_is_said_with_what_to_do(asked, says):
    with pytest.raises(EngineRoomError, match=says):
        CliRunner().invoke(whatif, asked, catch_exceptions=False)


@pytest.mark.parametrize("clients", ["0", "1,x", "", "5000", "1,,2"])
def test_clients_are_numbers_that_the_machine_can_have(clients):
    done = CliRunner().invoke(whatif, ["--demands", "d.json", "--clients", clients])
    assert done.exit_code == 2
    assert "is no list of numbers from 1 to 4096" in done.output
