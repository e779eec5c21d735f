"""Recorded servers for the exercises that ask what is wrong."""

from __future__ import annotations

import contextlib
import csv
import functools
import random
import statistics
from typing import Any

from engineroom import paths

__all__ = [
    "EXCERPTS", "buffers", "changes", "crowd", "crowds", "devices", "excerpt", "flushes", "forms", "gains", "idle",
    "images", "joins", "operations", "planned", "policies", "reports", "row_waits", "settings", "sorts", "taken",
]  # fmt: skip

REDO_LOGS = {
    "old_redo": "5.7.22",
    "flushes": "8.0.15",
    "9.7_writer_threads_on": "9.7.4, writer threads on",
    "9.7_writer_threads_off": "9.7.4, writer threads off",
}
COMMIT_COUNTERS = ("redo_fsyncs", "binlog_fsyncs", "flush_groups", "sync_groups")
# As recorded, and as the question has it.
COMMIT_SETTINGS = {"1/1": "1/1", "2/1000": "2/1000", "0/0": "0/0", "1/1, delay 5 ms": "delay"}
# By name: the recording's table, and of some columns the values of the rows that belong to the excerpt.
EXCERPTS: dict[str, tuple[str, dict[str, set[Any]]]] = {
    "binlog": ("binlog/own-binlog-cpu.live.1.csv", {}),
    "cats": ("cats/own-cats-policies.sim.3.csv", {}),
    "cats_reports": ("lock_sys/own-deadlock-print.live.1.settings.csv", {}),
    "cats_waits": (
        "cats/own-cats-policies.sim.3.csv",
        {"series": {"fifo", "fcfs_5_7", "cats"}, "repeat": {0}},
    ),
    "crowd": ("engine/own-crowd.live.1.csv", {"setting": {"latches instrumented"}}),
    "crowd_latches": ("engine/own-crowd.live.1.latches.csv", {}),
    "engine": ("engine/own-engine-live.live.1.csv", {"series": {"server"}}),
    "filesort": ("filesort/own-filesort-limits.live.2.csv", {"repeat": {0}}),
    "filesort_forms": (
        "filesort/own-filesort-columns.live.2.csv",
        {"repeat": {0}, "query": {"wide", "late_join", "indexed"}},
    ),
    "group_commit": (
        "group_commit/own-gc-groups.live.2.csv",
        {"series": {"5.7", "8.0"}, "clients": {1, 8, 64}},
    ),
    "hash_join": ("hash_join/own-hash-join-buffer.live.3.csv", {"series": {"spill"}}),
    "hash_join_joins": ("hash_join/own-hash-join-buffer.live.3.csv", {"repeat": {0}}),
    "join_order": (
        "join_order/fig-7-24.live.6.csv",
        {"series": {"hypergraph_on", "hypergraph_off", "planning_on", "planning_off"}},
    ),
    "lock_sys": ("engine/own-engine-held-out.live.2.csv", {"series": {"server"}, "clients": {4, 16, 64}}),
    "low_concurrency": ("low_concurrency/own-low-concurrency-operations.live.4.csv", {}),
    "low_concurrency_counters": ("low_concurrency/own-low-concurrency-operations.live.4.counters.csv", {}),
    "read_views": ("read_views/own-read-views-idle.live.1.csv", {}),
    "redo_log": ("redo_log/fig-7-06.live.3.csv", {"concurrency": {1, 10, 50, 200}, "series": set(REDO_LOGS)}),
    "devices": ("engine/own-crowd.live.1.csv", {"setting": {"usual", "an fsync takes 100 us"}}),
    "trx_sys_statements": ("read_views/own-read-views-statements.live.2.csv", {"has_binlog": {0}}),
}
NAMES = {"series", "server"}  # no numbers, though "5.7" looks like one
BOTH_POLICIES = "tpcc_32"
JOINED_ROWS = 8_100  # of both tables, and a few of the dictionary
SLOW = "an fsync takes 100 us"
# Load and clients of each: one commit after the other, work between the commits, a crowd before the device, and processors.
SERVERS_OF_DEVICES = (
    {("uniform", 1)},
    {("hot rows", 64), ("hot rows", 256)},
    {("uniform", 16), ("uniform", 64), ("uniform", 256)},
)


