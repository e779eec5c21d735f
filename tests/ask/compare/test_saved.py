"""A side kept in a file, and a later run compared with it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from engineroom.ask.compare import report, saved
from engineroom.ask.compare.sides import Comparison, Side
from engineroom.errors import EngineRoomError


def compared(*sides: Side, **more) -> Comparison:
    about = {"equal_settings": {"innodb_flush_method": "fsync"}, "repeats": 2, "made_rows": 100}
    about["provenance"] = {"date": "2026-01-02", "cpu": "a", "cores": 2, "memory_bytes": 9}
    return Comparison(
        **{"statement": "SELECT n FROM t", "sides": sides, "control_cpu_s": 0.002, **about, **more}
    )


def side(*rows: tuple[str | None, ...], **more) -> Side:
    return Side(
        version="5.7.22",
        note="old",
        plan="t: ALL",
        server_cpu_s=0.001,
        cpu_repeats_s=(0.001, 0.002),
        wall_s=0.003,
        wall_repeats_s=(0.003, 0.004),
        rows=len(rows),
        columns=("n",),
        first_rows=rows[:5],
        kept_rows=Counter(rows),
        digest=f"{len(rows)}",
        digest_in_order="x",
        counters={"Handler_read_rnd_next": 3},
        variables={"sort_buffer_size": "1"},
        **more,
    )


OLD = side(("1",), (None,))


@pytest.fixture
def file(tmp_path):
    saved.save(tmp_path / "before.json", [compared(OLD)])
    return tmp_path / "before.json"


def test_what_was_saved_stands_in_front_of_a_later_run(file):
    again = saved.load(file)
    assert again.knows("SELECT n FROM t")
    assert not again.knows("SELECT n FROM  t")
    new = replace(side(("1",), ("2",), ("3",)), version="9.7.4", variables={"sort_buffer_size": "2"})
    found = again.beside(compared(new, control_cpu_s=0.5))
    assert found.sides == (replace(OLD, label="saved"), new)
    assert found.control_cpu_s == 0.002
    assert found.results == "differ"
    assert found.differing_rows() == {
        "in 5.7.22 saved, not in 9.7.4": [(None,)],
        "in 9.7.4, not in 5.7.22 saved": [("2",), ("3",)],
    }
    assert found.differing_settings() == {"sort_buffer_size": {"5.7.22 saved": "1", "9.7.4": "2"}}
    shown = report.text(found)
    assert "Plan of 5.7.22 saved:" in shown
    assert "5.7.22 saved: measured at 2026-01-02." in shown
    assert "another machine" not in shown
    assert "SELECT n" not in file.read_text()


def test_what_the_two_runs_do_not_have_in_common_is_said(file):
    other = {"date": "now", "cpu": "b", "cores": 2, "memory_bytes": 9}
    found = saved.load(file).beside(compared(OLD, provenance=other, made_rows=None, equal_settings={}))
    said = " ".join(found.remarks)
    assert "Made rows: 100 in 5.7.22 saved, none now." in said
    assert "do not have in common: innodb_flush_method." in said
    assert "on another machine: cpu." in said


def test_of_a_large_answer_no_rows_are_kept_and_none_are_shown_to_differ(tmp_path):
    many = [(str(n),) for n in range(saved._MOST_ROWS + 1)]
    saved.save(tmp_path / "f", [compared(side(*many))])
    found = saved.load(tmp_path / "f").beside(compared(replace(side(("1",)), version="9.7.4")))
    assert found.results == "differ"
    assert list(found.differing_rows().values()) == [[], []]


def change(of, value):
    def made(read):
        *path, last = of
        for name in path:
            read = read[name]
        read[last] = value

    return made


OF_ONE = ("statements", 0)


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (change(("format",), 2), "format is 2"),
        (lambda read: read.pop("version"), "'version' is missing"),
        (change(("variables",), {"a": 1}), "variables is {'a': 1}"),
        (change(("made_rows",), "many"), "made_rows is 'many'"),
        (change(("statements",), {}), "statements is {}"),
        (change(OF_ONE, "x"), "indices"),
        (change((*OF_ONE, "sha256"), None), "sha256 is None"),
        (change((*OF_ONE, "server_cpu_s"), -1), "server_cpu_s is -1"),
        (change((*OF_ONE, "server_cpu_s"), float("nan")), "server_cpu_s is nan"),
        (change((*OF_ONE, "wall_repeats_s"), [True]), "wall_repeats_s is [True]"),
        (change((*OF_ONE, "first_rows"), [[1]]), "first_rows is [[1]]"),
        (change((*OF_ONE, "kept_rows"), [[["1"], 10**15]]), "kept_rows is 1000000000000000"),
        (change((*OF_ONE, "plan"), ["x"]), "plan is ['x']"),
        (change((*OF_ONE, "varies"), 1), "varies is 1"),
    ],
)
def test_a_file_that_holds_something_else_is_refused_with_the_value(file, broken, said):
    read = json.loads(file.read_text())
    broken(read)
    file.write_text(json.dumps(read))
    with pytest.raises(EngineRoomError, match="save one side again") as refused:
        saved.load(file)
    assert "before.json holds no saved comparison: " in refused.value.problem
    assert said in refused.value.problem


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '"x"', "{}"])
def test_what_is_no_saved_comparison_at_all_is_refused(file, text):
    file.write_text(text)
    with pytest.raises(EngineRoomError, match=r"before\.json"):
        saved.load(file)


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(EngineRoomError, match="cannot be written"):
        saved.save(tmp_path, [compared(OLD)])
