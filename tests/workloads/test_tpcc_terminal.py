"""TPC-C's five transactions against answers made by hand, and against a server whose rows stay consistent."""

from __future__ import annotations

import contextlib
import itertools
import random
from collections import Counter, defaultdict
from decimal import Decimal

import pytest

from engineroom import servers
from engineroom._native import engine
from engineroom.errors import EngineRoomError
from engineroom.workloads import tpcc, tpcc_terminal
from engineroom.workloads.requests import ENDS, Request, in_text
from engineroom.workloads.tpcc_statements import STATEMENTS

SIZE = tpcc.Size(1, 0.01)
# One row for each question, by its name; what is asked in two transactions with other columns has the more of them.
ROWS = {
    "select_customer": ("GC", "F", "OE", "L"),
    "select_item": (Decimal("2.50"), "name", "data"),
    "select_stock": (50, "data", "d" * 24),
    "select_warehouse": ("w_name",),
    "select_oldest_new_order": (21,),
    "select_order": (7,),
    "select_order_sum": (Decimal("9.00"),),
    "select_last_order": (30, None, None),
    "select_customers_by_name": (3,),
    "select_customer_data": ("old",),
}


def _answer(kind: str, request: Request, *, credit: str = "GC") -> list[tuple]:
    if request.name == "select_district":
        return {"payment": [("d_name",)], "new_order": [(Decimal("0.1"), 31)], "stock_level": [(31,)]}[kind]
    if request.name == "select_item" and request.values[0] > SIZE.items:
        return []
    if kind == "payment" and request.name == "select_customer":
        return [(credit,)]
    return [ROWS[request.name]] if request.name in ROWS else []


def _requests(kind: str, *, seed: int = 1, size: tpcc.Size = SIZE, credit: str = "GC") -> list[Request]:
    program = tpcc_terminal.Terminal(size, random.Random(seed)).transaction(kind)
    found, rows = [], None
    with contextlib.suppress(StopIteration):
        while True:
            found.append(program.send(rows))
            rows = _answer(kind, found[-1], credit=credit)
    return found


def _names(requests: list[Request]) -> list[str]:
    return [each.name for each in requests]


@pytest.mark.parametrize("kind", tpcc_terminal.MIX)
@pytest.mark.parametrize("seed", range(20))
def test_every_transaction_ends_once_and_at_its_end(kind, seed):
    names = _names(_requests(kind, seed=seed))
    assert names[-1] in ENDS
    assert not ENDS & set(names[:-1])


def test_an_order_reads_then_updates_then_inserts_a_line_for_each_item():
    names = _names(_requests("new_order"))
    n = names.count("select_item")
    assert 5 <= n <= 15
    assert names[:5] == [
        "select_district",
        "select_customer",
        "update_district",
        "insert_orders",
        "insert_new_order",
    ]
    assert names[5:] == [
        *(["select_item", "select_stock"] * n),
        *(["update_stock"] * n),
        *(["insert_order_line"] * n),
        "commit",
    ]


def test_stock_is_locked_in_one_order_by_every_terminal():
    for seed in range(20):
        asked = [each.values for each in _requests("new_order", seed=seed) if each.name == "select_stock"]
        assert asked == sorted(asked)


def test_one_order_in_a_hundred_is_rolled_back_behind_the_lines_of_its_other_items():
    orders = [_names(_requests("new_order", seed=seed)) for seed in range(2000)]
    back = [names for names in orders if names[-1] == "rollback"]
    assert len(back) / len(orders) == pytest.approx(0.01, abs=0.007)
    for names in back:
        lines = names.count("insert_order_line")
        assert names.count("select_stock") == names.count("update_stock") == lines
        assert names.count("select_item") == lines + 1


def test_a_customer_with_bad_credit_gets_the_payment_into_its_data():
    (update,) = (each for each in _requests("payment", credit="BC") if each.name == "update_customer_data")
    assert update.values[2].endswith("| old")
    assert "update_customer_data" not in _names(_requests("payment"))


def test_a_delivery_takes_the_oldest_order_of_each_district():
    requests = _requests("delivery")
    districts = [each.values[1] for each in requests if each.name == "delete_new_order"]
    assert districts == list(range(1, 11))


def test_what_another_terminal_has_delivered_is_left_to_it():
    program = tpcc_terminal.Terminal(SIZE, random.Random(1)).transaction("delivery")
    next(program)
    assert program.send([(21,)]).name == "delete_new_order"
    assert program.send([]).name == "select_order"
    following = program.send([])
    assert (following.name, following.values[1]) == ("select_oldest_new_order", 2)