@functools.cache
def excerpt(name: str) -> list[dict[str, Any]]:
    """The rows of a recording that belong to the excerpt."""
    source, where = EXCERPTS[name]
    chapter, _, table = source.partition("/")
    (path,) = (paths.data() / "recorded" / chapter).rglob(table)
    with path.open(encoding="utf-8", newline="") as file:
        rows = [
            {column: text if column in NAMES else _number(text) for column, text in row.items()}
            for row in csv.DictReader(file)
        ]
    return [row for row in rows if all(row[column] in values for column, values in where.items())]


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def crowds() -> dict[str, dict[int, dict[str, float]]]:
    """Four servers under a load, by number of clients: transactions per second, and how long one waits for rows."""
    repeats: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in excerpt("engine"):
        repeats.setdefault((f"{row['server']} {row['distribution']}", row["clients"]), []).append(row)
    made: dict[str, dict[int, dict[str, float]]] = {}
    for (name, clients), rows in sorted(repeats.items()):
        made.setdefault(name, {})[clients] = {
            "clients": clients,
            "tps": round(statistics.median(row["tps"] for row in rows), 1),
            "lock_wait_ms": round(statistics.median(row["lock_wait_ms"] for row in rows), 4),
        }
    return made


def crowd() -> dict[str, dict[str, dict[int, dict[str, Any]]]]:
    """Servers among a crowd, by load, version and clients: transactions per second, and the microseconds that each waits for rows and latches.

    Of the latches, those that are waited for longest, and those of row locks.
    """
    waits: dict[tuple[str, str, int], dict[str, float]] = {}
    for row in excerpt("crowd_latches"):  # the longest waits of a server come first
        mine = waits.setdefault((row["load"], row["series"], row["clients"]), {})
        if len(mine) < 4 or row["latch"].startswith("lock_"):
            mine[row["latch"]] = row["wait_us"]
    made: dict[str, dict[str, dict[int, dict[str, Any]]]] = {}
    for row in excerpt("crowd"):
        load, version, clients = row["load"], row["series"], row["clients"]
        made.setdefault(load, {}).setdefault(version, {})[clients] = {
            "clients": clients,
            "tps": row["tps"],
            "rows_us": round(1000 * row["row_lock_ms"], 1),
            "wait_us": waits[load, version, clients],
        }
    return made


def gains(seed: int = 0) -> dict[str, tuple[str, str, float]]:
    """Five cases A to E: a load, the policy before, and how many times as many transactions CATS makes of it.

    One load is among them under both policies, since whoever looks at loads alone would be right wherever the policy does not matter.
    """
    runs: dict[tuple[str, str], list[float]] = {}
    for row in excerpt("cats"):
        runs.setdefault((row["workload"], row["series"]), []).append(row["tps"])
    tps = {case: statistics.median(repeats) for case, repeats in runs.items()}
    dice = random.Random(f"gains-{seed}")
    both = [(BOTH_POLICIES, policy) for policy in ("fifo", "fcfs_5_7")]
    others = dice.sample(sorted({load for load, _ in tps} - {BOTH_POLICIES}), 3)
    cases = [*both, *((load, dice.choice(("fifo", "fcfs_5_7"))) for load in others)]
    dice.shuffle(cases)
    return {
        name: (load, policy, tps[load, "cats"] / tps[load, policy])
        for name, (load, policy) in zip("ABCDE", cases, strict=True)
    }


def operations() -> dict[str, dict[str, dict[str, Any]]]:
    """Operations of recorded servers by version: CPU time of each repeat, and what the server counted per operation."""
    made: dict[str, dict[str, dict[str, Any]]] = {}
    for row in sorted(excerpt("low_concurrency_counters"), key=lambda row: (row["operation"], row["series"])):
        each = made.setdefault(row["operation"], {}).setdefault(row["series"], {"cpu_us": [], "counters": {}})
        each["counters"][row["counter"]] = row["per_operation"]
    for row in excerpt("low_concurrency"):
        if row["operation"] in made:  # parsing counts nothing
            made[row["operation"]][row["series"]]["cpu_us"].append(row["server_cpu_us"])
    return made


def settings(seed: int = 0) -> dict[str, tuple[dict[str, float], str]]:
    """Five servers A to E under single-row updates: what they counted per commit, and what they were set to.

    Where every group is synced there are several clients, so that no fsync is a commit's own.
    """
    repeats: dict[tuple[str, int, str], list[dict[str, Any]]] = {}
    for row in excerpt("group_commit"):
        repeats.setdefault((row["setting"], row["clients"], row["series"]), []).append(row)
    cases = [case for case in repeats if case[1] > 1 or not case[0].startswith("1/1")]
    dice = random.Random(f"settings-{seed}")
    chosen = [dice.choice([case for case in cases if case[0] == setting]) for setting in COMMIT_SETTINGS]
    chosen.append(dice.choice([case for case in cases if case not in chosen]))
    dice.shuffle(chosen)

    def median(case: tuple[str, int, str], column: str) -> float:
        return float(f"{statistics.median(row[column] for row in repeats[case]):.4g}")

    return {
        name: (
            {"clients": case[1], "commits_per_s": median(case, "transactions_per_second")}
            | {counter: median(case, f"{counter}_per_commit") for counter in COMMIT_COUNTERS},
            COMMIT_SETTINGS[case[0]],
        )
        for name, case in zip("ABCDE", chosen, strict=True)
    }


