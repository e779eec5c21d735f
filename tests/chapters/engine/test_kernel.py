"""The engine from Python: its draws beside slow references, latches counted by hand, determinism, refused arguments."""

from __future__ import annotations

import math
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engineroom._native import engine as kernel

MS = 1_000_000
MACHINE: dict[str, Any] = {"cores_per_socket": 4}
DESIGNS = {"5.7": ("5.7", "5.7"), "9.7": ("9.7", "8.0, sharded")}


def demands(kind: str) -> dict[str, dict[str, int]]:
    """Made, and the same for every statement: what is counted here does not depend on them."""
    return {name: {"computing_ns": 5_000, "mtrs_permille": 1_500} for name in kernel.statements(kind)}


def simulate(
    load: dict[str, Any], design: str = "9.7", engine: dict[str, Any] | None = None, **how: Any
) -> dict[str, Any]:
    lock_design, latches = DESIGNS[design]
    how = {"run_ns": 5_000 * MS, "seed": 1, **how}
    return kernel.simulate(
        parameters=MACHINE,
        load=load,
        demands=demands(load["kind"]),
        engine=engine or {},
        lock_design=lock_design,
        trx_sys={"latches": latches},
        **how,
    )


SYSBENCH = {"kind": "sysbench_read_write", "rows": 1_000_000, "distribution": "uniform"}
TPCC = {"kind": "tpcc", "warehouses": 2}


def slow_pareto(u: np.ndarray[Any, Any], rows: int, h: float) -> np.ndarray[Any, Any]:
    """Sysbench's: a power of a uniform draw, so that h of the rows get 1 - h of the draws."""
    return np.floor(rows * u ** (math.log(h) / math.log(1 - h)))


@pytest.mark.parametrize("percent", [5, 20, 40])
def test_rows_are_drawn_by_sysbenchs_power_of_a_uniform_draw(percent: int) -> None:
    rows, n = 1_000_000, 40_000
    load = {**SYSBENCH, "distribution": "pareto", "pareto_percent": percent}
    ours = np.sort(kernel.drawn_rows(load, n=n, seed=3))
    theirs = np.sort(slow_pareto(np.random.default_rng(3).uniform(size=n), rows, percent / 100))
    # Two empirical distributions of n draws differ by more than this once in ten thousand times (Kolmogorov and Smirnov).
    at = np.unique(np.concatenate([ours, theirs]))
    apart = np.abs(np.searchsorted(ours, at, "right") - np.searchsorted(theirs, at, "right")).max() / n
    assert apart < 2.2 * math.sqrt(2 / n)
    assert ours.max() < rows


# Of 400,000 draws by `--rand-type=special` of SysBench 1.0.20 out of 100,000 rows: up to these rows fell so many.
SPECIAL = {
    30_000: 773,
    40_000: 10_900,
    45_000: 16_067,
    48_000: 13_130,
    49_000: 4_755,
    49_500: 2_381,
    49_600: 500,
    49_700: 483,
    49_750: 341,
    49_800: 20_280,
    49_900: 40_526,
    50_000: 40_410,
    50_100: 40_198,
    50_200: 40_164,
    50_300: 40_634,
    50_400: 40_567,
    50_500: 39_948,
    50_600: 683,
    51_000: 1_855,
    52_000: 4_701,
    55_000: 13_030,
    60_000: 16_072,
    70_000: 10_859,
    100_000: 743,
}


def apart(ours: np.ndarray[Any, Any], up_to: Sequence[int], counts: Sequence[int]) -> float:
    """The largest difference of two distributions at the places given, over what one in ten thousand differs by (Kolmogorov and Smirnov)."""
    theirs = np.cumsum(counts) / sum(counts)
    mine = np.searchsorted(np.sort(ours), up_to, "right") / len(ours)
    return float(np.abs(mine - theirs).max() / (2.2 * math.sqrt(1 / len(ours) + 1 / sum(counts))))


def test_special_draws_are_those_that_were_counted_of_sysbench() -> None:
    drawn = 1 + np.array(
        kernel.drawn_rows({**SYSBENCH, "rows": 100_000, "distribution": "special"}, n=200_000)
    )
    assert apart(drawn, list(SPECIAL), list(SPECIAL.values())) < 1
    # A hundredth that is drawn evenly, as the options' names promise, is found out.
    few = np.random.default_rng(1).integers(49_501, 50_501, size=200_000)
    bell = 1 + np.random.default_rng(2).uniform(0, 100_000, size=(200_000, 12)).mean(axis=1).astype(int)
    promised = np.where(np.random.default_rng(3).uniform(size=200_000) < 0.75, few, bell)
    assert apart(promised, list(SPECIAL), list(SPECIAL.values())) > 10


