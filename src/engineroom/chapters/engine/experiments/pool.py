"""The whole engine with a buffer pool that holds all pages of its table, half, a quarter, or a tenth of them.

All else is one engine: the lock system, transaction system and redo log of 9.7, under SysBench's read-write transactions over evenly drawn rows,
with the demands of 9.7.4 and the settings of the sources' server. The first design has no buffer pool: all pages are there and no latch of it is taken. Ablations of the smallest
pool have a disk that takes a nanosecond, and 5.7's one mutex per instance. The disk (100 us for a read, 50 us for a write, 32 at a time) is an estimate.

`CLAIMS` were written down before the first run of this experiment. Seen before were only the tests of the kernel, with 16 clients: misses are the
share of pages that the pool has no frame for, and a pool of a tenth does less.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engineroom.runs import Run
from engineroom.runs.summary import values
from engineroom.simulating.engine import COLUMNS, Design, of_design
from engineroom.simulating.experiment import Experiment
from engineroom.simulating.sources import MACHINE, sysbench

CROWD = 500
TABLE: dict[str, Any] = {"kind": "sysbench_read_write", "rows": 1_000_000, "distribution": "uniform"}
INSTANCES, SCAN_DEPTH = 8, 64
# What an instance may hold more than another, percent of the table's pages, so that all of them have room.
ROOM = 10
# An engine in the server's order of latches has no pool.
_OWN_ORDER = {"server_order": False}


def _designs() -> dict[str, Design]:
    from engineroom._native import engine

    pages = engine.data_pages(TABLE)

    def of(percent: int, **pool: Any) -> Design:
        """A pool that holds so many percent of the pages, besides the frames that its page cleaners keep free."""
        frames = pages * percent // 100 + 2 * INSTANCES * SCAN_DEPTH
        held = {"pages": frames, "instances": INSTANCES, "lru_scan_depth": SCAN_DEPTH}
        return Design(engine={**_OWN_ORDER, "has_buffer_pool": True}, pool={**held, **pool})

    return {
        "none": Design(engine=_OWN_ORDER),
        "all": of(100 + ROOM),
        "half": of(50),
        "quarter": of(25),
        "tenth": of(10),
        "tenth, disk in no time": of(10, read_ns=1, write_ns=1),
        "tenth, one mutex": of(10, latches="5.7"),
    }


def _load() -> dict[str, Any]:
    table: dict[str, Any] = {name: value for name, value in TABLE.items() if name != "kind"}
    return {
        **sysbench("9.7.4", **table),
        "designs": {name: design.said() for name, design in _designs().items()},
    }


pool_sim = Experiment(
    figure="own-engine-pool",
    says="throughput of a whole engine by how many of its table's pages the buffer pool holds",
    points={
        "concurrency": (1, 50, 150, CROWD),
        "series": ("none", "all", "half", "quarter", "tenth", "tenth, disk in no time", "tenth, one mutex"),
    },
    measure=of_design,
    options={"first_ms": 50, "longest_ms": 200, "warmup_ms": 50},
    load=_load,
    machine=MACHINE,
    columns={
        **COLUMNS,
        "pool_misses": "pages that were not there, per transaction, where there is a pool",
        "pool_writes": "pages written, per transaction",
    },
)


def _tps(run: Run, series: str, clients: int) -> float:
    return float(run.values("series", "concurrency", y="tps")[series, clients])


def _left(run: Run, series: str, clients: int) -> float:
    """Of the throughput with a pool that holds all pages."""
    return _tps(run, series, clients) / _tps(run, "all", clients)


def _leading(run: Run, series: str) -> str:
    waits = run.tables["latches"]
    crowd = waits[(waits["concurrency"] == CROWD) & (waits["series"] == series)]
    return str(values(crowd, "latch", y="wait_us", how="median").idxmax())


# What was expected -> whether a run has it so.
CLAIMS: Mapping[str, Callable[[Run], bool]] = {
    "with the crowd, a pool that holds all pages has at least nine tenths of the throughput without one": lambda run: (
        _tps(run, "all", CROWD) >= 0.9 * _tps(run, "none", CROWD)
    ),
    "with the crowd, each smaller pool has less throughput": lambda run: (
        1 > _left(run, "half", CROWD) > _left(run, "quarter", CROWD) > _left(run, "tenth", CROWD)
    ),
    "with the crowd and a pool of a tenth, clients wait most for the disk": lambda run: (
        _leading(run, "tenth") == "innodb_data_file"
    ),
    "with the crowd, a pool of a tenth whose disk takes no time has at least four fifths of the throughput of all pages": lambda run: (
        _left(run, "tenth, disk in no time", CROWD) >= 0.8
    ),
    "a pool of a tenth takes a greater share of the throughput from the crowd than from one client": lambda run: (
        _left(run, "tenth", CROWD) < _left(run, "tenth", 1)
    ),
    "with the crowd and a pool of a tenth, one mutex has within a tenth of the throughput of two": lambda run: (
        abs(_tps(run, "tenth, one mutex", CROWD) / _tps(run, "tenth", CROWD) - 1) <= 0.1
    ),
}
