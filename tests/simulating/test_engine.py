"""Demands as the engine takes them, and the latches that its statements then take, beside those counted on live servers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from engineroom import runs
from engineroom._native import engine as kernel
from engineroom.errors import EngineRoomError
from engineroom.simulating import engine
from engineroom.simulating.experiment import Given

DESIGNS = {
    "5.7.22": engine.Design(lock_design="5.7", latches="5.7", redo="5.7"),
    "8.0.15": engine.Design(lock_design="8.0.15", latches="8.0", redo="8.0"),
    "9.7.4": engine.Design(),
}
LATCHES = {
    "lock_sys_acquisitions": ("lock_global", "lock_pages", "lock_tables"),
    "trx_sys_acquisitions": ("trx_mutex", "trx_serialisation", "trx_shards"),
}


@pytest.mark.parametrize("kind", ["sysbench_read_write", "tpcc"])
@pytest.mark.parametrize("server", DESIGNS)
def test_every_statement_has_a_demand_that_was_measured(server: str, kind: str) -> None:
    found = engine.demands(server, kind)
    assert list(found) == kernel.statements(kind)
    assert all(demand["computing_ns"] > 1_000 for demand in found.values())
    writes = {name for name, demand in found.items() if demand["mtrs_permille"] > 0}
    assert {name for name in found if "update" in name or "insert" in name} <= writes


def test_8_0_31_computes_for_what_it_took_beside_8_0_15_on_the_computer_of_the_others():
    first, later = (
        runs.recorded("own-demands", "live")[n - 1].table for n in (engine.RECORDING, engine.LATER)
    )

    def took_us(table, server: str) -> float:
        of = (table["server"] == server) & (table["load"] == "tpcc_1") & (table["transaction"] == "payment")
        return float(table[of & (table["statement"] == "update_customer")]["cpu_us"].iloc[0])

    expected_us = took_us(later, "8.0.31") / took_us(later, "8.0.15") * took_us(first, "8.0.15")
    found = engine.demands("8.0.31", "tpcc")["payment.update_customer"]
    assert found["computing_ns"] == pytest.approx(1000 * expected_us, abs=1)


def counted_live(server: str, load: str, column: str) -> float:
    """Of one transaction of the mix, by the thread that runs it."""
    table = runs.recorded("own-demands", "live")[engine.RECORDING - 1].table
    mine = table[(table["server"] == server) & (table["load"] == load)]
    per = (mine["per_transaction"] * mine[column]).groupby(mine["transaction"]).sum()
    share = {"new_order": 0.45, "payment": 0.43} if load == "tpcc_1" else {"read_write": 1.0}
    return float(sum(per[kind] * share.get(kind, 0.04) for kind in per.index))


@pytest.mark.parametrize("column", LATCHES)
@pytest.mark.parametrize("load", ["sysbench_read_write", "tpcc_1"])
@pytest.mark.parametrize("server", DESIGNS)
def test_one_client_takes_about_the_latches_that_it_takes_of_a_live_server(
    server: str, load: str, column: str
) -> None:
    """The scripts were written from the statements; what is left out of them may be a tenth of the latches."""
    kind = load.partition("_1")[0]
    design = DESIGNS[server]
    n = 4_000 if kind == "tpcc" else 200  # of the mix one in 25 is a delivery, and takes half of the latches
    seen: dict[str, Any] = kernel.simulate(
        parameters={},
        load={"kind": kind, "transactions": n},
        demands=engine.demands(server, kind),
        lock_design=design.lock_design,
        trx_sys={"latches": design.latches},
        engine={"redo": design.redo},
        run_ns=600_000_000_000,
    )
    ours = sum(seen[name] for name in LATCHES[column]) / n
    assert ours == pytest.approx(counted_live(server, load, column), rel=0.1)


def test_demands_that_nobody_measured_are_asked_for() -> None:
    with pytest.raises(EngineRoomError, match=r"lack read_write\.begin"):
        engine.demands("4.1", "sysbench_read_write")


def test_a_point_says_throughput_waits_and_latches() -> None:
    given = Given(machine={}, load=engine.load_of("9.7.4", "sysbench_read_write", rows=100), seed=1)
    window = {"first_ms": 40, "longest_ms": 40, "warmup_ms": 10}
    row, latches = engine.observed(DESIGNS["9.7.4"], given, clients=8, **window)
    assert row["tps"] == pytest.approx(row["transactions"] / 0.04)
    assert row["latency_ms"] == pytest.approx(8000 / row["tps"])
    assert row["lock_waits"] > 0
    assert {latch["latch"] for latch in latches} >= {"lock_wait_event", "trx_sys_mutex"}
    (wait,) = [latch for latch in latches if latch["latch"] == "lock_wait_event"]
    assert wait["wait_us"] == pytest.approx(1000 * row["lock_wait_ms"], rel=0.2)


def test_a_design_holds_its_latches_as_long_as_the_load_says_unless_it_says_so_itself() -> None:
    holds = {
        "locks": {"5.7": {"create_ns": 900}, "9.7": {"create_ns": 700}},
        "log": {"8.0": {"reserve_ns": 50}},
    }
    held = engine.held(engine.Design(log={"spin_rounds": 3}), holds)
    assert (held.locks, held.log) == ({"create_ns": 700}, {"reserve_ns": 50, "spin_rounds": 3})
    assert engine.held(engine.Design(locks={"create_ns": 1}), holds).locks == {"create_ns": 1}
    assert engine.held(engine.Design(redo="5.7"), holds).log == {}, "nothing is known of that log"
    assert engine.held(engine.Design(), {}) == engine.Design()


def test_a_lock_that_is_held_longer_costs_its_transaction_that_time() -> None:
    given = Given(machine={}, load=engine.load_of("9.7.4", "sysbench_read_write", away_ns=0), seed=1)
    window = {"first_ms": 50, "longest_ms": 50, "warmup_ms": 10}
    usual = engine.run(engine.Design(), given, clients=1, **window)
    longer = Given(
        machine={}, load={**given.load, "holds": {"locks": {"9.7": {"create_ns": 500_000}}}}, seed=1
    )
    seen = engine.run(engine.Design(), longer, clients=1, **window)
    assert seen["transactions"] < usual["transactions"] / 1.5


def test_statements_look_tablespaces_up_as_often_as_those_of_5_7() -> None:
    load = engine.with_space_lookups(engine.load_of("5.7.22", "tpcc"), "5.7.22")
    taken: dict[str, list[int]] = {}
    asked = kernel.latch_order(
        {"kind": "tpcc"},
        load["demands"],
        engine={"redo": "5.7", "has_space_latch": True},
        lock_design="5.7",
        trx_sys={"latches": "5.7"},
        transactions=2_000,
    )
    for statement, latches in asked:
        taken.setdefault(statement, []).append(latches.count("fil_system_mutex"))
    table = runs.recorded("own-demands", "live")[engine.RECORDING - 1].tables["latches"]
    live = table[
        (table["server"] == "5.7.22") & (table["load"] == "tpcc_1") & (table["latch"] == "fil_system_mutex")
    ]
    compared = 0
    for row in live.to_dict("records"):
        mine = taken.get(f"{row['transaction']}.{row['statement']}", [])
        if row["statement"] in ("commit", "rollback") or len(mine) < 500:
            continue
        compared += 1
        assert sum(mine) / len(mine) == pytest.approx(row["acquisitions"], rel=0.05), row["statement"]
    assert compared >= 6


@pytest.mark.parametrize("hash_index", [False, True])
@pytest.mark.parametrize(
    ("server", "design", "kind", "least"),
    [
        ("5.7.22", "5.7", "sysbench_read_write", 9),
        ("8.0.31", "9.7", "sysbench_read_write", 9),
        ("8.0.31", "9.7", "tpcc", 20),
    ],
)
def test_statements_search_the_hash_index_and_roots_as_often_as_those_of_a_server(
    server: str, design: str, kind: str, least: int, *, hash_index: bool
) -> None:
    load = {"kind": kind, "rows": 100_000} if kind != "tpcc" else {"kind": kind}
    options = engine.hash_index_of(server, cpu_us=1_000) if hash_index else {}
    taken: dict[str, Counter[str]] = {}
    times: Counter[str] = Counter()
    asked = kernel.latch_order(
        load,
        engine.with_searches(engine.demands(server, kind), server, kind, hash_index=hash_index),
        engine={"has_page_latches": True, "redo": "5.7" if design == "5.7" else "8.0", **options},
        lock_design=design,
        transactions=4_000,
    )
    for statement, latches in asked:
        times[statement] += 1
        taken.setdefault(statement, Counter()).update(latches)
    table = runs.newest("own-hash-index", "live").table
    setting = table["hash_index"] == ("ON" if hash_index else "OFF")
    live = table[(table["server"] == server) & setting & (table["load"].str.startswith(kind))]
    compared = 0
    for row in live.to_dict("records"):
        name = f"{row['transaction']}.{row['statement']}"
        if times[name] < 100 or name.endswith(".commit"):
            continue
        compared += 1
        mine = {latch: n / times[name] for latch, n in taken[name].items()}
        for latch, counted in (
            ("btr_search_latch", row["hash_searches"] + row["hash_changes"]),
            ("index_tree_rw_lock", row["root_searches"]),
        ):
            assert mine.get(latch, 0) == pytest.approx(counted, rel=0.03, abs=0.06), (name, latch)
    assert compared >= least


def test_without_the_latch_nobody_looks_a_tablespace_up() -> None:
    load = engine.load_of("5.7.22", "tpcc")
    with_lookups = engine.with_space_lookups(load, "5.7.22")
    seen = [
        kernel.simulate(
            parameters={}, load={"kind": "tpcc", "transactions": 20}, demands=each["demands"], run_ns=10**10
        )
        for each in (load, with_lookups)
    ]
    assert seen[0]["trace_hash"] == seen[1]["trace_hash"]
