from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from engineroom.facts import machine
from engineroom.facts.machine import (
    Configuration,
    Costs,
    Earlier,
    Errors,
    Formulas,
    Gate,
    Machines,
    OfFigures,
    Recordings,
    Repeats,
    Sensitivity,
    Stays,
    Studies,
)
from engineroom.ledger import sensitivity
from engineroom.machine import presets
from engineroom.runs import Run, latest
from engineroom.simulating.variations import SEED
from engineroom.validation import formulas as validation
from engineroom.validation import studies
from engineroom.validation.experiments import real as experiment

COLUMNS = "load design clients is_held_out commits_per_s fsyncs_per_commit processors_used latency_p99_us line_ns is_disturbed series repeat"
DURING = {"load_before": 0.41, "steal_percent": 0.3}


def point(
    load, design, clients, real, simulated, *, fsyncs=(1.0, 1.0), latency_us=(100.0, 100.0), line_ns=50.0
):
    """A real and a simulated run; a list of throughputs is as many repeats."""
    return [
        (load, design, clients, load in experiment.HELD_OUT, rate, per_commit, cpu, p99, line_ns, False, series, repeat)
        for series, rates, per_commit, cpu, p99 in zip(
            ("real", "simulated"), (real, simulated), fsyncs, (1.0, 0.9), latency_us, strict=True
        )
        for repeat, rate in enumerate(rates)
    ]  # fmt: skip


@pytest.fixture
def compared(made):
    def run(*points, machine=None, **more):
        tried = pd.DataFrame({"error": [0.3, 0.1, 0.2], experiment.FIT: [0.5, 0.7, 1.0]})
        return made(
            "own-machine-real",
            "host",
            COLUMNS,
            *(row for each in points for row in each),
            provenance={"during": DURING, "machine": machine or {}, "scheduling": "SCHED_RR, slices of 4 ms"},
            tables={"tried": tried},
            **more,
        )

    return run


GOOD = (
    point("a", "5.7", 1, [100.0], [150.0]),
    point("d", "5.7", 2, [100.0, 300.0, 110.0], [121.0]),  # the median of the real ones is 110
    point("e", "8.0", 2, [1000.0], [950.0], fsyncs=(1.0, 0.9)),
)


def test_only_points_that_the_fit_has_not_seen_are_said_to_be_off(compared):
    seen = Errors.of(compared(*GOOD))
    assert seen.said.startswith(
        "On loads that the fit has not seen, throughput is 8 % off in the median (goal 10) and 10 % at most (goal 20); "
        "fsyncs per commit 10 % at most (goal 15). 0 of 2 points miss the goal for throughput, 0 that for fsyncs."
    )
    assert seen.beyond == "No point is beyond a goal."
    assert seen.worst_point == "load d, 5.7, 2 clients"
    assert seen.processor_time == "10 % less processor time"


def test_points_beyond_a_goal_are_named_by_load_and_log(compared):
    missing = [point("f", "5.7", n, [100.0], [130.0]) for n in (16, 4)]
    fsyncs = point("d", "8.0", 2, [100.0], [100.0], fsyncs=(1.0, 1.2))
    points = machine.held_out(experiment.errors(compared(*GOOD, *missing, fsyncs).table))
    assert points["misses"].sum() == 3
    assert (
        machine.beyond_said(points) == "Beyond a goal: d, 8.0 with 2 clients; f, 5.7 with 4 and 16 clients."
    )
    assert "2 of 5 points miss the goal for throughput, 1 that for fsyncs" in machine.errors_said(points)


def test_processor_time_is_less_or_more():
    assert machine.processor_time_said(-1.4) == "1 % less processor time"
    assert machine.processor_time_said(2.6) == "3 % more processor time"


@pytest.mark.parametrize(
    ("errors", "at_edge"), [([0.3, 0.1, 0.2], False), ([0.1, 0.2, 0.3], True), ([0.3, 0.2, 0.1], True)]
)
def test_a_fit_at_the_edge_of_its_range_is_said_to_be_one(errors, at_edge):
    said = machine.fit_said(pd.DataFrame({"error": errors, experiment.FIT: [0.5, 0.75, 1.0]}))
    found = [0.5, 0.75, 1.0][int(np.argmin(errors))]
    assert said.startswith(
        f"The fit looks between 0.5 and 1 times what the primitives say of a wake-up, and finds {found:.2f}"
    )
    assert ("the edge of that range" in said) == at_edge
    assert said.endswith(".")


