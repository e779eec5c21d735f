"""`engineroom whatif` beside live servers: three loads of our own, predicted and run side by side.

A load's demands are measured with one client on 9.7.4, as the command measures a reader's. The engines of two versions are then simulated on
the small computer with several clients, and SysBench runs the same transactions on both servers. SysBench has the processors that the server has,
so the prediction is told what it computes with one client (`client_us`), and that it is away for no other time. No server has a binary log, and an
fsync takes a given time.

`CLAIMS` were written down before the first run of this experiment.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from engineroom import paths
from engineroom.ask.whatif.demands import Demands
from engineroom.ask.whatif.measuring import measured
from engineroom.ask.whatif.prediction import ROWS, predicted
from engineroom.ask.whatif.transactions import Transaction, parsed, read
from engineroom.machine.presets import Preset, preset
from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.turns import in_turns
from engineroom.runs import Run
from engineroom.validation.experiments.beside import FSYNC_US, MACHINE, OPTIONS, SCHEDULER
from engineroom.validation.predicted import beside_servers
from engineroom.workloads import sysbench
from engineroom.workloads.steady_fsync import preloaded
from engineroom.workloads.sysbench import Ran, Sysbench

CLIENTS = (1, 4, 16, 64)
DATABASE = "whatif"
# By the version on which is predicted: the server, and what it is started with.
SERVERS: Mapping[str, tuple[str, Mapping[str, str | int]]] = {
    "5.7.22": ("5.7", {}),
    "9.7.4": ("9.7", {"disable_log_bin": "ON"}),
}
MEASURED_ON = "9.7.4"
_OPTIONS: Mapping[str, str | int] = {**OPTIONS, "max_connections": 300, "innodb_stats_auto_recalc": "OFF"}
# Beside the shop of data/workloads: few rows that all clients change, and pairs of rows that are drawn unevenly.
_OWN: Mapping[str, Mapping[str, Any]] = {
    "counter": {
        "statements": [
            "SELECT name FROM item WHERE id = :item",
            "UPDATE counter SET n = n + 1 WHERE id = :id",
        ],
        "values": {"item": {"rows": 100_000}, "id": {"rows": 10}},
    },
    "transfer": {
        "statements": [
            "SELECT n FROM account WHERE id = :giver",
            "UPDATE account SET n = n - 1 WHERE id = :giver",
            "UPDATE account SET n = n + 1 WHERE id = :taker",
        ],
        "values": {
            "giver": {"rows": 100_000, "distribution": "pareto"},
            "taker": {"rows": 100_000, "distribution": "pareto"},
        },
    },
}
LOADS = ("shop", *_OWN)
_CREATED: Mapping[str, str] = {
    "item": "name VARCHAR(40) NOT NULL, price INT NOT NULL, stock INT NOT NULL",
    "account": "n INT NOT NULL",
    "counter": "n INT NOT NULL",
}
_FILLED = {
    "item": (100_000, "'a thing of the shop', 100, 1000000"),
    "account": (100_000, "0"),
    "counter": (10, "0"),
}
_ORDERS = "CREATE TABLE orders (id INT PRIMARY KEY AUTO_INCREMENT, item INT NOT NULL, at DATETIME NOT NULL)"
_ROWS_PER_INSERT = 10_000

COLUMNS = {
    "clients": "in a closed loop, on the server's own computer",
    "series": "server: measured; predicted: simulated",
    "server": "version",
    "load": "the transactions: shop, counter, transfer",
    "tps": "transactions per second",
    "lowest_tps": "of the machines with other estimates, the lowest throughput",
    "highest_tps": "and the highest",
    "row_waiters": "clients that wait for a row, mean",
    "client_us": "what a client computes per statement, microseconds",
    "transactions": "counted by SysBench",
}


def loads() -> dict[str, list[Transaction]]:
    """The transactions of each load."""
    return {
        "shop": read(paths.data() / "workloads" / "shop.toml"),
        **{name: parsed({"transaction": [{"name": name, **kind}]}, name) for name, kind in _OWN.items()},
    }


def lua(kinds: Sequence[Transaction]) -> str:
    """A script of SysBench that runs transactions by their weight, each on a connection that commits as its kind does."""
    made = []
    for kind in kinds:
        drawn = ", ".join(
            f"{name} = sysbench.rand.{value.distribution}(1, {value.rows})"
            for name, value in kind.values.items()
        )
        sent = "\n".join(
            f"  con:query((({json.dumps(each.sql)}):gsub(':([%a_][%w_]*)', v)))" for each in kind.statements
        )
        made.append(
            f"function(autocommit, manual)\n  local v = {{{drawn}}}\n  local con = {'autocommit' if kind.autocommit else 'manual'}\n{sent}\n"
            + ("" if kind.autocommit else '  con:query("COMMIT")\n')
            + "end"
        )
    return (
        "sysbench.cmdline.options = {tables = {'not used', 1}, table_size = {'not used', 0}}\n"
        f"local kinds = {{{', '.join(made)}}}\nlocal weights = {{{', '.join(str(kind.weight) for kind in kinds)}}}\n"
        f"local all = {sum(kind.weight for kind in kinds)}\n" + _EVENTS
    )


_EVENTS = """
function thread_init()
  local driver = sysbench.sql.driver()
  autocommit, manual = driver:connect(), driver:connect()
  manual:query("SET autocommit = 0")
