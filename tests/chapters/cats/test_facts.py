"""The facts of the chapter's page, on rows made by hand."""

from __future__ import annotations

import pytest

from engineroom.chapters.cats.experiments.policies import LOADS, POLICIES
from engineroom.chapters.cats.experiments.print_cost import CLIENTS, COSTS_US, Leads
from engineroom.facts.cats import Pareto, Policies, PrintCost, Printing, Tpcc, Vendor, Weighed, Weights
from engineroom.runs import newest


def test_the_example_is_weighed_by_the_kernel():
    seen = Weighed.now()
    assert (seen.weight_t2, seen.weight_t5) == (3, 1)
    assert (seen.first_5_7, seen.first_9_7) == (5, 2)


def test_what_a_report_takes_is_of_the_two_versions(made):
    printed = made(
        "own-deadlock-print",
        "live",
        "series repeat server print_cpu_us print_bytes",
        ("5.7.22", 0, "5.7.22", 600.0, 3000.0),
        ("9.7.4", 0, "9.7.4", 900.0, 3200.0),
    )
    log = made(
        "fig-7-16",
        "live",
        "innodb_print_all_deadlocks series repeat server lines",
        ("off", "log_lines_per_deadlock", 0, "9.7.4", 0),
        ("on", "log_lines_per_deadlock", 0, "9.7.4", 46),
    )
    seen = Printing.of(printed, log)
    assert (seen.print_us, seen.report_bytes, seen.report_lines) == (900, 3200, 46)


def test_gains_are_cats_over_fifo_with_the_most_clients(made):
    rates = {"fifo": (100, 50), "cats": (100, 75), "fifo_logging": (80, 25), "cats_logging": (90, 60)}
    errors = {"fifo": (1, 150), "cats": (1, 45), "fifo_logging": (1, 90), "cats_logging": (1, 30)}
    run = made(
        "fig-7-18",
        "sim",
        "concurrency series repeat tps ignored_errors half_width_percent is_settled",
        *[
            (clients, series, 0, rates[series][i], errors[series][i], 9 - 4 * i, 1 - i)
            for i, clients in enumerate((100, 900))
            for series in rates
        ],
    )
    seen = Pareto.of(run)
    assert seen.clients == 900
    assert (seen.gain_silent_ratio, seen.gain_printed_ratio) == (1.5, 2.4)
    assert (seen.loss_of_fifo_percent, seen.loss_of_cats_percent) == pytest.approx((50, 20))
    assert seen.deadlocks_ratio == 3
    assert (seen.points, seen.settled_points, seen.half_width_percent) == (8, 4, 5)
    assert (seen.deadlocks_per_1000_fifo, seen.deadlocks_per_1000_cats) == pytest.approx((50, 10))


def test_what_printing_costs_is_told_with_intervals_and_with_what_did_not_come(made):
    lead = {
        50: {0: 0.9, 500: 0.95, 1000: 1.0, 2000: 1.2, 4000: 1.5},
        300: {0: 1.1, 500: 1.16, 1000: 1.21, 2000: 1.3, 4000: 2.0},
    }
    rows = [
        (clients, cost, series, repeat, 100.0 * (ratio if series == "cats" else 1))
        for clients, of in lead.items()
        for cost, ratio in of.items()
        for repeat in range(3)
        for series in ("fifo", "cats")
    ]
    seen = PrintCost.of(made("own-cats-print-cost", "sim", "clients print_us series repeat tps", *rows))
    assert (seen.few_clients, seen.clients) == (50, 300)
    assert tuple(seen.even_ms) == pytest.approx((1, 1, 1))
    assert seen.few_lead.value == pytest.approx(0.9)
    assert (seen.dear_ms, seen.dear_lead.value) == pytest.approx((4, 2))
    assert (seen.claims, seen.claims_held) == (5, 3)
    assert seen.failed.startswith("These did not: with 300 clients printing outweighs")
    assert seen.failed.endswith("with 50 clients nobody is ahead without printing.")


def test_the_page_may_say_that_cats_is_ahead_at_every_cost():
    table = newest("own-cats-print-cost", "sim").table
    for clients in CLIENTS:
        leads = Leads.of(table, clients)
        assert leads.crossing_us().high == 0
        assert min(leads.lead(cost).low for cost in COSTS_US) > 1