def test_the_points_that_are_farthest_off_stand_first(compared, monkeypatch):
    monkeypatch.setattr(machine, "SHOWN_FIRST", 1)
    seen = Errors.of(compared(*GOOD))
    first, others = seen.farthest.rows, seen.others.rows
    assert first["load"].tolist() == ["a, fitted"]
    assert others["load"].tolist() == ["d, held out", "e, held out"]
    assert others.iloc[0].tolist() == [
        "d, held out",
        "5.7",
        2,
        "110",
        "121",
        "+10 %",
        "1.00",
        "+0 %",
        "-10 %",
    ]
    assert seen.farthest.caption.startswith(
        "Real and simulated, the 1 of 3 points that are farthest off. a: one append"
    )
    assert seen.others.caption.startswith("The other 2 points, the farthest off first. a: ")


@pytest.fixture
def noisy(compared, monkeypatch):
    """One disturbed run, a wait for a tick of 4 ms on either side, and one when simulated again."""
    run = compared(
        point("b", "8.0", 2, [100.0, 250.0], [200.0], latency_us=(4000.0, 3000.0), line_ns=30.0),
        point("d", "8.0", 4, [100.0, 150.0], [200.0], latency_us=(3000.0, 4000.0), line_ns=200.0),
        point("d", "8.0", 1, [1.0], [1.0], latency_us=(9999.0, 9999.0)),  # one client waits for nobody
        point("f", "5.7", 4, [100.0, 175.0], [100.0, 150.0]),
        point("f", "5.7", 8, [100.0, 110.0], [100.0, 110.0]),
        point("a", "5.7", 32, [100.0, 200.0, 300.0, 400.0, 500.0], [250.0]),
        machine={"tick_ps": 4 * 10**9},
    )
    run.table.loc[0, "is_disturbed"] = True
    again = []

    def simulated_again(_, rows, **changes):
        again.append(changes)
        return rows

    monkeypatch.setattr(experiment, "simulated_again", simulated_again)
    seen = Repeats.of(run, recordings=19)
    assert again == [{"interrupt_every_ps": 0}]
    return seen


def test_disturbed_runs_are_counted_and_count_for_nothing(noisy):
    assert (noisy.real_runs, noisy.disturbed_runs) == (14, 1)
    assert (noisy.stolen_percent, noisy.load) == (0.3, 0.41)
    assert noisy.appends_apart_ratio == 1.5


def test_waits_for_a_tick_are_counted_where_several_clients_append(noisy):
    assert (noisy.waited_a_tick_real, noisy.waited_a_tick_of_real) == (1, 3)
    assert (noisy.waited_a_tick_simulated, noisy.waited_a_tick_of_simulated) == (1, 2)
    assert (noisy.waited_a_tick_uninterrupted, noisy.waited_a_tick_of_uninterrupted) == (1, 2)


def test_large_appends_are_told_by_the_point_that_varies_most(noisy):
    assert (noisy.large_apart_real_percent, noisy.large_apart_simulated_percent) == (75, 50)
    assert (noisy.line_least_ns, noisy.line_most_ns) == (30.0, 200.0)


def test_crowds_are_shown_as_quartiles(noisy):
    assert noisy.crowds.rows.iloc[0].tolist() == [32, "5.7", "real", "100", "200", "300", "400", "500"]
    assert "Recordings made: 19; shown 2026-01-02, scheduled SCHED_RR" in noisy.crowds.caption


def test_one_client_at_the_gate_is_told_from_its_least_to_its_most(compared):
    run = compared(
        point("g", "8.0", 1, [1400.0, 1500.0], [1480.0, 1520.0]),
        point("g", "8.0", 2, [9.0], [9.0]),
        point("g", "5.7", 1, [9.0], [9.0]),
    )
    assert Gate.of(run).texts() == {"real_per_s": "1,400 to 1,500", "simulated_per_s": "1,480 to 1,520"}


