from __future__ import annotations

from engineroom.chapters.cats import numbers


def test_the_example_is_weighed_by_the_kernel() -> None:
    weights = numbers.weights()
    assert (weights[2], weights[5]) == (3, 1)
    assert [numbers.first(policy) for policy in ("fcfs, 5.7", "cats, 8.0.20")] == [5, 2]


def test_a_lead_is_told_at_every_cost_of_the_recording_and_what_was_expected_of_it() -> None:
    assert numbers.leads(numbers.crowd).crossing_us().high == 0
    assert len(numbers.expected()) == 5


def test_loads_are_compared_by_the_seeds_of_their_policies() -> None:
    apart = numbers.loads_apart()
    assert set(numbers.loads_ahead()) <= set(apart) < set(numbers.loads)
    assert numbers.standing("uniform").pairs() == 0
    assert "uniform" not in apart


def test_a_gain_is_cats_over_fifo_by_clients() -> None:
    tpm = numbers.contended_runs.assign(tpmC=1.0).set_index(["series", "concurrency"])["tpmC"]
    tpm["cats"] *= 2
    assert set(numbers.over_fifo(tpm.groupby(level=[0, 1]).max())) == {2.0}
