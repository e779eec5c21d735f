"""The rows of the nine TPC-C tables by the specification's initial population (clause 4.3.3): same seed, same rows, everywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engineroom.errors import EngineRoomError
from engineroom.workloads.tpcc_columns import (
    Column,
    Ints,
    a_string,
    address,
    as_text,
    constant,
    digits,
    last_names,
    letters_of,
    maybe_original,
    number,
    nurand,
    same,
)

__all__ = ["DISTRICTS", "TABLES", "Size", "columns_of", "integers", "text", "warehouses_of"]

DISTRICTS = 10
_WHEN = b"2024-01-01 00:00:00"  # fixed: the date of loading would make two loads differ


@dataclass(frozen=True)
class Size:
    """How many rows a database has: the specification's numbers at `scale` 1."""

    warehouses: int = 1
    scale: float = 1.0

    def __post_init__(self) -> None:
        if self.warehouses < 1:
            raise EngineRoomError(f"warehouses is {self.warehouses}", remedy="ask for one warehouse or more")
        if not 0.001 <= self.scale <= 1:
            raise EngineRoomError(
                f"scale is {self.scale}",
                remedy="use a scale from 0.001 to 1; for more data ask for more warehouses",
            )

    @property
    def customers(self) -> int:
        """Customers of a district, and as many orders: each customer starts with one."""
        return round(3000 * self.scale)

    @property
    def delivered(self) -> int:
        """Orders of a district that are delivered; the rest, three in ten, are in `new_order`."""
        return self.customers - round(900 * self.scale)

    @property
    def items(self) -> int:
        """Rows of `item`, and of `stock` for each warehouse."""
        return round(100_000 * self.scale)


def integers(table: str, column: str, size: Size, *, seed: int = 0) -> Ints:
    """One integer column of a table as `load` fills it, in the order of the primary key."""
    values = []
    for warehouse in warehouses_of(table, size):
        digits = columns_of(table, size, warehouse, seed)[column].text
        value = np.zeros(len(digits), np.int64)
        for digit in digits.T:  # NUL before the first digit of a shorter value
            value = np.where(digit, 10 * value + digit - ord("0"), value)
        values.append(value)
    return np.concatenate(values)


def text(table: str, size: Size, *, warehouse: int = 1, seed: int = 0) -> bytes:
    """The rows of one table and warehouse as LOAD DATA reads them: tab between columns, `\\N` for NULL, newline after each."""
    return as_text(columns_of(table, size, warehouse, seed))


def columns_of(table: str, size: Size, warehouse: int, seed: int) -> dict[str, Column]:
    """A stream of its own for each table and warehouse: warehouse 3 is the same, however many others there are."""
    place = list(TABLES).index(table)
    return TABLES[table](np.random.default_rng([seed, place, warehouse]), size, warehouse, seed)


def warehouses_of(table: str, size: Size) -> range:
    return range(1, 2) if table == "item" else range(1, size.warehouses + 1)


def _by_district(size: Size, warehouse: int) -> tuple[Ints, Ints, Ints]:
    """Row number in the district, district, warehouse, for tables of one row a customer or order, in key order."""
    within = np.tile(np.arange(1, size.customers + 1), DISTRICTS)
    district = np.repeat(np.arange(1, DISTRICTS + 1), size.customers)
    return within, district, np.full(len(within), warehouse)


def _lines_per_order(size: Size, warehouse: int, seed: int) -> Ints:
    """5 to 15 lines for each order; `orders` and `order_line` both ask, and must hear the same."""
    rng = np.random.default_rng([seed, len(TABLES), warehouse])
    return rng.integers(5, 16, DISTRICTS * size.customers)


def _warehouse(rng: np.random.Generator, size: Size, warehouse: int, seed: int) -> dict[str, Column]:  # noqa: ARG001
    return {
        "w_id": number([warehouse]),
        "w_name": a_string(rng, 1, 6, 10),
        **address(rng, 1, "w"),
        "w_tax": number(rng.integers(0, 2001, 1), decimals=4),
        "w_ytd": number([DISTRICTS * size.customers * 1000], decimals=2),
    }


def _district(rng: np.random.Generator, size: Size, warehouse: int, seed: int) -> dict[str, Column]:  # noqa: ARG001
    n = DISTRICTS
    return {
        "d_id": number(np.arange(1, n + 1)),
        "d_w_id": number(np.full(n, warehouse)),
        "d_name": a_string(rng, n, 6, 10),
        **address(rng, n, "d"),
        "d_tax": number(rng.integers(0, 2001, n), decimals=4),
        # Each customer has paid 10.00 (see _history), so 30000.00 a district at scale 1.
        "d_ytd": number(np.full(n, size.customers * 1000), decimals=2),
        "d_next_o_id": number(np.full(n, size.customers + 1)),
    }


