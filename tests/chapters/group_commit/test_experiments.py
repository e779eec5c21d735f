"""The group commit experiments: a recorded point is simulated again, small runs of the others, and what servers count."""

from __future__ import annotations

import shutil

import pytest

from engineroom import runs
from engineroom._native import group_commit as kernel
from engineroom.chapters.group_commit import experiments as group_commit
from engineroom.chapters.group_commit.experiments import crashes, live, model, simulated
from engineroom.chapters.group_commit.experiments.designs import DESIGNS, SERIES, SERVERS
from engineroom.errors import EngineRoomError
from engineroom.machine.presets import parameters
from engineroom.simulating.executors import HERE

# Each figure's points that take the least time.
AGAIN = {
    "tab-gc-1": (simulated.redo_flush_sim, {"threads": (32,)}),
    "own-gc-durable": (simulated.durable_sim, {"threads": (1,)}),
}


def as_recorded(value):
    """With the digits of a recorded CSV."""
    return float(f"{value:.12g}") if isinstance(value, float) else value


@pytest.mark.parametrize("figure", AGAIN)
def test_a_recorded_point_is_simulated_again_to_the_last_digit(figure):
    simulate, points = AGAIN[figure]
    recorded = runs.latest(figure, "sim")
    assert recorded.provenance["machine"] == parameters(simulated.MACHINE)
    run = simulate(seeds=(recorded.provenance["seed"],), executor=HERE, **points)
    known = {(row["series"], row["threads"], row["repeat"]): row for row in recorded.table.to_dict("records")}
    for row in run.table.to_dict("records"):
        seen = {name: as_recorded(value) for name, value in row.items()}
        assert seen == known[row["series"], row["threads"], row["repeat"]]


def test_the_recorded_run_of_a_few_clients_is_simulated_again():
    recorded = runs.latest("own-gc-stages", "sim")
    run = simulated.stages_sim(seeds=(recorded.provenance["seed"],), executor=HERE)
    known = recorded.table[recorded.table["repeat"] == 0]
    columns = ["ns", "happening", "what", "xid"]
    assert run.table[columns].to_dict("records") == known[columns].to_dict("records")


def test_a_recorded_point_of_the_two_processors_is_simulated_again():
    recorded, measured = runs.latest("own-gc-groups", "sim"), runs.latest("own-gc-groups", "live")
    place = (measured.table["series"] == "9.7") & (measured.table["setting"].isin(("1/1", "0/0")))
    few = measured.with_table(measured.table[place & (measured.table["clients"] <= 4)])
    run = model.groups_sim(seeds=(recorded.provenance["seed"],), live=few, executor=HERE)
    keys = ["series", "setting", "clients", "repeat"]
    known = {tuple(row[name] for name in keys): row for row in recorded.table.to_dict("records")}
    for row in run.table.to_dict("records"):
        seen = {name: as_recorded(value) for name, value in row.items()}
        assert seen == known[tuple(row[name] for name in keys)]


def test_every_simulated_figure_that_can_be_recorded_is_simulated_again():
    again = {*AGAIN, "own-gc-stages", "own-gc-groups"}
    assert {figure for figure, method in group_commit.RECORD if method == "sim"} == again


def test_a_series_and_a_server_are_designs_that_the_kernel_knows():
    assert list(DESIGNS) == kernel.designs()
    for design in (*SERIES.values(), *SERVERS.values()):
        seen = kernel.simulate(
            design=design.commit, redo=design.redo, parameters={}, load={"clients": 2}, run_ns=20_000_000
        )
        assert seen["transactions"] > 0


def test_few_crashes_of_each_kind_are_counted_and_add_up():
    run = crashes.crashes_kernel(
        crashes=100, designs=("5.7.6",), durabilities=("1/1", "2/1000"), kinds=("power loss",)
    )
    counts = run.table.set_index("durability")
    assert (counts["crashes"] >= 100).all()
    assert counts.loc["1/1", ["lost", "only_in_binlog", "only_in_engine"]].sum() == 0
    assert counts.loc["2/1000", "lost"] > 0
    assert counts[["impossible", "wrong_outcomes", "disorders", "hangs"]].to_numpy().sum() == 0
    outcomes = run.tables["outcomes"]
    lost = outcomes[(outcomes["step"] == "acknowledged") & (outcomes["is_committed"] == 0)]
    assert lost.groupby("durability")["transactions"].sum().to_dict() == {
        "2/1000": counts.loc["2/1000", "lost"]
    }


def test_the_recorded_crashes_are_ten_thousand_of_each_and_none_is_against_the_table():
    table = runs.latest("own-gc-crashes", "kernel").table
    assert len(table) == len(DESIGNS) * len(crashes.DURABILITIES) * len(crashes.KINDS)
    assert (table["crashes"] >= 10_000).all()
    assert table[["impossible", "wrong_outcomes", "disorders", "hangs"]].to_numpy().sum() == 0
    for row in table.to_dict("records"):
        flush, sync = crashes.DURABILITIES[row["durability"]]
        risks = kernel.risks(
            design=row["series"],
            sync_binlog=sync,
            flush_log_at_trx_commit=flush,
            is_kill=row["crash"] == "kill",
        )
        assert {name: row[name] > 0 for name in risks} == risks, row


def test_without_sysbench_the_reader_is_told(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(EngineRoomError, match="sysbench"):
        live.groups_live()


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("sysbench") is None, reason="sysbench is not installed: apt-get install sysbench"
)
def test_a_group_shares_its_fsyncs_on_a_server():
    run = live.groups_live(
        clients=(1, 16), repeats=1, seconds=2, series=("9.7",), settings=("1/1", "1/1, delay 5 ms", "0/0"),
        table_rows=10_000,
    )  # fmt: skip
    seen = run.table.set_index(["setting", "clients"])
    assert 0.9 < seen.loc[("1/1", 1), "binlog_fsyncs_per_commit"] < 1.2
    assert seen.loc[("1/1", 16), "binlog_fsyncs_per_commit"] < 0.6
    delayed = seen.loc[("1/1, delay 5 ms", 16)]
    assert delayed["sync_groups_per_commit"] < 0.7 * delayed["flush_groups_per_commit"]
    assert seen.loc[("1/1, delay 5 ms", 1), "latency_ms_p50"] > seen.loc[("1/1", 1), "latency_ms_p50"] + 3
    assert seen.loc[("0/0", 16), "binlog_fsyncs_per_commit"] < 0.01
