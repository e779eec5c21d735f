from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

from engineroom.chapters.redo_log.experiments import live
from engineroom.chapters.redo_log.figures import own_redo_writer_threads
from engineroom.facts import Range, redo_log
from engineroom.facts.redo_log import (
    Changed,
    Commits,
    Crashes,
    EngineProfile,
    FewClients,
    Isolated,
    Live,
    Load,
    Published,
    RealThreads,
    Shares,
    Simulated,
    Throughput,
)
from engineroom.ledger import history

CLIENTS = (1, 3, 10, 50, 200)


def flushes(**series: tuple[float, ...]) -> list[tuple[int, str, int, float]]:
    """Three repeats of each, of which the middle one counts."""
    return [
        (n, name, repeat, value * factor)
        for name, values in series.items()
        for n, value in zip(CLIENTS, values, strict=True)
        for repeat, factor in enumerate((1, 0.5, 3))
    ]


def varied(name: str, factor: float, values: tuple[float, ...]) -> pd.DataFrame:
    rows = flushes(flushes=values)
    table = pd.DataFrame(rows, columns=["concurrency", "series", "repeat", "flushes_per_transaction"])
    return table.assign(parameter=name, factor=factor)


def simulated(made, *machines: pd.DataFrame):
    one = (1.0,) * len(CLIENTS)
    rows = flushes(
        flushes=(2, 8, 3, 1.5, 0.75), old_redo=one, writer_threads_off=one, no_cpu_gate=(9, 8, 3, 2, 1)
    )
    columns = "concurrency series repeat flushes_per_transaction"
    return made("fig-7-06", "sim", columns, *rows, tables={"varied": pd.concat(machines)})


def test_fsyncs_per_transaction_are_medians_by_clients(made):
    seen = Simulated.of(simulated(made, varied("wake_ps", 1.5, (2, 8, 3, 1.5, 0.75))))
    assert seen.fsyncs_per_txn_8_0 == {1: 2.0, 3: 8.0, 200: 0.75}
    assert seen.fsyncs_per_txn_5_7 == {3: 1.0, 200: 1.0}
    assert (seen.fsyncs_per_txn_threads_off, seen.fsyncs_per_txn_no_gate) == ({1: 1.0}, {1: 9.0})
    assert (seen.peak_clients, seen.peak_clients_no_gate) == (3, 1)
    assert "not kept" in seen.switched


def test_the_recordings_before_and_after_the_machine_was_changed_are_told_with_their_verdicts():
    def recording(n: int, at: str, verdict: str, held: int) -> history.Recording:
        return history.Recording(n, at, "abc", n, (), verdict, held, 11, None)

    seen = Changed.of(
        [
            recording(1, "2026-11-21T16:02:10+00:00", "partly", 9),
            recording(2, "2026-11-22T16:24:25+00:00", "reproduced", 10),
        ]
    )
    assert (seen.first_at, seen.second_at) == ("16:02 UTC on 2026-11-21", "16:24 UTC on 2026-11-22")
    assert seen.verdicts == "partly (9 of 11), reproduced (10 of 11)"


def test_one_simulated_client_is_brought_to_the_pace_of_the_live_one(made):
    run = made("fig-7-06", "live", "concurrency series repeat transactions", (1, "flushes", 0, 750))
    seen = Isolated.of(
        dataclasses.replace(run, provenance={"load": "sysbench, 6 s a run"}), run_ns=20_000_000
    )
    assert seen.pace_us == 400
    # The usual load has a statement every 400 us, so the pace changes nothing and the processors do.
    per_txn = seen.fsyncs_per_txn
    assert per_txn["both"] == per_txn["two_processors"]
    assert 1 < per_txn["both"] != per_txn["at_pace"]


def test_what_the_simulated_log_threads_gain_is_a_rate_below_and_from_a_hundred_clients(made):
    columns = "concurrency series repeat flushes_per_transaction transactions window_ms half_width_percent"
    run = made(
        "fig-7-06",
        "sim",
        columns,
        *((n, "flushes", 0, 1.0, 90 * n, 10, 1.0) for n in (1, 50)),
        *((n, "flushes", 0, 1.0, 200 * n, 10, 1.0) for n in (100, 200)),
        *((n, "writer_threads_off", 0, 1.0, 200 * n, 20, 2.6) for n in (1, 50, 100, 200)),
        (1, "no_cpu_gate", 0, 1.0, 1, 1, 99.0),
    )
    assert redo_log.switched_simulated_said(run) == (
        "The simulated server commits 0.90 to 0.90 times as many with 1 to 50 clients and 2.00 to 2.00 times as many with 100 to 200 clients "
        "when its log threads are on; each throughput is known to 3 % at worst."
    )


