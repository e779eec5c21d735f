"""The chapter's experiments: small runs of each, and what they take from recordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pytest

from engineroom.chapters.cats import experiments as cats
from engineroom.chapters.cats.experiments import contest, policies, print_cost, simulated, weights
from engineroom.chapters.cats.experiments.print_cost import CLAIMS
from engineroom.chapters.cats.experiments.weights import Counting
from engineroom.chapters.cats.standings import Leads, Standing
from engineroom.errors import EngineRoomError
from engineroom.simulating.experiment import Experiment

WINDOW: dict[str, Any] = {"first_ms": 5, "longest_ms": 5, "warmup_ms": 5}


def test_printing_costs_what_was_measured_of_the_thread_that_prints() -> None:
    table = simulated.printed().table
    of = table[table["server"] == simulated.PRINTING]["print_cpu_us"]
    assert simulated.print_ns() == pytest.approx(1000 * of.median(), rel=1e-6)
    assert 1000 * of.min() <= simulated.print_ns() <= 1000 * of.max()


def test_all_figures_of_sysbench_are_parts_of_one_simulation() -> None:
    runs = simulated.pareto_sim(concurrency=(100, 300), seeds=(1,), **WINDOW)
    by = {run.figure: run for run in runs}
    assert set(by) == {"fig-7-10", *cats.MADE_TOGETHER["fig-7-10", "sim"]}
    assert set(by["fig-7-18"].table["series"]) == {"fifo", "cats", "fifo_logging", "cats_logging"}
    for figure, source in [("fig-7-10", "cats_logging"), ("fig-7-17", "cats")]:
        mine = by[figure].table
        whole = by["fig-7-18"].table
        assert set(mine["series"]) == {"fifo", "cats"}
        assert (
            mine[mine["series"] == "cats"]["tps"].tolist() == whole[whole["series"] == source]["tps"].tolist()
        )
        assert set(by[figure].tables["latches"]["series"]) == {"fifo", "cats"}
    row = by["fig-7-11"].table.iloc[0]
    assert row["latency_ms"] == pytest.approx(1000 * row["concurrency"] / row["tps"])


def test_the_schedulers_run_one_load_on_one_machine_and_only_printing_costs() -> None:
    run = simulated.pareto_sim(concurrency=(50,), seeds=(1,), **WINDOW)[-1]
    assert run.provenance["machine_name"] == cats.simulated.MACHINE
    assert run.provenance["load"]["print_ns"] == simulated.print_ns()
    assert run.provenance["load"]["distribution"] == "pareto"


def test_the_vendors_chart_has_both_quantities_of_both_schedulers_and_prints_nothing() -> None:
    run = simulated.vendor_sim(clients=(32,), seeds=(1,), **WINDOW)
    assert run.table["series"].tolist() == ["fifo_tps", "fifo_latency_ms", "cats_tps", "cats_latency_ms"]
    tps, latency_ms = run.table["value"].iloc[:2]
    assert (tps, latency_ms) == (run.table["tps"].iloc[0], pytest.approx(32_000 / run.table["tps"].iloc[0]))
    improved = simulated.pareto_sim(concurrency=(32,), series=("fifo",), seeds=(1,), **WINDOW)[-1]
    assert improved.provenance["load"] == run.provenance["load"]
    assert tps != improved.table["tps"].iloc[0], "the vendor's server is nobody's improved one"


@pytest.mark.parametrize(
    "how", [simulated.contended_sim, simulated.standard_sim], ids=["32 warehouses", "1000 warehouses"]
)
def test_tpcc_has_its_warehouses(how: Experiment) -> None:
    run = how(concurrency=(100,), seeds=(1,), **WINDOW)
    assert run.provenance["load"]["warehouses"] == (32 if how is simulated.contended_sim else 1000)
    assert (run.table["transactions"] > 0).all()
    assert run.table["series"].tolist() == ["fifo", "cats"]


def heaviest_first(waiters: Sequence[Mapping[str, Any]]) -> list[int]:
    """CATS in Python."""
    weights = [waiter["weight"] if waiter["weight"] > 1 else 0 for waiter in waiters]
    return sorted(range(len(waiters)), key=lambda place: (not waiters[place]["is_urgent"], -weights[place]))


def test_cats_written_in_python_makes_the_kernel_s_run() -> None:
    board = contest.leaderboard(
        {"python": heaviest_first},
        seeds=(1,),
        policies={"fifo": "fcfs, equal weights", "cats": "cats, 8.0.20"},
    )
    assert board.loc["python"].to_dict() == board.loc["cats"].to_dict()
    assert board.index[-1] == "fifo"
    assert board.loc["fifo", "over_cats"] < 0.5


@pytest.mark.parametrize(
    "returned",
    [[0, 0], [-1], [1000], ["x"], None, 3],
    ids=["twice", "negative", "nobody", "text", "none", "number"],
)
def test_places_that_no_waiter_has_are_refused_with_what_was_returned(returned: Any) -> None:
    with pytest.raises(ValueError, match=r"(?s)order returned .* What to do"):
        contest.leaderboard({"mine": lambda _: returned}, seeds=(1,), policies={})


def test_what_a_schedule_raises_reaches_its_author() -> None:
    def fails(waiters: Sequence[Mapping[str, Any]]) -> list[int]:
        raise KeyError(waiters[0]["mode"])

    with pytest.raises(KeyError, match="X"):
        contest.leaderboard({"mine": fails}, seeds=(1,), policies={})


def test_a_schedule_may_leave_waiters_out_and_has_a_name_of_its_own() -> None:
    board = contest.leaderboard({"nobody": lambda _: []}, seeds=(1,), policies={})
    assert board.loc["nobody", "tps"] > 0
    with pytest.raises(EngineRoomError, match="cats is a policy already"):
        contest.leaderboard({"cats": heaviest_first})


def test_one_socket_does_less_than_four() -> None:
    one, four = (
        how(concurrency=(250,), series=("fifo",), seeds=(1,), **WINDOW)
        for how in (simulated.one_socket_sim, simulated.contended_sim)
    )
    assert one.table["tpmC"].item() < four.table["tpmC"].item()


def test_each_policy_is_asked_on_each_load_by_the_name_that_the_kernel_knows() -> None:
    from engineroom._native import lock_sys
    from engineroom.chapters.cats.experiments import policies

    known = {option.name: option for option in lock_sys.lock_options()}["policy"].names
    assert set(policies.POLICIES.values()) == set(known)
    window: dict[str, Any] = {"first_ms": 40, "longest_ms": 40, "warmup_ms": 5}
    run = policies.policies_sim(workload=("tpcc_1", "pareto"), series=("fifo", "vats"), seeds=(1,), **window)
    table = run.table.set_index(["workload", "series"])
    assert set(table.index) == {
        (load, series) for load in ("tpcc_1", "pareto") for series in ("fifo", "vats")
    }
    assert (table["transactions"] > 0).all()
    assert table.loc[("tpcc_1", "fifo"), "clients"] == policies.LOADS["tpcc_1"][0]


def test_the_walk_of_8_0_3_is_ahead_only_while_a_look_at_a_lock_is_cheap() -> None:
    from engineroom.chapters.cats.experiments import policies
    from engineroom.machine.presets import parameters
    from engineroom.simulating.engine import Design, observed
    from engineroom.simulating.experiment import Given

    clients, _ = policies.LOADS["special"]
    given = Given(machine=parameters(policies.MACHINE), load=policies.load_of("special"), seed=1)

    def tps(policy: str, look_ns: int) -> float:
        design = Design(locks={"policy": policies.POLICIES[policy], "look_ns": look_ns})
        row, _ = observed(design, given, clients=clients, first_ms=100, longest_ms=100, warmup_ms=100)
        return float(row["tps"])

    assert tps("cats_8_0_3", 5) > tps("cats", 5)
    assert tps("cats_8_0_3", 50) < tps("cats", 50)


def standing_of(tps: Mapping[str, Sequence[float]]) -> Standing:
    """Where policies stand on one load, by the throughput of each seed."""
    rows = [("pareto", name, k, each) for name, seeds in tps.items() for k, each in enumerate(seeds)]
    return Standing.of(pd.DataFrame(rows, columns=["workload", "series", "repeat", "tps"]), "pareto")


def test_the_interval_of_a_policy_is_student_s_of_its_three_seeds() -> None:
    of = standing_of({"fifo": [9, 10, 11]})
    # The deviation is 1, and 4.3027 / sqrt(3) of it lies to either side.
    assert (of.low["fifo"], of.mean["fifo"], of.high["fifo"]) == pytest.approx(
        (7.5158, 10, 12.4842), abs=1e-4
    )


def test_policies_whose_intervals_overlap_do_not_differ_though_every_seed_of_one_is_faster() -> None:
    of = standing_of({"fifo": [9, 10, 11], "cats": [13, 14, 15], "vats": [15, 16, 17]})
    assert not of.differ("fifo", "cats")
    assert of.differ("fifo", "vats")
    assert of.differ("vats", "fifo")
    assert of.pairs() == 1
    assert of.leaders() == ["cats", "vats"]


def test_an_interval_of_another_number_of_seeds_is_refused() -> None:
    with pytest.raises(ValueError, match="2 seeds of pareto"):
        standing_of({"fifo": [9, 10]})


def leads_of(ratios: Mapping[int, Sequence[float]], clients: int = 300) -> pd.DataFrame:
    """Rows in which CATS has these throughputs over FIFO's by the cost, a seed each."""
    return pd.DataFrame(
        [
            {
                "clients": clients,
                "print_us": cost,
                "series": series,
                "repeat": repeat,
                "tps": 100.0 * (ratio if series == "cats" else 1),
            }
            for cost, each in ratios.items()
            for repeat, ratio in enumerate(each)
            for series in ("fifo", "cats")
        ]
    )


