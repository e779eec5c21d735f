"""TPC-C in SysBench: the script sends what the terminal asks, in its texts, and a server's rows stay consistent under many of its threads."""

from __future__ import annotations

import contextlib
import itertools
import random
import re
import shutil
import subprocess
from collections import defaultdict

import pytest

from engineroom import servers
from engineroom.workloads import tpcc_sysbench, tpcc_terminal
from engineroom.workloads.tpcc_rows import Size
from engineroom.workloads.tpcc_statements import STATEMENTS

needs_sysbench = pytest.mark.skipif(
    shutil.which("sysbench") is None, reason="sysbench is not installed: apt-get install sysbench"
)
SIZE = Size(2, 0.01)
LITERAL = r"(?:-?\d+(?:\.\d\d)?|'(?:[^'\\]|''|\\\\)*')"
# What is sent is printed. Answers depend on the values, so that a row is there in one case and not in another.
PRINTED = """
local answers = {
  ["new_order.select_district"] = {"0.1", "31"}, ["new_order.select_customer"] = {"0.1", "O'N\\\\eil", "GC", "0.1"},
  ["new_order.select_item"] = {"2.50", "name", "data"}, ["new_order.select_stock"] = {"50", "data", "it's"},
  ["payment.select_district"] = {"d'name"}, ["payment.select_warehouse"] = {"w\\\\name"},
  ["payment.select_customers_by_name"] = {"3"}, ["payment.select_customer"] = {"GC"},
  ["payment.select_customer_data"] = {"old?"}, ["order_status.select_customers_by_name"] = {"3"},
  ["order_status.select_customer"] = {"F", "OE", "L", "1"}, ["order_status.select_last_order"] = {"30"},
  ["delivery.select_oldest_new_order"] = {"21"}, ["delivery.select_order"] = {"7"},
  ["delivery.select_order_sum"] = {"9.00"}, ["stock_level.select_district"] = {"31"},
}
function start() end
function send(name, text)
  print(name .. "\\t" .. text)
  local last = tonumber(text:match("(%d+)$") or 0)
  local district = tonumber(text:match("_d_id = (%d+)") or 0)
  if name == "new_order.select_item" and last > size.items then return {} end
  if name == "delivery.select_oldest_new_order" and text:find("no_d_id = 3 ") then return {} end
  if name == "delivery.select_order" and district == 5 then return {} end
  if name == "payment.select_customer" and district % 2 == 0 then return {{"BC"}} end
  return {answers[name]}
end
"""


def _answer(kind, request):
    """As `PRINTED` has it, for the terminal."""
    asked = (kind, request.name)
    if asked == ("new_order", "select_item"):
        return [] if request.values[0] > SIZE.items else [(2, "name", "data")]
    if asked == ("delivery", "select_oldest_new_order"):
        return [] if request.values[1] == 3 else [(21,)]
    if asked == ("delivery", "select_order"):
        return [] if request.values[1] == 5 else [(7,)]
    if asked == ("payment", "select_customer"):
        return [("BC" if request.values[1] % 2 == 0 else "GC",)]
    one = {"select_stock": (50, "data", "dist"), "select_customer": (1, 2, 3, 4), "select_order_sum": (9,)}
    of_district = {"payment": ("name",), "new_order": (0, 31), "stock_level": (31,)}
    return [of_district[kind] if request.name == "select_district" else one.get(request.name, (3,))]


def _followed(kind, names):
    return set(itertools.pairwise([kind, *names]))


@needs_sysbench
def test_the_script_sends_the_terminals_statements_in_its_order(tmp_path):
    script = tmp_path / "tpcc.lua"
    script.write_text(tpcc_sysbench.script(SIZE) + PRINTED)
    command = ["sysbench", str(script), "--events=700", "--time=0", "--rand-seed=7", "run"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    sent = [line.split("\t") for line in said.splitlines() if "\t" in line and "." in line.split("\t")[0]]
    patterns = {
        f"{kind}.{name}": re.compile(
            re.escape(text).replace(re.escape("?"), LITERAL).replace(re.escape("{district}"), r"\d\d")
        )
        for kind, statements in STATEMENTS.items()
        for name, text in statements.items()
    }
    theirs, ours = defaultdict(set), defaultdict(set)
    names = []
    for name, text in sent:
        kind, statement = name.split(".")
        names.append(statement)
        if statement == "rollback":
            assert text == "ROLLBACK"
        else:
            assert patterns[name].fullmatch(text), text
        if statement in ("commit", "rollback"):
            theirs[kind] |= _followed(kind, names)
            names = []
    for kind, seed in itertools.product(tpcc_terminal.MIX, range(200)):
        program = tpcc_terminal.Terminal(SIZE, random.Random(seed)).transaction(kind)
        asked, rows = [], None
        with contextlib.suppress(StopIteration):
            while True:
                asked.append(program.send(rows))
                rows = _answer(kind, asked[-1])
        ours[kind] |= _followed(kind, [request.name for request in asked])
    assert theirs == ours
    assert any(text.endswith("'w\\\\name    d''name')") for _, text in sent), "texts are quoted"


@needs_sysbench
@pytest.mark.live
@pytest.mark.parametrize("version", ["9.7"])
def test_rows_stay_consistent_under_many_threads_of_sysbench(version, tmp_path):
    """Clause 3.3.2, conditions 1 to 4, and each delivery charged once."""
    options = {"transaction_isolation": "READ-COMMITTED"}
    with servers.start(version, options=options) as server:
        load = tpcc_sysbench.filled(server, SIZE, tmp_path)
        ran = load.run(threads=8, seconds=1)
        assert ran.transactions > 0
        unlike = server.query(
            "SELECT w_id FROM warehouse WHERE w_ytd <> (SELECT SUM(d_ytd) FROM district WHERE d_w_id = w_id)",
            load.database,
        )
        assert unlike == []
        orders = server.query(
            "SELECT d_next_o_id - 1, (SELECT MAX(o_id) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id),"
            " (SELECT MAX(no_o_id) - MIN(no_o_id) + 1 - COUNT(*) FROM new_order WHERE no_w_id = d_w_id AND no_d_id = d_id),"
            " (SELECT SUM(o_ol_cnt) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id),"
            " (SELECT COUNT(*) FROM order_line WHERE ol_w_id = d_w_id AND ol_d_id = d_id) FROM district",
            load.database,
        )
        assert all(last == most and gaps == 0 and n == m for last, most, gaps, n, m in orders)
        ((delivered, charged),) = server.query(
            "SELECT (SELECT COUNT(*) FROM orders WHERE o_carrier_id IS NOT NULL), (SELECT SUM(c_delivery_cnt) FROM customer)",
            load.database,
        )
        assert charged == delivered - SIZE.warehouses * 10 * SIZE.delivered
