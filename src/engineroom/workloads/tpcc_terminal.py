"""TPC-C's five transactions as requests: a terminal that asks the server for what it does not know.

The profiles of the specification (clauses 2.4 to 2.8) with one statement per access, as clients without stored procedures have them, in
the order of `tpcc_statements`. `tpcc_transactions` knows beforehand what each transaction writes, for what is compared with a log; here the
server is asked, so that the reads and their locks are there, and any number of warehouses costs nothing.

At READ COMMITTED two terminals deliver no order twice: who waited for the other finds a carrier on it, and goes on to the next district.
"""

from __future__ import annotations

import datetime
import functools
import random
from decimal import Decimal
from typing import Any

import numpy as np

from engineroom.errors import EngineRoomError
from engineroom.workloads.requests import Load, Program, Request
from engineroom.workloads.tpcc_columns import last_names
from engineroom.workloads.tpcc_rows import DISTRICTS, Size
from engineroom.workloads.tpcc_statements import sql_of

__all__ = [
    "BY_NAME",
    "LAST_ORDERS",
    "MIX",
    "REMOTE_LINE",
    "REMOTE_PAYMENT",
    "ROLLED_BACK",
    "Terminal",
    "customers_last_names",
    "transactions",
]

# Percent (clause 5.2.3): the least that each of the last four may have; New-Order has the rest.
MIX = {"new_order": 45, "payment": 43, "order_status": 4, "delivery": 4, "stock_level": 4}
_FIRST = datetime.datetime(2024, 2, 1)
BY_NAME = 60  # percent of the customers that are looked up by their last name (clauses 2.5.1.2, 2.6.1.2)
REMOTE_PAYMENT, REMOTE_LINE = 15, 1  # percent, where there is another warehouse (clauses 2.5.1.2, 2.4.1.5)
ROLLED_BACK = 1  # percent of the New-Orders, whose last item does not exist (clause 2.4.1.4)
LAST_ORDERS = 20  # of a district, that Stock-Level looks at (clause 2.8.2.2)


def transactions(size: Size, *, seed: int = 0) -> Load:
    """Transactions of one terminal without end, in the shares of the mix."""
    terminal = Terminal(size, random.Random(seed))
    while True:
        (kind,) = terminal.rng.choices(list(MIX), list(MIX.values()))
        yield kind, terminal.transaction(kind)


@functools.cache
def customers_last_names(size: Size) -> tuple[str, ...]:
    """The names that customers have: a small load has those of its first ones."""
    names = last_names(np.arange(min(1000, size.customers))).text
    return tuple(bytes(row).replace(b"\0", b"").decode("ascii") for row in names)