def _customer(rng: np.random.Generator, size: Size, warehouse: int, seed: int) -> dict[str, Column]:
    within, district, w = _by_district(size, warehouse)
    n = len(within)
    c_load = int(np.random.default_rng([seed, len(TABLES)]).integers(256))
    # The first thousand of a district have each last name once, the rest by the uneven draw.
    names = np.where(within <= 1000, within - 1, nurand(rng, n, a=255, low=0, high=999, c=c_load))
    credit = np.where(rng.permutation(n)[:, None] < n // 10, *map(letters_of, (b"BC", b"GC")))
    return {
        "c_id": number(within),
        "c_d_id": number(district),
        "c_w_id": number(w),
        "c_first": a_string(rng, n, 8, 16),
        "c_middle": same(b"OE", n),
        "c_last": last_names(names),
        **address(rng, n, "c"),
        "c_phone": digits(rng, n, 16),
        "c_since": same(_WHEN, n),
        "c_credit": Column(credit),
        "c_credit_lim": same(b"50000.00", n, quoted=False),
        "c_discount": number(rng.integers(0, 5001, n), decimals=4),
        "c_balance": same(b"-10.00", n, quoted=False),
        "c_ytd_payment": same(b"10.00", n, quoted=False),
        "c_payment_cnt": same(b"1", n, quoted=False),
        "c_delivery_cnt": same(b"0", n, quoted=False),
        "c_data": a_string(rng, n, 300, 500),
    }


def _history(rng: np.random.Generator, size: Size, warehouse: int, seed: int) -> dict[str, Column]:  # noqa: ARG001
    within, district, w = _by_district(size, warehouse)
    n = len(within)
    return {
        "h_c_id": number(within),
        "h_c_d_id": number(district),
        "h_c_w_id": number(w),
        "h_d_id": number(district),
        "h_w_id": number(w),
        "h_date": same(_WHEN, n),
        "h_amount": same(b"10.00", n, quoted=False),
        "h_data": a_string(rng, n, 12, 24),
    }


def _new_order(rng: np.random.Generator, size: Size, warehouse: int, seed: int) -> dict[str, Column]:  # noqa: ARG001
    within, district, w = (column[_is_open(size)] for column in _by_district(size, warehouse))
    return {"no_o_id": number(within), "no_d_id": number(district), "no_w_id": number(w)}


def _is_open(size: Size) -> npt.NDArray[np.bool_]:
    """Which orders of a warehouse are not yet delivered: the last three in ten of each district."""
    return np.tile(np.arange(1, size.customers + 1) > size.delivered, DISTRICTS)


def _orders(rng: np.random.Generator, size: Size, warehouse: int, seed: int) -> dict[str, Column]:
    within, district, w = _by_district(size, warehouse)
    n = len(within)
    # Each customer has one order, in an order of its own in each district.
    customer = rng.permuted(within.reshape(DISTRICTS, -1), axis=1).ravel()
    return {
        "o_id": number(within),
        "o_d_id": number(district),
        "o_w_id": number(w),
        "o_c_id": number(customer),
        "o_entry_d": same(_WHEN, n),
        "o_carrier_id": Column(number(rng.integers(1, 11, n)).text, quoted=False, null=_is_open(size)),
        "o_ol_cnt": number(_lines_per_order(size, warehouse, seed)),
        "o_all_local": same(b"1", n, quoted=False),
    }


def _order_line(rng: np.random.Generator, size: Size, warehouse: int, seed: int) -> dict[str, Column]:
    lines = _lines_per_order(size, warehouse, seed)
    n = int(lines.sum())
    order, district, w = (np.repeat(column, lines) for column in _by_district(size, warehouse))
    is_open = np.repeat(_is_open(size), lines)
    first = np.repeat(np.cumsum(lines) - lines, lines)
    return {
        "ol_o_id": number(order),
        "ol_d_id": number(district),
        "ol_w_id": number(w),
        "ol_number": number(np.arange(n) - first + 1),
        "ol_i_id": number(rng.integers(1, size.items + 1, n)),
        "ol_supply_w_id": number(w),
        "ol_delivery_d": Column(constant(_WHEN, n), null=is_open),
        "ol_quantity": same(b"5", n, quoted=False),
        "ol_amount": number(np.where(is_open, rng.integers(1, 1_000_000, n), 0), decimals=2),
        "ol_dist_info": a_string(rng, n, 24, 24),
    }


def _item(rng: np.random.Generator, size: Size, warehouse: int, seed: int) -> dict[str, Column]:  # noqa: ARG001
    n = size.items
    return {
        "i_id": number(np.arange(1, n + 1)),
        "i_im_id": number(rng.integers(1, 10_001, n)),
        "i_name": a_string(rng, n, 14, 24),
        "i_price": number(rng.integers(100, 10_001, n), decimals=2),
        "i_data": maybe_original(rng, n),
    }


def _stock(rng: np.random.Generator, size: Size, warehouse: int, seed: int) -> dict[str, Column]:  # noqa: ARG001
    n = size.items
    return {
        "s_i_id": number(np.arange(1, n + 1)),
        "s_w_id": number(np.full(n, warehouse)),
        "s_quantity": number(rng.integers(10, 101, n)),
        **{f"s_dist_{d:02}": a_string(rng, n, 24, 24) for d in range(1, DISTRICTS + 1)},
        "s_ytd": same(b"0", n, quoted=False),
        "s_order_cnt": same(b"0", n, quoted=False),
        "s_remote_cnt": same(b"0", n, quoted=False),
        "s_data": maybe_original(rng, n),
    }


# The largest first, so that the two loading connections end together.
TABLES: dict[str, Callable[[np.random.Generator, Size, int, int], dict[str, Column]]] = {
    "stock": _stock,
    "order_line": _order_line,
    "customer": _customer,
    "history": _history,
    "orders": _orders,
    "item": _item,
    "new_order": _new_order,
    "district": _district,
    "warehouse": _warehouse,
}
