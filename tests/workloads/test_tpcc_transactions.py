"""TPC-C's transactions: what they say they do is what a server does, and the same seed does the same."""

from __future__ import annotations

import contextlib
from decimal import Decimal

import pytest

from engineroom.workloads import tpcc
from engineroom.workloads.tpcc_transactions import MIX, declarations, keys, transactions

SIZE = tpcc.Size(1, 0.01)


def test_the_same_seed_gives_the_same_transactions_and_another_seed_others():
    one, same, other = (list(transactions(40, size=SIZE, seed=seed)) for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_kinds_come_in_the_shares_of_the_mix():
    kinds = [each.kind for each in transactions(2000, size=SIZE, seed=3)]
    for kind, share in MIX.items():
        assert kinds.count(kind) / len(kinds) == pytest.approx(share / sum(MIX.values()), abs=0.04)


def test_a_payment_moves_one_amount_through_three_tables_and_into_the_history():
    payment = next(each for each in transactions(50, size=SIZE, seed=1) if each.kind == "payment")
    at = {table: list(columns).index for table, columns in declarations().items()}
    warehouse, district, customer, history = (step.change for step in payment.steps)
    assert history.change == "insert"
    assert history.before is None
    amount = history.after[0][at["history"]("h_amount")]
    assert isinstance(amount, Decimal)
    for change, column in ((warehouse, "w_ytd"), (district, "d_ytd"), (customer, "c_ytd_payment")):
        i = at[change.table](column)
        assert change.after[0][i] - change.before[0][i] == amount
    balance = at["customer"]("c_balance")
    assert customer.before[0][balance] - customer.after[0][balance] == amount


def test_rows_differ_in_written_columns_only():
    for transaction in transactions(100, size=SIZE, seed=5):
        for change in (step.change for step in transaction.steps):
            if change.change == "update":
                for before, after in zip(change.before, change.after, strict=True):
                    moved = {i for i in range(len(before)) if before[i] != after[i]}
                    assert moved
                    assert moved <= set(change.written)


def test_an_order_has_as_many_lines_as_it_says_and_takes_as_many_items_from_stock():
    order = next(each for each in transactions(50, size=SIZE, seed=1) if each.kind == "new_order")
    tables = [step.change.table for step in order.steps]
    n_lines = order.steps[1].change.after[0][list(declarations()["orders"]).index("o_ol_cnt")]
    assert tables == ["district", "orders", "new_order", *["stock"] * n_lines, *["order_line"] * n_lines]


def test_every_table_but_the_history_has_a_key():
    assert [table for table, key in keys().items() if not key] == ["history"]


@pytest.mark.live
def test_a_server_has_the_rows_that_the_transactions_say():
    from engineroom import servers

    expected: dict[str, dict[tuple[object, ...], list[object]]] = {}
    columns, key_of = declarations(), keys()
    with servers.start("9.7") as server:
        tpcc.load(server, warehouses=1, scale=0.01, progress=False)
        with contextlib.closing(server.connect("tpcc")) as connection, connection.cursor() as cursor:
            for transaction in transactions(60, size=SIZE, seed=4):
                for step in transaction.steps:
                    cursor.execute(step.sql)
                    assert cursor.rowcount == len(step.change.after or step.change.before), step.sql
                    key = [list(columns[step.change.table]).index(name) for name in key_of[step.change.table]]
                    for row in step.change.after or ():
                        expected.setdefault(step.change.table, {})[tuple(row[i] for i in key)] = row
                    for row in step.change.before or () if step.change.after is None else ():
                        expected[step.change.table].pop(tuple(row[i] for i in key), None)
            for table in ("warehouse", "district", "customer", "orders", "order_line", "stock", "new_order"):
                key = [list(columns[table]).index(name) for name in key_of[table]]
                cursor.execute(f"SELECT * FROM {table}")
                found = {tuple(row[i] for i in key): list(row) for row in cursor.fetchall()}
                for place, row in expected[table].items():
                    assert found[place] == row, table
