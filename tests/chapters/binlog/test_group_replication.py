"""A group of three servers: expectations over rows made by hand, where it listens, and a small live group."""

from __future__ import annotations

import os
import shutil
from types import SimpleNamespace

import pandas as pd
import psutil
import pytest

from engineroom.chapters.binlog.experiments import group_replication
from engineroom.chapters.binlog.figures import own_binlog_group_replication
from engineroom.errors import EngineRoomError
from engineroom.runs import Run

MEASURED = ("sent_bytes", "binlog_bytes", "replica_binlog_bytes", "primary_cpu_us", "replica_cpu_us", "tps")


def group(**both: float) -> Run:
    """Ratios as they were expected; `both` are those of both compressions."""
    ratios = {
        "none": {},
        "messages": {"sent_bytes": 0.6},
        "transactions": {"sent_bytes": 0.4, "binlog_bytes": 0.35, "replica_binlog_bytes": 0.35},
        "both": {"sent_bytes": 0.4, "binlog_bytes": 0.35, "replica_binlog_bytes": 0.35, **both},
    }
    rows = [
        {
            "clients": n,
            "series": setting,
            "repeat": repeat,
            **{name: 1000.0 * n * of.get(name, 1.0) for name in MEASURED},
        }
        for setting, of in ratios.items()
        for n in (1, 16)
        for repeat in range(3)
    ]
    return Run(group_replication.FIGURE, "live", pd.DataFrame(rows), {})


@pytest.mark.parametrize(
    ("both", "fails"),
    [
        ({}, None),
        ({"binlog_bytes": 0.6}, 1),
        ({"sent_bytes": 0.3}, 3),
        ({"replica_cpu_us": 1.5}, 4),
        ({"tps": 0.8}, 5),
    ],
)
def test_an_expectation_fails_with_what_it_is_about(both, fails):
    came_out = [is_so(group(**both)) for is_so in group_replication.CLAIMS.values()]
    assert [place for place, is_so in enumerate(came_out) if not is_so] == ([] if fails is None else [fails])


def test_the_figure_has_what_is_compressed_over_the_plain_group_with_the_most_clients():
    table = own_binlog_group_replication.rows(group(primary_cpu_us=1.5))
    assert set(table["clients"]) == {16}
    assert set(table["series"]) == {"messages", "transactions", "both"}
    said = own_binlog_group_replication.words(table).caption
    assert "bytes sent messages 0.60, transactions 0.40, both 0.40" in said
    assert "CPU time messages 1.00, transactions 1.00, both 1.25" in said


def test_a_server_that_listens_beyond_loopback_is_refused(monkeypatch):
    def listening(*addresses):
        found = [
            SimpleNamespace(status="LISTEN", laddr=SimpleNamespace(ip=ip, port=3307)) for ip in addresses
        ]
        monkeypatch.setattr(psutil.Process, "net_connections", lambda *_, **__: found)
        return SimpleNamespace(pid=os.getpid(), called="MySQL 9.7.4")

    group_replication._require_loopback(listening("127.0.0.1", "::1"))
    with pytest.raises(EngineRoomError, match=r"MySQL 9.7.4 listens on ::, port 3307"):
        group_replication._require_loopback(listening("127.0.0.1", "::"))


def test_without_sysbench_the_reader_is_told(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(EngineRoomError, match="sysbench"):
        group_replication.group_live()


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("sysbench") is None, reason="sysbench is not installed: apt-get install sysbench"
)
def test_a_group_of_9_7_is_sent_and_logs_compressed_transactions():
    run = group_replication.group_live(
        clients=(4,), repeats=1, seconds=1, settings=("both",), warehouses=1, scale=0.01
    )
    (seen,) = run.table.to_dict("records")
    # Uncompressed it would be some 6,000 bytes, as in a server's own log.
    assert 500 < seen["binlog_bytes"] < 4000
    assert seen["replica_binlog_bytes"] == pytest.approx(seen["binlog_bytes"], rel=0.05)
    assert seen["sent_bytes"] > 2 * seen["binlog_bytes"], "each of the two others is sent what is logged"
    assert min(seen["primary_cpu_us"], seen["replica_cpu_us"], seen["transactions"]) > 0
