"""A whole engine on the simulated machine: which design each of its parts has, and what its statements ask for.

What a statement computes and writes is what it asked of a live server that had one client, as `own-demands` has it: of CPU time the
median of the batches' means. Nothing else is taken from the servers: what many clients do to each other comes out of the model. The processors of the simulated machine compute as fast as those on
which the statements were measured.

The load is what a run carries in its provenance: that of the kernel, with the number of clients left out, and the demands, of which
`cpu_percent` is computed where that is given. One that has `holds`, too, says what each design of a part computes while it holds its latches,
besides what it reads and writes there; one with a `mix` has transactions of its own, as `simulate_mix` takes them; `engine`, `locks`, `trx_sys`, `log` and `commit` have options of these parts that all its designs share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from engineroom.errors import EngineRoomError
from engineroom.runs import newest, recorded
from engineroom.simulating import settling
from engineroom.simulating.activities import time_by
from engineroom.simulating.experiment import Given, Seen

__all__ = [
    "BESIDE",
    "COLUMNS",
    "COUNTS",
    "EACH",
    "LATER",
    "LINES",
    "RECORDING",
    "TPCC_WINDOW",
    "Design",
    "GrantOrder",
    "demand",
    "demands",
    "hash_index_of",
    "held",
    "holds",
    "load_of",
    "observed",
    "of_design",
    "run",
    "statements_of",
    "with_searches",
    "with_space_lookups",
    "without_time_inside",
]

# Which locks of its table an intention lock looks at: 5.7 at each, 8.0.15 and later, which count them, at none (own-table-locks).
EACH, COUNTS = {"table_looks": "each"}, {"table_looks": "counts"}
# Virtual time: long enough that a client of a crowd has some transactions, or the cap.
TPCC_WINDOW: Mapping[str, int] = {"first_ms": 100, "longest_ms": 300, "warmup_ms": 150}
# Of own-demands, the recording that the simulated figures rest on: with another one all of them have another protocol.
RECORDING = 5
# Of 8.0.31, which was measured later and on a slower computer, 8.0.15 beside it: what a statement computed there over what it computed on
# 8.0.15, times what it had computed on 8.0.15 before.
LATER, BESIDE = 6, "8.0.15"
# Where the load of that name was measured.
_MEASURED_AS = {"sysbench_read_write": "sysbench_read_write", "tpcc": "tpcc_1"}
# Of a statement that hardly ever writes: it has no size of its own.
_FEWEST_MTRS, _USUAL_BYTES = 0.01, 150

COLUMNS = {
    "concurrency": "clients in a closed loop",
    "tps": "transactions per second of virtual time",
    "tpmC": "New-Order transactions per minute of virtual time, as TPC-C counts them; of another load there are none",
    "latency_ms": "mean time of a transaction with all its attempts, ms: clients over throughput",
    "latency_ms_p99": "99th percentile of it, ms",
    "ignored_errors": "deadlocks that a client saw in 60 s of virtual time",
    "deadlocks": "transactions rolled back as victims, in the window",
    "lock_waits": "waits for a row, per transaction",
    "lock_wait_ms": "time that a transaction waits for rows, mean, ms",
    "most_waiting": "clients that waited for rows at the same time, at most",
    "transactions": "counted in the window",
    "fsyncs": "of the redo log, per transaction",
    "window_ms": "virtual time measured, longer until settled",
    "half_width_percent": "half of the throughput's interval of 95 %, over it",
    "is_settled": "1: that is at most 2 %, and each client has committed five times; 0: the window's cap came first",
    "latch": "a latch by its name in performance_schema, or what else is waited for",
    "waits": "so many, per transaction",
    "wait_us": "time that all clients together wait, per transaction, microseconds",
}

# The waiters of a record, in queue order, to their places in the order in which they are tried.
GrantOrder = Callable[[Sequence[Mapping[str, Any]]], Sequence[int]]


@dataclass(frozen=True, kw_only=True)
class Design:
    """The design of each part of an engine; `locks`, `log`, `commit`, `pool` and `trx_sys` have what is changed of its lock system, redo log, commits, buffer pool and transaction system."""

    lock_design: str = "9.7"
    locks: Mapping[str, Any] = field(default_factory=dict)
    latches: str = "8.0, sharded"
    redo: str = "8.0"
    engine: Mapping[str, Any] = field(default_factory=dict)
    log: Mapping[str, Any] = field(default_factory=dict)
    commit: Mapping[str, Any] = field(default_factory=dict)
    pool: Mapping[str, Any] = field(default_factory=dict)
    trx_sys: Mapping[str, Any] = field(default_factory=dict)

    def said(self) -> dict[str, Any]:
        """As a run's load has it: of the parts behind the lock system only what is changed."""
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in ("log", "commit", "pool", "trx_sys") or value
        }


