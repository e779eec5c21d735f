"""The bench harness: rows, files, errors, and what is recorded."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any

import frictionless
import pytest

from engineroom import bench, paths
from engineroom.bench import Row, recording, row
from engineroom.errors import EngineRoomError

KEYS = ["name", "ours", "unit", "peer", "peer_value", "ratio", "goal", "holds"]


@pytest.fixture
def word(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> ModuleType:
    """A made-up chapter with a bench, in a repository of its own."""
    module = ModuleType("engineroom.bench.made_up")
    module.bench = lambda sitting: [  # type: ignore[attr-defined]
        row("fast enough", ours=1.0, unit="s", peer="x 1", peer_value=3.5, ratio=3.5, side=">=", goal=3),
        row("alone", ours=1.0, unit="s", ratio=2, side=">=", goal=1.7, condition=sitting.is_quiet),
        row("too slow", ours=sitting.notes.setdefault("seen", 2.0), unit="s", ratio=1.5, side="<=", goal=1.3),
    ]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(bench, "modules", lambda: {"made_up": module.__name__})
    monkeypatch.setattr(paths, "build", lambda: tmp_path)
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    return module


def test_the_hash_join_and_the_join_order_have_a_bench():
    assert {"hash_join", "join_order"} <= set(bench.words())


@pytest.mark.parametrize(
    ("ratio", "side", "holds"),
    [(3.0, ">=", True), (2.99, ">=", False), (3.0, "<=", True), (3.01, "<=", False)],
)
def test_a_goal_holds_on_its_side_and_at_its_edge(ratio, side, holds):
    assert row("r", ours=1, unit="s", ratio=ratio, side=side, goal=3).holds is holds


def load(monkeypatch: pytest.MonkeyPatch, value: float) -> None:
    monkeypatch.setattr("psutil.getloadavg", lambda: (value, value, value))


def test_rows_and_provenance_are_written_and_printed(word, capsys, tmp_path, monkeypatch):  # noqa: ARG001
    load(monkeypatch, 0.5)
    assert bench.main(["made_up"]) == 0
    rows = json.loads((tmp_path / "bench" / "made_up.json").read_text())
    assert [list(a_row) for a_row in rows] == [KEYS, KEYS, KEYS]
    assert [a_row["holds"] for a_row in rows] == [True, True, False]
    assert rows[1]["peer"] is None
    provenance = json.loads((tmp_path / "bench" / "made_up.provenance.json").read_text())
    assert {"date", "cores", "cpu", "load_before", "steal_percent", "versions", "seen"} <= provenance.keys()
    printed = capsys.readouterr().out
    assert "fast enough" in printed
    assert "does not hold" in printed
    assert "others were using the machine" not in printed


def test_a_goal_for_a_quiet_machine_is_not_judged_on_a_busy_one(word, capsys, tmp_path, monkeypatch):  # noqa: ARG001
    load(monkeypatch, 0.51)
    assert bench.main(["made_up"]) == 0
    rows = json.loads((tmp_path / "bench" / "made_up.json").read_text())
    assert [a_row["holds"] for a_row in rows] == [True, None, False]
    printed = capsys.readouterr().out
    assert "others were using the machine" in printed
    assert "not judged: the machine was busy" in printed


def test_missing_packages_are_named_with_the_command_that_installs_them(word):
    word.PACKAGES = ("numpy", "no_such_package")
    with pytest.raises(EngineRoomError, match=r"not installed: no_such_package[\s\S]*make bench"):
        bench.run("made_up", 0.0)


def test_an_unknown_word_is_answered_with_the_known_ones(capsys):
    assert bench.main(["no_such_word"]) == 1
    assert f"choose from: {', '.join(bench.words())}" in capsys.readouterr().err


def test_a_row_has_the_fields_that_readers_of_the_json_expect():
    assert list(Row.__dataclass_fields__) == KEYS


def test_a_sitting_is_recorded_only_on_request_and_read_back_for_the_page(
    word,  # noqa: ARG001
    empty_book,
    monkeypatch,
):
    load(monkeypatch, 0.51)
    assert bench.main(["made_up"]) == 0
    folder = empty_book / "data" / "recorded" / "bench"
    assert not folder.exists()
    assert bench.main(["--record", "made_up"]) == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        "datapackage.json",
        "own-bench-made-up.kernel.1.csv",
        "own-bench-made-up.kernel.1.json",
    ]
    report = frictionless.validate(str(folder / "datapackage.json"))
    assert report.valid, report.flatten()
    shown = recording.shown("made_up")
    assert shown.folded is None
    assert shown.first.rows["outcome"].tolist() == ["held", "not judged", "missed"]
    assert shown.first.rows["goal"].tolist() == ["≥ 3", "≥ 1.7", "≤ 1.3"]
    assert "1 held, 1 missed, 1 not judged" in shown.first.caption
    assert "load before 0.51" in shown.first.origin


def test_with_many_rows_the_page_shows_every_miss_and_the_narrowest_of_each_goal(empty_book):  # noqa: ARG001
    rows = [
        row(f"{value}", ours=value, unit="ns", ratio=value, side="<=", goal=goal)
        for goal in (10, 20)
        for value in range(8, 15)
    ]
    seen = bench.provenance.machine() | {
        "load_before": 0.1,
        "load_after": 0.2,
        "steal_percent": 0,
        "versions": {},
    }
    recording.keep("made_up", rows, seen)
    shown = recording.shown("made_up")
    assert shown.first.rows["measured"].tolist() == [f"{n} (ns)" for n in (11, 12, 13, 14, 10, 14)]
    assert shown.first.rows["outcome"].tolist() == ["missed"] * 4 + ["held"] * 2
    assert len(shown.folded.rows) == 14


def test_the_page_says_in_how_many_sittings_each_goal_was_held(empty_book):  # noqa: ARG001
    seen = bench.provenance.machine() | {
        "load_before": 0.1,
        "load_after": 0.2,
        "steal_percent": 0,
        "versions": {},
    }

    def keep(steady: float, wavering: float, changed: int) -> None:
        rows = [
            row("steady", ours=1, unit="ns", ratio=steady, side=">=", goal=2),
            row("wavering", ours=1, unit="ns", ratio=wavering, side=">=", goal=2),
            row("changed", ours=1, unit="ns", ratio=3, side=">=", goal=changed),
        ]
        recording.keep("made_up", rows, seen)

    keep(3, 1, 4)
    assert "It is the only sitting so far." in recording.shown("made_up").first.caption
    keep(3, 3, 2)
    shown = recording.shown("made_up").first
    assert shown.rows["held in sittings"].tolist() == ["2 of 2", "1 of 2", "1 of 1"]
    assert "1 of these goals was held in some sittings and missed in others." in shown.caption
    keep(9, 2, 2)
    every = recording.medians(["made_up"]).rows.set_index("measured")
    assert every.loc["made_up: steady"].tolist() == ["≥ 2", "9", "3 (3 to 9)", "3 of 3"]
    assert every.loc["made_up: wavering"].tolist() == ["≥ 2", "2", "2 (1 to 3)", "2 of 3"]
    assert every.loc["made_up: changed", "held in sittings"] == "2 of 2", "a goal that changed begins again"


def test_the_table_of_the_book_has_every_goal_of_every_bench():
    every = recording.medians(bench.words()).rows
    goals = {word: recording.newest(word).table["series"] for word in bench.words()}
    assert {*every["measured"]} == {
        f"{word}: {name}"
        for word, names in goals.items()
        for name in names
        if name not in recording.WITHDRAWN
    }


def test_what_is_measured_is_told_as_it_goes(capsys):
    sitting = bench.Sitting("made_up")
    sitting.says("a join")
    assert capsys.readouterr().err == "   0 s  made_up: a join\n"


def test_a_word_without_a_recorded_sitting_names_the_command(empty_book):  # noqa: ARG001
    with pytest.raises(EngineRoomError, match=r"engineroom\.bench --record made_up"):
        recording.shown("made_up")


@pytest.mark.parametrize("name", bench.words())
def test_the_recorded_sitting_of_each_bench_is_whole(name):
    run = recording.newest(name)
    assert {"date", "cores", "cpu", "load_before", "load_after", "steal_percent", "versions"} <= set(
        run.provenance
    )
    for _, each in run.table.dropna(subset="holds").iterrows():
        side, limit = each["goal"].split()
        kept = each["ratio"] >= float(limit) if side == ">=" else each["ratio"] <= float(limit)
        assert each["holds"] == kept, each["series"]
    seen_at_once = recording.shown(name).first.rows["outcome"]
    promised = run.table[~run.table["series"].isin(recording.WITHDRAWN)]
    assert (seen_at_once == "missed").sum() == (~promised["holds"].fillna(True)).sum()
    assert (seen_at_once == "no goal").sum() == len(run.table) - len(promised)


def test_each_chapter_with_a_bench_shows_its_sitting():
    for name in bench.words():
        pages = (paths.root() / "book").glob(f"{name}*.md")  # its evidence, too
        text = "".join(page.read_text() for page in pages)
        assert "{show} bench()" in text or f'bench.shown("{name}")' in text
