"""A simulated experiment: what a run has of points and seeds, and its variations."""

from __future__ import annotations

import dataclasses

import pytest

from engineroom.errors import EngineRoomError
from engineroom.machine.presets import preset
from engineroom.simulating.executors import HERE
from engineroom.simulating.experiment import Experiment, Seen, Together
from engineroom.simulating.variations import FACTORS, varied

MACHINE = "four_sockets_176"


def measured(point, given, *, plus=0):
    return {"ns": [point["threads"], given.seed, given.machine["switch_ps"] + plus]}


made = Experiment(
    figure="num-deg-3",
    says="made up",
    points={"threads": (1, 2), "series": ("a", "b")},
    measure=measured,
    options={"plus": 0},
    load={"statements": 1},
    machine=MACHINE,
    columns={"ns": "made up"},
)


def by(measure):
    return dataclasses.replace(made, measure=measure, options={})


def test_a_run_has_a_row_for_each_point_and_seed_in_their_order():
    run = made(machine={"switch_ps": 5}, seeds=(3, 7))
    assert run.table.to_dict("list") == {
        "threads": [1, 1, 1, 1, 2, 2, 2, 2],
        "series": list("aabbaabb"),
        "repeat": [0, 1] * 4,
        "ns": [[threads, seed, 5] for threads in (1, 2) for _ in "ab" for seed in (3, 7)],
    }
    assert (run.figure, run.method, run.summary, dict(run.tables)) == ("num-deg-3", "sim", "median", {})
    assert run.columns == {"ns": "made up"}


def test_a_run_says_its_machine_and_load():
    seen = made(seeds=(3, 7)).provenance
    assert (seen["machine"], seen["machine_name"]) == (preset(MACHINE).values(), MACHINE)
    assert (seen["load"], seen["seed"]) == ({"statements": 1}, 3)
    assert seen["during"]["wall_s"] >= 0
    assert "machine_name" not in made(machine={"switch_ps": 5}).provenance


def test_a_load_that_rests_on_a_recording_is_read_when_the_run_is_made():
    asked = []
    run = dataclasses.replace(made, load=lambda: asked.append(1) or {"statements": 7})(seeds=(3,))
    assert (run.provenance["load"], asked) == ({"statements": 7}, [1])


def test_a_point_may_give_several_rows_and_further_tables():
    def measure(_point, given):
        return Seen([{"part": part} for part in "xy"], tables={"waits": [{"name": "latch", "n": given.seed}]})

    run = by(measure)(seeds=(1,))
    assert run.table["part"].tolist() == list("xy") * 4
    waits = run.tables["waits"]
    assert list(waits.columns) == ["threads", "series", "repeat", "name", "n"]
    assert len(waits) == 4


def test_an_error_in_a_run_says_point_and_seed():
    def measure(_point, _given):
        raise EngineRoomError("no", remedy="ask again")

    with pytest.raises(EngineRoomError, match=r"no \(at threads 1, series 'a', seed 1\)"):
        by(measure)()


def test_columns_and_options_can_be_others_in_a_call_and_nothing_else():
    run = made(threads=(9,), series=("c",), plus=10, seeds=(1,), machine={"switch_ps": 5})
    assert run.table.to_dict("records") == [{"threads": 9, "series": "c", "repeat": 0, "ns": [9, 1, 15]}]
    with pytest.raises(EngineRoomError, match="num-deg-3 has nothing that is called clients") as error:
        made(clients=(1,))
    assert error.value.remedy == "choose from threads, series, plus"


def test_varied_machines_hang_on_the_run():
    machine = preset(MACHINE)
    run = varied(made(seeds=(1,)), made, executor=HERE)
    table = run.tables["varied"]
    took = run.provenance["varied_in"]
    assert 0 <= took["wall_s"] < 3600
    assert took["processors"] >= 1
    found = table.drop_duplicates(["parameter", "factor"]).set_index(["parameter", "factor"])["ns"].str[2]
    every = {(name, factor) for name in machine.uncertain() for factor in FACTORS}
    of_machine = {key for key in found.index if not key[0].startswith("load.")}
    assert of_machine == every - {("disk_queue_depth", 0.5)}  # one disk cannot be halved
    usual = machine.values()["switch_ps"]
    assert (found["switch_ps", 0.5], found["switch_ps", 1.5], found["wake_ps", 0.5]) == (
        0.5 * usual,
        1.5 * usual,
        usual,
    )
    assert "times its value" in run.columns["factor"]


def test_a_run_whose_machine_has_no_name_cannot_be_varied():
    run = dataclasses.replace(made(), provenance={})
    with pytest.raises(EngineRoomError, match="does not say on which machine"):
        varied(run, made)


def test_figures_that_are_made_together_have_the_rows_and_tables_of_their_series():
    def both(point, given):  # noqa: ARG001
        return Seen([{"ns": given.seed}], {"more": [{"what": 1}]})

    asked = []
    whole = dataclasses.replace(by(both), load=lambda: asked.append(1) or {"statements": 1})
    together = Together(
        whole=whole, figures={"num-deg-3": {"a": "a", "b": "b"}, "fig-7-06": {"b": "renamed"}}
    )
    first, second = together(seeds=(3, 7), executor=HERE)
    assert asked == [1]
    assert (first.figure, second.figure) == ("num-deg-3", "fig-7-06")
    assert len(first.table) == 8
    assert second.table.to_dict("list") == {
        "threads": [1, 1, 2, 2],
        "series": ["renamed"] * 4,
        "repeat": [0, 1] * 2,
        "ns": [3, 7] * 2,
    }
    assert second.tables["more"]["series"].tolist() == ["renamed"] * 4
    varied_runs = together.split(varied(whole(seeds=(1,), executor=HERE), whole, executor=HERE))
    assert set(varied_runs[1].tables["varied"]["series"]) == {"renamed"}
    assert "load.statements" in set(varied_runs[1].tables["varied"]["parameter"])