def test_a_server_leads_where_no_repeat_of_the_other_reaches_it():
    """At 1 client the repeats overlap, at 10 the threads cost, at 100 they help."""
    on, off = "9.7_writer_threads_on", "9.7_writer_threads_off"
    counts = {
        (1, on): (10, 20),
        (1, off): (15, 25),
        (10, on): (10, 11),
        (10, off): (20, 22),
        (100, on): (9, 9),
    }
    counts[100, off] = (7, 8)
    table = pd.DataFrame(
        [
            (n, name, repeat, transactions)
            for (n, name), both in counts.items()
            for repeat, transactions in enumerate(both)
        ],
        columns=["concurrency", "series", "repeat", "transactions"],
    )
    assert redo_log.switched_said(table) == (
        "with 10 clients 9.7.4 commits 2.00 to 2.00 times as many transactions without its log threads; with 100 fewer; "
        "with 1 the repeats overlap"
    )
    assert "not counted" in redo_log.switched_said(table.drop(columns="transactions"))


def test_transactions_with_and_without_log_threads_are_shown_side_by_side(made):
    columns = "concurrency series repeat transactions"
    rows = [
        (n, f"9.7_writer_threads_{how}", repeat, transactions)
        for n, how, seen in (
            (1, "on", (10, 20, 30)),
            (1, "off", (30, 40, 60)),
            (50, "on", (8, 8, 8)),
            (50, "off", (4, 4, 4)),
        )
        for repeat, transactions in enumerate(seen)
    ]
    run = made("fig-7-06", "live", columns, *rows, (1, "flushes", 0, 7))
    shown = redo_log.on_and_off(run).rows
    assert shown.to_numpy().tolist() == [
        [1, "20 (10 to 30)", "40 (30 to 60)", "2.00"],
        [50, "8 (8 to 8)", "4 (4 to 4)", "0.50"],
    ]
    not_counted = run.with_table(run.table.drop(columns="transactions"))
    assert redo_log.on_and_off(not_counted).rows.empty


def test_the_time_of_a_commit_is_told_with_one_client_and_with_the_most(made):
    """Off is quicker everywhere but for 5 % of the commits of a crowd, and commits fewer transactions with four clients."""
    columns = "concurrency series repeat transactions_per_second commit_ms_p50 commit_ms_p95"
    run = made(
        "own-redo-writer-threads",
        "live",
        columns,
        *((n, "on", repeat, 100.0, 2.0 * n, 4.0 * n) for n in (1, 4, 64) for repeat in range(3)),
        *(
            (n, "off", repeat, 90.0 if n == 4 else 110.0, 1.0 * n, 5.0 * n)
            for n in (1, 4, 64)
            for repeat in range(3)
        ),
    )
    assert redo_log.commit_said(run) == (
        "The server's own time for a COMMIT, in runs that took turns: with 1 client half of them took at most 2.00 ms with the threads on and "
        "1.00 ms with them off; with 64 clients half of them took at most 128.00 ms with the threads on and 64.00 ms with them off. "
        "Of 4 expectations that we had written down, 2 came out."
    )
    busy = dataclasses.replace(run, provenance={**run.provenance, "during": {"load_before": 9.0}})
    assert redo_log.commit_said(busy).endswith(
        "2 came out, in a run that was not quiet enough to decide any."
    )
    words = own_redo_writer_threads.words(own_redo_writer_threads.rows(run))
    assert "With one client half of the COMMITs take at most 2.00 ms" in words.caption
    assert "off, 95 %: 5.00 at 1, 20.00 at 4, 320.00 at 64" in words.alt