def test_every_recording_is_listed_and_those_not_withdrawn_are_judged(compared):
    bad = compared(*GOOD, point("f", "5.7", 4, [100.0], [300.0]))
    recordings = [
        dataclasses.replace(bad, n=1, withdrawn="a reason"),
        dataclasses.replace(bad, n=2),
        dataclasses.replace(compared(*GOOD), n=3),
    ]
    seen = Recordings.of(recordings)
    assert (seen.made, seen.withdrawn, seen.counting, seen.within) == (3, 1, 2, "1 is")
    assert 0 <= seen.within_again_percent <= 100
    assert seen.table.rows["recording"].tolist() == [3, 2, 1]
    assert seen.table.rows["points that miss a goal"].tolist() == ["0 of 2", "1 of 3", "1 of 3"]
    assert seen.table.rows["withdrawn"].tolist() == ["no", "no", "yes"]


def test_recordings_of_figures_are_alike_only_with_all_that_was_measured():
    def recorded(**machine):
        return Run("fig-7-01", "sim", pd.DataFrame({"series": [], "repeat": []}), {"machine": machine})

    ticks, other = recorded(tick_ps=1), recorded(sockets=4)
    alike = recorded(tick_ps=1, wake_quantiles_ps=[1], interrupt_quantiles_ps=[1], sockets=1)
    assert OfFigures.of([ticks, other]).texts() == {
        "simulated": "2",
        "alike": "none",
        "longest_varied": "none",
    }
    took = [
        dataclasses.replace(
            other, provenance={**other.provenance, "varied_in": {"wall_s": wall_s, "processors": 2}}
        )
        for wall_s in (1737.4, 60.0)
    ]
    assert OfFigures.of([*took, alike]).texts() == {
        "simulated": "3",
        "alike": "1",
        "longest_varied": "fig-7-01, 29 minutes on 2 processors",
    }


def test_a_number_of_recordings_has_its_verb():
    assert [machine.within_said(n) for n in (0, 1, 2)] == ["none is", "1 is", "2 are"]


def test_costs_are_told_from_picoseconds():
    quantiles = [each * 1_000_000 for each in range(1001)]  # 0 to 1000 us
    parameters = {
        "timer_ps": 14_000_000,
        "set_timer_quantiles_ps": quantiles,
        "wake_quantiles_ps": quantiles,
        "timer_interrupt_ps": 17_000_000,
        "kick_ps": 8_000_000,
        "wake_each_ps": 240_000,
        "woken_ps": 99_999,
        "wake_counted_ps": 8_000_000,
        "clock_ps": 24_600,
        "interrupt_every_ps": 668_000_000,
        "interrupt_quantiles_ps": quantiles,
    }
    assert Costs.of(parameters).texts() == {
        "next_timer_us": "14 us",
        "set_timer_us": "500 us",
        "set_timer_range_us": "50 to 950 us",
        "wake_range_us": "50 to 950 us",
        "timer_interrupt_us": "17 us",
        "kick_us": "8 us",
        "wake_each_us": "0.2 us",
        "woken_us": "less than 0.1 us",
        "wake_counted_us": "8.0 us",
        "clock_ns": "25 ns",
        "interruptions_per_s": "1,497",
        "interruption_mean_us": "500 us",
        "interruption_hundredth_us": "990 us",
    }


def test_earlier_recordings_are_told_by_load_f(compared):
    usual = compared(point("f", "8.0", 4, [100.0, 1300.0], [1.0]), point("e", "8.0", 4, [1.0, 1e6], [1.0]))
    fitted = compared(point("f", "5.7", 4, [100.0], [140.0]), point("f", "5.7", 8, [100.0], [47.0]))
    waker = compared(point("f", "5.7", 16, [100.0], [146.0]), point("f", "5.7", 8, [100.0], [100.0]))
    assert Earlier.of(usual_slices=usual, fitted_twice=fitted, waker_pays=waker).texts() == {
        "usual_slices_apart_ratio": "13",
        "fitted_twice_off_percent": "40 to 53 %",
        "waker_pays_off_percent": "+46 %",
    }