class Terminal:
    """Draws what the transactions are about. Each has its own warehouse; time goes on by a second per transaction."""

    def __init__(self, size: Size, rng: random.Random) -> None:
        self.size, self.rng = size, rng
        self._now = _FIRST
        self._last_names = customers_last_names(size)

    def transaction(self, kind: str) -> Program:
        """One transaction of that kind. ValueError when there is none of that name."""
        if kind not in MIX:
            raise ValueError(f"{kind!r} is no transaction of TPC-C: {', '.join(MIX)}")
        self._now += datetime.timedelta(seconds=1)
        program: Program = getattr(self, f"_{kind}")()
        return program

    def _new_order(self) -> Program:
        w, d, c = self._warehouse(), self._district(), self._customer()
        n_lines, is_rolled_back = self.rng.randint(5, 15), self.rng.randint(1, 100) <= ROLLED_BACK
        # In the order of their items, so that two terminals do not deadlock over the stock.
        lines = sorted((self._supplier(w), self._item(), self.rng.randint(1, 10)) for _ in range(n_lines))
        ask = functools.partial(_request, "new_order")
        ((_, o),) = yield ask("select_district", w, d)
        yield ask("select_customer", w, d, c)
        yield ask("update_district", w, d)
        is_local = int(all(supplier == w for supplier, _, _ in lines))
        yield ask("insert_orders", o, d, w, c, self._now, n_lines, is_local)
        yield ask("insert_new_order", o, d, w)
        prices, stocks = [], []
        for number, (supplier, item, _) in enumerate(lines, 1):
            is_none = is_rolled_back and number == n_lines
            found = yield ask("select_item", self.size.items + 1 if is_none else item)
            if not found:
                break
            prices.append(found[0][0])
            (stock,) = yield ask("select_stock", supplier, item, district=d)
            stocks.append(stock)
        # What was read of a stock is stale when an earlier line takes the same item: the second line then writes its own reckoning,
        # which is what clients do that send all updates as one batch.
        good = [(*line, price, stock) for line, price, stock in zip(lines, prices, stocks, strict=False)]
        for supplier, item, quantity, _, (has, _, _) in good:
            left = has - quantity if has >= quantity + 10 else has - quantity + 91
            yield ask("update_stock", left, quantity, int(supplier != w), supplier, item)
        for number, (supplier, item, quantity, price, (_, _, dist)) in enumerate(good, 1):
            yield ask("insert_order_line", o, d, w, number, item, supplier, quantity, quantity * price, dist)
        yield Request("rollback", "ROLLBACK") if is_rolled_back else ask("commit")

    def _payment(self) -> Program:
        w, d = self._warehouse(), self._district()
        c_w, c_d = w, d
        if self.size.warehouses > 1 and self.rng.randint(1, 100) <= REMOTE_PAYMENT:
            c_w, c_d = self._other_warehouse(w), self._district()
        amount = Decimal(self.rng.randint(100, 500_000)).scaleb(-2)
        ask = functools.partial(_request, "payment")
        yield ask("update_district", amount, w, d)
        ((d_name, *_),) = yield ask("select_district", w, d)
        yield ask("update_warehouse", amount, w)
        ((w_name, *_),) = yield ask("select_warehouse", w)
        c = yield from self._chosen_customer("payment", c_w, c_d)
        customer = (c_w, c_d, c)
        ((credit, *_),) = yield ask("select_customer", *customer)
        if credit == "BC":
            ((data,),) = yield ask("select_customer_data", *customer)
            data = f"{c} {c_d} {c_w} {d} {w} {amount} | {data}"[:500]
            yield ask("update_customer_data", amount, amount, data, *customer)
        else:
            yield ask("update_customer", amount, amount, *customer)
        yield ask("insert_history", c, c_d, c_w, d, w, self._now, amount, f"{w_name}    {d_name}")
        yield ask("commit")

    def _order_status(self) -> Program:
        w, d = self._warehouse(), self._district()
        ask = functools.partial(_request, "order_status")
        c = yield from self._chosen_customer("order_status", w, d)
        yield ask("select_customer", w, d, c)
        ((o, *_),) = yield ask("select_last_order", w, d, c)
        yield ask("select_order_lines", w, d, o)
        yield ask("commit")

    def _delivery(self) -> Program:
        w, carrier = self._warehouse(), self.rng.randint(1, 10)
        ask = functools.partial(_request, "delivery")
        for d in range(1, DISTRICTS + 1):
            waiting = yield ask("select_oldest_new_order", w, d)
            if not waiting:
                continue
            order = (w, d, waiting[0][0])
            yield ask("delete_new_order", *order)
            ordered = yield ask("select_order", *order)
            if not ordered:
                continue
            yield ask("update_order", carrier, *order)
            yield ask("update_order_lines", self._now, *order)
            ((total,),) = yield ask("select_order_sum", *order)
            yield ask("update_customer", total, w, d, ordered[0][0])
        yield ask("commit")

    def _stock_level(self) -> Program:
        w, d, threshold = self._warehouse(), self._district(), self.rng.randint(10, 20)
        ask = functools.partial(_request, "stock_level")
        ((following,),) = yield ask("select_district", w, d)
        yield ask("count_low_stock", w, d, following - LAST_ORDERS, following, threshold)
        yield ask("commit")

    def _chosen_customer(self, kind: str, w: int, d: int) -> Any:
        """The number of a customer, by name for most of them: the one in the middle of those who share it."""
        if self.rng.randint(1, 100) > BY_NAME:
            return self._customer()
        name = self._last_names[self._uneven(255, 0, len(self._last_names) - 1)]
        found = yield _request(kind, "select_customers_by_name", w, d, name)
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
        is_remote = self.size.warehouses > 1 and self.rng.randint(1, 100) <= REMOTE_LINE
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


def _request(kind: str, name: str, *values: Any, district: int | None = None) -> Request:
    return Request(name, sql_of(kind, name, district=district), values)