def test_statements_stand_once_and_in_the_order_of_the_engines_programs():
    declared = [f"{kind}.{name}" for kind, names in STATEMENTS.items() for name in names]
    assert declared == engine.statements("tpcc")


def _followed(kind: str, names: list[str]) -> set[tuple[str, str]]:
    """Which statement comes behind which; the first one behind the kind's name."""
    return set(itertools.pairwise([kind, *names]))


def test_the_terminal_sends_statements_in_the_order_of_the_engines_programs():
    theirs, ours = defaultdict(set), defaultdict(set)
    for seed in range(3000):
        script = engine.script({"kind": "tpcc"}, seed=seed)
        kind = script["transaction"]
        names = [
            step["statement"].removeprefix(f"{kind}.")
            for step in script["steps"]
            if not step["is_next_of_statement"]
        ]
        theirs[kind] |= _followed(kind, [*names, "rollback" if script["rolls_back"] else "commit"])
    for kind, seed in itertools.product(tpcc_terminal.MIX, range(200)):
        for credit in ("GC", "BC"):
            ours[kind] |= _followed(kind, _names(_requests(kind, seed=seed, credit=credit)))
    assert ours == theirs


def test_one_warehouse_has_no_other_and_ten_have():
    def foreign(size: tpcc.Size) -> int:
        seen = 0
        for seed in range(300):
            requests = _requests("new_order", seed=seed, size=size)
            home = requests[0].values[0]
            seen += sum(each.name == "select_stock" and each.values[0] != home for each in requests)
        return seen

    assert foreign(tpcc.Size(1, 0.01)) == 0
    assert foreign(tpcc.Size(10, 0.01)) > 0


def test_kinds_come_in_the_shares_of_the_mix():
    kinds = Counter(kind for kind, _ in itertools.islice(tpcc_terminal.transactions(SIZE, seed=3), 5000))
    for kind, percent in tpcc_terminal.MIX.items():
        assert kinds[kind] / 50 == pytest.approx(percent, abs=2)


def test_an_unknown_transaction_and_a_name_that_nobody_has_are_refused():
    terminal = tpcc_terminal.Terminal(SIZE, random.Random(1))
    with pytest.raises(ValueError, match="no transaction of TPC-C"):
        terminal.transaction("refund")
    for seed in range(20):
        program = tpcc_terminal.Terminal(SIZE, random.Random(seed)).transaction("order_status")
        if next(program).name == "select_customers_by_name":
            with pytest.raises(EngineRoomError, match="has no customer called"):
                program.send([])
            return
    pytest.fail("nobody was looked up by name")


@pytest.mark.live
@pytest.mark.parametrize("version", ["5.7", "9.7"])
def test_the_consistency_conditions_hold_after_the_load(version):
    """Clause 3.3.2, conditions 1 to 3: payments add up, and the numbers of orders have no gap."""
    with servers.start(version) as server:
        tpcc.load(server, warehouses=2, scale=0.01, progress=False)
        size = tpcc.Size(2, 0.01)
        with contextlib.closing(server.connect("tpcc")) as connection:
            connection.autocommit = False
            cursor = connection.cursor()
            kinds = Counter()
            for kind, program in itertools.islice(tpcc_terminal.transactions(size, seed=5), 200):
                rows = None
                with contextlib.suppress(StopIteration):
                    while True:
                        cursor.execute(in_text(program.send(rows)))
                        rows = cursor.fetchall() if cursor.with_rows else []
                kinds[kind] += 1
        assert set(kinds) == set(tpcc_terminal.MIX)
        unlike = server.query(
            "SELECT w_id FROM warehouse WHERE w_ytd <> (SELECT SUM(d_ytd) FROM district WHERE d_w_id = w_id)",
            "tpcc",
        )
        assert unlike == []
        orders = server.query(
            "SELECT d_next_o_id - 1, (SELECT MAX(o_id) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id),"
            " (SELECT MAX(no_o_id) - MIN(no_o_id) + 1 - COUNT(*) FROM new_order WHERE no_w_id = d_w_id AND no_d_id = d_id)"
            " FROM district",
            "tpcc",
        )
        assert all(next_o_id == last and gaps == 0 for next_o_id, last, gaps in orders)
