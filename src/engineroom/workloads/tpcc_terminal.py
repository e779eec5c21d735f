"""TPC-C's five transactions as requests: a terminal that asks the server for what it does not know.

The profiles of the specification (clauses 2.4 to 2.8) with one statement per access, as clients without stored procedures have them.
`tpcc_transactions` knows beforehand what each transaction writes, for what is compared with a log; here the server is asked, so
that the reads and their locks are there, and any number of warehouses costs nothing.
"""

from __future__ import annotations

import datetime
import random
from decimal import Decimal
from typing import Any

import numpy as np

from engineroom.errors import EngineRoomError
from engineroom.workloads.requests import Load, Program, Request
from engineroom.workloads.tpcc_columns import last_names
from engineroom.workloads.tpcc_rows import DISTRICTS, Size

__all__ = ["MIX", "Terminal", "transactions"]

# Percent (clause 5.2.3): the least that each of the last four may have; New-Order has the rest.
MIX = {"new_order": 45, "payment": 43, "order_status": 4, "delivery": 4, "stock_level": 4}
_FIRST = datetime.datetime(2024, 2, 1)
_BY_NAME = 60  # percent of the customers that are looked up by their last name (clauses 2.5.1.2, 2.6.1.2)
_REMOTE_PAYMENT, _REMOTE_LINE = 15, 1  # percent, where there is another warehouse (clauses 2.5.1.2, 2.4.1.5)
_ROLLED_BACK = 1  # percent of the New-Orders, whose last item does not exist (clause 2.4.1.4)
_LAST_ORDERS = 20  # of a district, that Stock-Level looks at (clause 2.8.2.2)


def transactions(size: Size, *, seed: int = 0) -> Load:
    """Transactions of one terminal without end, in the shares of the mix."""
    terminal = Terminal(size, random.Random(seed))
    while True:
        (kind,) = terminal.rng.choices(list(MIX), list(MIX.values()))
        yield kind, terminal.transaction(kind)


