"""Row locks from Python: statements over a table, weights by brute force, orders of grants, runs at random."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest

from engineroom._native import lock_sys as kernel
from engineroom.chapters.lock_sys.experiments.scripts import COLUMNS, INDEXES, scripts
from engineroom.chapters.lock_sys.experiments.scripts import ROWS as SCRIPT_ROWS

ROWS = [[10, 100], [20, 200], [30, 300]]


def playground(design: str = "9.7", sessions: int = 2, **more: Any) -> kernel.Playground:
    return kernel.Playground(
        design=design, **{"columns": 2, "reads_committed": [False] * sessions, "rows": ROWS, **more}
    )


def test_a_point_locks_its_row_and_a_point_without_a_row_the_gap_it_would_be_in():
    table = playground()
    assert table.read(0, low=20, high=20) == "ok"
    assert table.read(1, low=25, high=25) == "ok"
    assert table.locks() == [
        (0, -1, "IX", "", False),
        (0, 0, "X,REC_NOT_GAP", "20", False),
        (1, -1, "IX", "", False),
        (1, 0, "X,GAP", "30", False),
    ]
    assert table.insert(0, [26, 0]) == "waits"
    assert table.waits() == [(0, 1)]
    assert table.commit(1) == "ok"
    assert table.result(0) == "ok"


def test_read_committed_leaves_the_gaps_open():
    table = playground(reads_committed=[True, False])
    table.read(0, low=10, high=30)
    assert {mode for _, index, mode, _, _ in table.locks() if index == 0} == {"X,REC_NOT_GAP"}
    assert table.insert(1, [15, 0]) == "ok"


@pytest.mark.parametrize(("design", "last"), [("5.7", ("X", "30")), ("9.7", ("X,GAP", "30"))])
def test_behind_the_end_of_a_range_5_7_locks_a_row_and_9_7_a_gap(design: str, last: tuple[str, str]):
    table = playground(design)
    table.read(0, low=15, high=25)
    assert [(mode, data) for _, index, mode, data, _ in table.locks() if index == 0] == [("X", "20"), last]


def test_an_inserted_row_has_no_lock_object_until_somebody_asks_for_it():
    table = playground()
    table.insert(0, [40, 400])
    assert [row for row in table.locks() if row[1] == 0] == []
    assert table.read(1, low=40, high=40) == "waits"
    assert (0, 0, "X,REC_NOT_GAP", "40", False) in table.locks()
    assert table.rollback(0) == "ok"
    assert table.result(1) == "ok", "the row is gone, and whoever waited for it looks again"


@pytest.mark.parametrize(("design", "left"), [("8.0.15", ["S,GAP"]), ("9.7", [])])
def test_a_committed_reader_whose_row_never_came_keeps_the_gap_in_8_0_15_and_nothing_in_9_7(
    design: str, left: list[str]
):
    table = playground(design, reads_committed=[False, True])
    table.insert(0, [25, 0])
    assert table.read(1, low=21, high=27, for_share=True) == "waits"
    table.rollback(0)
    assert table.result(1) == "ok"
    assert [mode for owner, index, mode, *_ in table.locks() if owner == 1 and index == 0] == left


def test_a_committed_insert_that_waited_for_a_duplicate_keeps_the_gap_where_it_was():
    table = playground(reads_committed=[False, True])
    table.insert(0, [25, 0])
    assert table.insert(1, [25, 0]) == "waits"
    table.rollback(0)
    assert table.result(1) == "ok"
    assert (1, 0, "S,GAP", "30", False) in table.locks()


@pytest.mark.parametrize("design", kernel.designs())
def test_two_sessions_in_opposite_orders_are_a_deadlock_whose_victim_is_the_last_of_equals(design: str):
    table = playground(design)
    table.update(0, 1, 1, low=10, high=10)
    table.update(1, 1, 1, low=20, high=20)
    assert table.update(0, 1, 1, low=20, high=20) == "waits"
    assert table.update(1, 1, 1, low=10, high=10) == "deadlock"
    assert table.result(0) == "ok"


def test_a_duplicate_keeps_who_has_it_from_going_away_unseen():
    table = playground(secondary=[(1, True)])
    assert table.insert(0, [20, 0]) == "duplicate"
    assert table.insert(0, [25, 300]) == "duplicate"
    assert [(index, mode, data) for _, index, mode, data, _ in table.locks() if index >= 0] == [
        (0, "S,REC_NOT_GAP", "20"),
        (1, "S", "300, 30"),
        (0, "X,GAP", "30"),
    ]


# The demonstration of the sources' five sessions: T1 has row A; T2 has B and waits for A; T3 and T4 wait for B; T5 waits for A and
# came before T2. Seen on the servers: T5 first up to 8.0.15, T2 first on 9.7.4.
@pytest.mark.parametrize(("design", "first"), [("5.7", "T5"), ("8.0.15", "T5"), ("9.7", "T2")])
def test_of_five_sessions_the_one_for_whom_two_wait_goes_first_in_9_7(design: str, first: str):
    table = playground(design, sessions=5)
    t1, t2, t3, t4, t5 = range(5)
    row_a, row_b = {"low": 10, "high": 10}, {"low": 20, "high": 20}
    assert table.update(t1, 1, 1, **row_a) == "ok"
    assert table.update(t2, 1, 1, **row_b) == "ok"
    assert table.update(t5, 1, 1, **row_a) == "waits"
    assert table.update(t2, 1, 1, **row_a) == "waits"
    assert table.update(t3, 1, 1, **row_b) == "waits"
    assert table.update(t4, 1, 1, **row_b) == "waits"
    table.commit(t1)
    freed = [name for name, session in (("T2", t2), ("T5", t5)) if table.result(session) == "ok"]
    assert freed == [first]
    table.commit({"T2": t2, "T5": t5}[first])
    if first == "T5":
        table.commit(t2)
    assert table.result(t3) == "ok"
    assert table.result(t4) == "waits", "T3 came before T4, and nobody waits for either"


def test_a_deleted_record_stays_marked_and_an_inserted_one_goes_with_its_transaction():
    table = playground()
    table.delete(0, low=20, high=20)
    table.insert(1, [25, 0])
    assert table.records() == [((10,), False), ((20,), True), ((25,), False), ((30,), False)]
    table.rollback(0)
    table.rollback(1)
    assert table.records() == [((10,), False), ((20,), False), ((30,), False)]
    with pytest.raises(ValueError, match="there is no index"):
        table.records(1)


def test_what_is_not_there_is_refused():
    table = playground()
    for refused in (
        lambda: table.read(5),
        lambda: table.read(0, index=3),
        lambda: table.insert(0, [1]),
        lambda: table.update(0, 7, 1),
        lambda: kernel.Playground(design="4.1", reads_committed=[True], columns=1, rows=[]),
        lambda: kernel.grant_order("cats, 8.0.20", [{"size": 1}]),
        lambda: kernel.grant_order("cats, 8.0.20", [{"trx": -1}]),
        lambda: kernel.grant_order("cats, 8.0.20", [{"trx": "a"}]),
        lambda: kernel.random_runs(changed={"cells": 0}),
        lambda: kernel.random_runs(changed={"cells": 2**40}),
        lambda: kernel.random_runs(design="5.7", mistake="shard_by_record"),
    ):
        with pytest.raises(ValueError, match=r"there is no|a row of|must be|a waiter has|cells|is planted"):
            refused()
    table.read(0)
    assert table.read(1) == "waits"
    with pytest.raises(ValueError, match="waits still"):
        table.read(1)


def slow_weights(edges: list[tuple[int, int, int]], reservations: int) -> Mapping[int, int]:
    """Of each waiter the sum over all who wait for it, directly or not; none for those from which one comes back to them."""
    waits_for = {waiter: blocker for waiter, blocker, _ in edges}
    n = len(edges)
    own = {w: (min(n, 10**9 // n) if r + 2 * n < reservations else 1) for w, _, r in edges}

    def leads_to(start: int, end: int) -> bool:
        seen = set()
        at = start
        while at in waits_for and at not in seen:
            seen.add(at)
            at = waits_for[at]
            if at == end:
                return True
        return False

    def is_downstream_of_a_cycle(node: int) -> bool:
        return any(leads_to(w, w) and (w == node or leads_to(w, node)) for w in waits_for)

    return {
        node: own[node] + sum(own[w] for w in waits_for if w != node and leads_to(w, node))
        for node in waits_for
        if not is_downstream_of_a_cycle(node)
    }


@pytest.mark.parametrize("seed", range(40))
def test_weights_are_those_of_brute_force_with_cycles_too(seed: int):
    draw = random.Random(seed)
    n = draw.randint(1, 25)
    edges = [(i, draw.choice([j for j in range(n + 3) if j != i]), draw.randint(1, 80)) for i in range(n)]
    assert kernel.schedule_weights(edges, reservations=90) == slow_weights(edges, 90)


def test_the_example_of_the_weights_and_the_policies_on_it():
    edges = [(1, 0, 1), (2, 0, 2), (3, 1, 3), (4, 1, 4), (5, 3, 5)]
    assert kernel.schedule_weights(edges) == {1: 4, 2: 1, 3: 2, 4: 1, 5: 1}
    waiters = [
        {"trx": 0, "mode": "S", "weight": 1, "started": 9},
        {"trx": 1, "mode": "X", "weight": 3, "started": 5},
        {"trx": 2, "mode": "S", "weight": 0, "started": 7},
    ]
    orders = {
        policy: kernel.grant_order(policy, waiters) for policy in kernel.policies() if policy != "random"
    }
    assert orders == {
        "fcfs, 5.7": [0, 1, 2],
        "fcfs, equal weights": [0, 1, 2],
        "cats, 8.0.3": [0, 1, 2],
        "cats, 8.0.20": [1, 0, 2],
        "vats": [1, 2, 0],
        "ldsf": [1, 0, 2],
        "bldsf": [1, 0, 2],
    }
    drawn = {tuple(kernel.grant_order("random", waiters, seed=seed)) for seed in range(60)}
    assert len(drawn) == 6


def test_each_cycle_has_one_victim_the_lightest_and_of_equals_the_last():
    edges = [(1, 2, 5), (2, 3, 9), (3, 1, 7), (4, 2, 8), (5, 6, 1), (6, 5, 2)]
    found = {frozenset(cycle): victim for cycle, victim in kernel.deadlocks(edges)}
    assert found == {frozenset({1, 2, 3}): 2, frozenset({5, 6}): 6}
    heavy = {frozenset(c): v for c, v in kernel.deadlocks(edges, rows_changed={2: 4, 6: 1})}
    # Behind the one that waits last come 3 and 1, in this order: of these equals the later.
    assert heavy == {frozenset({1, 2, 3}): 1, frozenset({5, 6}): 5}
    assert kernel.deadlocks([(1, 2, 1), (2, 3, 2)]) == []


def test_runs_at_random_are_the_same_for_the_same_seed():
    assert kernel.random_runs(seed=3, runs=5) == kernel.random_runs(seed=3, runs=5)


def test_a_session_that_waits_has_the_weight_and_the_blocker_that_its_version_publishes() -> None:
    def queued(design: str) -> kernel.Playground:
        table = playground(design, sessions=4, reads_committed=[True] * 4)
        for session, row in ((0, 10), (1, 20), (2, 20), (3, 10)):
            table.update(session, 0, 0, low=row, high=row)
        assert table.update(1, 0, 0, low=10, high=10) == "waits"
        return table

    new, old = queued("9.7"), queued("5.7")
    assert [new.weight(session) for session in range(4)] == [0, 2, 1, 1]
    assert [new.blocker(session) for session in range(4)] == [None, 0, 1, 0]
    assert [old.weight(session) for session in range(4)] == [0] * 4
    assert {old.blocker(session) for session in range(4)} == {None}


@pytest.mark.parametrize(("design", "latches"), [("5.7", 3), ("8.0.15", 3), ("9.7", 7)])
def test_on_a_real_thread_a_transaction_of_one_row_takes_its_latches(design, latches):
    seen = kernel.on_threads(design=design, rows=1, run_ns=20_000_000)
    assert seen["transactions"] == seen["row_locks"] > 0
    assert seen["latches"] == latches * seen["transactions"]
    assert seen["elapsed_ns"] >= 20_000_000
    assert seen["cpu_ns"] > 0


@pytest.mark.parametrize("design", ["5.7", "9.7"])
def test_real_threads_on_tables_of_their_own_all_come_to_locks(design):
    seen = kernel.on_threads(design=design, threads=4, rows=3, run_ns=20_000_000)
    assert seen["row_locks"] == 3 * seen["transactions"] > 0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"threads": 0}, "threads"),
        ({"threads": 65}, "at most 64"),
        ({"rows": 0}, "rows"),
        ({"run_ns": 0}, "run_ns"),
    ],
)
def test_real_threads_out_of_range_are_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        kernel.on_threads(**{"design": "9.7", "run_ns": 1_000_000, **wrong})


def test_an_update_that_finds_a_duplicate_is_taken_back_and_keeps_its_locks():
    table = playground(secondary=[(1, True)])
    assert table.update(0, 1, 100, low=20, high=20) == "duplicate"
    assert table.records(1) == [((100, 10), False), ((200, 20), False), ((300, 30), False)]
    assert (0, 0, "X,REC_NOT_GAP", "20", False) in table.locks()
    assert table.delete(0, low=20, high=20) == "ok"
    assert table.records(1)[1] == ((200, 20), True)


def test_an_update_of_many_rows_that_fails_at_one_changes_none():
    table = playground(secondary=[(1, True)])
    assert table.insert(0, [40, 350]) == "ok"
    # 100 and 200 would become 150 and 250; 300 is taken by its turn.
    assert table.update(0, 1, 50) == "duplicate"
    assert [key for key, is_deleted in table.records(1) if not is_deleted] == [
        (100, 10), (200, 20), (300, 30), (350, 40)
    ]  # fmt: skip


def test_read_committed_keeps_the_lock_of_an_entry_that_the_session_changed_itself():
    table = playground(secondary=[(1, False)], reads_committed=[True, True])
    assert table.update(0, 1, 50, low=10, high=10) == "ok"
    assert table.read(0, index=1, low=100, high=100) == "ok"
    assert (0, 1, "X,REC_NOT_GAP", "100, 10", False) in table.locks()


def test_an_own_entry_that_is_marked_stays_locked_without_an_object():
    table = playground(secondary=[(1, False)])
    assert table.insert(0, [40, 400]) == "ok"
    assert table.delete(0, low=40, high=40) == "ok"
    assert {index for _, index, *_ in table.locks()} == {-1, 0}


def test_a_look_at_what_was_committed_makes_the_writers_lock_an_object():
    table = playground(reads_committed=[False, True])
    assert table.insert(0, [15, 150]) == "ok"
    assert not any(session == 0 and index == 0 for session, index, *_ in table.locks())
    assert table.update(1, 1, 1, low=12, high=18) == "ok"
    assert (0, 0, "X,REC_NOT_GAP", "15", False) in table.locks()


@pytest.mark.parametrize(("design", "result"), [("5.7", "waits"), ("8.0.15", "waits"), ("9.7", "ok")])
def test_a_duplicate_primary_key_locks_the_gap_before_it_up_to_8_0_15(design, result):
    """8.0.15 showed S for the duplicate in performance_schema.data_locks, 9.7.4 S,REC_NOT_GAP."""
    table = playground(design)
    assert table.insert(1, [20, 0]) == "duplicate"
    assert table.insert(0, [15, 0]) == result


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rows": [[10, 1], [10, 2]]}, "two rows have 10 in column 0"),
        ({"rows": [[10, 1], [20, 1]], "secondary": [(1, True)]}, "two rows have 1 in column 1"),
        ({"secondary": [(7, True)]}, "no column 7 to index"),
        ({"columns": 0, "rows": []}, "a column at least"),
        ({"rows": [[10, 2**31]]}, "an INT holds"),
    ],
)
def test_a_table_that_cannot_be_is_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        playground(**wrong)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (lambda table: table.update(0, 0, 5), "column 0 is the primary key"),
        (lambda table: table.update(0, 1, 2**40), "an INT holds"),
        (lambda table: table.result(7), "no session 7"),
        (lambda table: table.weight(7), "no session 7"),
        (lambda table: table.blocker(7), "no session 7"),
        (lambda table: table.read(7), "no session 7"),
    ],
)
def test_what_cannot_be_asked_of_a_table_is_refused(statement, said):
    with pytest.raises(ValueError, match=said):
        statement(playground())


@pytest.mark.parametrize(("design", "mode"), [("8.0.15", "S"), ("9.7", "S,GAP")])
def test_behind_a_duplicate_that_was_deleted_9_7_locks_the_gap_alone(design, mode):
    """As performance_schema.data_locks showed it on 8.0.15 and 9.7.4."""
    table = playground(design, secondary=[(1, True)])
    assert table.delete(0, low=10, high=10) == "ok"
    assert table.insert(0, [15, 100]) == "ok"
    assert (0, 1, mode, "200, 20", False) in table.locks()


@pytest.mark.parametrize("design", kernel.designs())
def test_what_is_rolled_back_leaves_the_rows_and_no_lock(design):
    tried = 0
    for script in scripts(1500, seed=3):
        if any(each.verb == "commit" for each in script.statements):
            continue
        sessions = len(script.reads_committed)
        table = kernel.Playground(
            design=design, reads_committed=list(script.reads_committed), columns=len(COLUMNS),
            secondary=[(COLUMNS.index(column), is_unique) for _, column, is_unique in INDEXES[1:]],
            rows=[list(row) for row in SCRIPT_ROWS],
        )  # fmt: skip
        before = [table.records(index) for index in range(len(INDEXES))]
        for statement in script.statements:
            if table.result(statement.session) != "waits":
                statement.run(table)
        for _ in range(sessions):  # one may wait for another's
            for session in range(sessions):
                if table.result(session) != "waits":
                    table.rollback(session)
        assert table.locks() == [], script.text()
        assert [table.records(index) for index in range(len(INDEXES))] == before, script.text()
        tried += 1
    assert tried > 500
