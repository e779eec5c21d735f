"""The SysBench runner: what it asks for, what it reads off the report and the counters, and what it says when it cannot."""

from __future__ import annotations

import shutil
import stat
from types import SimpleNamespace

import pytest

from engineroom import servers
from engineroom.errors import EngineRoomError
from engineroom.workloads import sysbench
from engineroom.workloads.sysbench import Sysbench

REPORT = """
Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       1.250 |                                         10
       2.181 |**********************                   600
       2.773 |****************************************  624
SQL statistics:
    transactions:                        1234   (205.53 per sec.)
    ignored errors:                      3      (0.50 per sec.)

Latency (ms):
         min:                                    1.25
         avg:                                    2.50
         max:                                   40.00
         99th percentile:                       10.75
         sum:                                 5000.00
"""
# Writes its password and its arguments to files, burns some CPU time, and reports; fails on a table of 13 rows.
MADE_UP = """#!/bin/sh
file=${{1#--config-file=}}
{{ ls -l "$file" | cut -c1-10; cat "$file"; }} > "{folder}/account"
shift
echo "$@" >> "{folder}/asked"
case "$*" in *--table-size=13*) echo "FATAL: no such luck, secret"; exit 1;; esac
i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done
cat "{folder}/report"
"""


class MadeUp:
    """A server whose counters are those of the next look."""

    host, port, user, password = "127.0.0.1", 3306, "root", "secret"

    def __init__(self, version="9.7.4", socket="/tmp/s"):
        self.version, self.socket = version, socket
        self.executed = []
        self.counters = iter(
            ({"Com_begin": 5, "Com_commit": 5}, {"Com_begin": 15, "Com_commit": 13, "New": 2})
        )

    def execute(self, *statements):
        self.executed += statements

    def status(self):
        return next(self.counters)


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """What SysBench was asked, a line a command; `report` beside it is what it answers."""
    program = tmp_path / "sysbench"
    program.write_text(MADE_UP.format(folder=tmp_path))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "report").write_text(REPORT)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return SimpleNamespace(lines=lambda: (tmp_path / "asked").read_text().splitlines(), folder=tmp_path)


def test_a_run_has_its_report_and_the_counters_differences(asked):
    server = MadeUp()
    load = Sysbench(server, database="lab", table_rows=500, options=["--rand-type=uniform"])
    load.prepare()
    ran = load.run(threads=3, seconds=2)
    assert server.executed == ["CREATE DATABASE IF NOT EXISTS lab"]
    same = (
        "--mysql-user=root oltp_read_write --mysql-socket=/tmp/s --mysql-db=lab"
        " --tables=1 --table-size=500 --percentile=99 --histogram=on --rand-type=uniform --rand-seed=1"
    )
    assert asked.lines() == [
        f"{same} prepare", f"{same} --threads=3 --time=2 --mysql-ignore-errors=all run",
    ]  # fmt: skip
    assert (asked.folder / "account").read_text() == "-rw-------\nmysql-password=secret\n"
    assert (ran.threads, ran.transactions, ran.rolled_back) == (3, 1234, 2)
    assert ran.latency_ms == {"min": 1.25, "avg": 2.5, "p50": 2.773, "p99": 10.75, "max": 40.0}
    assert ran.moved == {"Com_begin": 10, "Com_commit": 8, "New": 2}
    assert ran.client_cpu_s > 0
    assert ran.client_cpu_percent == 100 * ran.client_cpu_s / 2


def test_on_8_0_it_has_an_account_of_the_older_kind_and_elsewhere_a_port_without_a_socket(asked):
    server = MadeUp("8.0.15", socket=None)
    Sysbench(server).prepare()
    assert "mysql_native_password BY 'secret'" in server.executed[1]
    assert asked.lines()[0].startswith("--mysql-user=sysbench ")
    assert "--mysql-host=127.0.0.1 --mysql-port=3306" in asked.lines()[0]


def test_what_it_says_last_is_the_error_without_the_password(asked):
    with pytest.raises(
        EngineRoomError, match=r"sysbench prepare failed on MySQL 9\.7\.4: FATAL: no such luck, \.\.\."
    ):
        Sysbench(MadeUp(), table_rows=13).prepare()
    (asked.folder / "report").write_text("nothing")
    with pytest.raises(EngineRoomError, match="nothing like 'transactions"):
        Sysbench(MadeUp()).run(threads=1, seconds=1)


def test_without_it_the_reader_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    for refuse in (sysbench.require, lambda: Sysbench(MadeUp())):
        with pytest.raises(EngineRoomError, match="needs sysbench") as error:
            refuse()
        assert "apt-get install sysbench" in error.value.remedy


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("sysbench") is None, reason="sysbench is not installed: apt-get install sysbench"
)
def test_a_server_commits_what_sysbench_counts():
    with servers.start("9.7") as server:
        load = Sysbench(server, table_rows=1000)
        load.prepare()
        ran = load.run(threads=2, seconds=1)
    # What the end of the run cuts off is committed and not counted.
    assert 0 <= ran.moved["Com_commit"] - ran.transactions <= 2
    assert 0 < ran.latency_ms["min"] <= ran.latency_ms["avg"] <= ran.latency_ms["max"]
    # The histogram's classes are some percent wide.
    assert 0.9 * ran.latency_ms["min"] <= ran.latency_ms["p50"] <= 1.1 * ran.latency_ms["p99"]