def test_variations_in_which_the_verdict_flips_are_counted(made):
    same, other = (2, 8, 3, 1.5, 0.75), (5, 1, 1, 1, 1)
    flips = [varied("wake_ps", 1.5, other), varied("load.away_ns", 1.5, other)]
    seen = Simulated.of(simulated(made, varied("smt_permille", 0.5, same), *flips))
    assert seen.varied == (
        "Of 3 variations of a single number by half, 2 give another verdict; the ledger names them."
    )
    one = Simulated.of(simulated(made, varied("smt_permille", 0.5, same), flips[0]))
    assert "2 variations of a single number by half, 1 gives another" in one.varied
    seen = Simulated.of(simulated(made, varied("smt_permille", 0.5, same)))
    assert seen.varied == "Of 1 variations of a single number by half, none gives another verdict."
    run = simulated(made, varied("smt_permille", 0.5, same))
    assert "not been recorded" in Simulated.of(dataclasses.replace(run, tables={})).varied


@pytest.fixture
def on_servers(made):
    """Only the log of 8.0 rises again from 50 to 200 clients."""
    falling = (3.0, 2.0, 1.0, 0.5, 0.25)
    rows = flushes(**dict.fromkeys(live.SERVERS, falling) | {"flushes": (2.5, 4.0, 2.0, 0.5, 0.75)})
    return made("fig-7-06", "live", "concurrency series repeat flushes_per_transaction", *rows)


def test_servers_are_told_by_clients_and_the_first_recording_beside_them(made, on_servers):
    first = made(
        "fig-7-06",
        "live",
        "concurrency series repeat flushes_per_transaction",
        *flushes(old_redo=(1, 1, 1, 0.6, 1.2)),
    )
    seen = Live.of(on_servers, first=first)
    assert seen.fsyncs_per_txn_8_0 == {1: 2.5, 50: 0.5, 200: 0.75}
    for other in (seen.fsyncs_per_txn_5_7, seen.fsyncs_per_txn_threads_on, seen.fsyncs_per_txn_threads_off):
        assert other == {1: 3.0, 50: 0.5, 200: 0.25}
    assert seen.first_fsyncs_per_txn_5_7 == {50: 0.6, 200: 1.2}
    assert seen.peak_clients == 3


def test_what_a_crowd_waited_for_is_said_where_it_was_counted(on_servers):
    per_txn = on_servers.values("series", "concurrency", y="flushes_per_transaction")
    said = redo_log.crowd_said(per_txn, on_servers.table)
    assert said.startswith(
        "From 50 to 200 clients the curve rises in 1 of 5 servers: neither rollbacks nor waits"
    )
    counted = on_servers.table.assign(rolled_back=10, transactions=90, row_lock_waits=100)
    assert redo_log.crowd_said(per_txn, counted) == (
        "From 50 to 200 clients the curve rises in 1 of 5 servers: 150 of 1,500 transactions of 200 clients were rolled back, "
        "and 1,500 times a client waited for a row."
    )


THROUGHPUT = "concurrency series repeat tpmC window_ms is_settled"


def test_the_gain_is_throughput_over_throughput(made):
    run = made(
        "own-redo-throughput",
        "sim",
        THROUGHPUT,
        *((n, "before", 0, 100.0, 120, int(n < 250)) for n in (50, 100, 250, 300)),
        *(
            (n, "after", 0, 2.0 * n, window, 1)
            for n, window in ((50, 120), (100, 120), (250, 960), (300, 240))
        ),
    )
    seen = Throughput.of(run)
    assert seen.gain_ratio == {100: 2.0}
    assert (seen.window_5_7_ms, seen.window_8_0_ms) == (Range(120, 120), Range(120, 960))
    assert seen.texts()["window_8_0_ms"] == "120 to 960 ms"
    assert seen.not_settled == (
        "In the longest window the log of 5.7 with 250 and 300 clients did not reach that: "
        "the text quotes no ratio there, but the claims in the ledger are judged by what was reached."
    )


