"""The low concurrency experiments: their arithmetic by hand, and short live runs."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import pandas as pd
import pytest

from engineroom import runs, servers
from engineroom.chapters.low_concurrency import experiments as low_concurrency
from engineroom.chapters.low_concurrency import settings
from engineroom.chapters.low_concurrency.experiments import designs
from engineroom.chapters.low_concurrency.experiments import live as low_concurrency_live
from engineroom.chapters.low_concurrency.experiments import pgo as low_concurrency_pgo
from engineroom.errors import EngineRoomError
from engineroom.ledger.verdicts import judge
from engineroom.measuring import instructions

needs_servers = pytest.mark.skipif(
    not all(servers.runnable(version) for version in ("5.7", "9.7")),
    reason="5.7 and 9.7 do not both run here: engineroom doctor",
)


def test_the_kilobyte_is_reproduced_by_the_kernel_from_counts_alone() -> None:
    run = low_concurrency.row_bytes(columns=(1, 64, 65))
    assert judge(run).verdict == "reproduced"
    at = run.table.set_index(["series", "columns"])["bytes_per_row"]
    assert at["list_5_7", 1] == 24 + 16 + 16
    assert at["deque_8_0", 65] > 1.9 * at["deque_8_0", 64]


def test_source_figures_of_the_kernels_follow_from_the_builds() -> None:
    rows = [
        {
            "workload": "narrow",
            "kernel": kernel,
            "variant": variant,
            "series": build,
            "repeat": 0,
            "cpu_ns": ns,
        }
        for build, scale in (("plain", 1.0), ("trained on narrow", 0.5))
        for kernel, variant, ns in (
            ("insert_values", "list_5_7", 60.0 * scale),
            ("mtr_commit", "mtr_5_7", 20.0 * scale),
            ("mtr_commit", "mtr_8_0", 40.0 * scale),
            ("record_offsets", "v80", 10.0 * scale),
            ("field_store", "inline_stream", 4.0 * scale),
            ("field_store", "cold_call", 2.0 * scale),
        )
    ]
    run = runs.Run(figure="own-low-concurrency-pgo", method="kernel", table=pd.DataFrame(rows), provenance={})
    bulk, join, rate = low_concurrency_pgo.source_figures_kernel(run)
    of_bulk = bulk.table.set_index("build")["statements_per_second"]
    assert of_bulk["newer_optimized"] / of_bulk["older"] == pytest.approx(80 / 50)
    of_join = join.table.set_index("build")["seconds"]
    assert of_join["stock"] / of_join["optimized"] == pytest.approx(30 / 10)
    calls = rate.table[rate.table["series"] == "hot_calls_per_second"]["value"]
    assert calls.tolist() == [pytest.approx(5e9 / 30)]


@pytest.mark.skipif(
    not (shutil.which("g++") and shutil.which("nm")), reason="no g++ here: the sizes are of its code"
)
def test_the_fatal_path_in_place_enlarges_the_hot_code_and_a_cold_call_does_not() -> None:
    sizes = low_concurrency_pgo.code_sizes().set_index("variant")
    hot = sizes["hot_bytes"]
    assert hot["inline_stream"] > 1.5 * hot["none"]
    assert hot["cold_call"] < 1.2 * hot["none"]
    assert sizes["cold_bytes"]["none"] == 0


def test_ten_operations_are_named_once_and_count_something() -> None:
    names = [operation.name for operation in low_concurrency_live.OPERATIONS]
    assert len(set(names)) == len(names) == 10


@pytest.mark.live
@needs_servers
def test_the_memory_of_a_row_has_the_kilobyte_in_8_0_31_and_not_in_5_7() -> None:
    run = low_concurrency_live.memory_live(versions=("5.7", "8.0.31"), columns=(1, 5, 20))
    assert judge(run).verdict == "reproduced"
    fitted = run.tables["fitted"].set_index("series")
    old, new = (next(fitted.loc[s] for s in fitted.index if s.startswith(p)) for p in ("5.7", "8.0.31"))
    assert 900 < new["bytes_per_row"] - old["bytes_per_row"] < 1300
    assert abs(new["bytes_per_value"] - old["bytes_per_value"]) < 40


@pytest.mark.live
@needs_servers
def test_operations_move_the_counters_that_they_are_counted_by() -> None:
    run = low_concurrency_live.operations_live(
        versions=("9.7",),
        repeats=1,
        only=("insert rows", "join by index", "full scan"),
        settings=(settings.EQUAL,),
    )
    counted = run.tables["counters"].set_index(["operation", "counter"])["per_operation"]
    assert counted["insert rows", "Innodb_rows_inserted"] == pytest.approx(1, abs=0.01)
    assert counted["insert rows", "Innodb_log_write_requests"] >= 2
    assert counted["join by index", "Innodb_rows_read"] == pytest.approx(2, abs=0.01)
    assert counted["full scan", "Handler_read_rnd_next"] == pytest.approx(1, abs=0.01)
    assert (run.table["server_cpu_us"] > 0).all()


@pytest.mark.slow
def test_every_build_measures_the_same_kernels_on_both_workloads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(low_concurrency_pgo, "_TRAINING_SCALE", 1)
    monkeypatch.setattr(low_concurrency_pgo, "_SCALE", 1)
    table = low_concurrency_pgo.pgo_kernel(repeats=1).table
    assert set(zip(table["series"], table["workload"], strict=True)) == set(
        itertools.product(low_concurrency_pgo.BUILDS, low_concurrency_pgo.WORKLOADS)
    )
    assert (table["cpu_ns"] > 0).all()
    for _, mine in table.groupby("workload"):
        measured = [set(zip(one["kernel"], one["variant"], strict=True)) for _, one in mine.groupby("series")]
        assert measured[0] == measured[1] == measured[2]
        assert {"insert_values", "record_offsets", "field_store", "mtr_commit"} == {
            name for name, _ in measured[0]
        }


@pytest.mark.slow
@pytest.mark.skipif(instructions.why_not() is not None, reason=str(instructions.why_not()))
def test_a_kernels_instructions_are_counted_alike_twice(tmp_path: Path) -> None:
    plain = low_concurrency_pgo._build(tmp_path, "plain")
    stock, again, moved_out = (
        low_concurrency_pgo._counted(plain, f"field_store/{path}")
        for path in ("inline_stream", "inline_stream", "cold_call")
    )
    assert stock == pytest.approx(again, rel=1e-4)
    assert stock > moved_out > 0


def test_a_compiler_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EngineRoomError, match="g\\+\\+"):
        low_concurrency_pgo.pgo_kernel(repeats=1)


def test_settings_are_three_and_differ_in_what_their_names_say() -> None:
    equal, installed, no_hash = (
        low_concurrency_live.OPTIONS[name]
        for name in (settings.EQUAL, settings.INSTALLED, settings.NO_HASH_INDEX)
    )
    assert equal["innodb_adaptive_hash_index"] == "OFF"
    assert set(installed.items()) ^ set(no_hash.items()) == {("innodb_adaptive_hash_index", "OFF")}
    # A flag that is False is left out of the option file, so that the version's default holds.
    assert installed["skip_log_bin"] is False
    assert installed["character_set_server"] is False


def test_rows_that_do_not_say_their_settings_had_equal_ones() -> None:
    old = pd.DataFrame({"series": ["5.7.22", "9.7.4"]})
    assert len(settings.under(old, settings.EQUAL)) == 2
    assert settings.under(old, settings.INSTALLED).empty
    new = old.assign(settings=[settings.INSTALLED, settings.EQUAL])
    assert settings.under(new, settings.INSTALLED)["series"].tolist() == ["5.7.22"]


@pytest.mark.live
@needs_servers
def test_the_hash_index_of_5_7_as_installed_saves_the_pages_on_the_way_to_a_row() -> None:
    run = low_concurrency_live.operations_live(
        versions=("5.7", "9.7"), repeats=1, only=("join by primary key",)
    )
    pages = (
        run.tables["counters"]
        .query("counter == 'Innodb_buffer_pool_read_requests'")
        .set_index(["settings", "series"])["per_operation"]
    )
    old, new = sorted(set(run.table["series"]))
    # 9.7 has no such index by default, so that turning it off changes nothing; in 5.7 each row costs a page or more without it.
    assert pages[settings.NO_HASH_INDEX, old] > pages[settings.INSTALLED, old] + 0.9
    assert pages[settings.INSTALLED, new] == pytest.approx(pages[settings.NO_HASH_INDEX, new], abs=0.05)
    assert set(run.table["settings"]) == set(settings.SETTINGS)


def test_kernels_are_measured_in_every_process_of_a_recording() -> None:
    lists = low_concurrency.lists(columns=(1, 5), values=2_000, repeats=2)
    assert len(lists.table) == 2 * 2 * len(designs.CONTAINERS)
    assert set(lists.table["repeat"]) == {0, 1}
    assert lists.summary == "median"
    offsets = low_concurrency._record_offsets_once([(5, 0, "v57"), (5, 4, "v80")], 1000)
    assert [row["series"] for row in offsets] == ["v57", "v80"]
    # Bytes are counted: every process finds the same.
    same = lists.table.groupby(["columns", "series"])["container_bytes"].nunique()
    assert (same == 1).all()