@pytest.mark.skipif(
    shutil.which("sysbench") is None, reason="sysbench is not installed: apt-get install sysbench"
)
@pytest.mark.parametrize("rows", [1_000, 100_000])
@pytest.mark.parametrize("distribution", ["uniform", "pareto", "special"])
def test_draws_are_those_of_sysbench(distribution: str, rows: int, tmp_path: Path) -> None:
    n = 100_000
    script = tmp_path / "draws.lua"
    script.write_text(
        "function event()\n"
        f"  for i = 1, {n // 100} do io.write('drawn ', sysbench.rand.default(1, {rows}), '\\n') end\n"
        "end\n"
    )
    command = [
        "sysbench",
        str(script),
        "--events=100",
        "--time=0",
        f"--rand-type={distribution}",
        "--rand-seed=7",
    ]
    said = subprocess.run([*command, "run"], check=True, capture_output=True, text=True).stdout
    theirs = [int(line.removeprefix("drawn ")) for line in said.splitlines() if line.startswith("drawn ")]
    assert len(theirs) == n
    up_to, counts = np.unique(theirs, return_counts=True)
    ours = 1 + np.array(kernel.drawn_rows({**SYSBENCH, "rows": rows, "distribution": distribution}, n=n))
    assert apart(ours, up_to.tolist(), counts.tolist()) < 1


def test_a_transaction_of_sysbench_changes_three_rows_and_one_of_them_twice() -> None:
    script = kernel.script({**SYSBENCH, "distribution": "uniform"}, seed=5)
    names = Counter(step["statement"] for step in script["steps"])
    assert names["read_write.select_point"] == 10
    assert sum(names.values()) == 19
    changed = [step["row"] for step in script["steps"] if step["changes"]]
    assert len(changed) == 4
    assert changed[2] == changed[3]


@pytest.mark.parametrize("design", DESIGNS)
def test_latches_of_a_transaction_are_those_that_its_statements_take_by_hand(design: str) -> None:
    """One client, rows far apart: 14 views; one intention lock; three rows on three pages and nine other looks at queues."""
    n = 40
    seen = simulate({**SYSBENCH, "clients": 1, "transactions": n}, design)
    per = {name: seen[name] / n for name in ("lock_pages", "lock_tables", "lock_global", "trx_mutex")}
    assert seen["commits"] == n
    # Rows; what the update, the delete and the insert meet besides, and the insert itself.
    asked = 3 + 3 + 1 + 5
    if design == "5.7":
        # All is let go at once. Each row is looked up among the active ids, two marked ones again; and start, number, end.
        assert per == {
            "lock_pages": asked + 1,
            "lock_tables": 1,
            "lock_global": 0,
            "trx_mutex": 28 + 3 + 2 + 3,
        }
    else:
        assert per == {
            "lock_pages": asked + 3,
            "lock_tables": 2,
            "lock_global": asked + 2,
            "trx_mutex": 28 + 2,
        }
        assert (seen["trx_serialisation"], seen["trx_shards"]) == (2 * n, 4 * n)


@pytest.mark.parametrize("load", [SYSBENCH, TPCC], ids=["sysbench", "tpcc"])
@pytest.mark.parametrize("design", DESIGNS)
def test_attempts_end_in_a_commit_a_rollback_or_a_deadlock(load: dict[str, Any], design: str) -> None:
    few = {**load, "rows": 20} if "rows" in load else load
    seen = simulate({**few, "clients": 12, "transactions": 25}, design)
    assert seen["transactions"] == seen["commits"] + seen["rolled_back"] == 12 * 25
    assert seen["begun"] == seen["transactions"] + seen["deadlocks"] + seen["timeouts"]
    assert seen["lock_waits"] > 0
    assert seen["undone"] == 0 or seen["deadlocks"] + seen["rolled_back"] > 0


