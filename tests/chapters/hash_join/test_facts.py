from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

from engineroom.facts import hash_join
from engineroom.facts.hash_join import (
    Bare,
    ChunkFiles,
    JoinBuffer,
    NoIndex,
    Partner,
    Published,
    PublishedQuery,
    Spilling,
    WhyNot,
)

PLAN = "-> Inner hash join (a.k = b.k)  (cost=2 rows=1)"


@pytest.fixture
def query(made):
    """The published query over two warehouses; the second repeat is slower, as others' load makes it."""
    cpu_s = {
        ("5.7.22", "index_nested_loop"): 4.0,
        ("5.7.22", "reversed_order_without_hash"): 12.0,
        ("8.0.15", "reversed_order_without_hash"): 9.0,
        ("9.7.4", "index_nested_loop"): 3.0,
        ("9.7.4", "reversed_order_without_hash"): 40.0,
        ("9.7.4", "hash_join"): 1.25,
        ("9.7.4", "hash_join_on_district"): 1.5,
    }
    counters = pd.DataFrame(
        [
            ("9.7.4", "index_nested_loop", 0, "Handler_read_next", 6020),
            ("9.7.4", "hash_join", 0, "Handler_read_next", 3020),
            ("9.7.4", "hash_join", 0, "Created_tmp_files", 16),
        ],
        columns=["server", "series", "repeat", "counter", "value"],
    )
    return made(
        "fig-7-22",
        "live",
        "server series repeat server_cpu_s warehouses answer plan",
        *((*place, repeat, s + repeat, 2, 6000, PLAN) for place, s in cpu_s.items() for repeat in (0, 1)),
        provenance={"servers": {"9.7.4": {"variables_differing": {"innodb_buffer_pool_size": str(3 << 29)}}}},
        tables={"counters": counters},
        summary="min",
    )


def test_the_published_query_is_told_by_its_least_times_and_its_counters(query):
    seen = PublishedQuery.of(query)
    assert (seen.old_server, seen.middle_server, seen.new_server) == ("5.7.22", "8.0.15", "9.7.4")
    assert (seen.old_loop_s, seen.new_loop_s) == (4.0, 3.0)
    assert (seen.new_hash_s, seen.new_hash_on_districts_s) == (1.25, 1.5)
    assert (seen.old_reversed_s, seen.middle_reversed_s, seen.new_reversed_s) == (12.0, 9.0, 40.0)
    assert (seen.loop_rows_read, seen.hash_rows_read, seen.hash_files) == (6020, 3020, 16)
    assert seen.hash_plan == PLAN


def test_tables_are_counted_from_the_answer(query):
    """Each order line meets the one district of its number in each warehouse."""
    seen = PublishedQuery.of(query)
    assert (seen.warehouses, seen.districts_per_warehouse, seen.districts) == (2, 10, 20)
    assert (seen.pairs, seen.order_lines, seen.comparisons) == (6000, 3000, 60_000)


def test_a_size_is_printed_in_the_largest_unit_that_it_fills():
    assert [hash_join.binary(n) for n in (512, 16384, 4 << 20, 1 << 30)] == [
        "512 bytes",
        "16 KiB",
        "4 MiB",
        "1 GiB",
    ]


def test_what_is_published_is_not_summarised():
    rows = pd.DataFrame({"series": ["index_nested_loop", "hash_join"], "seconds": [3.0, 1.5]})
    assert Published.of(rows).texts() == {"loop_s": "3.00 s", "hash_s": "1.50 s", "ratio": "2.0"}


def test_bare_kernels_are_held_against_the_old_server(made, query):
    run = made(
        "fig-7-22",
        "kernel",
        "server series repeat server_cpu_s",
        ("kernel", "index_nested_loop", 0, 0.5),
        ("kernel", "hash_join", 0, 0.75),
        ("kernel", "reversed_order_without_hash", 0, 0.25),
        ("kernel", "reversed_order_without_hash", 1, 0.5),
        summary="min",
    )
    seen = Bare.of(run, PublishedQuery.of(query))
    assert (seen.loop_s, seen.hash_s, seen.reversed_s, seen.old_reversed_ratio) == (0.5, 0.75, 0.25, 48.0)


def test_spilling_begins_where_bytes_are_written(made):
    sizes = {1000: (40.0, 40.0, 0), 2000: (50.0, 150.0, 9), 4000: (100.0, 150.0, 9), 8000: (200.0, 180.0, 9)}
    run = made(
        "own-hash-join-kernels",
        "kernel",
        "rows series repeat cpu_ns_per_probe_row bytes_written",
        *((n, "hybrid_in_memory", 0, memory, 0) for n, (memory, _, _) in sizes.items()),
        *((n, "hybrid_256_kib", 0, spilled, written) for n, (_, spilled, written) in sizes.items()),
        summary="min",
    )
    seen = Spilling.of(run)
    assert (seen.fewest_rows, seen.later_rows, seen.most_rows) == (2000, 4000, 8000)
    assert (seen.fewest_ratio, seen.most_ratio) == (3.0, 0.9)
    assert (seen.fewest_adds_ns, seen.later_adds_ns) == pytest.approx((100.0, 50.0))
    assert (seen.fewest_in_memory_ns, seen.most_in_memory_ns) == (50.0, 200.0)