def test_the_whole_engine_is_told_by_its_ratios_and_the_latch_that_its_crowd_waits_for(made):
    tpmc = {
        "before": (100.0, 10.0, 50.0),
        "after": (102.0, 150.0, 55.0),
        "new_latches": (100.0, 150.0, 220.0),
    }
    width = {"before": (2.0, 30.0, 3.0), "after": (1.0, 2.0, 4.0), "new_latches": (50.0, 2.0, 2.0)}
    clients = (50, 200, 300)
    rows = [
        (n, series, 0, tpmc[series][i], width[series][i], int(width[series][i] <= 2))
        for i, n in enumerate(clients)
        for series in tpmc
    ]
    waits = {"log_sys_mutex": 1.0, "lock_mutex": 3.0, "trx_sys_mutex": 2.0, "log_flush_event": 9000.0}
    longest = {("before", 200): "log_sys_mutex", ("new_latches", 300): "trx_sys_mutex"}
    latches = pd.DataFrame(
        [
            (n, series, 0, latch, 1000 * (100 * n if longest.get((series, n)) == latch else wait_ms))
            for n in clients
            for series in tpmc
            for latch, wait_ms in waits.items()
        ],
        columns=["concurrency", "series", "repeat", "latch", "wait_us"],
    )
    columns = "concurrency series repeat tpmC half_width_percent is_settled"
    told = redo_log.WholeEngine.of(made("fig-7-01", "sim", columns, *rows, tables={"latches": latches}))
    assert (told.known_clients, told.known_ratio) == (50, Range(1.02, 1.02))
    assert (told.widest_clients, told.widest_latch, told.widest_wait_ms) == (200, "log_sys_mutex", 20_000.0)
    assert (told.most_clients, told.most_ratio, told.most_half_width_percent) == (300, 1.1, 4.0)
    assert (told.before_latch, told.after_latch, told.after_wait_ms) == ("lock_mutex", "lock_mutex", 3.0)
    assert (told.new_latches_ratio, told.new_latches_latch) == (4.0, "trx_sys_mutex")
    assert (told.unsettled, told.runs) == (4, 9)


def test_few_clients_are_told_by_the_range_of_ratios_and_where_seeds_agree(made):
    run = made(
        "num-ch7-1",
        "sim",
        "concurrency series repeat throughput half_width_percent is_settled",
        *((n, "old_redo", repeat, 100.0, 4.0 / n, int(n == 40)) for n in (1, 40) for repeat in (0, 1, 2)),
        *((1, "new_redo", repeat, value, 1.0, 1) for repeat, value in enumerate((99.0, 102.0, 101.0))),
        *((40, "new_redo", repeat, value, 1.0, 1) for repeat, value in enumerate((98.0, 97.0, 98.5))),
    )
    assert FewClients.of(run).texts() == {
        "clients": "1 to 40 clients",
        "ratio": "0.98 to 1.01 times",
        "sides": "On which side of 1 that lies the seeds agree at 1 of 2 numbers of clients.",
        "unsettled": "3",
        "runs": "12",
        "half_width_percent": "4 %",
    }


def test_no_ratio_is_told_of_a_point_that_is_not_settled(made):
    rows = [(n, series, 0, 100.0, 120, int(n == 50)) for n in (50, 100) for series in ("before", "after")]
    with pytest.raises(TypeError, match=r"gain_ratio"):
        Throughput.of(made("own-redo-throughput", "sim", THROUGHPUT, *rows))


def test_a_load_is_told_by_the_time_of_a_mini_transaction_of_all_workers(made):
    """100 workers, two transactions each, of 50 statements of 200 mini-transactions and two at commit: 2,000,400."""
    columns = "build series repeat load_time_minutes"
    times = (("before", "load_time", 0, 0.2000400), ("after", "load_time", 0, 0.0200040))
    seen = Load.of(made("fig-7-02", "sim", columns, *times))
    assert (seen.mtr_5_7_us, seen.mtr_8_0_us, seen.gain_ratio) == pytest.approx((6.0, 0.6, 10.0))
    assert "not been recorded" in seen.varied
    usual = pd.DataFrame(times, columns=columns.split())
    machines = [
        usual.assign(parameter="wake_ps", factor=factor, load_time_minutes=[0.2 * factor, 0.02])
        for factor in (0.5, 1.5)
    ]
    run = made("fig-7-02", "sim", columns, *times, tables={"varied": pd.concat(machines)})
    assert Load.of(run).varied.endswith("The ratio lies between 5.0 and 15.0 in them.")


