from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import frictionless
import numpy as np
import pandas as pd
import pytest

from engineroom import paths, runs
from engineroom.errors import EngineRoomError
from engineroom.runs import Run, latest, package, recorded, save, withdraw

TABLE = pd.DataFrame(
    {
        "server": ["5.7", "9.7"],
        "series": ["index_nested_loop", "hash_join"],
        "server_cpu_s": [3.5, 1.25],
        "repeat": [0, 0],
        "spilled": [False, True],
        "note": ["", "a, b"],
    }
)


def made_up(**more: object) -> Run:
    given = {"figure": "fig-7-22", "method": "live", "table": TABLE, "provenance": {"cores": 2}, **more}
    return Run(**given)  # type: ignore[arg-type]


def test_a_run_comes_back_as_it_was_saved(empty_book: Path) -> None:
    counters = pd.DataFrame({"counter": ["Handler_read_next"], "value": [2**40]})
    run = made_up(
        tables={"counters": counters}, summary="min", not_attributable="too noisy", columns={"note": "why"}
    )
    path = save(run, chapter="hash_join")
    assert path == empty_book / "data" / "recorded" / "hash_join" / "fig-7-22.live.1.csv"
    (read,) = recorded("fig-7-22", "live")
    expected = TABLE.assign(note=[np.nan, "a, b"]).astype({"note": "str"})  # a CSV has no empty text
    pd.testing.assert_frame_equal(read.table, expected, check_dtype=False)
    assert read.table["server"].tolist() == ["5.7", "9.7"]
    assert read.table.dtypes["repeat"] == "int64"
    pd.testing.assert_frame_equal(read.tables["counters"], counters, check_dtype=False)
    assert (read.summary, read.not_attributable, read.origin, read.n) == ("min", "too noisy", "recorded", 1)
    assert read.columns["note"] == "why"
    assert read.recorded_at is not None


@pytest.mark.parametrize("what", ["pipe", "device", "folder", "deep"])
@pytest.mark.parametrize(
    "name", ["fig-7-22.live.2.json", "fig-7-22.live.2.csv", "fig-7-22.live.2.counters.csv"]
)
def test_what_is_no_recording_is_left_out_alone_and_named(
    empty_book: Path, capsys: pytest.CaptureFixture[str], what: str, name: str
) -> None:
    for _ in range(2):
        save(made_up(tables={"counters": TABLE}), chapter="hash_join")
    file = empty_book / "data" / "recorded" / "hash_join" / name
    file.unlink()
    if what == "pipe":
        os.mkfifo(file)
    elif what == "device":
        file.symlink_to("/dev/zero")
    elif what == "folder":
        file.mkdir()
    else:
        file.write_text("[" * 100_000)
    runs._tell.cache_clear()
    assert [run.n for run in recorded("fig-7-22", "live")] == [1]
    assert "left out: the recorded" in capsys.readouterr().err


def test_runs_are_added_and_never_overwritten(empty_book: Path) -> None:  # noqa: ARG001
    first = save(made_up(), chapter="hash_join")
    before = first.read_bytes()
    for _ in range(11):
        save(made_up(table=TABLE.assign(server_cpu_s=0.5)), chapter="hash_join")
    assert first.read_bytes() == before
    assert [run.n for run in recorded("fig-7-22", "live")] == list(range(1, 13))
    newest = latest("fig-7-22", "live")
    assert newest is not None
    assert newest.n == 12


def test_two_savers_never_share_a_number(empty_book: Path) -> None:  # noqa: ARG001
    with ThreadPoolExecutor(8) as pool:
        saved = list(pool.map(lambda _: save(made_up(), chapter="hash_join"), range(24)))
    assert len(set(saved)) == len(recorded("fig-7-22", "live")) == 24


def test_half_a_run_is_not_a_run(empty_book: Path) -> None:
    folder = empty_book / "data" / "recorded" / "hash_join"
    folder.mkdir()
    (folder / "fig-7-22.live.1.json").touch()
    assert recorded("fig-7-22", "live") == []
    assert save(made_up(), chapter="hash_join").name == "fig-7-22.live.2.csv"


