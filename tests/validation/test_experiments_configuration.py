"""The simulated figures on machines that wake and interrupt threads as the one that was compared with real threads."""

from __future__ import annotations

import dataclasses

from engineroom import runs
from engineroom.machine.presets import parameters
from engineroom.simulating.again import Asked
from engineroom.simulating.executors import HERE
from engineroom.simulating.experiment import Experiment, Together
from engineroom.validation.experiments.configuration import (
    FIGURE,
    SCHEDULING,
    configuration_sim,
    scheduled_as,
)

COMPARED = runs.latest("own-machine-real", "host")


def measured(point, given):
    return {"ns": given.machine["slice_ps"] * point["threads"], "moved_ps": given.machine["other_socket_ps"]}


MADE_UP = Experiment(
    figure="num-deg-3",
    says="made up",
    points={"threads": (1, 2), "series": ("a", "b")},
    measure=measured,
    load={"statements": 1},
    machine="four_sockets_176",
    columns={
        "ns": "made up",
        "moved_ps": "made up",
        "threads": "made up",
        "series": "made up",
        "repeat": "made up",
    },
)


def test_wake_ups_and_interruptions_are_those_beside_real_threads_and_the_rest_is_the_figures():
    from engineroom._native import machine

    usual, other = parameters("four_sockets_176"), scheduled_as(COMPARED, "four_sockets_176")
    machine.check_parameters(other)
    assert set(SCHEDULING) <= {each.name for each in machine.parameters()}
    same = {
        "sockets",
        "threads_per_core",
        "other_socket_ps",
        "rmw_ps",
        "disk_fsync_quantiles_ps",
        "pwrite_ps",
    }
    assert {name: other[name] for name in same} == {name: usual[name] for name in same}
    changed = {name for name in other if other[name] != usual.get(name)}
    assert (
        {"tick_ps", "wake_quantiles_ps", "interrupt_every_ps", "timer_slack_ps"} <= changed <= set(SCHEDULING)
    )
    assert "wake_ps" not in other


def test_each_figure_has_a_table_of_its_own_points_on_the_other_machine():
    both = Together(
        whole=dataclasses.replace(MADE_UP, figure="fig-7-04"),
        figures={"fig-7-04": {"a": "x"}, "fig-7-05": {"b": "y"}},
    )
    asked = [Asked(MADE_UP, lambda point: point["threads"] == 2), Asked(both)]
    run = configuration_sim(asked=asked, compared=COMPARED, executor=HERE)
    assert run.figure == FIGURE
    assert run.table["series"].tolist() == ["num-deg-3", "fig-7-04", "fig-7-05"]
    assert run.table["points"].tolist() == [2, 2, 2]
    assert run.tables["num-deg-3"]["threads"].tolist() == [2, 2]
    assert run.tables["fig-7-05"]["series"].tolist() == ["y", "y"]
    slice_ps = COMPARED.provenance["machine"]["slice_ps"]
    assert run.tables["num-deg-3"]["ns"].tolist() == [2 * slice_ps] * 2
    assert run.provenance["scheduling"]["slice_ps"] == slice_ps
    assert set(run.columns) >= {column for table in run.tables.values() for column in table}