@pytest.fixture
def profile(made):
    waited = pd.DataFrame(
        [
            ("old_redo", 0, "log_sys_mutex", 300, 2e6, 4e6),
            ("old_redo", 0, "log_flushed", 100, 4e4, 3e6),
            ("new_redo", 0, "log_flushed", 100, 4e4, 3e6),
            ("new_redo", 0, "log_sys_mutex", 0, 1e3, 1e3),
        ],
        columns=["series", "repeat", "name", "total_ns", "p50_ns", "p99_ns"],
    )
    return made(
        "fig-7-04",
        "sim",
        "component series repeat share_percent",
        ("log_reservation", "old_redo", 0, 90.0),
        ("statement", "old_redo", 0, 10.0),
        ("log_reservation", "new_redo", 0, 5.0),
        ("statement", "new_redo", 0, 80.0),
        ("log_write_up_to", "new_redo", 0, 15.0),
        tables={"waits": waited},
    )


def test_shares_of_a_profile_and_of_the_waits(made, profile):
    callers = made(
        "fig-7-05",
        "sim",
        "caller series repeat share_percent",
        ("mtr_commit", "log_reservation_wait", 0, 99.0),
        ("log_write_up_to", "log_reservation_wait", 0, 1.0),
    )
    assert Shares.of(profile, callers=callers).texts() == {
        "reservation_5_7_percent": "90 %",
        "reservation_8_0_percent": "5 %",
        "statement_8_0_percent": "80 %",
        "flush_8_0_percent": "15 %",
        "log_sys_mutex_percent": "75 %",
        "mtr_commit_percent": "99.0 %",
    }


def test_real_threads_stand_beside_the_simulated_ones_where_both_waited(made, profile):
    on_host = made(
        "fig-7-04",
        "host",
        "component series repeat share_percent",
        ("log_reservation", "old_redo", 0, 1.0),
        ("log_reservation", "new_redo", 0, 3.0),
        provenance={"cores": 2, "scheduling": "normal"},
        tables={"waits": profile.tables["waits"].query("series == 'old_redo'").assign(p50_ns=500.0)},
    )
    spinning = [(("client", "log_reservation"), "spin", 25), (("client", "statement"), "work", 75)]
    seen = RealThreads.of(on_host, simulated=profile, two={"activities": spinning})
    assert (seen.processors, seen.least_processors) == (2, 22)
    assert (seen.reservation_percent, seen.two_simulated_percent) == (1.0, 25.0)
    assert seen.waits.rows.to_numpy().tolist() == [
        ["5.7", "log_sys_mutex", "2 ms", "4 ms", "0.5 us", "4 ms"],
        ["5.7", "log_flushed", "40 us", "3 ms", "0.5 us", "3 ms"],
    ]
    assert list(seen.waits.rows)[2:4] == ["simulated, 176 threads: median", "simulated, 176 threads: 99 %"]
    assert seen.waits.origin == "Simulated: 2026-01-02. Real threads: 2026-01-02, normal scheduling."


def costs(made, many_8_0_ns: float, alone_off_ns: float = 75.0):
    designs = {
        "mtr_5_7": (50.0, 200.0),
        "mtr_8_0": (90.0, many_8_0_ns),
        "mtr_8_0_writer_threads_off": (alone_off_ns, 190.0),
    }
    rows = [
        (threads, series, repeat, ns * (1 + repeat), ns, 1000)
        for series, both in designs.items()
        for threads, ns in zip((1, 16), both, strict=True)
        for repeat in (0, 1)
    ]
    return made(
        "num-deg-3", "kernel", "threads series repeat nanoseconds cpu_ns between_ns", *rows, summary="min"
    )


@pytest.fixture
def crowd_of_64(made):
    columns = "threads series repeat nanoseconds"
    return made("num-deg-3", "sim", columns, (64, "mtr_5_7", 0, 1500.0), (64, "mtr_8_0", 0, 150.0))


def test_a_commit_costs_the_least_of_the_repeats(made, crowd_of_64):
    seen = Commits.of(costs(made, 180.0), simulated=crowd_of_64)
    assert seen.cost_5_7_ns == {64: 1500.0}
    assert seen.cost_8_0_ns == {64: 150.0}
    assert seen.texts()["cost_5_7_ns.64"] == "1,500"