def test_the_vendors_chart_counts_its_runs_once_though_it_has_two_quantities(made):
    rows = [
        (32, f"{scheduler}_{quantity}", repeat, 1.0, 2.0 + repeat, repeat == 0)
        for scheduler in ("fifo", "cats")
        for quantity in ("tps", "latency_ms")
        for repeat in range(2)
    ]
    seen = Vendor.of(
        made("fig-7-13", "sim", "clients series repeat value half_width_percent is_settled", *rows)
    )
    assert (seen.runs, seen.settled_runs, seen.half_width_percent) == (4, 2, 3)


def test_a_range_of_gains_is_over_the_clients_of_a_figure(made):
    def run(figure, *gains):
        rows = [
            (clients, series, 0, 100.0 * (gain if series == "cats" else 1))
            for clients, gain in zip((100, 500, 1000), gains, strict=True)
            for series in ("fifo", "cats")
        ]
        return made(figure, "sim", "concurrency series repeat tpmC", *rows)

    seen = Tpcc.of(
        run("fig-7-19", 1.0, 0.9, 0.8), run("fig-7-20", 1.1, 1.0, 0.9), run("fig-7-21", 1.0, 1.0, 1.0)
    )
    assert tuple(seen.contended_ratio) == (0.8, 1.0)
    assert tuple(seen.one_socket_ratio) == (0.9, 1.1)
    assert tuple(seen.standard_ratio) == (1, 1)
    assert seen.published_contended_ratio.least < 0.8 < seen.published_contended_ratio.most


def test_weights_are_of_the_two_loads_that_the_page_compares_and_deadlocks_of_all_runs(made):
    counted = made(
        "own-cats-weights",
        "sim",
        "workload series repeat waiters_per_choice heavy_percent other_first_percent",
        *[
            (load, "cats", repeat, 4.0 + repeat, heavy + repeat, 20.0 + repeat)
            for load, heavy in (("pareto", 10.0), ("special", 70.0), ("tpcc_32", 50.0))
            for repeat in range(3)
        ],
    )
    rows = [(100, series, repeat, 2, 500) for series in ("fifo", "cats") for repeat in range(3)]
    contended = made("fig-7-19", "sim", "concurrency series repeat deadlocks transactions", *rows)
    seen = Weights.of(counted, contended)
    assert (seen.tpcc_heavy_percent, seen.tpcc_other_first_percent, seen.pareto_heavy_percent) == (51, 21, 11)
    assert (seen.special_heavy_percent, seen.pareto_waiters_per_choice) == (71, 5)
    assert (seen.tpcc_deadlocks, seen.tpcc_transactions) == (12, 3000)


def test_the_page_may_say_which_expectations_of_the_weights_failed_and_which_came_true():
    heavy = newest("own-cats-weights", "sim").values("workload", y="heavy_percent")
    assert heavy["tpcc_32"] > 5
    assert heavy["pareto"] < 50
    assert heavy["special"] > 50


def test_policies_differ_where_the_intervals_of_their_seeds_do_not_overlap(made):
    rates = dict.fromkeys(LOADS, dict.fromkeys(POLICIES, 100.0))
    # Ahead of the others by far, behind them by far, and by less than the seeds are apart.
    rates["pareto"] = {**rates["pareto"], "cats": 200.0, "ldsf": 200.0, "bldsf": 200.0}
    rates["special"] = {**rates["special"], "cats": 50.0}
    rates["tpcc_1"] = {**rates["tpcc_1"], "cats": 101.0, "ldsf": 101.0, "bldsf": 101.0}
    rates["tpcc_32"] = {**rates["tpcc_32"], "fcfs_5_7": 20.0}
    run = made(
        "own-cats-policies",
        "sim",
        "workload series repeat tps is_settled deadlocks transactions",
        *[
            (load, policy, repeat, rate + repeat, repeat == 0, 1 if policy == "cats_8_0_3" else 4, 100)
            for load, of in rates.items()
            for policy, rate in of.items()
            for repeat in range(3)
        ],
    )
    seen = Policies.of(run)
    assert (seen.policies, seen.loads, seen.pairs, seen.seeds) == (8, 5, 28, 3)
    assert (seen.runs, seen.settled_runs) == (120, 40)
    assert seen.differ == {"pareto": 15, "special": 7, "uniform": 0, "tpcc_1": 0, "tpcc_32": 7}
    assert (seen.cats_differs, seen.cats_faster, seen.same_runs) == (2, 1, 4)
    assert seen.tpcc_5_7_ratio == pytest.approx(21 / 101)
    assert (seen.old_cats_ratio, seen.old_cats_deadlock_ratio) == pytest.approx((101 / 51, 1 / 4))