def test_formulas_are_counted_and_folded():
    checked = validation.validate(validation.CASES[-3:])
    checked.loc[checked.index[0], "holds"] = False
    seen = Formulas.of(checked)
    assert (seen.cases, seen.missed) == (3, 1)
    assert seen.worst_off_percent == checked["off_percent"].abs().max()
    assert seen.run.figure == "own-machine-validation"
    assert seen.table._repr_markdown_().splitlines()[0] == ":::{dropdown} All cases as a table"
    assert len(seen.table.splitlines()) == 3 + len(checked) + 1


def test_a_case_is_told_in_its_unit():
    assert machine.with_unit("M/M/1 response time", 2_500_000) == "2.5 ms"
    assert machine.with_unit("closed network throughput", 1.5e-6) == "1,500 a second"
    assert machine.with_unit("commits per fsync", 1.23456) == "1.235"


def test_times_are_in_the_unit_that_keeps_them_short():
    said = [machine.time_said(ps) for ps in (999, 1000, 40_500, 3_000_000, 4_000_000_000)]
    assert said == ["999 ps", "1 ns", "40.5 ns", "3 us", "4 ms"]


def test_a_machine_that_lacks_a_parameter_has_a_dash():
    def preset(name, **values):
        parameters = tuple(
            presets.Parameter(each, value, "cited", "a paper") for each, value in values.items()
        )
        return presets.Preset(name, f"The {name}", parameters)

    small, large = (
        preset("small", cores=2),
        preset("large", cores=88, smt_permille=1500, copy_ps_per_kib=[40_000, 50_000]),
    )
    seen = Machines.of([small, large])
    assert list(seen.table.rows) == ["parameter", "small", "large"]
    assert seen.table.rows.to_numpy().tolist() == [
        ["cores", "2", "88"],
        ["smt", "-", "1.5"],
        ["copy a KiB", "-", "40 ns"],
    ]
    assert ":::{dropdown} The large (`large`)" in seen.sources
    assert "| `smt_permille` | 1.5 | cited | a paper |" in seen.sources


def held_against(*points):
    """Rows of the comparison with studies: study, lock, threads, ns a turn published and simulated."""
    return [
        (study, lock, threads, series, 0, ns)
        for study, lock, threads, *both in points
        for series, ns in zip(("published", "simulated"), both, strict=True)
    ]


@pytest.fixture
def crowds(made):
    points = held_against(
        ("perfbook_448", "atomic increment", 1, 5.0, 50.0),
        ("perfbook_448", "atomic increment", 2, 20.0, 40.0),  # half as fast
        ("perfbook_448", "atomic increment", 224, 30.0, 120.0),
        ("lockbench_48", "ticket", 2, 100.0, 90.0),
        ("lockbench_48", "test-and-set", 2, 50.0, 100.0),
    )
    pairs = [
        (where, how, published, simulated)
        for where, how, published, simulated in (
            ("sibling", "blind compare-and-swap", 7.0, 7.0),
            ("socket of the same half", "blind compare-and-swap", 150.0, 150.0),
            ("socket of the other half", "blind compare-and-swap", 330.0, 330.0),
            ("sibling", "look, then increment", 20.0, 19.0),
            ("socket of the same half", "look, then increment", 400.0, 300.0),
        )
    ]
    varied = [
        ("lockbench_48", "ticket", 2, "pause_ps", 0.5, 45.0),
        ("lockbench_48", "ticket", 2, "wake_ps", 0.5, 90.0),
    ]
    return made(
        "own-machine-crowds",
        "sim",
        "study lock threads series repeat ns_per_turn",
        *points,
        tables={
            "pairs": pd.DataFrame(pairs, columns=["where", "how", "published_ns", "simulated_ns"]),
            "varied": pd.DataFrame(
                varied, columns=["study", "lock", "threads", "parameter", "factor", "ns_per_turn"]
            ),
            "stays": pd.DataFrame(
                [("lockbench_48", "ticket", 2, 500, 60.0)],
                columns=["study", "lock", "threads", "line_stay_permille", "ns_per_turn"],
            ),
        },
    )