@pytest.mark.parametrize(
    ("many_ns", "alone_ns", "said"),
    [
        (180.0, 75.0, ("0.90 times (0.90 to 0.90)", "1.50 times (1.50 to 1.50)")),
        (220.0, 45.0, ("1.10 times (1.10 to 1.10)", "0.90 times (0.90 to 0.90)")),
    ],
)
def test_the_gain_and_the_margin_are_said_as_they_come_out(made, crowd_of_64, many_ns, alone_ns, said):
    seen = Commits.of(costs(made, many_ns, alone_ns), simulated=crowd_of_64)
    assert (seen.many_threads, seen.threads_off_alone) == said


def test_a_ratio_whose_repeats_lie_on_both_sides_of_one_is_noise(made, crowd_of_64):
    run = costs(made, 180.0)
    is_off = run.table["series"] == "mtr_8_0_writer_threads_off"
    scattered = run.table.assign(
        nanoseconds=run.table["nanoseconds"].mask(is_off & (run.table["repeat"] == 1), 80.0)
    )
    seen = Commits.of(run.with_table(scattered), simulated=crowd_of_64)
    # 75 over 50 in one turn, 80 over 100 in the other
    assert seen.threads_off_alone == "1.15 times (0.80 to 1.50: equal within noise)"


def test_what_lies_between_two_commits_is_said_of_the_recording(made, crowd_of_64):
    with_work = costs(made, 180.0)
    assert "computes for a microsecond" in Commits.of(with_work, simulated=crowd_of_64).between
    without = dataclasses.replace(with_work, table=with_work.table.drop(columns="between_ns"))
    assert "nothing lies between" in Commits.of(without, simulated=crowd_of_64).between


def regimes_of(made, off_ns):
    """Two processes, one thread, in a server's regime and in a small buffer; 8.0 without log threads takes `off_ns` in the first."""
    place = "threads series repeat nanoseconds cpu_ns between_ns log_buffer_bytes"

    def rows(threads, between_ns, buffer_bytes, off):
        designs = {"mtr_5_7": (50.0, 100.0), "mtr_8_0": (60.0, 80.0), "mtr_8_0_writer_threads_off": off}
        return [
            (threads, series, repeat, ns, ns, between_ns, buffer_bytes)
            for series, both in designs.items()
            for repeat, ns in enumerate(both)
        ]

    counts = {
        "series": ["mtr_5_7", "mtr_8_0", "mtr_8_0_writer_threads_off"],
        "locked_ops": [2.0, 1.0, 1.0],
        "atomic_stores": [0.0, 2.0, 2.0],
    }
    return made(
        "num-deg-3",
        "kernel",
        place,
        *rows(1, 1000, 16 << 20, off_ns),
        *rows(16, 1000, 16 << 20, off_ns),
        tables={
            "loads": pd.DataFrame(rows(1, 50, 64 << 10, (75.0, 150.0)), columns=place.split()),
            "counts": pd.DataFrame(counts),
        },
        summary="median",
    )


@pytest.mark.parametrize(
    ("off_ns", "said"),
    [
        ((40.0, 80.0), "0.80 times (0.80 to 0.80)"),
        ((60.0, 120.0), "1.20 times (1.20 to 1.20)"),
        ((60.0, 80.0), "1.00 times (0.80 to 1.20: equal within noise)"),
    ],
)
def test_each_regime_has_its_ratio_over_processes_that_of_a_server_first(made, crowd_of_64, off_ns, said):
    seen = Commits.of(regimes_of(made, off_ns), simulated=crowd_of_64)
    assert seen.threads_off_alone == said
    assert seen.loads is not None
    assert list(seen.loads.rows) == [
        "log buffer",
        "ns between two commits",
        "5.7, ns per commit",
        "8.0, writer threads off, of 5.7's",
        "8.0, of 5.7's",
    ]
    on = "1.00 times (0.80 to 1.20: equal within noise)"
    assert seen.loads.rows.to_numpy().tolist() == [
        ["16 MiB", "1,000", "75", said, on],
        ["64 KiB", "50", "75", "1.50 times (1.50 to 1.50)", on],
    ]
    assert "2 processes" in seen.loads.origin