def changes(seed: int = 0) -> dict[str, tuple[str, int, str, str, float]]:
    """Five cases A to E: version, clients, the setting before and after, and how many times as many commits follow.

    None is nearer than a twelfth to a limit of the question.
    """
    tps: dict[tuple[str, int, str], list[float]] = {}
    for row in excerpt("group_commit"):
        tps.setdefault((row["series"], row["clients"], row["setting"]), []).append(
            row["transactions_per_second"]
        )
    median = {case: statistics.median(each) for case, each in tps.items()}
    found = [
        (version, clients, before, after, times)
        for version, clients, before in median
        for after in ("0/0", "2/1000", "1/1, delay 5 ms")
        if before == "1/1"
        for times in [median[version, clients, after] / median[version, clients, before]]
        if all(abs(times / limit - 1) > 1 / 12 for limit in (1, 4))
    ]
    dice = random.Random(f"changes-{seed}")
    chosen = []
    for is_delay, clients in ((True, {64}), (True, {1, 8}), (False, {64}), (False, {8}), (False, {1})):
        kind = [case for case in found if ("delay" in case[3]) == is_delay and case[1] in clients]
        chosen.append(dice.choice(kind))
    dice.shuffle(chosen)
    return dict(zip("ABCDE", chosen, strict=True))


def flushes() -> dict[str, dict[int, list[dict[str, int]]]]:
    """By how much two counters of servers under SysBench read-write grew in each run, by server and number of clients."""
    made: dict[str, dict[int, list[dict[str, int]]]] = {}
    for row in excerpt("redo_log"):
        grown = {"Com_commit": row["transactions"], "Innodb_os_log_fsyncs": row["fsyncs"]}
        made.setdefault(REDO_LOGS[row["series"]], {}).setdefault(row["concurrency"], []).append(grown)
    return made


def devices(seed: int = 0) -> dict[str, tuple[dict[str, float], str]]:
    """Five servers A to E whose fsyncs take 100 us: what they counted, and "device" if they did half as many transactions again without that time.

    No server is near that limit, and how long one or two fsyncs are beside a transaction tells on which side it is.
    """
    found: dict[tuple[str, int, str], dict[str, list[dict[str, Any]]]] = {}
    for row in excerpt("devices"):
        case = (row["load"], row["clients"], row["series"])
        found.setdefault(case, {}).setdefault(row["setting"], []).append(row)

    def times(case: tuple[str, int, str]) -> float:
        tps = {
            setting: statistics.median(row["tps"] for row in rows) for setting, rows in found[case].items()
        }
        return float(tps["usual"] / tps[SLOW])

    clear = [case for case, of in found.items() if SLOW in of and not 1.2 < times(case) < 1.9]
    dice = random.Random(f"devices-{seed}")
    chosen = [case for case in clear if case[:2] == ("hot rows", 1)]
    chosen += [dice.choice([case for case in clear if case[:2] in kind]) for kind in SERVERS_OF_DEVICES]
    dice.shuffle(chosen)
    columns = ("clients", "tps", "fsyncs", "server_cpus", "cpu_us")
    return {
        name: (
            {column: found[case][SLOW][0][column] for column in columns},
            "device" if times(case) > 1.5 else "other",
        )
        for name, case in zip("ABCDE", chosen, strict=True)
    }


def row_waits() -> dict[str, dict[str, dict[int, list[dict[str, int]]]]]:
    """By how much counters of waits for rows grew in each run, beside its transactions: by load, version and number of clients.

    The recording has them per transaction; times the transactions they are whole numbers again.
    """
    made: dict[str, dict[str, dict[int, list[dict[str, int]]]]] = {}
    for row in excerpt("lock_sys"):
        done = row["transactions"]
        grown = {
            "transactions": done,
            "Innodb_row_lock_waits": round(row["lock_waits_per_1000"] * done / 1000),
            "Innodb_row_lock_time": round(row["lock_wait_ms"] * done),
        }
        versions = made.setdefault(row["distribution"], {})
        versions.setdefault(row["server"], {}).setdefault(row["clients"], []).append(grown)
    return made


def buffers() -> dict[int, dict[str, Any]]:
    """One hash join of 9.7.4 by `join_buffer_size`: rows and bytes, the same in all repeats, and the CPU time of each in ms."""
    made: dict[int, dict[str, Any]] = {}
    for row in excerpt("hash_join"):
        counted = {name: row[name] for name in ("rows_read", "bytes_written", "bytes_read")}
        each = made.setdefault(row["join_buffer_bytes"], counted | {"cpu_ms": []})
        each["cpu_ms"].append(round(1000 * row["server_cpu_s"], 3))
    return made