def test_a_partner_costs_the_slope_of_its_plan(made):
    run = made(
        "own-hash-join-warehouses",
        "live",
        "warehouses series repeat server_cpu_s rows_read",
        *((w, "index_nested_loop", 0, w * (0.010 + 0.005 * w), 1000 * w) for w in (1, 2, 4)),
        *((w, "hash_join", 0, w * (0.020 + 0.001 * w), 1000 * w) for w in (1, 2, 4)),
        summary="min",
    )
    seen = Partner.of(run)
    assert (seen.fetched_us, seen.matched_us) == pytest.approx((5.0, 1.0))


def test_ratios_without_an_index_are_of_the_most_rows(made):
    cpu_s = {"5.7.22": (0.1, 0.4), "8.0.15": (0.1, 0.3), "9.7.4": (0.001, 0.002)}
    run = made(
        "own-hash-join-no-index",
        "live",
        "rows_per_table series repeat server_cpu_s",
        *((n, server, k, s + k) for server, both in cpu_s.items() for n, s in zip((500, 1000), both, strict=True) for k in (0, 1)),
        summary="min",
    )  # fmt: skip
    seen = NoIndex.of(run)
    assert seen.rows == 1000
    assert (seen.old_ratio, seen.middle_ratio) == pytest.approx((200, 150))
    assert (seen.doubled_block_loop_ratio, seen.doubled_hash_ratio) == pytest.approx((4, 2))


@pytest.fixture
def buffers(made):
    return made(
        "own-hash-join-buffer",
        "live",
        "join_buffer_bytes series repeat temporary_files bytes_written bytes_read writes server_cpu_s",
        *(
            (size, series, repeat, 0, 0, 0, 0, s)
            for series, times in {
                "spill": (0.011, 0.004),
                "refill": (0.040, 0.003),
                "block_nested_loop": (0.7, 0.6),
            }.items()
            for size, s in zip((16384, 1 << 20), times, strict=True)
            for repeat in (0, 1)
        ),
        provenance={"rows_per_table": 100},
        summary="min",
    )


def test_the_smallest_and_the_largest_buffer_are_compared(buffers):
    texts = JoinBuffer.of(buffers).texts()
    assert [texts[name] for name in ("repeats", "small_bytes", "large_bytes")] == ["2", "16 KiB", "1 MiB"]
    assert [texts[f"{way}_{size}_ms"] for way in ("spill", "refill", "block_loop") for size in ("small", "large")] == [
        "11.0 ms", "4.0 ms", "40.0 ms", "3.0 ms", "700.0 ms", "600.0 ms",
    ]  # fmt: skip


def test_the_kernel_is_run_on_the_keys_of_the_recording(buffers):
    """A hundred rows fit into either buffer: neither side writes a file."""
    seen = ChunkFiles.of(buffers)
    assert (seen.counters, seen.equal, seen.farthest_off) == (8, 8, 0)
    off = buffers.table.assign(
        bytes_written=buffers.table["bytes_written"].where(buffers.table["join_buffer_bytes"] > 16384, 7)
    )
    seen = ChunkFiles.of(dataclasses.replace(buffers, table=off))
    assert (seen.counters, seen.equal, seen.farthest_off) == (8, 7, 7)
    assert list(seen.table.rows["bytes written, server"]) == ["7", "0"]


def test_what_forbids_a_hash_join_stands_before_what_does_not(made):
    run = made(
        "own-hash-join-why-not",
        "live",
        "reason series repeat statement is_hash_join plan",
        ("no index", "9.7.4", 0, "SELECT", True, PLAN),
        ("an index", "9.7.4", 0, "SELECT", False, "-> Nested loop inner join  (cost=1 rows=1)"),
        tables={"analyzed": pd.DataFrame({"series": ["9.7.4"], "analyzed": ["-> Aggregate"]})},
    )
    seen = WhyNot.of(run)
    assert seen.table.rows.to_numpy().tolist() == [
        [False, "an index", "Nested loop inner join"],
        [True, "no index", "Inner hash join (a.k = b.k)"],
    ]
    assert list(seen.table.rows) == ["hash join", "what was changed", "the plan's join"]
    assert seen.analyzed == "-> Aggregate"


def test_a_plan_that_a_server_lacks_is_said_to_be_lacking(query):
    times = hash_join.times_by_plan(query)
    assert list(times.rows) == ["series", "5.7.22", "8.0.15", "9.7.4"]
    assert times.rows.to_numpy().tolist()[1] == [
        "hash_join_on_district",
        *["has no such plan"] * 2,
        "1.500 s",
    ]
    read = hash_join.rows_read_by_plan(query)
    assert read.rows.to_numpy().tolist() == [["hash_join", "3,020"], ["index_nested_loop", "6,020"]]
    assert "2 warehouses" in times.caption
    assert "2 warehouses" in read.caption


def test_the_newest_recordings_have_all_facts():
    assert hash_join.facts().texts()
