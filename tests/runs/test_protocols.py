"""Protocols: what makes two of them one, and that every recording follows the one it names."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from engineroom import paths, runs
from engineroom.errors import EngineRoomError
from engineroom.runs import Run, protocols, provenance

TABLE = pd.DataFrame(
    [(x, s, r, 1.0) for x in (1, 50) for s in ("old_redo", "new_redo") for r in range(3)],
    columns=["concurrency", "series", "repeat", "throughput"],
)
MACHINE = {"sockets": 4, "pause_ps": 67000}
LOAD = {"statements": 4, "away_ns": 150000}


def made(table=TABLE, figure="num-ch7-1", method="sim", summary="median", **about):
    given = {"machine": MACHINE, "load": LOAD, "seed": 1, "cores": 2, "date": "2026-11-21", **about}
    return protocols.content(figure, method, table=table, summary=summary, provenance=given)


def test_day_computer_and_revision_are_no_part_of_it():
    other = made(cores=64, cpu="another", date="2027-01-01", revision="abc", during={"load_before": 9.0})
    assert protocols.hash_of(other) == protocols.hash_of(made())
    assert protocols.hash_of(made(varied_in={"wall_s": 1.0, "processors": 2})) == protocols.hash_of(made())
    # Of all that is told of a machine only the seed was chosen; `load` is the experiment's in these runs.
    here = {key: value for key, value in provenance.machine().items() if key not in ("load", "seed")}
    assert protocols.hash_of(made(**here)) == protocols.hash_of(made())


def test_the_order_of_rows_and_the_values_measured_are_no_part_of_it():
    other = made(TABLE.iloc[::-1].assign(throughput=7.0))
    assert protocols.hash_of(other) == protocols.hash_of(made())


@pytest.mark.parametrize(
    ("other", "change"),
    [
        (made(machine={**MACHINE, "pause_ps": 47000}), "machine.pause_ps 67000 to 47000"),
        (made(load={**LOAD, "away_ns": 0}), "load.away_ns 150000 to 0"),
        (made(TABLE[TABLE["repeat"] < 2]), "repeats 3 to 2"),
        (made(summary="min"), "summary median to min"),
        (made(TABLE[TABLE["concurrency"] < 9]), "points.concurrency [1, 50] to [1]"),
        (made(TABLE.assign(half_width_percent=1.0)), "window unsaid to grows until the throughput is known"),
        (made(window={"longest_ms": 60}), "window.longest_ms unsaid to 60"),
        (made(settings={"a": 1}), "load.settings.a unsaid to 1"),
    ],
)
def test_whatever_was_chosen_is_part_of_it_and_named_when_it_changes(other, change):
    assert protocols.changes(made(), other) == [change]
    assert protocols.hash_of(other) != protocols.hash_of(made())


def test_of_a_server_its_version_and_settings_count_and_not_what_it_counted():
    def of(version, moved):
        about = {"server_version": version, "settings": {"x": "1"}, "status": {"Bytes_sent": moved}}
        return made(method="live", servers={"9.7": about}, load=[0.1, 0.2, 0.3])

    assert of("9.7.4", 1) == of("9.7.4", 2)
    assert protocols.changes(of("9.7.4", 1), of("9.7.5", 1)) == [
        "machine.servers.9.7.server_version 9.7.4 to 9.7.5"
    ]


def test_a_text_for_x_may_be_what_came_out_and_is_left_to_the_series():
    table = pd.DataFrame({"component": ["a", "b"], "series": "old_redo", "share_percent": 1.0, "repeat": 0})
    assert made(table, figure="fig-7-04")["points"] == {"series": ["old_redo"]}


def test_a_figure_of_our_own_has_none():
    assert made(figure="own-machine-real") is None


def test_a_saved_run_carries_the_hash_of_the_protocol_that_is_kept(empty_book: Path) -> None:
    run = Run("num-ch7-1", "sim", TABLE, {"machine": MACHINE, "load": LOAD})
    runs.save(run, chapter="redo_log")
    runs.save(run.with_table(TABLE.assign(throughput=2.0)), chapter="redo_log")
    first, second = runs.recorded("num-ch7-1", "sim")
    assert first.protocol == second.protocol is not None
    runs.save(replace(run, summary="min"), chapter="redo_log")
    kept = json.loads((empty_book / "data" / "recorded" / "redo_log" / protocols.FILE).read_text())
    assert list(kept) == [first.protocol, runs.newest("num-ch7-1", "sim").protocol]
    assert [protocols.hash_of(each) for each in kept.values()] == list(kept)
    assert protocols.read(first.protocol)["load"] == LOAD
    with pytest.raises(EngineRoomError, match="the protocol abc is in no data/recorded"):
        protocols.read("abc")


# The recordings of the book itself


def test_every_recording_follows_the_protocol_that_it_names():
    recorded = paths.data() / "recorded"
    kept = {}
    for file in recorded.glob(f"*/{protocols.FILE}"):
        kept |= json.loads(file.read_text())
    # One that nobody follows yet was committed before its first run.
    assert {name: protocols.hash_of(each) for name, each in kept.items()} == {name: name for name in kept}
    named = {meta.stem.rpartition(".")[0] for meta in recorded.rglob("*.*.*.json")}
    for run in (run for name in named for run in runs.recorded(*name.split("."))):
        made = protocols.content(
            run.figure, run.method, table=run.table, summary=run.summary, provenance=run.provenance
        )
        assert made == (None if run.protocol is None else kept[run.protocol])
