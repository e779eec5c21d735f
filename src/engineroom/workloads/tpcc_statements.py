"""The statements of TPC-C's five transactions, each once: what a terminal asks (`tpcc_terminal`), and what SysBench sends (`tpcc_sysbench`).

Names and order are those of the simulated engine's programs (native/kernels/engine/load.hpp), which follow BenchmarkSQL 5.0: of what
locks rows, New-Order asks for its district first, and Payment for the district before the warehouse. Tests hold both clients and the
engine's programs against this order. The demands in data/recorded were measured with Payment's warehouse before its district, New-Order's
customer before its district, and a Delivery that did not ask whether an order has a carrier: one client waits for nobody, so
that their order changes nothing there.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["STATEMENTS", "sql_of"]

_OF_CUSTOMER = "WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
_OF_DISTRICT = "WHERE d_w_id = ? AND d_id = ?"
_OF_ORDER = "WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?"
_OF_LINES = "WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?"
_BY_NAME = "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first"
_PAID = (
    "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?,"
    " c_payment_cnt = c_payment_cnt + 1"
)

# Transaction -> statement -> its text, with `?` for each value and {district} for two digits of a column's name.
STATEMENTS: Mapping[str, Mapping[str, str]] = {
    "new_order": {
        "select_district": f"SELECT d_tax, d_next_o_id FROM district {_OF_DISTRICT} FOR UPDATE",
        "select_customer": (
            "SELECT c_discount, c_last, c_credit, w_tax FROM customer JOIN warehouse ON w_id = c_w_id"
            f" {_OF_CUSTOMER}"
        ),
        "update_district": f"UPDATE district SET d_next_o_id = d_next_o_id + 1 {_OF_DISTRICT}",
        "insert_orders": (
            "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)"
        ),
        "insert_new_order": "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)",
        "select_item": "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?",
        "select_stock": (
            "SELECT s_quantity, s_data, s_dist_{district} FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE"
        ),
        "update_stock": (
            "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1,"
            " s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id = ?"
        ),
        "insert_order_line": (
            "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,"
            " ol_dist_info) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        ),
        "commit": "COMMIT",
    },
    "payment": {
        "update_district": f"UPDATE district SET d_ytd = d_ytd + ? {_OF_DISTRICT}",
        "select_district": f"SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district {_OF_DISTRICT}",
        "update_warehouse": "UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?",
        "select_warehouse": "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = ?",
        "select_customers_by_name": _BY_NAME,
        "select_customer": (
            "SELECT c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since,"
            f" c_credit_lim, c_discount, c_balance FROM customer {_OF_CUSTOMER} FOR UPDATE"
        ),
        "update_customer": f"{_PAID} {_OF_CUSTOMER}",
        "select_customer_data": f"SELECT c_data FROM customer {_OF_CUSTOMER}",
        "update_customer_data": f"{_PAID}, c_data = ? {_OF_CUSTOMER}",
        "insert_history": (
            "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        ),
        "commit": "COMMIT",
    },
    "order_status": {
        "select_customers_by_name": _BY_NAME,
        "select_customer": f"SELECT c_first, c_middle, c_last, c_balance FROM customer {_OF_CUSTOMER}",
        "select_last_order": (
            "SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ?"
            " ORDER BY o_id DESC LIMIT 1"
        ),
        "select_order_lines": (
            f"SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line {_OF_LINES}"
        ),
        "commit": "COMMIT",
    },
    "delivery": {
        "select_oldest_new_order": (
            "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id LIMIT 1"
        ),
        "delete_new_order": "DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?",
        # Another terminal may have delivered the order while the deletion waited for it: then it has a carrier.
        "select_order": f"SELECT o_c_id FROM orders {_OF_ORDER} AND o_carrier_id IS NULL",
        "update_order": f"UPDATE orders SET o_carrier_id = ? {_OF_ORDER}",
        "update_order_lines": f"UPDATE order_line SET ol_delivery_d = ? {_OF_LINES}",
        "select_order_sum": f"SELECT SUM(ol_amount) FROM order_line {_OF_LINES}",
        "update_customer": f"UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 {_OF_CUSTOMER}",
        "commit": "COMMIT",
    },
    "stock_level": {
        "select_district": f"SELECT d_next_o_id FROM district {_OF_DISTRICT}",
        "count_low_stock": (
            "SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id"
            " WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id >= ? AND ol_o_id < ? AND s_quantity < ?"
        ),
        "commit": "COMMIT",
    },
}


def sql_of(kind: str, name: str, *, district: int | None = None) -> str:
    """The text of a statement. KeyError when there is none of that name; `district` fills in the column that is one district's."""
    text = STATEMENTS[kind][name]
    return text if district is None else text.replace("{district}", f"{district:02}")
