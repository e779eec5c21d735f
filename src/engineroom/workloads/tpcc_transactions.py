"""The writing transactions of TPC-C: their statements for a server, and what each changes in which rows.

New-Order, Payment and Delivery as the specification profiles them (clauses 2.4, 2.5 and 2.7), with the statements of BenchmarkSQL's
client; Order-Status and Stock-Level change nothing, and the one New-Order in a hundred that is rolled back leaves nothing either, so
none of them is here. The rows are kept in this process, from `tpcc_rows`: each transaction says what it does before any server has seen
it, which is how a kernel gets the same load, and how a server's log is checked.
"""

from __future__ import annotations

import datetime
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from engineroom import paths
from engineroom.workloads.tpcc_rows import DISTRICTS, Size, text

__all__ = ["MIX", "Change", "Step", "Transaction", "declarations", "keys", "transactions"]

# Shares of the kinds in the specification's least mix (clause 5.2.3), in percent; what reads only is left out.
MIX: Mapping[str, int] = {"new_order": 45, "payment": 43, "delivery": 4}
# When the first transaction is entered; each is a second later, so that the same seed gives the same bytes.
_FIRST = datetime.datetime(2024, 2, 1)
_TABLES = ("warehouse", "district", "customer", "new_order", "orders", "order_line", "item", "stock")

Row = list[Any]


@dataclass(frozen=True)
class Change:
    """What a statement does to rows of one table: each row before (update, delete) and after (insert, update), a value per column."""

    table: str
    change: str
    before: Sequence[Row] | None
    after: Sequence[Row] | None
    written: tuple[int, ...]  # the columns that the statement gives values to


@dataclass(frozen=True)
class Step:
    """A statement, and what it changes."""

    sql: str
    change: Change


@dataclass(frozen=True)
class Transaction:
    """What is committed together."""

    kind: str
    steps: tuple[Step, ...]


def declarations() -> dict[str, dict[str, str]]:
    """The columns of each table with their types as `CREATE TABLE` has them, without the character set."""
    source = (paths.data() / "workloads" / "tpcc.sql").read_text(encoding="utf-8")
    column = re.compile(r"\s+(\w+)\s+((?:INT|VARCHAR|CHAR|DECIMAL|DATETIME)\S*)\s+(NOT )?NULL")
    return {
        table: {
            found[1]: found[2].lower() + (" not null" if found[3] else "")
            for line in body.splitlines()
            if (found := column.match(line))
        }
        for table, body in re.findall(r"CREATE TABLE (\w+) \((.*?)\n\) ENGINE", source, re.DOTALL)
    }


def keys() -> dict[str, list[str]]:
    """The columns of each table's primary key; `history` has none."""
    source = (paths.data() / "workloads" / "tpcc.sql").read_text(encoding="utf-8")
    return {
        table: found[1].split(", ") if (found := re.search(r"PRIMARY KEY \((.*?)\)", body)) else []
        for table, body in re.findall(r"CREATE TABLE (\w+) \((.*?)\n\) ENGINE", source, re.DOTALL)
    }


def transactions(n: int, *, size: Size, seed: int = 0, load_seed: int = 0) -> Iterator[Transaction]:
    """The first n that write, on a database that `tpcc.load` filled with `size` and `load_seed`."""
    terminal = _Terminal(size, random.Random(seed), load_seed)
    for number in range(n):
        terminal.now = _FIRST + datetime.timedelta(seconds=number)
        (kind,) = terminal.rng.choices(list(MIX), list(MIX.values()))
        yield Transaction(kind, tuple(getattr(terminal, kind)()))


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return f"'{value}'" if isinstance(value, str | datetime.datetime) else str(value)