def test_a_withdrawn_run_stays_with_all_its_tables_and_no_longer_counts(empty_book: Path) -> None:
    for _ in range(2):
        path = save(made_up(tables={"more": TABLE}), chapter="hash_join")
    rows = path.read_bytes()
    withdraw("fig-7-22", "live", 2, reason="the index was missing")
    archive = empty_book / "data" / "recorded" / "hash_join" / "withdrawn"
    stem = "fig-7-22.live.2"
    assert {file.name for file in archive.iterdir()} == {f"{stem}.csv", f"{stem}.json", f"{stem}.more.csv"}
    assert (archive / f"{stem}.csv").read_bytes() == rows
    report = frictionless.validate(str(archive.parent / "datapackage.json"))
    assert report.valid, report.flatten()
    assert json.loads((archive.parent / "datapackage.json").read_text()) == package("hash_join")
    assert save(made_up(), chapter="hash_join").name == "fig-7-22.live.3.csv"
    withdraw("fig-7-22", "live", 3, reason="x")
    withdraw("fig-7-22", "live", 3, reason="another reason")
    newest = latest("fig-7-22", "live")
    assert newest is not None
    assert newest.n == 1
    assert [run.withdrawn for run in recorded("fig-7-22", "live")] == [
        None,
        "the index was missing",
        "another reason",
    ]
    with pytest.raises(EngineRoomError, match="no recorded run 7"):
        withdraw("fig-7-22", "live", 7, reason="none")


