"""The server, the load and the machine of the sources' whole engines, as far as their author published them or others measured them.

The author's book tells its server's settings, its loads and its machine (`data/machine/sources_176.json`). What those set in an engine is here, for all figures of whole engines
at once, so that none has a setting of its own. Three numbers are calibrated, on one figure of that book which is none of ours (4-43: three nodes
of the machine): `cpu_percent` and `away_ns` below, and the machine's `all_busy_permille`. Of 24 combinations they were the nearest to it, by an engine that did not yet hold its latches as long as a server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from engineroom.simulating.engine import COLUMNS, LINES, TPCC_WINDOW, Design, holds, load_of, of_design
from engineroom.simulating.experiment import Experiment

__all__ = ["IMPROVED", "MACHINE", "ONE_SOCKET", "designs_under_tpcc", "improved", "sysbench", "tpcc"]

MACHINE, ONE_SOCKET = "sources_176", "one_socket_44"

# What a statement computes there, over what it computed where it was measured; between two statements, the client and the network.
_CALIBRATED: Mapping[str, int] = {"cpu_percent": 132, "away_ns": 20_000}
_SERVER: Mapping[str, Mapping[str, Any]] = {
    "engine": {
        # log-bin with sync_binlog = 1 and innodb_flush_log_at_trx_commit = 1.
        "binlog": "5.7.6",
        # innodb_io_capacity_max = 5000: in the long run no more pages become dirty than are written. Before they are, 19 % of the
        # mini-transactions make one dirty, as a live server's acquisitions of the flush list's latch say (one warehouse, all of it in memory).
        "cleaned_per_s": 5_000,
        "dirty_percent": 19,
        "server_order": True,
    },
    # binlog_order_commits = OFF.
    "commit": {"order_commits": False},
    **LINES,
}
# The author's server for figures 7-10 to 7-21: active ids in a bitmap, views closed without the mutex, a condition per session that commits.
IMPROVED: Mapping[str, Mapping[str, Any]] = {
    "trx_sys": {"ids": "bitmap", "closes_without_mutex": True},
    "commit": {"own_conditions": True},
}


def improved(**parts: Any) -> Design:
    """The author's improved server, with what else is changed of it."""
    return Design(**{**{name: dict(options) for name, options in IMPROVED.items()}, **parts})


def tpcc(server: str, warehouses: int) -> dict[str, Any]:
    """BenchmarkSQL's load, each terminal bound to its warehouse (terminalWarehouseFixed), with the demands of a server."""
    return _on_their_server(server, "tpcc", warehouses=warehouses, home_warehouses=True)


def sysbench(server: str, **rows: Any) -> dict[str, Any]:
    """SysBench's read-write transactions over a table's rows, with the demands of a server."""
    return _on_their_server(server, "sysbench_read_write", **rows)


def designs_under_tpcc(
    figure: str,
    says: str,
    designs: Mapping[str, Design],
    *,
    server: str,
    concurrency: Sequence[int],
    warehouses: int = 1000,
    window: Mapping[str, int] = TPCC_WINDOW,
    columns: Mapping[str, str] = MappingProxyType({}),
) -> Experiment:
    """Engines of several designs, one per series, on the sources' machine under TPC-C; the designs are part of the run's load. `columns` are beside `COLUMNS`."""
    return Experiment(
        figure=figure,
        says=says,
        points={"concurrency": concurrency, "series": tuple(designs)},
        measure=of_design,
        options=window,
        load=partial(
            _of_designs, server, warehouses, {name: design.said() for name, design in designs.items()}
        ),
        machine=MACHINE,
        columns={**COLUMNS, **columns},
    )


def _of_designs(server: str, warehouses: int, designs: Mapping[str, Any]) -> dict[str, Any]:
    return {**tpcc(server, warehouses), "designs": dict(designs)}


def _on_their_server(server: str, kind: str, **load: Any) -> dict[str, Any]:
    settings = {part: dict(options) for part, options in _SERVER.items()}
    return {**load_of(server, kind, **_CALIBRATED, **load), **settings, "holds": holds()}