# What is behind latches is memory that another core or socket may have.
LINES: Mapping[str, Mapping[str, Any]] = {"locks": {"has_lines": True}, "trx_sys": {"has_lines": True}}


def demands(server: str, kind: str, recording: int = RECORDING) -> dict[str, dict[str, int]]:
    """What each statement of a load asked of a server with one client, as the kernel takes it."""
    measured, wanted = _measured(recording, server, kind), statements_of(kind)
    if not measured:
        before, beside = _measured(RECORDING, BESIDE, kind), _measured(LATER, BESIDE, kind)
        measured = {
            name: {**row, "cpu_us": row["cpu_us"] / beside[name]["cpu_us"] * before[name]["cpu_us"]}
            for name, row in _measured(LATER, server, kind).items()
        }
    if missing := [name for name in wanted if name not in measured]:
        raise EngineRoomError(
            f"the recorded demands of {kind} on {server} lack {', '.join(missing)}",
            remedy="engineroom record own-demands --method live",
        )
    return {name: demand(measured[name]) for name in wanted}


def _measured(recording: int, server: str, kind: str) -> dict[str, dict[str, Any]]:
    """Each statement's row of a recording of own-demands; empty for a server that it lacks."""
    table = recorded("own-demands", "live")[recording - 1].table
    mine = table[(table["server"] == server) & (table["load"] == _MEASURED_AS[kind])]
    rows: Any = mine.to_dict("records")
    return {f"{row['transaction']}.{row['statement']}": row for row in rows}


def statements_of(kind: str) -> list[str]:
    """The names of a load's statements, each with its transaction before it."""
    from engineroom._native import engine

    return engine.statements(kind)


def demand(row: Mapping[str, Any]) -> dict[str, int]:
    """A statement's row of `own-demands` as the kernel takes it."""
    writes = row["mtrs"] >= _FEWEST_MTRS
    return {
        "computing_ns": round(1000 * row["cpu_us"]),
        "mtrs_permille": round(1000 * row["mtrs"]) if writes else 0,
        "mtr_bytes": max(1, round(row["redo_bytes"] / row["mtrs"])) if writes else _USUAL_BYTES,
    }


def load_of(server: str, kind: str, **options: Any) -> dict[str, Any]:
    """A load as an `Experiment` has it."""
    return {"kind": kind, **options, "demands_of": server, "demands": demands(server, kind)}


def with_space_lookups(load: Mapping[str, Any], server: str) -> dict[str, Any]:
    """The load, whose statements look tablespaces up as often as those of a server take `fil_system_mutex`: for engines with `has_space_latch`.

    Those of a commit are left out. They come of writing and flushing the log, which in a crowd one does for all.
    """
    table = recorded("own-demands", "live")[RECORDING - 1].tables["latches"]
    mine = table[
        (table["server"] == server)
        & (table["load"] == _MEASURED_AS[load["kind"]])
        & (table["latch"] == "fil_system_mutex")
        & ~table["statement"].isin(["commit", "rollback"])
    ]
    names = mine["transaction"] + "." + mine["statement"]
    lookups = dict(zip(names, mine["acquisitions"], strict=True))
    return {
        **load,
        "demands": {
            name: {**demand, "space_lookups_permille": round(1000 * lookups.get(name, 0))}
            for name, demand in load["demands"].items()
        },
    }


# Of a server with the adaptive hash index: what a statement does in it -> the option of the engine that has the time of one.
_INSIDE = {"hash_searches": "hash_search_ns", "hash_changes": "hash_change_ns"}