def test_where_the_lead_crosses_lies_on_the_line_between_two_costs() -> None:
    seen = Leads.of(leads_of({0: [0.9] * 4, 1000: [0.95] * 4, 2000: [1.2] * 4}), 300)
    assert tuple(seen.crossing_us()) == pytest.approx((1200, 1200, 1200))
    assert tuple(seen.lead(2000)) == pytest.approx((1.2, 1.2, 1.2))


def test_a_lead_without_printing_crosses_at_once_and_is_doubled_where_it_is_its_square() -> None:
    seen = Leads.of(leads_of({0: [1.1] * 3, 1000: [1.1] * 3, 2000: [1.32] * 3}), 300)
    assert tuple(seen.crossing_us()) == (0, 0, 0)
    assert seen.even_us().value == pytest.approx(1500)


def test_a_lead_that_never_comes_is_infinite_also_in_its_interval() -> None:
    seen = Leads.of(leads_of({0: [0.5, 1.5] * 10, 1000: [0.5, 1.5] * 10}), 300)
    crossing = seen.crossing_us()
    assert crossing.low == 0
    assert crossing.high == crossing.value == float("inf")


def test_seeds_that_differ_widen_the_interval_and_the_lead_is_their_geometric_mean() -> None:
    seen = Leads.of(leads_of({0: [0.5, 2.0] * 10}), 300)
    assert seen.lead(0).value == pytest.approx(1)
    assert seen.lead(0).low < 0.9
    assert seen.lead(0).high > 1.1