def test_printing_deadlocks_takes_the_time_that_it_is_given_and_nothing_else_changes_it() -> None:
    load = {**SYSBENCH, "rows": 12, "clients": 16, "transactions": 30}
    quick, slow = (simulate(load, locks={"print_ns": ns}) for ns in (0, 2 * MS))
    assert min(quick["deadlocks"], slow["deadlocks"]) > 20
    printing = sum(
        ps for path, state, ps in slow["activities"] if "print_deadlock" in path and state == "work"
    )
    assert printing == pytest.approx(slow["deadlocks"] * 2e9, rel=0.01)
    assert slow["window_ns"] > quick["window_ns"]


def test_waits_have_the_names_that_performance_schema_has_for_the_latches() -> None:
    names = {}
    for design in DESIGNS:
        seen = simulate({**SYSBENCH, "rows": 50, "clients": 24, "away_ns": 0, "transactions": 40}, design)
        names[design] = {wait["name"] for wait in seen["waits"]}
    assert {"lock_mutex", "trx_sys_mutex"} <= names["5.7"]
    assert "lock_mutex" not in names["9.7"]
    assert {"lock_sys_global_rw_lock", "lock_wait_mutex"} & names["9.7"]


def test_the_same_seed_gives_the_same_run_and_another_one_does_not() -> None:
    load = {**TPCC, "clients": 8}
    first, again, other = (simulate(load, run_ns=20 * MS, seed=seed) for seed in (7, 7, 8))
    assert first["trace_hash"] == again["trace_hash"]
    assert {name: first[name] for name in ("begun", "lock_waits", "mtrs")} == {
        name: again[name] for name in ("begun", "lock_waits", "mtrs")
    }
    assert first["trace_hash"] != other["trace_hash"]


# Kind of load and version -> the trace of the engine before it had purge and a buffer pool.
TRACES = {
    ("sysbench_read_write", "5.6"): 0xBDFB6D15B1046D3E,
    ("sysbench_read_write", "5.7"): 0xB2657820C1C1D365,
    ("sysbench_read_write", "8.0.15"): 0xA861C66F653F99C7,
    ("sysbench_read_write", "9.7"): 0x72494EA7A0921D9,
    ("tpcc", "5.6"): 0xB433BCA0621B6AA9,
    ("tpcc", "5.7"): 0x64E84D5AEDD8D402,
    ("tpcc", "8.0.15"): 0x67517C74F9EDE41,
    ("tpcc", "9.7"): 0x83F6C196A8FDF915,
}
PARTS = {
    "5.6": ("5.7", "5.6", "5.6"),
    "5.7": ("5.7", "5.7", "5.7"),
    "8.0.15": ("8.0.15", "8.0", "8.0"),
    "9.7": ("9.7", "8.0, sharded", "8.0, writer threads off"),
}


def traced(kind: str, version: str, **changed: Any) -> dict[str, Any]:
    lock_design, latches, redo = PARTS[version]
    return kernel.simulate(
        parameters=MACHINE,
        load={"kind": kind, "clients": 12, "rows": 40, "warehouses": 2},
        demands=demands(kind),
        engine={"redo": redo, **changed.pop("engine", {})},
        lock_design=lock_design,
        trx_sys={"latches": latches},
        run_ns=30 * MS,
        seed=3,
        **changed,
    )


@pytest.mark.parametrize(("kind", "version"), TRACES)
def test_parts_that_are_off_change_no_event_of_a_run(kind: str, version: str) -> None:
    assert traced(kind, version)["trace_hash"] == TRACES[kind, version]
    changed = traced(kind, version, purge={"threads": 1}, pool={"pages": 64})
    assert changed["trace_hash"] == TRACES[kind, version]
    assert (changed["pool_gets"], changed["purge_batches"]) == (0, 0)


@pytest.mark.parametrize("version", PARTS)
def test_the_history_is_what_was_committed_less_what_was_purged(version: str) -> None:
    seen = traced("sysbench_read_write", version, engine={"has_purge": True})
    assert seen["trace_hash"] != TRACES["sysbench_read_write", version]
    assert seen["purge_removed"] > 0
    assert seen["history_length"] == seen["purge_committed"] - seen["purge_removed"]
    # Those that the end of the run cut off between their number and their end are not counted as commits.
    assert 0 <= seen["purge_committed"] - seen["commits"] <= 12
    off = traced("sysbench_read_write", version)
    assert (off["purge_committed"], off["purge_batches"], off["history_length"]) == (0, 0, 0)