def with_searches(
    demands: Mapping[str, Mapping[str, Any]], server: str, kind: str, *, hash_index: bool
) -> dict[str, dict[str, Any]]:
    """The demands, with how their statements come to rows on that server, by `own-hash-index`: for engines with `has_page_latches`."""
    table = newest("own-hash-index", "live").table
    rows: Any = table[
        (table["server"] == server)
        & (table["load"] == _MEASURED_AS[kind])
        & (table["hash_index"] == ("ON" if hash_index else "OFF"))
    ].to_dict("records")
    counted = {f"{row['transaction']}.{row['statement']}": row for row in rows}
    columns = (*_INSIDE, "root_searches")
    return {
        # A statement that never came while they were counted searches once from a root.
        name: {
            **demand,
            **(
                {f"{column}_permille": round(1000 * counted[name][column]) for column in columns}
                if name in counted
                else {}
            ),
        }
        for name, demand in demands.items()
    }


def hash_index_of(server: str, cpu_us: float) -> dict[str, Any]:
    """An engine's options for that server's adaptive hash index, where a read-write transaction computes for `cpu_us`.

    A search in it and a change of it take their share of that time, by `own-hash-index`: the most that their latch is held.
    """
    run = newest("own-hash-index", "live")
    table, inside = run.table, run.tables["inside"]
    mine = table[
        (table["server"] == server) & (table["load"] == "sysbench_read_write") & (table["hash_index"] == "ON")
    ]
    shares = (inside["cpu_us"] / inside["thread_cpu_us"]).groupby([inside["server"], inside["part"]]).mean()
    each = mine[[*_INSIDE, "hash_tries"]].mul(mine["per_transaction"], axis=0).sum()
    held_ns: Any = {
        option: round(1000 * cpu_us * shares[server, part] / each[part]) for part, option in _INSIDE.items()
    }
    return {"hash_index": "tries" if each["hash_tries"] > each["hash_searches"] / 2 else "waits", **held_ns}