end

function event()
  local at = sysbench.rand.uniform(1, all)
  for i, weight in ipairs(weights) do
    if at <= weight then return kinds[i](autocommit, manual) end
    at = at - weight
  end
end

function thread_done()
  autocommit:disconnect()
  manual:disconnect()
end
"""


def whatif_live(
    *,
    names: Sequence[str] = LOADS,
    clients: Sequence[int] = CLIENTS,
    seconds: int = 3,
    repeats: int = 2,
    versions: Sequence[str] = tuple(SERVERS),
    varied: int = 6,
    batches: int = 8,
) -> Run:
    """Measure demands, run the loads on the servers in turns, and predict. `clients` has 1, at which SysBench's CPU time is read; `versions` has 9.7.4."""
    sysbench.require()
    kinds = {name: loads()[name] for name in names}
    rows: list[dict[str, Any]] = []
    with LiveSitting(seed=1) as sitting, ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="er-whatif-")))
        stack.enter_context(preloaded(FSYNC_US))
        servers = {}
        for version in versions:
            release, options = SERVERS[version]
            servers[version] = stack.enter_context(sitting.server(release, options={**_OPTIONS, **options}))
        scripts = {}
        for (version, server), name in product(servers.items(), names):
            script = folder / f"{name}.lua"
            script.write_text(lua(kinds[name]), encoding="utf-8")
            scripts[version, name] = Sysbench(server, str(script), database=f"{DATABASE}_{name}")
            server.execute(*_tables(), database=f"{DATABASE}_{name}")
        asked = {
            name: measured(servers[MEASURED_ON], f"{DATABASE}_{name}", kinds[name], batches=batches)
            for name in names
        }
        turns = in_turns(repeats, versions, names, clients, desc="beside")
        for turn, (repeat, version, name, n) in enumerate(turns):
            ran = scripts[version, name].run(threads=n, seconds=seconds, seed=turn + 1)
            where = {"clients": n, "series": "server", "repeat": repeat, "server": version, "load": name}
            rows.append(where | _ran(ran, _statements(kinds[name])))
        rows += _predictions(asked, rows, clients=clients, versions=versions, varied=varied)
    return sitting.run(
        "own-whatif",
        rows,
        columns=COLUMNS,
        fsync_us=FSYNC_US,
        load=f"data/workloads/shop.toml and two loads of our own, READ COMMITTED, no binary log, {seconds} s a run",
        varied=varied,
    )