def test_the_regime_and_the_counts_are_said_beside_the_ratios(made, crowd_of_64):
    said = Commits.of(regimes_of(made, (40.0, 80.0)), simulated=crowd_of_64).between
    assert "a log buffer of 16 MiB and 1,000 ns of computing between two commits" in said
    assert "took turns in 2 processes" in said
    assert said.endswith("counted: 2 in 5.7, 1 in 8.0, 1 in 8.0, writer threads off.")


def test_costs_below_zero_are_counted_and_said(made, crowd_of_64):
    run = regimes_of(made, (40.0, 80.0))
    table = run.table.assign(nanoseconds=[-1.0, *run.table["nanoseconds"][1:]])
    said = Commits.of(dataclasses.replace(run, table=table), simulated=crowd_of_64).between
    assert f"1 of {len(table)} came out below zero" in said


def test_loads_are_shown_where_the_recording_has_them(made, crowd_of_64):
    run = costs(made, 180.0)
    assert Commits.of(run, simulated=crowd_of_64).loads is None
    without_work = run.table[run.table["threads"] == 1].assign(between_ns=0, cpu_ns=40.4)
    seen = Commits.of(dataclasses.replace(run, tables={"loads": without_work}), simulated=crowd_of_64)
    assert seen.loads is not None
    assert list(seen.loads.rows) == [
        "ns between two commits",
        "threads",
        "5.7",
        "8.0",
        "8.0, writer threads off",
    ]
    assert seen.loads.rows.to_numpy().tolist() == [[0, 1, 40, 40, 40], [1000, 1, 50, 90, 75]]


def test_what_is_published_is_rounded_as_the_source_writes_it():
    load = pd.DataFrame({"build": ["before", "after"], "load_time_minutes": [77, 16]})
    profile = pd.DataFrame(
        {"component": ["log_reservation"], "series": ["old_redo"], "share_percent": [12.06]}
    )
    flushes = pd.DataFrame(
        {
            "concurrency": [1, 3, 10, 200],
            "series": ["flushes"] * 4,
            "flushes_per_transaction": [2.34, 9.5, 7.31, 0.98],
        }
    )
    assert list(Published.of(load, profile, flushes).texts().values()) == ["4.81", "12 %", "2.3", "9.5", "1"]


def test_crashes_are_added_up_over_the_designs():
    reports = [
        {"crashes": 1200, "commits": 10, "lost_commits": 0},
        {"crashes": 300, "commits": 5, "lost_commits": 2},
    ]
    assert Crashes.of(reports).texts() == {"crashes": "1,500", "commits": "15", "lost": "2"}


def test_the_newest_recordings_have_all_facts_and_no_commit_is_lost():
    assert redo_log.facts().texts()["crashed.lost"] == "0"


def test_the_engines_profile_is_told_by_its_shares_and_by_runs_that_did_not_settle(made):
    shares = {
        "old_redo": {"log_reservation": 70.0, "statement": 20.0, "row_lock": 6.0, "client": 4.0},
        "new_redo": {"log_reservation": 2.0, "statement": 98.0},
    }
    rows = [(250, series, 0, name, share) for series, of in shares.items() for name, share in of.items()]
    at = {"concurrency": 250, "repeat": 0}
    callers = pd.DataFrame(
        [
            {**at, "series": "old_redo", "caller": "mtr_commit", "share_percent": 45.0},
            {**at, "series": "old_redo", "caller": "log_write_up_to", "share_percent": 55.0},
            {**at, "series": "new_redo", "caller": "mtr_commit", "share_percent": 100.0},
        ]
    )
    windows = pd.DataFrame(
        [
            {**at, "series": "old_redo", "is_settled": 0, "half_width_percent": 23.4},
            {**at, "series": "new_redo", "is_settled": 1, "half_width_percent": 1.9},
        ]
    )
    columns = "concurrency series repeat component share_percent"
    tables = {"callers": callers, "windows": windows}
    run = made("own-redo-engine-profile", "sim", columns, *rows, tables=tables)
    assert EngineProfile.of(run).texts() == {
        "reservation_5_7_percent": "70 %",
        "reservation_8_0_percent": "2 %",
        "statement_8_0_percent": "98 %",
        "mtr_commit_percent": "45.0 %",
        "told": "Of 3 claims that the ledger makes of the two figures, 2 hold here. Of 2 runs 1 had not settled when their window ended; "
        "the widest knows its throughput to 23 %.",
    }