class _Terminal:
    """The database as its transactions leave it, and the one client that runs them."""

    def __init__(self, size: Size, rng: random.Random, load_seed: int) -> None:
        self.size, self.rng, self.now = size, rng, _FIRST
        declared = declarations()
        self.columns = {table: list(columns) for table, columns in declared.items()}
        self.at = {
            table: {name: i for i, name in enumerate(columns)} for table, columns in self.columns.items()
        }
        self.key = {table: [self.at[table][name] for name in names] for table, names in keys().items()}
        self.rows: dict[str, dict[tuple[Any, ...], Row]] = {table: {} for table in _TABLES}
        for table in _TABLES:
            kinds = list(declared[table].values())
            for warehouse in range(1, (1 if table == "item" else size.warehouses) + 1):
                for line in (
                    text(table, size, warehouse=warehouse, seed=load_seed).decode("ascii").splitlines()
                ):
                    self._keep(table, [_parsed(*pair) for pair in zip(line.split("\t"), kinds, strict=True)])
        self.lines: dict[tuple[int, int, int], list[Row]] = {}
        for row in self.rows["order_line"].values():
            self.lines.setdefault((row[2], row[1], row[0]), []).append(row)
        # Orders that wait for delivery, the oldest first.
        self.open: dict[tuple[int, int], list[int]] = {}
        for w, d, o in sorted(self.rows["new_order"]):
            self.open.setdefault((w, d), []).append(o)

    def _keep(self, table: str, row: Row) -> None:
        self.rows[table][tuple(row[i] for i in self.key[table])] = row

    def _uneven(self, a: int, low: int, high: int) -> int:
        """The specification's non-uniform random number (clause 2.1.6)."""
        return ((self.rng.randint(0, a) | self.rng.randint(low, high)) + 7) % (high - low + 1) + low

    def new_order(self) -> Iterator[Step]:
        """The order, its lines, and the stock that they take."""
        w, d = self.rng.randint(1, self.size.warehouses), self.rng.randint(1, DISTRICTS)
        customer = self._uneven(1023, 1, self.size.customers)
        n_lines = self.rng.randint(5, 15)
        o = self.rows["district"][w, d][self.at["district"]["d_next_o_id"]]
        yield self._update("district", [(w, d)], {"d_next_o_id": lambda now: ("d_next_o_id + 1", now + 1)})
        yield self._insert(
            "orders",
            {"o_id": o, "o_d_id": d, "o_w_id": w, "o_c_id": customer, "o_entry_d": self.now, "o_ol_cnt": n_lines, "o_all_local": 1},
        )  # fmt: skip
        yield self._insert("new_order", {"no_o_id": o, "no_d_id": d, "no_w_id": w})
        self.open.setdefault((w, d), []).append(o)
        items = [
            (self._uneven(8191, 1, self.size.items), self.rng.randint(1, 10), number)
            for number in range(1, n_lines + 1)
        ]
        # BenchmarkSQL sends both as batches: all updates, then all inserts. Items in order, so that no two terminals deadlock.
        for item, quantity, _ in sorted(items):
            yield self._update("stock", [(w, item)], {
                "s_quantity": lambda now, of=quantity: _as_both(now - of if now >= of + 10 else now - of + 91),
                "s_ytd": lambda now, of=quantity: (f"s_ytd + {of}", now + of),
                "s_order_cnt": lambda now: ("s_order_cnt + 1", now + 1),
                "s_remote_cnt": lambda now: ("s_remote_cnt + 0", now),
            })  # fmt: skip
        for item, quantity, number in items:
            price = self.rows["item"][(item,)][self.at["item"]["i_price"]]
            stock = self.rows["stock"][w, item]
            step = self._insert("order_line", {
                "ol_o_id": o, "ol_d_id": d, "ol_w_id": w, "ol_number": number, "ol_i_id": item, "ol_supply_w_id": w,
                "ol_quantity": quantity, "ol_amount": quantity * price,
                "ol_dist_info": stock[self.at["stock"][f"s_dist_{d:02}"]],
            })  # fmt: skip
            self.lines.setdefault((w, d, o), []).append(self.rows["order_line"][w, d, o, number])
            yield step

    def payment(self) -> Iterator[Step]:
        """The amount goes to warehouse, district and customer, and into the history."""
        w, d = self.rng.randint(1, self.size.warehouses), self.rng.randint(1, DISTRICTS)
        c = self._uneven(1023, 1, self.size.customers)
        amount = Decimal(self.rng.randint(100, 500_000)).scaleb(-2)
        plus = {
            name: (lambda now, of=name: (f"{of} + {amount}", now + amount))
            for name in ("w_ytd", "d_ytd", "c_ytd_payment")
        }
        yield self._update("warehouse", [(w,)], {"w_ytd": plus["w_ytd"]})
        yield self._update("district", [(w, d)], {"d_ytd": plus["d_ytd"]})
        row = self.rows["customer"][w, d, c]
        changes: dict[str, Any] = {
            "c_balance": lambda now: (f"c_balance - {amount}", now - amount),
            "c_ytd_payment": plus["c_ytd_payment"],
            "c_payment_cnt": lambda now: ("c_payment_cnt + 1", now + 1),
        }
        if row[self.at["customer"]["c_credit"]] == "BC":
            changes["c_data"] = lambda now: _as_both(f"{c} {d} {w} {d} {w} {amount}, {now}"[:500])
        yield self._update("customer", [(w, d, c)], changes)
        names = (self.rows["warehouse"][(w,)][1], self.rows["district"][w, d][2])
        yield self._insert("history", {
            "h_c_id": c, "h_c_d_id": d, "h_c_w_id": w, "h_d_id": d, "h_w_id": w, "h_date": self.now, "h_amount": amount,
            "h_data": "    ".join(names),
        })  # fmt: skip

    def delivery(self) -> Iterator[Step]:
        """The oldest open order of each district is delivered and charged."""
        w, carrier = self.rng.randint(1, self.size.warehouses), self.rng.randint(1, 10)
        for d in range(1, DISTRICTS + 1):
            if not (waiting := self.open.get((w, d))):
                continue
            o = waiting.pop(0)
            yield self._delete("new_order", (w, d, o))
            c = self.rows["orders"][w, d, o][self.at["orders"]["o_c_id"]]
            yield self._update("orders", [(w, d, o)], {"o_carrier_id": lambda _: _as_both(carrier)})
            numbers = [(w, d, o, line[3]) for line in self.lines[w, d, o]]
            yield self._update(
                "order_line", numbers, {"ol_delivery_d": lambda _: _as_both(self.now)}, where=self._where("order_line", (w, d, o))
            )  # fmt: skip
            total = sum(line[self.at["order_line"]["ol_amount"]] for line in self.lines[w, d, o])
            yield self._update("customer", [(w, d, c)], {
                "c_balance": lambda now, of=total: (f"c_balance + {of}", now + of),
                "c_delivery_cnt": lambda now: ("c_delivery_cnt + 1", now + 1),
            })  # fmt: skip

    def _where(self, table: str, key: Sequence[Any]) -> str:
        names = [self.columns[table][i] for i in self.key[table]]
        return " AND ".join(f"{name} = {value}" for name, value in zip(names, key, strict=False))

    def _insert(self, table: str, given: Mapping[str, Any]) -> Step:
        row: Row = [given.get(name) for name in self.columns[table]]
        if table in self.rows:
            self._keep(table, row)
        values = ", ".join(map(_literal, given.values()))
        written = tuple(self.at[table][name] for name in given)
        return Step(
            f"INSERT INTO {table} ({', '.join(given)}) VALUES ({values})",
            Change(table, "insert", None, [list(row)], written),
        )

    def _delete(self, table: str, key: tuple[Any, ...]) -> Step:
        row = self.rows[table].pop(key)
        return Step(
            f"DELETE FROM {table} WHERE {self._where(table, key)}", Change(table, "delete", [row], None, ())
        )

    def _update(
        self, table: str, keys: Sequence[tuple[Any, ...]], changes: Mapping[str, Any], *, where: str = ""
    ) -> Step:
        """Each of `changes` gives, from a column's value, the expression that the statement has for it and the new value."""
        before, after = [], []
        expressions: dict[str, str] = {}
        for key in keys:
            row = self.rows[table][key]
            before.append(list(row))
            for name, change in changes.items():
                expressions[name], row[self.at[table][name]] = change(row[self.at[table][name]])
            after.append(list(row))
        given = ", ".join(f"{name} = {said}" for name, said in expressions.items())
        written = tuple(self.at[table][name] for name in changes)
        return Step(
            f"UPDATE {table} SET {given} WHERE {where or self._where(table, keys[0])}",
            Change(table, "update", before, after, written),
        )


def _as_both(value: Any) -> tuple[str, Any]:
    """A value as the statement writes it, and itself."""
    return _literal(value), value


def _parsed(field: str, declared: str) -> Any:
    if field == "\\N":
        return None
    if declared.startswith("int"):
        return int(field)
    if declared.startswith("decimal"):
        return Decimal(field)
    return datetime.datetime.fromisoformat(field) if declared.startswith("datetime") else field
