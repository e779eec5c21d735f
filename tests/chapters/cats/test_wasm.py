"""The stepper of the wait-for graph: what it shows is what the native sessions come to, and weights are those of a slow count."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest

from engineroom._native import lock_sys as kernel
from engineroom.show import headless

pytestmark = pytest.mark.usefixtures("node")

DESIGNS = ("5.7", "9.7")
HISTORIES = range(4)
STEPS = range(33)
SESSIONS = 6
GRID = [
    {"history": history, "design": design, "step": step}
    for history, design, step in itertools.product(HISTORIES, range(len(DESIGNS)), STEPS)
]


@pytest.fixture(scope="module")
def seen() -> list[tuple[dict[str, int], dict[str, Any]]]:
    results = headless.evaluate("cats", GRID)["results"]
    return list(zip(GRID, results, strict=True))


def of(
    seen: Sequence[tuple[dict[str, int], dict[str, Any]]], history: int, design: str
) -> list[dict[str, Any]]:
    """The states of a history, step by step, without those beyond its end."""
    mine = [
        result
        for inputs, result in seen
        if (inputs["history"], DESIGNS[inputs["design"]]) == (history, design)
    ]
    return mine[: len(mine[0]["events"]) + 1]


def native(design: str, events: Sequence[dict[str, Any]]) -> kernel.Playground:
    """Native sessions after the same statements."""
    table = kernel.Playground(
        design=design, reads_committed=[True] * SESSIONS, columns=2, rows=[[10, 0], [20, 0], [30, 0]]
    )
    for event in events:
        if event["what"] == "c":
            table.commit(event["who"])
            continue
        row = 10 * (1 + "ABC".index(event["row"]))
        if event["what"] == "w":
            table.update(event["who"], 1, 1, low=row, high=row)
        else:
            table.read(event["who"], low=row, high=row, for_share=True)
    return table


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("history", HISTORIES)
def test_each_step_is_the_state_of_native_sessions_after_as_many_statements(
    seen: list[tuple[dict[str, int], dict[str, Any]]], history: int, design: str
) -> None:
    for result in of(seen, history, design):
        table = native(design, result["events"][: result["at"]])
        for session in result["sessions"]:
            who = session["who"]
            assert session["waits"] == (table.result(who) == "waits")
            assert session["weight"] == table.weight(who)
            blocker = table.blocker(who)
            assert session["blocker"] == (-1 if blocker is None else blocker)
        assert [(each["waiting"], each["blocking"]) for each in result["waits"]] == table.waits()
        locks = [lock for lock in table.locks() if lock[1] == 0]
        assert [(lock["who"], lock["waits"]) for lock in result["locks"]] == [
            (who, waits) for who, *_, waits in locks
        ]
        assert ["ABC".index(lock["row"]) + 1 for lock in result["locks"]] == [
            int(data) // 10 for *_, data, _ in locks
        ]


def test_a_weight_is_how_many_wait_through_one_edge_each_and_5_7_has_none(
    seen: list[tuple[dict[str, int], dict[str, Any]]],
) -> None:
    most = 0
    for inputs, result in seen:
        waiting = {each["who"]: each for each in result["sessions"] if each["waits"]}
        for who, each in waiting.items():
            if DESIGNS[inputs["design"]] == "5.7":
                assert (each["weight"], each["blocker"]) == (0, -1)
                continue
            behind = [who]
            for at in behind:
                behind += [other for other, its in waiting.items() if its["blocker"] == at]
            if inputs["history"] != 3:
                assert each["weight"] == len(behind)
            assert each["weight"] >= len(behind)
            most = max(most, each["weight"])
    assert most == 4


def granted(states: list[dict[str, Any]]) -> list[list[int]]:
    """Whom each statement lets go on, counted from 1; statements that let nobody go on are left out."""
    return [[who + 1 for who in event["granted"]] for event in states[-1]["events"] if event["granted"]]


def test_9_7_grants_the_heaviest_first_and_5_7_the_first(
    seen: list[tuple[dict[str, int], dict[str, Any]]],
) -> None:
    assert granted(of(seen, 0, "5.7"))[0] == [5]
    assert granted(of(seen, 0, "9.7"))[0] == [2]
    assert granted(of(seen, 1, "5.7"))[:2] == [[2], [4]], "a reader, and the next one waits behind the writer"
    assert granted(of(seen, 1, "9.7"))[:2] == [[4], [2, 3, 5]], "the writer alone, then both readers"


def test_a_cycle_costs_one_transaction_and_everybody_else_ends(
    seen: list[tuple[dict[str, int], dict[str, Any]]],
) -> None:
    for design in DESIGNS:
        events = of(seen, 2, design)[-1]["events"]
        assert [event["victims"] for event in events if event["victims"]] == [[1]]


def test_who_is_passed_by_too_often_becomes_heavy_and_is_granted(
    seen: list[tuple[dict[str, int], dict[str, Any]]],
) -> None:
    states = of(seen, 3, "9.7")
    weights = [state["sessions"][4]["weight"] for state in states if state["sessions"][4]["waits"]]
    assert weights[0] == 1
    assert weights[-1] == max(weights) == 4
    assert granted(states)[0] == [2]
    assert [5, 6] in granted(states)
    assert granted(of(seen, 3, "5.7"))[0] == [5], "first in, first out passes nobody"


def test_every_history_ends_with_nobody_waiting_within_the_knobs_steps(
    seen: list[tuple[dict[str, int], dict[str, Any]]],
) -> None:
    for history, design in itertools.product(HISTORIES, DESIGNS):
        states = of(seen, history, design)
        assert [state["at"] for state in states] == list(range(len(states)))
        assert len(states) <= len(STEPS)
        assert not any(session["waits"] for session in states[-1]["sessions"])