def _tables() -> Iterator[str]:
    yield _ORDERS
    for table, columns in _CREATED.items():
        yield f"CREATE TABLE {table} (id INT PRIMARY KEY, {columns})"
        n, row = _FILLED[table]
        for first in range(1, n + 1, _ROWS_PER_INSERT):
            last = min(n + 1, first + _ROWS_PER_INSERT)
            yield f"INSERT INTO {table} VALUES " + ", ".join(f"({i}, {row})" for i in range(first, last))


def _statements(kinds: Sequence[Transaction]) -> float:
    """That a client sends per transaction, in the mean."""
    return sum(kind.weight * kind.places for kind in kinds) / sum(kind.weight for kind in kinds)


def _ran(ran: Ran, statements: float) -> dict[str, Any]:
    done = max(1, ran.transactions)
    return {
        "tps": ran.transactions / ran.seconds,
        "lowest_tps": None,
        "highest_tps": None,
        "row_waiters": ran.moved["Innodb_row_lock_time"] / 1000 / ran.seconds,
        "client_us": 1e6 * ran.client_cpu_s / done / statements,
        "transactions": ran.transactions,
    }


def _predictions(
    asked: Mapping[str, Demands],
    rows: Sequence[Mapping[str, Any]],
    *,
    clients: Sequence[int],
    versions: Sequence[str],
    varied: int,
) -> Iterator[dict[str, Any]]:
    machine = _steady(preset(MACHINE))
    for name, demands in asked.items():
        alone = [row["client_us"] for row in rows if (row["load"], row["clients"]) == (name, 1)]
        client_us = statistics.median(alone)
        found = predicted(
            demands,
            machine,
            clients=clients,
            versions=versions,
            away_us=0,
            client_us=client_us,
            varied=varied,
        )
        for point in found.points:
            yield {
                "clients": point.clients,
                "series": "predicted",
                "repeat": 0,
                "server": point.version,
                "load": name,
                "tps": point.tps,
                "lowest_tps": point.lowest_tps,
                "highest_tps": point.highest_tps,
                "row_waiters": point.waiting.get(ROWS, 0.0),
                "client_us": client_us,
                "transactions": None,
            }


def _steady(machine: Preset) -> Preset:
    """With the fsync that the servers are given, and their scheduler."""
    given: Mapping[str, Any] = {
        **SCHEDULER,
        "disk_fsync_quantiles_ps": [FSYNC_US * 1_000_000],
        "disk_is_timer": 1,
    }
    kept = [each for each in machine.parameters if each.name not in given]
    like = machine.parameters[0]
    chosen = [
        replace(like, name=name, value=value, kind="chosen", source="") for name, value in given.items()
    ]
    return replace(machine, parameters=(*kept, *chosen))


def _with_most(run: Run) -> pd.DataFrame:
    of = beside_servers(run.table)
    return pd.DataFrame(of.loc[of.index.get_level_values("clients") == max(run.table["clients"])])


# What was expected -> whether a run has it so.
CLAIMS: Mapping[str, Callable[[Run], bool]] = {
    "with one client the prediction is within 30 % on every load and server": lambda run: bool(
        ((beside_servers(run.table)["ratio"].xs(1, level="clients") - 1).abs() <= 0.3).all()
    ),
    "it is within 20 % in the median of all points": lambda run: (
        float((beside_servers(run.table)["ratio"] - 1).abs().median()) <= 0.2
    ),
    "at least half of the servers' throughputs lie in the range that is told": lambda run: (
        float(beside_servers(run.table)["is_in_range"].mean()) >= 0.5
    ),
    "where at least one client is predicted to wait for rows one does, and nowhere else": lambda run: bool(
        (
            (beside_servers(run.table)["row_waiters"] >= 1)
            == (beside_servers(run.table)["predicted_row_waiters"] >= 1)
        ).all()
    ),
    "with the most clients the loads have the predicted order of throughput on each server": lambda run: all(
        list(part["tps"].sort_values().index) == list(part["predicted_tps"].sort_values().index)
        for _, part in _with_most(run).groupby(level="server")
    ),
}