def test_studies_are_told_by_what_misses_first(crowds):
    chosen = [studies.study(name) for name in ("lockbench_48", "perfbook_448")]
    seen = Studies.of(crowds, chosen)
    assert seen.number == 2
    assert seen.said == (
        "3 of 4 points are off by more than 30 %, and the median is 50 % (goal 30). Of two locks that a study tells apart, the simulation "
        "takes the wrong one for the faster in 1 of 1 cases; from one number of threads to the next it moves the wrong way in 0 of 1."
    )
    assert seen.by_lock == "atomic increment -62 %, test-and-set -50 %, ticket +11 %"
    assert seen.farthest == (
        "atomic increment with 224 threads in perfbook_448 (-75 %) and ticket with 2 threads in lockbench_48 (+11 %)"
    )
    assert (seen.atomic_threads, seen.atomic_published_ns, seen.atomic_simulated_ns) == (224, 30.0, 120.0)
    assert seen.sockets_apart_ns == 150.0
    assert seen.texts()["looks_off_percent"] == "-25 to -5 %"


def test_lines_that_stay_stand_beside_those_that_do_not(made):
    points = held_against(
        ("perfbook_448", "atomic increment", 2, 20.0, 40.0),
        ("perfbook_448", "atomic increment", 224, 30.0, 120.0),
        ("lockbench_48", "ticket", 8, 300.0, 200.0),
        ("lockbench_48", "test-and-set", 8, 400.0, 500.0),
    )
    stays = [
        ("perfbook_448", "atomic increment", 2, 500, 10.0),
        ("perfbook_448", "atomic increment", 224, 500, 15.0),
        ("lockbench_48", "ticket", 8, 500, 100.0),
        ("lockbench_48", "test-and-set", 8, 500, 50.0),
    ]
    columns = ["study", "lock", "threads", "line_stay_permille", "ns_per_turn"]
    run = made(
        "own-machine-crowds",
        "sim",
        "study lock threads series repeat ns_per_turn",
        *points,
        tables={"stays": pd.DataFrame(stays, columns=columns)},
    )
    seen = Stays.of(run)
    assert seen.said == (
        "The median error is 150 % instead of 50; the faster of two locks is right in 0 of 1 cases instead of 1, the direction of a step in "
        "1 of 1 instead of 1."
    )
    assert seen.by_lock == "test-and-set +700 %, ticket +200 %, atomic increment +100 %"
    # Four times, eight times, twice and ten times as fast as where lines go at once.
    assert (seen.moved_percent, seen.moved_most_percent) == (500.0, 900.0)
    assert (seen.atomic_ns, seen.lock_published_ns, seen.lock_usual_ns, seen.lock_ns) == (
        15.0,
        400.0,
        500.0,
        50.0,
    )


def test_the_lock_that_is_farthest_off_stands_first(crowds):
    chosen = [studies.study(name) for name in ("lockbench_48", "perfbook_448")]
    seen = Studies.of(crowds, chosen)
    assert seen.table.rows.iloc[0].tolist() == [
        "Atomic increments of one counter on 8 sockets",
        "atomic increment",
        "2 to 224",
        "-62 %",
        "-75 %",
        "-50 %",
        "1 of 1",
    ]
    assert seen.table.rows["lock"].tolist() == ["atomic increment", "test-and-set", "ticket"]
    assert seen.sensitivity.rows.to_numpy().tolist() == [
        ["pause", "times 0.5", "+100 %", "100 %"],
        ["line stay", "500 instead of 0", "+50 %", "50 %"],
        ["wake", "times 0.5", "+0 %", "0 %"],
    ]


def test_a_study_names_its_source_and_the_numbers_that_are_its_own():
    text = machine.studies_folded([studies.study("lockbench_48")])
    assert ":::{dropdown} Spin locks on 2 sockets of 12 cores (`lockbench_48`)" in text
    assert "<https://github.com/apana03/lockbench>" in text
    assert "| `cores_per_socket` | 12 | chosen |" in text
    assert "`wake_ps`" not in text, "a number of the preset"


