from __future__ import annotations

from engineroom.ask.compare import corpus
from engineroom.chapters.join_order import experiments, numbers


def test_times_from_a_second_on_are_in_seconds():
    assert [numbers.duration(ms) for ms in (0.66, 999.9, 1000, 10_145.3)] == [
        "0.7 ms",
        "999.9 ms",
        "1.0 s",
        "10.1 s",
    ]


def test_pairs_are_by_formula():
    for n in (2, 10, 16):
        assert numbers.chain_pairs(n) == experiments.tests_by_formula("chain", n)["pairs"]
        assert numbers.star_pairs(n) == experiments.tests_by_formula("star", n)["pairs"]


def test_our_events_stand_beside_the_lines_of_the_trace():
    recorded, _ = numbers.sample()
    shown = numbers.events_beside()
    assert len(shown.rows) == sum(line.startswith("Found") for line in recorded["join_optimizer"])
    for told, ours in shown.rows.to_numpy().tolist():
        assert ("node" if " node " in told else "pair") == ours.split()[0], (told, ours)
    assert recorded["server"] in shown.origin


def test_the_outer_join_waits_for_the_join_below_it():
    drawn = numbers.hyperedge()
    assert "(b, c)" in drawn.words.alt or "(c, b)" in drawn.words.alt


def test_the_table_of_outcomes_has_a_row_per_set_and_tool_that_adds_up():
    rows = numbers.outcomes().rows
    recorded = corpus.read()
    assert len(rows) == len({(each.set, each.tool) for each in recorded})
    assert rows[["equal", "refused", "differ", "wrong"]].to_numpy().sum() == len(recorded)
    wrong = rows[rows["wrong"] > 0]
    assert wrong[["statements of", "tool", "wrong"]].to_numpy().tolist() == [
        ["clinic", "explain", 1]
    ]  # at its first and only try