def test_each_claim_can_fail() -> None:
    def table(few: Sequence[float], many: Sequence[float]) -> pd.DataFrame:
        costs = range(0, 4_001, 500)
        at = [[f + (m - f) * cost / 4_000 for cost in costs] for f, m in (few, many)]
        return pd.concat(
            [
                leads_of({cost: [value] * 3 for cost, value in zip(costs, values, strict=True)}, clients)
                for clients, values in zip((50, 300), at, strict=True)
            ]
        )

    holds = [claim(table((1.0, 1.5), (1.05, 3.0))) for claim in CLAIMS.values()]
    fails = [claim(table((1.2, 0.8), (0.9, 0.8))) for claim in CLAIMS.values()]
    assert holds == [True] * len(CLAIMS)
    assert fails == [False] * len(CLAIMS)


def test_the_cost_of_printing_slows_who_deadlocks_and_the_same_seeds_run_at_each() -> None:
    run = print_cost.print_cost_sim(
        clients=(300,), print_us=(0, 4_000), seeds=(1, 2), first_ms=200, longest_ms=200, warmup_ms=100
    )
    assert run.table["repeat"].tolist() == [0, 1] * 4
    by = run.table.groupby(["series", "print_us"])["tps"].sum()
    assert by["fifo", 4_000] < by["fifo", 0]
    assert len(print_cost.print_cost_sim.seeds) >= 20


def test_choices_are_counted_among_several_waiters_and_heavy_ones_are_above_one() -> None:
    def waiter(weight: int) -> dict[str, Any]:
        return {"weight": weight, "is_urgent": False}

    order = Counting()
    assert order([waiter(5)]) == [0]
    assert order([waiter(1), waiter(0)]) == [0, 1]
    assert order([waiter(2), waiter(1)]) == [0, 1]
    assert order([waiter(1), waiter(2), waiter(3)]) == [2, 1, 0]
    assert (order.choices, order.waiters, order.heavy, order.other_first) == (3, 7, 2, 1)


def test_counting_changes_nothing_of_the_run_and_each_seed_counts_anew() -> None:
    window: dict[str, Any] = {"first_ms": 30, "longest_ms": 30, "warmup_ms": 60}
    counted = weights.weights_sim(workload=("special",), seeds=(1, 1), **window).table
    kernels = policies.policies_sim(workload=("special",), series=("cats",), seeds=(1,), **window).table
    assert counted["tps"].tolist() == [kernels["tps"].iloc[0]] * 2
    assert counted["choices"].nunique() == 1
    assert counted["choices"].iloc[0] > 0
    assert (counted["other_first_percent"] <= counted["heavy_percent"]).all()
