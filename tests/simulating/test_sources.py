"""The sources' server: what its settings do in an engine, and that a design can have another."""

from __future__ import annotations

from typing import Any

import pytest

from engineroom.machine.presets import parameters
from engineroom.simulating import engine, sources
from engineroom.simulating.experiment import Given

SHORT = {"first_ms": 20, "longest_ms": 20, "warmup_ms": 20}


def seen(load: dict[str, Any], design: engine.Design | None = None, **how: int) -> dict[str, Any]:
    given = Given(machine=parameters(sources.MACHINE), load=load, seed=1)
    return engine.run(design or engine.Design(), given, **{"clients": 30, **SHORT, **how})


def test_both_logs_are_synced_unless_a_design_has_no_binary_log() -> None:
    load = sources.tpcc("8.0.15", 1000)
    assert seen(load)["binlog_fsyncs"] > 0
    assert seen(load, engine.Design(engine={"binlog": "off"}))["binlog_fsyncs"] == 0


def test_no_more_pages_become_dirty_than_are_written() -> None:
    load = sources.tpcc("8.0.15", 1000)
    slow = {**load, "engine": {**load["engine"], "cleaned_per_s": 1000}}
    assert seen(slow)["dirtied"] <= 1000 * 0.04 + 1 < seen(load)["dirtied"]


def test_a_statement_takes_a_third_longer_than_where_it_was_measured() -> None:
    load = sources.tpcc("8.0.15", 1000)
    assert load["cpu_percent"] == 132
    computed = engine._computed_here(load)
    for name, demand in engine.demands("8.0.15", "tpcc").items():
        assert computed[name]["computing_ns"] == pytest.approx(1.32 * demand["computing_ns"], abs=1)
        assert computed[name]["mtrs_permille"] == demand["mtrs_permille"]


def test_an_improved_server_keeps_what_else_is_changed_of_it() -> None:
    design = sources.improved(locks={"policy": "cats, 8.0.20"})
    assert (design.locks, design.trx_sys["ids"]) == ({"policy": "cats, 8.0.20"}, "bitmap")
    assert engine.Design(**design.said()) == design
    assert seen(sources.sysbench("8.0.15", rows=1000, distribution="uniform"), design)["transactions"] > 0