def test_numbers_that_move_a_figure_are_told_with_where_they_come_from():
    columns = ["figure", "parameter", "factor", "claim", "moved_percent", "flips", "outcomes_changed"]
    found = pd.DataFrame(
        [
            ("fig-7-06", SEED, 1, "peak", 300.0, False, 0),
            ("fig-7-06", "wake_ps", 0.5, "peak", -38.0, True, 1),
            ("fig-7-06", "wake_ps", 1.5, "peak", 6.0, False, 0),
            ("fig-7-02", "pause_ps", 0.5, "ratio", 20.0, False, 0),
            ("fig-7-02", "load_ps", 0.5, "ratio", -9.0, False, 0),
            ("tab-gc-1", "load.statements", 0.5, "ratio", 50.0, True, 1),  # of the load, not of the machine
        ],
        columns=columns,
    )
    seen = Sensitivity.of(found, presets.preset("four_sockets_176"))
    assert seen.varied == 3
    assert seen.said == (
        "2 move a ratio that a figure or a study is asked for by more than 10 %. Of the figures fig-7-02, fig-7-06 were simulated so. "
        "Verdicts that flip, with the count of such numbers: fig-7-06 (1)."
    )
    assert seen.table.rows["number"].tolist() == ["wake", "pause"]
    assert seen.table.rows.iloc[0].tolist()[1:3] == ["3 us", "fig-7-06 -38 % (times 0.5)"]
    assert seen.run.figure == "own-machine-sensitivity"
    assert machine.figures_flipped(found.assign(flips=False)) == "none"


def test_figures_with_the_other_scheduling_are_judged_beside_their_own_recording():
    usual = [latest(figure, "sim") for figure in ("fig-7-01", "fig-7-06", "num-deg-3")]
    of_seed = {each.figure: each.table[each.table["repeat"] == 0] for each in usual}
    other = of_seed["fig-7-06"].copy()
    other.loc[other["concurrency"] == 3, "flushes_per_transaction"] *= 100
    run = Run("own-machine-configuration", "sim", usual[0].table, {}, tables={**of_seed, "fig-7-06": other})
    same = Configuration.of(dataclasses.replace(run, tables=of_seed), usual)
    assert (same.figures, same.flips, same.flipped, same.outcomes) == (3, 0, "none", 0)
    assert same.moved_percent == 0
    assert same.convoy == same.convoy_usual
    seen = Configuration.of(run, usual)
    assert seen.outcomes > 0
    assert seen.farthest == "fig-7-06, 3-over-200 (times 100)"
    assert [row[0] for row in seen.table.rows.to_numpy().tolist()] == ["fig-7-01", "fig-7-06", "num-deg-3"]
    assert seen.table.rows.iloc[2, 3].startswith("0 of ")


def test_a_convoy_begins_where_the_old_log_commits_less_than_half():
    rows = [
        (50, "before", 50.0),
        (50, "after", 100.0),
        (100, "before", 49.0),
        (100, "after", 100.0),
        (200, "before", 1.0),
        (200, "after", 100.0),
    ]
    table = pd.DataFrame(rows, columns=["concurrency", "series", "tps"]).assign(repeat=0)
    assert machine.convoy_from(table) == 100


def test_moves_of_the_studies_stand_beside_those_of_the_figures(crowds, monkeypatch):
    monkeypatch.setattr(sensitivity, "varied_runs", list)
    found = machine.all_moves(crowds)
    assert set(found["figure"]) == {"own-machine-crowds"}
    most = found.set_index("parameter")["moved_percent"]
    assert most.to_dict() == {"pause_ps": 100.0, "wake_ps": 0.0}
    assert not found["flips"].any()
    seen = Sensitivity.of(found, presets.preset("four_sockets_176"))
    assert "which verdicts would flip is not known" in seen.said
    assert "1 move a point" in seen.said


def test_cores_are_told_by_what_their_time_was_used_for():
    used = np.array([[60, 10, 10, 10, 10, 0], [40, 0, 0, 0, 60, 0]])
    table = machine.use_of_cores({"two cores": {"core_ps": used}})
    assert table.rows.to_numpy().tolist() == [
        ["two cores", "50.0 %", "5.0 %", "5.0 %", "5.0 %", "35.0 %", "0.0 %"]
    ]


def test_a_crowd_is_what_its_figure_draws():
    run = machine.crowd()
    assert run.figure == "own-machine-flame"
    assert {"path", "state", "ns"} <= set(run.table)