def without_time_inside(demand: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The demand, less what its statement computes under the latch of the hash index."""
    inside_ns = sum(
        options[option] * demand.get(f"{column}_permille", 0) for column, option in _INSIDE.items()
    )
    return {**demand, "computing_ns": max(0, round(demand["computing_ns"] - inside_ns / 1000))}


# The designs of each part that have a server's hold times; those of the newest stand for both designs with a second mutex.
_NEWEST = "9.7.4"
_HELD_AS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "locks": {"5.7.22": ["5.7"], "8.0.15": ["8.0.15"], _NEWEST: ["9.7"]},
    "log": {"5.7.22": ["5.7"], "8.0.15": ["8.0"], _NEWEST: ["8.0, writer threads off"]},
    "trx_sys": {"5.7.22": ["5.7"], "8.0.15": ["8.0"], _NEWEST: ["8.0, split", "8.0, sharded"]},
}


def holds(*, newest_as: str = _NEWEST) -> dict[str, dict[str, dict[str, int]]]:
    """What servers compute while they hold latches, as `own-engine-holds` has it: part -> design of it -> option -> ns. `newest_as` stands for 9.7.4."""
    rows: Any = newest("own-engine-holds", "sim").table.to_dict("records")
    held = {(row["engine_part"], row["series"]): {row["option"]: int(row["held_ns"])} for row in rows}
    return {
        part: {
            design: dict(held[part, newest_as if server == _NEWEST else server])
            for server, names in servers.items()
            for design in names
        }
        for part, servers in _HELD_AS.items()
    }


def held(design: Design, holds: Mapping[str, Any]) -> Design:
    """The design, whose parts hold their latches as long as `holds` says: part -> design of it -> options; nothing of a design that is not there."""
    chosen = {"locks": design.lock_design, "trx_sys": design.latches, "log": design.redo}
    options: dict[str, Any] = {
        part: {**of.get(chosen[part], {}), **getattr(design, part)} for part, of in holds.items()
    }
    return replace(design, **options)


def _computed_here(load: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """The load's demands on a processor that takes `cpu_percent` of the time."""
    percent = load.get("cpu_percent", 100)
    return {
        name: {**demand, "computing_ns": round(demand["computing_ns"] * percent / 100)}
        for name, demand in load["demands"].items()
    }


PARTS = ("engine", "locks", "trx_sys", "log", "commit")


def _simulate(
    design: Design, given: Given, clients: int, order: GrantOrder | None, **window: Any
) -> dict[str, Any]:
    from engineroom._native import engine

    shared: dict[str, Any] = {part: {**given.load.get(part, {}), **getattr(design, part)} for part in PARTS}
    design = held(replace(design, **shared), given.load.get("holds", {}))
    known = {option.name for option in engine.load_options()}
    load = {name: value for name, value in given.load.items() if name in known}
    asked: dict[str, Any] = (
        {"mix": given.load["mix"]}
        if "mix" in given.load
        else {"demands": _computed_here(given.load), "order": order}
    )
    simulate = engine.simulate_mix if "mix" in given.load else engine.simulate
    seen: dict[str, Any] = simulate(
        **asked,
        parameters=dict(given.machine),
        load={**load, "clients": clients},
        engine={"redo": design.redo, **design.engine},
        lock_design=design.lock_design,
        locks=dict(design.locks),
        trx_sys={"latches": design.latches, **design.trx_sys},
        log=dict(design.log),
        commit=dict(design.commit),
        pool=dict(design.pool),
        seed=given.seed,
        **window,
    )
    return seen


def run(
    design: Design, given: Given, order: GrantOrder | None = None, /, *, clients: int, **window: int
) -> dict[str, Any]:
    """What the kernel sees of a design in a window that is long enough."""
    return settling.settled(partial(_simulate, design, given, clients, order), **window)


def observed(
    design: Design, given: Given, order: GrantOrder | None = None, /, *, clients: int, **window: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """One point: a row of what was seen, and one row per latch, event or file that clients waited for.

    `order` chooses who of several waiters gets a row, instead of the design's policy.
    """
    seen = run(design, given, order, clients=clients, **window)
    done = max(1, seen["transactions"])
    per_second = seen["transactions"] / seen["window_ns"] * 1e9
    row = {
        "tps": per_second,
        "latency_ms": clients / per_second * 1000 if per_second else None,
        "latency_ms_p99": seen["latency_ns_p99"] / 1e6,
        "ignored_errors": seen["deadlocks"] / seen["window_ns"] * 60e9,
        "deadlocks": seen["deadlocks"],
        "lock_waits": seen["lock_waits"] / done,
        "lock_wait_ms": seen["lock_wait_ns"] / done / 1e6,
        "most_waiting": seen["most_waiting"],
        "fsyncs": seen["fsyncs"] / done,
        "transactions": seen["transactions"],
        **settling.window(seen),
    }
    if given.load.get("kind") == "tpcc":
        row["tpmC"] = seen["new_orders"] / seen["window_ns"] * 60e9
    parts = {**given.load.get("engine", {}), **design.engine}
    if parts.get("binlog", "off") != "off":
        row["binlog_fsyncs"] = seen["binlog_fsyncs"] / done
        row["commits_per_group"] = seen["commits"] / max(1, seen["sync_groups"])
    if parts.get("has_buffer_pool"):
        row["pool_misses"] = seen["pool_misses"] / done
        row["pool_writes"] = seen["pool_writes"] / done
    if parts.get("has_purge"):
        row["purge_removed"] = seen["purge_removed"] / max(1, seen["purge_committed"])
        row["purge_cpus"] = sum(time_by(seen["activities"], _purging).values()) / 1000 / seen["window_ns"]
        row["history_length"] = seen["history_length"]
    waits = [
        {"latch": wait["name"], "waits": wait["count"] / done, "wait_us": wait["total_ns"] / done / 1000}
        for wait in seen["waits"]
    ]
    return row, waits


def _purging(path: Sequence[str]) -> str | None:
    return path[0] if path[0].startswith("purge") else None


def of_design(point: Mapping[str, Any], given: Given, **window: int) -> Seen:
    """What is measured at a point of designs, such as `sources.designs_under_tpcc` has them: a row, and the waits as the table `latches`."""
    design = Design(**given.load["designs"][point["series"]])
    row, waits = observed(design, given, clients=point["concurrency"], **window)
    return Seen([row], {"latches": waits})