def test_purging_takes_the_time_of_its_rows_and_a_thread_that_is_outrun_lets_the_history_grow() -> None:
    slow = {"threads": 1, "batch": 20, "row_ns": 400_000}
    short, long = (
        simulate(
            {**SYSBENCH, "clients": 8, "away_ns": 10_000},
            engine={"has_purge": True},
            purge=slow,
            run_ns=ms * MS,
        )
        for ms in (100, 200)
    )
    for seen in (short, long):
        worked = sum(ps for path, state, ps in seen["activities"] if "purge" in path and state == "work")
        assert worked / 1000 >= seen["purge_rows"] * slow["row_ns"]
    assert long["purge_rows"] <= 200 * MS / slow["row_ns"]
    assert long["history_length"] > 1.5 * short["history_length"] > 100


def test_latches_of_purge_have_the_names_of_their_version() -> None:
    names = {}
    for design in DESIGNS:
        seen = simulate(
            {**SYSBENCH, "clients": 24, "away_ns": 0, "transactions": 40},
            design,
            engine={"has_purge": True},
            purge={"rollback_segments": 1},
        )
        names[design] = {wait["name"] for wait in seen["waits"]}
    assert "redo_rseg_mutex" in names["5.7"]
    assert "undo_space_rseg_mutex" in names["9.7"]


# With what one of the two instances has more than the other.
ALL = 110


def pooled(
    percent: int, design: str = "9.7", engine: dict[str, Any] | None = None, **pool: Any
) -> dict[str, Any]:
    """A table of 100,000 rows, of whose pages the pool holds so many percent besides the frames that it keeps free."""
    load = {**SYSBENCH, "rows": 100_000, "clients": 16}
    return simulate(
        load,
        design,
        engine={"has_buffer_pool": True, **(engine or {})},
        pool={
            "latches": {"5.7": "5.7", "9.7": "8.0"}[design],
            "pages": kernel.data_pages(load) * percent // 100 + 2 * 16,
            "instances": 2,
            "lru_scan_depth": 16,
            "warm_transactions": 500,
            **pool,
        },
        run_ns=100 * MS,
    )