class Terminal:
    """Draws what the transactions are about. Each has its own warehouse; time goes on by a second per transaction."""

    def __init__(self, size: Size, rng: random.Random) -> None:
        self.size, self.rng = size, rng
        self._now = _FIRST
        names = last_names(np.arange(1000)).text
        self._last_names = [bytes(row).replace(b"\0", b"").decode("ascii") for row in names]

    def transaction(self, kind: str) -> Program:
        """One transaction of that kind. ValueError when there is none of that name."""
        if kind not in MIX:
            raise ValueError(f"{kind!r} is no transaction of TPC-C: {', '.join(MIX)}")
        self._now += datetime.timedelta(seconds=1)
        program: Program = getattr(self, f"_{kind}")()
        return program

    def _new_order(self) -> Program:
        w, d, c = self._warehouse(), self._district(), self._customer()
        n_lines, is_rolled_back = self.rng.randint(5, 15), self.rng.randint(1, 100) <= _ROLLED_BACK
        # In the order of their items, so that two terminals do not deadlock over the stock.
        lines = sorted((self._supplier(w), self._item(), self.rng.randint(1, 10)) for _ in range(n_lines))
        yield Request(
            "select_customer",
            "SELECT c_discount, c_last, c_credit, w_tax FROM customer JOIN warehouse ON w_id = c_w_id"
            " WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            (w, d, c),
        )
        ((_, o),) = yield Request(
            "select_district",
            "SELECT d_tax, d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ? FOR UPDATE",
            (w, d),
        )
        yield Request(
            "update_district",
            "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ?",
            (w, d),
        )
        is_local = int(all(supplier == w for supplier, _, _ in lines))
        yield Request(
            "insert_orders",
            "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (o, d, w, c, self._now, n_lines, is_local),
        )
        yield Request(
            "insert_new_order",
            "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)",
            (o, d, w),
        )
        prices, stocks = [], []
        for number, (supplier, item, _) in enumerate(lines, 1):
            asked = self.size.items + 1 if is_rolled_back and number == n_lines else item
            found = yield Request(
                "select_item", "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?", (asked,)
            )
            if not found:
                yield Request("rollback", "ROLLBACK")
                return
            prices.append(found[0][0])
            (stock,) = yield Request(
                "select_stock",
                f"SELECT s_quantity, s_data, s_dist_{d:02} FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
                (supplier, item),
            )
            stocks.append(stock)
        # What was read of a stock is stale when an earlier line takes the same item: the second line then writes its own reckoning,
        # which is what clients do that send all updates as one batch.
        for (supplier, item, quantity), (has, _, _) in zip(lines, stocks, strict=True):
            left = has - quantity if has >= quantity + 10 else has - quantity + 91
            yield Request(
                "update_stock",
                "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1,"
                " s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id = ?",
                (left, quantity, int(supplier != w), supplier, item),
            )
        for number, ((supplier, item, quantity), price, (_, _, dist)) in enumerate(
            zip(lines, prices, stocks, strict=True), 1
        ):
            yield Request(
                "insert_order_line",
                "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,"
                " ol_dist_info) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (o, d, w, number, item, supplier, quantity, quantity * price, dist),
            )
        yield Request("commit", "COMMIT")

    def _payment(self) -> Program:
        w, d = self._warehouse(), self._district()
        c_w, c_d = w, d
        if self.size.warehouses > 1 and self.rng.randint(1, 100) <= _REMOTE_PAYMENT:
            c_w, c_d = self._other_warehouse(w), self._district()
        amount = Decimal(self.rng.randint(100, 500_000)).scaleb(-2)
        yield Request(
            "update_warehouse", "UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?", (amount, w)
        )
        ((w_name, *_),) = yield Request(
            "select_warehouse",
            "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = ?",
            (w,),
        )
        yield Request(
            "update_district",
            "UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?",
            (amount, w, d),
        )
        ((d_name, *_),) = yield Request(
            "select_district",
            "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district WHERE d_w_id = ? AND d_id = ?",
            (w, d),
        )
        c = yield from self._chosen_customer(c_w, c_d)
        ((credit, *_),) = yield Request(
            "select_customer",
            "SELECT c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since,"
            " c_credit_lim, c_discount, c_balance FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? FOR UPDATE",
            (c_w, c_d, c),
        )
        customer = (c_w, c_d, c)
        where = "WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
        plain = (
            "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?,"
            " c_payment_cnt = c_payment_cnt + 1"
        )
        if credit == "BC":
            ((data,),) = yield Request(
                "select_customer_data", f"SELECT c_data FROM customer {where}", customer
            )
            data = f"{c} {c_d} {c_w} {d} {w} {amount} | {data}"[:500]
            yield Request(
                "update_customer_data", f"{plain}, c_data = ? {where}", (amount, amount, data, *customer)
            )
        else:
            yield Request("update_customer", f"{plain} {where}", (amount, amount, *customer))
        yield Request(
            "insert_history",
            "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (c, c_d, c_w, d, w, self._now, amount, f"{w_name}    {d_name}"),
        )
        yield Request("commit", "COMMIT")

    def _order_status(self) -> Program:
        w, d = self._warehouse(), self._district()
        c = yield from self._chosen_customer(w, d)
        yield Request(
            "select_customer",
            "SELECT c_first, c_middle, c_last, c_balance FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            (w, d, c),
        )
        ((o, *_),) = yield Request(
            "select_last_order",
            "SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ?"
            " ORDER BY o_id DESC LIMIT 1",
            (w, d, c),
        )
        yield Request(
            "select_order_lines",
            "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line"
            " WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
            (w, d, o),
        )
        yield Request("commit", "COMMIT")

    def _delivery(self) -> Program:
        w, carrier = self._warehouse(), self.rng.randint(1, 10)
        for d in range(1, DISTRICTS + 1):
            waiting = yield Request(
                "select_oldest_new_order",
                "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id LIMIT 1",
                (w, d),
            )
            if not waiting:
                continue
            order = (w, d, waiting[0][0])
            yield Request(
                "delete_new_order",
                "DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?",
                order,
            )
            ((c,),) = yield Request(
                "select_order",
                "SELECT o_c_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?",
                order,
            )
            yield Request(
                "update_order",
                "UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?",
                (carrier, *order),
            )
            yield Request(
                "update_order_lines",
                "UPDATE order_line SET ol_delivery_d = ? WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
                (self._now, *order),
            )
            ((total,),) = yield Request(
                "select_order_sum",
                "SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
                order,
            )
            yield Request(
                "update_customer",
                "UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1"
                " WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
                (total, w, d, c),
            )
        yield Request("commit", "COMMIT")

    def _stock_level(self) -> Program:
        w, d, threshold = self._warehouse(), self._district(), self.rng.randint(10, 20)
        ((following,),) = yield Request(
            "select_district", "SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?", (w, d)
        )
        yield Request(
            "count_low_stock",
            "SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id"
            " WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id >= ? AND ol_o_id < ? AND s_quantity < ?",
            (w, d, following - _LAST_ORDERS, following, threshold),
        )
        yield Request("commit", "COMMIT")

    def _chosen_customer(self, w: int, d: int) -> Any:
        """The number of a customer, by name for most of them: the one in the middle of those who share it."""
        if self.rng.randint(1, 100) > _BY_NAME:
            return self._customer()
        # The names that a small load has are those of its first customers.
        name = self._last_names[self._uneven(255, 0, min(999, self.size.customers - 1))]
        found = yield Request(
            "select_customers_by_name",
            "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first",
            (w, d, name),
        )
        if not found:
            raise EngineRoomError(
                f"warehouse {w} has no customer called {name}",
                remedy="run the load on a database that `tpcc.load` filled with the same size",
            )
        return found[(len(found) - 1) // 2][0]

    def _warehouse(self) -> int:
        return self.rng.randint(1, self.size.warehouses)

    def _other_warehouse(self, w: int) -> int:
        return (w - 1 + self.rng.randint(1, self.size.warehouses - 1)) % self.size.warehouses + 1

    def _supplier(self, w: int) -> int:
        is_remote = self.size.warehouses > 1 and self.rng.randint(1, 100) <= _REMOTE_LINE
        return self._other_warehouse(w) if is_remote else w

    def _district(self) -> int:
        return self.rng.randint(1, DISTRICTS)

    def _customer(self) -> int:
        return self._uneven(1023, 1, self.size.customers)

    def _item(self) -> int:
        return self._uneven(8191, 1, self.size.items)

    def _uneven(self, a: int, low: int, high: int) -> int:
        """The specification's non-uniform random number (clause 2.1.6)."""
        return ((self.rng.randint(0, a) | self.rng.randint(low, high)) + 7) % (high - low + 1) + low
