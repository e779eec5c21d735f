from __future__ import annotations

import pytest

from engineroom import runs, servers
from engineroom.chapters.hash_join import experiments as hash_join
from engineroom.errors import EngineRoomError
from engineroom.measuring.choice import live_or_recorded

live = pytest.mark.live


@live
def test_every_plan_of_the_published_query_counts_the_same_pairs() -> None:
    run = hash_join.source_query_live(warehouses=1, repeats=1)
    assert run.table["answer"].nunique() == 1
    assert set(hash_join.source_query_kernel(warehouses=1, repeats=1).table["answer"]) == set(
        run.table["answer"]
    )
    on_new = set(run.table.loc[run.table["server"].str.startswith("9.7"), "series"])
    assert on_new == {
        "index_nested_loop",
        "reversed_order_without_hash",
        "hash_join",
        "hash_join_on_district",
    }
    on_old = set(run.table.loc[run.table["server"] == "5.7.22", "series"])
    assert on_old == {"index_nested_loop", "reversed_order_without_hash"}


def test_the_recorded_kernels_counted_the_pairs_of_the_recorded_servers() -> None:
    measured, computed = (runs.latest("fig-7-22", method) for method in ("live", "kernel"))
    assert measured is not None
    assert computed is not None
    assert set(computed.table["answer"]) == set(measured.table["answer"])


@live
def test_the_index_loop_reads_each_order_line_once_a_warehouse() -> None:
    run = hash_join.warehouses_live(warehouses=(1, 3), repeats=1)
    reads = run.table.set_index(["series", "warehouses"])["rows_read"]
    # A district finds its number in every warehouse; its own row and the end of the scan are read too.
    assert 2.9 < reads["index_nested_loop", 3] / reads["hash_join", 3] < 3.1
    assert 0.9 < reads["index_nested_loop", 1] / reads["hash_join", 1] < 1.1


@live
def test_a_join_without_index_is_a_block_nested_loop_before_8_0_18_and_a_hash_join_after() -> None:
    run = hash_join.no_index(sizes=(200,), repeats=1)
    algorithm = run.table.set_index("series")["algorithm"]
    assert algorithm["5.7.22"] == algorithm["8.0.15"] == "block nested loop"
    assert [algorithm[server] for server in algorithm.index if server.startswith("9.7")] == ["hash join"]


@live
def test_a_spilling_hash_join_reads_each_row_once_and_refill_reads_more() -> None:
    run = hash_join.buffer_sweep(n=1000, repeats=2, buffer_bytes=(16384, 1048576), bnl_version=None)
    counted = [name for name in run.table.columns if name not in ("repeat", "server_cpu_s")]
    assert len(run.table[counted].drop_duplicates()) == len(run.table) / 2
    rows = run.table.query("repeat == 0").set_index(["series", "join_buffer_bytes"])
    assert rows.loc[("spill", 16384), "rows_read"] == rows.loc[("spill", 1048576), "rows_read"] == 2002
    assert rows.loc[("spill", 16384), "temporary_files"] > 0
    assert rows.loc[("spill", 16384), "bytes_written"] == rows.loc[("spill", 16384), "bytes_read"] > 0
    assert rows.loc[("spill", 1048576), "temporary_files"] == 0
    assert rows.loc[("refill", 16384), "rows_read"] > rows.loc[("refill", 1048576), "rows_read"]
    assert rows.loc[("refill", 16384), "bytes_written"] == 0


@live
def test_conditions_on_both_tables_save_an_index_loop_pages_and_little_memory_costs_it_reads() -> None:
    run = hash_join.where(n=5_000, repeats=2, versions=["9.7"])
    assert run.table.groupby("rows_kept")["answer"].nunique().max() == 1
    # The counter is the whole server's: what it does in the background comes on top.
    requests = run.table.groupby(["pool", "rows_kept", "series"])["page_requests"].min()
    loop, hashed = (requests["in memory", :, plan] for plan in hash_join.PLANS)
    assert loop["all rows"] > 5 * loop["a tenth of either table"] > 25 * loop["a hundredth of either table"]
    assert hashed.max() - hashed.min() <= 2


def _is_equal_to_the_byte(run: runs.Run) -> None:
    compared = hash_join.server_against_kernel(run)
    assert compared["server"].max() > 0
    assert compared["server"].tolist() == compared["kernel"].tolist(), compared.to_string()


@live
def test_the_kernel_spills_as_the_live_server_does_to_the_byte() -> None:
    sizes = (16384, 20000, 24576, 28000, 32768, 65536, 98304, 1048576)
    _is_equal_to_the_byte(hash_join.buffer_sweep(n=1500, repeats=1, buffer_bytes=sizes, bnl_version=None))


def test_the_kernel_spills_as_the_recorded_server_did_to_the_byte() -> None:
    run = runs.latest("own-hash-join-buffer", "live")
    assert run is not None
    _is_equal_to_the_byte(run)


@live
def test_which_switches_forbid_a_hash_join_on_9_7() -> None:
    is_hash = hash_join.why_not(n=200).table.set_index("reason")["is_hash_join"]
    assert {reason for reason in is_hash.index if not is_hash[reason]} == {
        "an index on the join column",
        "hint NO_BNL",
        "block_nested_loop=off",
    }


@live
def test_a_plan_other_than_the_one_asked_for_is_an_error() -> None:
    with servers.start("9.7") as server, server.connect("mysql") as connection:
        with connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE tpcc")
            cursor.execute("USE tpcc")
            cursor.execute("CREATE TABLE district (d_id INT PRIMARY KEY)")
            cursor.execute("CREATE TABLE order_line (ol_d_id INT, KEY order_line_district (ol_d_id))")
            cursor.execute("SET optimizer_switch = 'block_nested_loop=off'")
        with pytest.raises(EngineRoomError, match="did not choose the plan hash_join"):
            hash_join._checked_plan(server, connection, "hash_join")


def test_a_recording_is_shown_when_live_is_switched_off(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ENGINEROOM_LIVE", "0")

    def never() -> runs.Run:
        raise AssertionError("must not measure")

    run = live_or_recorded(never, figure="fig-7-22", versions=("9.7",))
    assert run.origin == "recorded"
    assert "ENGINEROOM_LIVE is 0" in capsys.readouterr().out


def test_neither_server_nor_recording_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGINEROOM_LIVE", "0")
    with pytest.raises(EngineRoomError, match="no run is recorded"):
        live_or_recorded(lambda: pytest.fail("measured"), figure="fig-7-01", versions=("9.7",))


def test_the_hashed_table_is_read_from_the_tree() -> None:
    tree = "-> Inner hash join (a.x = b.x)\n    -> Table scan on b  (cost=1)\n    -> Hash\n        -> Table scan on a  (cost=1)"
    assert hash_join._hashed_table(tree) == "a"
    assert hash_join._hashed_table("-> Nested loop inner join") is None