def joins(seed: int = 0) -> dict[str, tuple[dict[str, float], str]]:
    """Five joins A to E of two tables of 4,000 rows: what the server counted, and what it did. Two block nested loops are among them, one with a large buffer."""
    did: dict[str, list[dict[str, Any]]] = {}
    for row in excerpt("hash_join_joins"):
        what = "refilled" if row["rows_read"] > JOINED_ROWS else "memory"
        if row["series"] == "block_nested_loop":
            what = "block nested loop"
        elif row["temporary_files"]:
            what = "spilled"
        did.setdefault(what, []).append(row)
    loops = did.pop("block nested loop")
    dice = random.Random(f"joins-{seed}")
    chosen = [(dice.choice(did[what]), what) for what in sorted(did)]
    for is_again in (True, False):
        rows = [row for row in loops if (row["rows_read"] > JOINED_ROWS) == is_again]
        chosen.append((dice.choice(rows), "block nested loop"))
    dice.shuffle(chosen)
    columns = ("rows_read", "temporary_files", "bytes_written")
    return {
        name: (
            {column: row[column] for column in columns} | {"cpu_ms": round(1000 * row["server_cpu_s"], 1)},
            what,
        )
        for name, (row, what) in zip("ABCDE", chosen, strict=True)
    }


def taken() -> dict[str, dict[str, dict[str, dict[str, int]]]]:
    """How often a session took each latch of the transaction system for a statement: by version, isolation level and statement."""
    made: dict[str, dict[str, dict[str, dict[str, int]]]] = {}
    for row in excerpt("trx_sys_statements"):
        levels = made.setdefault(row["series"], {})
        levels.setdefault(row["level"], {})[row["statement"]] = {
            name: row[name] for name in ("mutex", "serialisation", "shards")
        }
    return made


def reports() -> dict[str, dict[str, list[float]]]:
    """CPU time in microseconds of one deadlock by version, with its report in the error log (`on`) and without (`off`), in turns."""
    made: dict[str, dict[str, list[float]]] = {}
    for row in excerpt("cats_reports"):
        each = made.setdefault(row["server"], {"off": [], "on": []})
        each[row["innodb_print_all_deadlocks"]].append(row["cpu_us"])
    return made


def images() -> dict[str, dict[str, list[float]]]:
    """Servers by how they write their binlog: CPU time and bytes of the binlog per transaction, in each repeat."""
    made: dict[str, dict[str, list[float]]] = {}
    for row in excerpt("binlog"):
        each = made.setdefault(row["setting"], {"cpu_us": [], "bytes": []})
        each["cpu_us"].append(row["server_cpu_us"])
        each["bytes"].append(row["bytes_per_txn"])
    return made


def planned() -> dict[str, dict[str, dict[str, list[float]]]]:
    """Statements on a server with the hypergraph optimizer on and off: seconds of the whole and of planning alone."""
    made: dict[str, dict[str, dict[str, list[float]]]] = {}
    for row in excerpt("join_order"):
        what, switch = row["series"].split("_")
        times = made.setdefault(row["query"], {}).setdefault(switch, {"statement_s": [], "planning_s": []})
        times["planning_s" if what == "planning" else "statement_s"].append(row["statement_s"])
    return made


def policies() -> dict[str, dict[str, dict[str, float]]]:
    """Simulated servers by load and policy: throughput, response, and what of it is waiting for rows."""
    made: dict[str, dict[str, dict[str, float]]] = {}
    for row in excerpt("cats_waits"):
        made.setdefault(row["workload"], {})[row["series"]] = {
            name: row[name] for name in ("tps", "latency_ms", "lock_wait_ms")
        }
    return made


def sorts() -> list[dict[str, Any]]:
    """Sorts of a table with a long column on live servers: what the trace says, and the pages that were read."""
    columns = ("rows", "limit", "sort_mode", "queue", "merge_passes", "pages_read")
    return [
        {"server": row["series"]} | {column: row[column] for column in columns} for row in excerpt("filesort")
    ]


def forms() -> dict[tuple[str, str], dict[str, int]]:
    """Pages that three forms of a statement read, by the type of its long column and the version."""
    made: dict[tuple[str, str], dict[str, int]] = {}
    for row in excerpt("filesort_forms"):
        made.setdefault((row["type"], row["series"]), {})[row["query"]] = row["pages_read"]
    return made


def idle() -> dict[str, dict[int, list[float]]]:
    """Microseconds of a batch of purge in each repeat, by version and number of idle sessions."""
    made: dict[str, dict[int, list[float]]] = {}
    for row in excerpt("read_views"):
        repeats = made.setdefault(row["series"], {}).setdefault(row["idle_sessions"], [])
        repeats.append(row["purge_us_per_batch"])
    return made
