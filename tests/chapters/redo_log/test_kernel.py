"""The redo log's kernels from Python: a slow reader of the log file, crashes, planted mistakes, the simulated figures."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from engineroom import _native
from engineroom.chapters.redo_log.experiments import commit_cost, designs, simulated
from engineroom.chapters.redo_log.experiments import host as redo_log_host
from engineroom.errors import EngineRoomError
from engineroom.machine.presets import parameters
from engineroom.simulating.loads import SYSBENCH, TPCC

log = _native.redo_log
DESIGNS = ("5.6", "5.7", "8.0", "8.0, writer threads off")
FAILURES = ("lost_commits", "wrong_groups", "wrong_checkpoints", "disorders", "hangs")
CAPACITY = 128 * 512


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def blocks(file: bytes) -> Iterator[bytes]:
    """The data of each block that can be believed, from the first LSN on."""
    for i in range((len(file) - 2048) // 512):
        block = file[2048 + 512 * i : 2560 + 512 * i]
        number, length = struct.unpack(">IH", block[:6])
        if number != 16 + i + 1 or crc32c(block[:508]) != struct.unpack(">I", block[508:])[0]:
            return
        yield block[12 : min(length, 508)]
        if length < 512:
            return


def groups(data: bytes) -> Iterator[bytes]:
    """Complete groups: a record with the flag 0x80, or several and the byte 31."""
    start = at = 0
    while at < len(data):
        if data[at] == 31:
            at += 1
        else:
            size = 9 + struct.unpack(">H", data[at + 7 : at + 9])[0] if at + 9 <= len(data) else len(data)
            single = data[at] & 0x80
            if at + size > len(data):
                return
            at += size
            if not single:
                continue
        yield data[start:at]
        start = at


@pytest.mark.parametrize("seed", range(20))
def test_recovery_agrees_with_a_slow_reader(seed: int) -> None:
    rng = np.random.default_rng(seed)
    written = [log.make_group(1, i, int(rng.integers(1, 900))) for i in range(40)]
    file = bytearray(log.write_file(written, capacity_bytes=CAPACITY))
    del file[int(rng.integers(2048, len(file))) :]
    if seed % 2:
        file[int(rng.integers(2048, len(file)))] ^= 1 << int(rng.integers(8))
    expected = list(groups(b"".join(blocks(bytes(file)))))
    found = log.recover(bytes(file))
    assert [group for _, _, group in found["groups"]] == expected == written[: len(expected)]


def test_a_file_without_a_header_is_no_log() -> None:
    assert log.recover(b"") is None
    assert log.recover(bytes(4096)) is None


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_no_durable_commit_is_lost_in_ten_thousand_crashes(design: str) -> None:
    report = log.crash_runs(design=design, seed=5000, runs=1100)
    assert report["crashes"] >= 10_000
    assert report["commits"] > 20_000
    assert {name: report[name] for name in FAILURES} == dict.fromkeys(FAILURES, 0), report["first_failure"]


def test_bad_arguments_are_refused_with_what_was_received() -> None:
    with pytest.raises(ValueError, match=r"got '4\.1'"):
        log.crash_runs(design="4.1")
    with pytest.raises(ValueError, match="got 'none of these'"):
        log.crash_runs(design="5.6", mistake="none of these")
    with pytest.raises(ValueError, match="clients"):
        log.simulate(design="5.6", parameters={}, load={"clients": 0}, run_ns=1)
    with pytest.raises(ValueError, match="no option 'users'"):
        log.simulate(design="5.6", parameters={}, load={"users": 1}, run_ns=1)
    with pytest.raises(ValueError, match="no option 'users'"):
        log.run_on_host(design="5.6", load={"users": 1}, run_ns=1)
    with pytest.raises(ValueError, match="got 'mtr_9'"):
        log.commit_cost("mtr_9", commits_per_thread=1)
    with pytest.raises(ValueError, match=r"pass 5\.7"):
        log.commit_cost("5.6", commits_per_thread=1)
    with pytest.raises(ValueError, match="threads must be at least 1"):
        log.commit_cost("5.7", threads=0)
    with pytest.raises(ValueError, match="cannot make the mistake write_past_gap"):
        log.crash_runs(design="5.6", mistake="write_past_gap")
    for size, to in (("buffer_bytes", 2**30), ("write_ahead_bytes", 2**20), ("recent_closed_slots", 2**24)):
        with pytest.raises(ValueError, match=f"{size} must be .*{to}.* got {2**40}"):
            log.simulate(design="8.0", parameters={}, load={}, log={size: 2**40}, run_ns=1)
    for size in ("mtr_bytes", "large_mtr_bytes"):
        with pytest.raises(ValueError, match=f"{size} must be .*67108864, got {2**40}"):
            log.simulate(design="8.0", parameters={}, load={size: 2**40}, run_ns=1)


def test_every_name_of_the_kernel_is_listed_once():
    assert log.designs() == list(DESIGNS) == list(designs.DESIGNS)
    assert log.mistakes()[0] == "none"
    assert {"claim_unchecked", "write_past_gap"} < set(log.mistakes())
    assert "mtrs_per_statement" in [option.name for option in log.load_options()]
    assert all(option.documentation for option in (*log.load_options(), *log.log_options()))


@pytest.mark.parametrize("design", DESIGNS)
def test_the_same_seed_gives_the_same_trace(design: str) -> None:
    def once(seed: int) -> int:
        seen = log.simulate(
            design=design,
            parameters=parameters(simulated.MACHINE),
            load={**SYSBENCH, "clients": 5},
            run_ns=20_000_000,
            seed=seed,
        )
        return int(seen["trace_hash"])

    assert once(1) == once(1) != once(2)


@pytest.mark.parametrize("design", DESIGNS)
def test_real_threads_commit_all_and_share_fsyncs(design: str) -> None:
    seen = log.run_on_host(
        design=design, load={"clients": 8, "transactions": 50}, run_ns=20_000_000_000, fsync_ns=500_000
    )
    assert seen["transactions"] == 8 * 50
    assert seen["mtrs"] == 8 * 50 * 2
    # Eight clients that wait for the disk at the same time cannot need an fsync each.
    assert seen["fsyncs"] < 8 * 50


def test_a_commit_puts_every_byte_into_the_log() -> None:
    for design in DESIGNS[1:]:
        seen = log.commit_cost(design, threads=2, commits_per_thread=10_000, mtr_bytes=64)
        assert seen["bytes"] == 2 * 10_000 * 64


@pytest.mark.alone
def test_a_commit_is_measured_by_turns_in_processes_and_counted_beside() -> None:
    run = commit_cost.commit_cost_kernel(threads=(1, 2), commits=20_000, processes=2, rounds=3)
    server = (commit_cost.LOG_BUFFER_BYTES, commit_cost.BETWEEN_COMMITS_NS)
    assert set(zip(run.table["log_buffer_bytes"], run.table["between_ns"], strict=True)) == {server}
    loads, rounds = run.tables["loads"], run.tables["rounds"]
    assert len(loads[["log_buffer_bytes", "between_ns"]].drop_duplicates()) == 3
    assert server not in set(zip(loads["log_buffer_bytes"], loads["between_ns"], strict=True))
    assert len(run.table) == 2 * 2 * 3
    assert len(rounds) == 3 * (len(run.table) + len(loads))
    # Another design begins each round.
    firsts = rounds.groupby(["repeat", "round"], sort=False)["series"].first()
    assert [firsts[0, turn] for turn in range(3)] == list(designs.COMMITS)
    alone = run.table[run.table["threads"] == 1]
    assert (alone["nanoseconds"] == alone["cpu_ns"]).all()
    together = run.table[run.table["threads"] == 2]
    assert (together["nanoseconds"] == together["elapsed_ns"]).all()
    one = alone[(alone["series"] == "mtr_5_7") & (alone["repeat"] == 1)]["cpu_ns"].item()
    of_server = rounds[(rounds["log_buffer_bytes"] == server[0]) & (rounds["between_ns"] == server[1])]
    its_rounds = of_server[
        (of_server["series"] == "mtr_5_7") & (of_server["repeat"] == 1) & (of_server["threads"] == 1)
    ]
    assert one == its_rounds["cpu_ns"].median()
    counts = run.tables["counts"].set_index("series")
    assert counts["locked_ops"].to_dict() == {
        "mtr_5_7": 2,
        "mtr_8_0": 1,
        "mtr_8_0_writer_threads_off": 1,
    }
    assert counts["atomic_stores"]["mtr_8_0"] == 2


def test_the_log_threads_of_8_0_flush_more_often_when_clients_are_few() -> None:
    run = simulated.flushes_sim(concurrency=(1, 100), seeds=(1,), first_ms=200, longest_ms=200)
    flushes = run.table.set_index(["series", "concurrency"])["flushes_per_transaction"]
    assert flushes["flushes", 1] > 2
    assert 0.9 < flushes["old_redo", 1] < 1.1
    assert 0.9 < flushes["writer_threads_off", 1] < 1.1
    assert flushes["flushes", 100] < 0.5
    # The gate is what keeps the log threads from spinning beside one client, and from flushing still more.
    assert flushes["no_cpu_gate", 1] > 1.2 * flushes["flushes", 1]


def test_shares_of_cpu_time_are_by_what_the_clients_do() -> None:
    activities = [
        (("client", "statement"), "work", 60),
        (("client", "mtr_commit", "log_reservation"), "spin", 30),
        (("client", "log_write_up_to", "log_reservation"), "spin", 10),
        (("client", "statement"), "sleeping", 1000),
        (("log_writer",), "spin", 1000),
    ]
    assert simulated.components(activities) == {"statement": 60, "log_reservation": 30, "log_write_up_to": 10}


@pytest.mark.parametrize(
    ("stack", "said"),
    [
        (["work", "append57", "client"], "log_reservation"),
        (["park", "lock", "append57", "client"], "log_reservation"),
        (["nanosleep", "append_late", "client"], "log_reservation"),
        (["add", "append57", "client"], "flush_list"),
        (["park", "write57", "client"], "log_write_up_to"),
        (["work", "client"], "statement"),
        (["nanosleep", "client"], "client"),
        (["work", "main"], None),
    ],
)
def test_a_sample_belongs_to_the_innermost_component_on_its_stack(stack, said):
    names = {
        "work": "_ZN10engineroom7machine11HostMachine4workEm",
        "client": "_ZN10engineroom8sessions8SessionsINS_7machine11HostMachineENS_8redo_log10RedoEngineIS3_NS4_5Log57IS3_NS4_5SoundEEEEEE7sessionERS3_RKSt6vectorINS0_7ProgramESaISD_EERNS0_6CountsE",
        "append57": "_ZN10engineroom8redo_log5Log57INS_7machine11HostMachineENS0_5SoundEE6appendERS3_St4spanIKSt4byteLm18446744073709551615EEb",
        "append_late": "_ZN10engineroom8redo_log5Log80INS_7machine11HostMachineENS0_5SoundEE11append_lateERS3_m",
        "write57": "_ZN10engineroom8redo_log5Log57INS_7machine11HostMachineENS0_5SoundEE11write_up_toERS3_mb",
        "add": "_ZN10engineroom8redo_log9FlushListINS_7machine11HostMachineEE3addERS3_m",
    }
    assert redo_log_host.component([names.get(name, name) for name in stack]) == said


def test_a_few_processors_cannot_show_a_queue_on_a_latch():
    assert redo_log_host.why_not_attributable(redo_log_host.LEAST_PROCESSORS) is None
    assert "2 processors" in redo_log_host.why_not_attributable(2)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("perf") is None, reason="perf (linux-perf) is not installed")
@pytest.mark.alone
def test_real_threads_are_sampled_and_their_waits_counted_by_latch():
    try:
        shares, callers = redo_log_host.where_time_goes_host(TPCC, clients=20, repeats=1, run_ms=300)
    except EngineRoomError as error:
        pytest.skip(f"perf may not sample here: {error}")
    table = shares.table
    assert set(table["series"]) == {"old_redo", "new_redo"}
    assert table.groupby("series")["share_percent"].sum().tolist() == pytest.approx([100, 100])
    busiest = table[table["component"] == "statement"].set_index("series")["share_percent"]
    assert (busiest > 20).all()
    waits = shares.tables["waits"]
    assert {"log_sys_mutex", "log_flush_event"} <= set(waits.loc[waits["series"] == "old_redo", "name"])
    assert callers.table["share_percent"].sum() == pytest.approx(100)


@pytest.mark.alone
def test_real_threads_take_for_a_seal_what_it_takes_and_not_what_it_is_charged_with():
    load = {"clients": 1, "statements": 0, "mtrs_per_statement": 0, "commit_mtrs": 1, "mtr_bytes": 300}
    log = {"seals_blocks": 1, "seal_ns": 50_000_000}
    seen = _native.redo_log.run_on_host(design="5.7", load=load, log=log, run_ns=100_000_000, profile=False)
    assert seen["transactions"] > 4
    machine = parameters("laptop")
    charged = _native.redo_log.simulate(
        design="5.7", parameters=machine, load=load, log={"seal_ns": 50_000_000}, run_ns=100_000_000
    )
    assert charged["transactions"] <= 2


def test_a_seal_takes_time_and_no_block_is_refused():
    assert _native.redo_log.seal_ns(blocks=64) > 0
    with pytest.raises(ValueError, match="blocks must be at least 1"):
        _native.redo_log.seal_ns(blocks=0)


def test_a_call_in_an_append_takes_time_and_no_append_is_refused():
    # More appends than lie in the log at once. It is a difference of two times, either of which others may interrupt.
    assert max(_native.redo_log.call_ns(appends=250) for _ in range(8)) > 0
    with pytest.raises(ValueError, match="appends must be at least 1"):
        _native.redo_log.call_ns(appends=0)


PAUSE_NS, SPIN_PAUSES = 47, 30 * 3 * 50  # rounds, mean delay of a round, its multiplier


def convoy(clients: int, wake_us: float) -> tuple[float, dict[str, Any]]:
    """Mini-transactions per us of clients that do nothing else, each of which makes a page dirty, on a CPU for each."""
    seen = log.simulate(
        design="5.7",
        parameters={
            "cores_per_socket": clients + 8,
            "wake_each_ps": round(wake_us * 1e6),
            "pause_ps": PAUSE_NS * 1000,
        },
        load={
            "clients": clients,
            "statement_ns": 0,
            "mtrs_per_statement": 1,
            "commit_mtrs": 0,
            "flush_every": 0,
            "dirty_percent": 100,
        },
        warmup_ns=20_000_000,
        run_ns=100_000_000,
        seed=1,
    )
    return seen["mtrs"] / seen["window_ns"] * 1000, seen


def woken(seen: dict[str, Any]) -> int:
    """Times that threads slept at the mutex of the log before they got it."""
    return sum(wait["parks"] for wait in seen["waits"] if wait["name"] == "log_sys_mutex")


@pytest.mark.parametrize(("clients", "wake_us"), [(100, 8.0), (150, 5.0), (200, 4.0)])
def test_sleepers_at_the_mutex_of_5_7_hold_the_log_as_long_as_it_takes_to_wake_them(
    clients: int, wake_us: float
) -> None:
    """Whoever lets the mutex go wakes all sleepers with log_flush_order_mutex in hand, and the next one waits for that.

    Those who were woken first spin for as long as a spin lasts, and sleep again before the last one is awake. So each mini-transaction
    takes as long as it takes to wake all, or all but those that a spin's time is long enough for.
    """
    spin_us = PAUSE_NS * SPIN_PAUSES / 1000
    all_us = clients * wake_us
    assert all_us > 3 * spin_us, "else nobody is late"
    slack_us = 20  # the next one may sleep, too, and is then woken and switched to
    rate, seen = convoy(clients, wake_us)
    assert 1 / (all_us + slack_us) < rate < 1 / (all_us - 2 * wake_us - 1.3 * spin_us)
    # Nobody but the holder of the log's mutex waits for the other one: it does so nearly all of the time.
    (order,) = (wait for wait in seen["waits"] if wait["name"] == "log_flush_order_mutex")
    assert 0.9 < order["total_ns"] / seen["window_ns"] <= 1.02


def test_nobody_sleeps_for_long_where_waking_all_is_shorter_than_a_spin() -> None:
    """40 sleepers of 1 us are awake after 40 us, and a spin lasts 200: nobody comes too late, and no crowd stays asleep."""
    few, slow = convoy(40, 1.0), convoy(40, 20.0)
    assert few[0] > 10 * slow[0]
    assert woken(few[1]) < few[1]["mtrs"]
    assert woken(slow[1]) > 20 * slow[1]["mtrs"]