def test_a_recording_is_parsed_once_and_each_reader_has_tables_of_their_own(
    empty_book: Path,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    save(made_up(tables={"more": TABLE}), chapter="hash_join")
    parsed, real = [], runs._read_csv
    monkeypatch.setattr(runs, "_read_csv", lambda *given: parsed.append(given) or real(*given))
    (first,) = recorded("fig-7-22", "live")
    first.table.loc[0, "server_cpu_s"] = 99.0
    first.tables["more"]["server_cpu_s"] = 0.0
    (second,) = recorded("fig-7-22", "live")
    assert len(parsed) == 2
    assert (
        second.table["server_cpu_s"].tolist() == second.tables["more"]["server_cpu_s"].tolist() == [3.5, 1.25]
    )


def test_a_method_or_figure_that_begins_alike_is_another(empty_book: Path) -> None:  # noqa: ARG001
    save(made_up(figure="fig-7-2"), chapter="hash_join")
    assert recorded("fig-7-22", "live") == []
    assert latest("fig-7-2", "kernel") is None


def test_provenance_is_scrubbed_on_its_way_to_the_file(empty_book: Path) -> None:  # noqa: ARG001
    path = save(made_up(provenance={"socket": "/tmp/x/s", "log": "/home/ann/x/err.log"}), chapter="hash_join")
    text = path.with_suffix(".json").read_text()
    assert "ann" not in text
    assert "/tmp" not in text
    assert json.loads(text)["provenance"] == {"log": "…/err.log"}


def test_saving_describes_every_table_in_the_data_package(empty_book: Path) -> None:
    save(made_up(columns={"server_cpu_s": "CPU time"}), chapter="hash_join")
    save(made_up(figure="own-spill", tables={"files": pd.DataFrame({"bytes": [1]})}), chapter="hash_join")
    file = empty_book / "data" / "recorded" / "hash_join" / "datapackage.json"
    held = json.loads(file.read_text())
    assert held == package("hash_join")
    assert [resource["path"] for resource in held["resources"]] == [
        "fig-7-22.live.1.csv",
        "own-spill.live.1.csv",
        "own-spill.live.1.files.csv",
    ]
    assert held["resources"][0]["schema"]["fields"][2] == {
        "name": "server_cpu_s",
        "type": "number",
        "description": "CPU time",
    }
    report = frictionless.validate(str(file))
    assert report.valid, report.flatten()


@pytest.mark.parametrize(
    "more",
    [
        {"method": "guess"},
        {"summary": "mean"},
        {"figure": "../x"},
        {"figure": "Fig"},
        {"tables": {"a.b": TABLE}},
        {"table": TABLE.drop(columns="series")},
    ],
)
def test_a_run_that_cannot_be_kept_is_refused_at_once(more: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        made_up(**more)


def test_a_table_too_large_for_a_recording_is_refused(empty_book: Path) -> None:
    table = pd.DataFrame({"series": ["x" * 100] * 20_000})
    with pytest.raises(EngineRoomError, match=r"2\.\d MB"):
        save(made_up(table=table), chapter="hash_join")
    assert not list((empty_book / "data" / "recorded").rglob("*.json"))


# The recordings of the book itself


RECORDED = paths.data() / "recorded"


@pytest.mark.parametrize("folder", sorted(RECORDED.glob("*/")), ids=lambda folder: folder.name)
def test_every_recorded_csv_is_described_and_valid(folder: Path) -> None:
    held = json.loads((folder / "datapackage.json").read_text())
    assert held == package(folder.name)
    tables = {path.relative_to(folder).as_posix() for path in folder.rglob("*.csv")}
    assert {resource["path"] for resource in held["resources"]} == tables
    report = frictionless.validate(str(folder / "datapackage.json"))
    assert report.valid, report.flatten()


def test_every_recording_can_be_read_and_holds_nothing_private(capsys: pytest.CaptureFixture[str]) -> None:
    runs._tell.cache_clear()
    metas = list(RECORDED.rglob("*.*.*.json"))
    named = {meta.stem.rpartition(".")[0] for meta in metas}
    found = [run for name in named for run in recorded(*name.split("."))]
    assert len(found) == len(metas) > 100
    assert capsys.readouterr().err == ""
    lie_withdrawn = {meta.stem for meta in metas if meta.parent.name == "withdrawn"}
    assert {f"{run.figure}.{run.method}.{run.n}" for run in found if run.withdrawn} == lie_withdrawn
    for meta in metas:
        text = meta.read_text()
        assert "/home/" not in text
        assert "/tmp/" not in text
        assert str(paths.root()) not in text


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        (b"", "is not JSON"),
        (b"\xff", "is not UTF-8"),
        (b"[]", "it is a list, not named values"),
        (b'{"figure": "fig-7-22"}', "it has no method"),
        ("type", 'tables[""][1].type is "date", not one of boolean, integer, number, string'),
        ("method", "makes no run (method is"),
        ("column", "makes no run"),
        ("0.5", "makes no run (fig-7-22.live.2.csv: cannot safely cast"),
        ("inf", "makes no run (fig-7-22.live.2.csv: "),
        ("9" * 30, "makes no run ("),
    ],
)
def test_a_bad_recording_is_named_by_file_and_place_and_stops_nothing_but_itself(
    empty_book: Path,  # noqa: ARG001
    capsys: pytest.CaptureFixture[str],
    spoilt: bytes | str,
    said: str,
) -> None:
    good, bad = save(made_up(), chapter="hash_join"), save(made_up(), chapter="hash_join")
    meta = bad.with_suffix(".json")
    if isinstance(spoilt, bytes):
        meta.write_bytes(spoilt)
    elif spoilt[0] in "0i9":  # among the repeats, which are whole numbers
        table = pd.read_csv(bad, dtype=str)
        table.loc[0, "repeat"] = spoilt
        table.to_csv(bad, index=False)
    else:
        held = json.loads(meta.read_text())
        if spoilt == "method":
            held["method"] = "guessed"
        elif spoilt == "type":
            held["tables"][""][1]["type"] = "date"
        else:
            held["tables"][""][1]["name"] = "absent"
        meta.write_text(json.dumps(held))
    runs._tell.cache_clear()
    assert [run.n for run in recorded("fig-7-22", "live")] == [1]
    assert latest("fig-7-22", "live") is not None
    message = capsys.readouterr().err
    assert "data/recorded/hash_join/fig-7-22.live.2.json" in message
    assert said in message
    assert "What to do: " in message
    # Nor does it stop the next one, which takes no number twice.
    assert save(made_up(), chapter="hash_join").stem == "fig-7-22.live.3"
    assert good.exists()