def test_the_pages_of_a_table_are_its_leaves_and_those_above() -> None:
    leaves = math.ceil(1_000_000 / (16 * 1024 * 15 // 16 // 210))
    assert kernel.data_pages({**SYSBENCH}) == leaves + math.ceil(leaves / 1181) + 1


@pytest.mark.parametrize("design", DESIGNS)
def test_the_share_of_pages_that_are_there_comes_from_the_pools_size(design: str) -> None:
    misses = {}
    for percent in (ALL, 50, 25):
        seen = pooled(percent, design)
        assert seen["commits"] > 50
        # 24 leaves at least per transaction, and root and node before most of them.
        assert seen["pool_gets"] / seen["commits"] > 60
        misses[percent] = seen["pool_misses"] / seen["commits"]
    assert misses[ALL] == 0
    # Even draws of some 24 leaves: of each so many are there as the pool holds, or a few less because of root and node.
    assert 24 * 0.35 < misses[50] < 24 * 0.6
    assert 24 * 0.6 < misses[25] < 24 * 0.9


def test_a_smaller_pool_does_less_and_a_slower_disk_even_less() -> None:
    done = [pooled(percent)["commits"] for percent in (ALL, 50, 10)]
    assert done == sorted(done, reverse=True)
    assert pooled(10, read_ns=400_000)["commits"] < 0.6 * done[2]


def test_dirty_pages_are_written_before_they_make_room_and_only_then() -> None:
    assert pooled(ALL)["pool_writes"] == 0
    small = pooled(10)
    assert 0 < small["pool_writes"] <= small["changes"]
    # Without redo there is no mini-transaction that changes a page.
    assert pooled(10, engine={"has_redo": False})["pool_writes"] == 0


def test_latches_of_the_pool_have_the_names_of_their_version() -> None:
    names = {design: {wait["name"] for wait in pooled(10, design)["waits"]} for design in DESIGNS}
    assert {"innodb_data_file", "buf_pool_mutex"} <= names["5.7"]
    assert {"innodb_data_file", "buf_pool_LRU_list_mutex"} <= names["9.7"]
    assert "buf_pool_mutex" not in names["9.7"]


@pytest.mark.parametrize(
    ("load", "changed", "says"),
    [
        (TPCC, {"engine": {"has_buffer_pool": True}}, "sysbench_read_write alone"),
        (
            SYSBENCH,
            {"engine": {"has_buffer_pool": True}, "pool": {"pages": 64, "instances": 64}},
            "8 pages or more",
        ),
        (SYSBENCH, {"engine": {"has_purge": True, "has_trx_sys": False}}, "purge asks for the oldest view"),
        (SYSBENCH, {"purge": {"threads": 0}}, "threads"),
        ({**SYSBENCH, "clients": 0}, {}, "clients"),
        ({**SYSBENCH, "distribution": "zipf"}, {}, "zipf"),
        ({**TPCC, "warehouses": 0}, {}, "warehouses"),
        (SYSBENCH, {"engine": {"redo": "4.1"}}, "4.1"),
        (SYSBENCH, {"locks": {"detection": "in the request"}}, "needs latching 'one mutex'"),
        (SYSBENCH, {"demands": {}}, "nothing for the statement read_write.begin"),
        (SYSBENCH, {"demands": {"payment.commit": {}}}, "no statement payment.commit"),
        (SYSBENCH, {"log": {"buffer_bytes": 8192}, "engine": {"undo_bytes": 100_000}}, "buffer_bytes"),
        (SYSBENCH, {"run_ns": 0}, "run_ns"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_was_received(
    load: dict[str, Any], changed: dict[str, Any], says: str
) -> None:
    given: dict[str, Any] = {
        "parameters": MACHINE,
        "load": load,
        "demands": demands(load["kind"]),
        "run_ns": MS,
        **changed,
    }
    with pytest.raises(ValueError, match=says):
        kernel.simulate(**given)


BINLOGS = ("5.5", "5.6", "5.7.6")
# What only waits where there is a binary log: by performance_schema's names, but for the mutex of 5.5's engine.
STAGES = {"LOCK_log", "LOCK_sync", "LOCK_commit", "LOCK_done", "COND_done", "prepare_commit_mutex"}


@pytest.mark.parametrize("binlog", BINLOGS)
def test_commits_wait_where_their_design_of_the_binlog_has_them_wait(binlog: str) -> None:
    load = {**SYSBENCH, "clients": 16, "away_ns": 0, "transactions": 20}
    seen = simulate(load, engine={"binlog": binlog})
    waits = {wait["name"] for wait in seen["waits"]} & STAGES
    if binlog == "5.5":
        assert "prepare_commit_mutex" in waits
        assert "COND_done" not in waits
        assert seen["sync_groups"] == seen["commits"]
    else:
        assert {"COND_done", "LOCK_log"} <= waits
        assert "prepare_commit_mutex" not in waits
        assert seen["sync_groups"] < seen["commits"] / 2
    # The first file's header is synced besides.
    assert seen["binlog_fsyncs"] == seen["sync_groups"] + 1
    assert seen["binlog_bytes"] > seen["changes"] * 2 * 180
    off = simulate(load)
    assert not {wait["name"] for wait in off["waits"]} & STAGES
    assert (off["binlog_fsyncs"], off["binlog_bytes"], off["flush_groups"]) == (0, 0, 0)


def test_durability_of_both_logs_is_set_as_on_a_server() -> None:
    load = {**SYSBENCH, "clients": 1, "transactions": 30}

    def fsyncs(**commit: int) -> tuple[int, int]:
        engine = {"binlog": "5.7.6", "redo": "8.0, writer threads off"}
        seen = simulate(load, engine=engine, commit=commit)
        return seen["fsyncs"], seen["binlog_fsyncs"]

    assert fsyncs() == (30, 31)
    assert fsyncs(sync_binlog=10) == (30, 4)
    assert fsyncs(sync_binlog=0) == (30, 1)
    assert fsyncs(flush_log_at_trx_commit=2) == (0, 31)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"engine": {"binlog": "4.0"}}, "4.0"),
        ({"engine": {"binlog": "5.6", "has_redo": False}}, "has_redo is off"),
        ({"engine": {"binlog": "5.6"}, "commit": {"flush_log_at_trx_commit": 3}}, "flush_log_at_trx_commit"),
    ],
)
def test_a_binlog_that_does_not_fit_is_refused(changed: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        simulate({**SYSBENCH, "clients": 1}, **changed)
