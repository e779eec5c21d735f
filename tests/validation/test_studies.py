"""What others measured: where each number is from, and the machine that is made of it."""

from __future__ import annotations

import json
from pathlib import Path

import frictionless
import pandas as pd
import pytest

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.machine import presets
from engineroom.validation import studies

FOLDER = Path(__file__).parents[2] / "data" / "studies"
NAMES = studies.names()


def test_the_files_are_described_and_valid():
    report = frictionless.validate(str(FOLDER / "datapackage.json"))
    assert report.valid, report.flatten(["rowNumber", "fieldName", "message"])
    described = {each["path"] for each in json.loads((FOLDER / "datapackage.json").read_text())["resources"]}
    assert described == {path.name for path in FOLDER.iterdir()} - {"datapackage.json"}


@pytest.mark.parametrize("name", NAMES)
def test_a_study_says_who_measured_what_and_what_was_read_where(name):
    study = studies.study(name)
    assert {"who", "what", "address", "read"} == set(study.source)
    assert study.source["address"].startswith("http")
    assert study.loop.endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_what_a_study_does_not_give_is_the_machine_of_the_book(name):
    study = studies.study(name)
    ours = presets.preset("two_sockets_88").values()
    values = study.machine.values()
    assert {each for each in values if values[each] != ours.get(each)} <= set(study.own)
    for parameter in study.machine.parameters:
        if parameter.name in study.own and parameter.kind == "cited":
            assert "the study" in parameter.source or "manual" in parameter.source


@pytest.mark.parametrize("name", NAMES)
def test_every_lock_of_a_study_was_measured_alone_and_in_a_crowd(name):
    study = studies.study(name)
    published = study.published()
    for series in study.series:
        threads = set(published.loc[published["series"] == series.name, "threads"])
        assert 1 in threads
        assert len(threads) > 4
    assert set(published["series"]) == {series.name for series in study.series}


def test_published_numbers_become_the_time_between_two_turns_of_all():
    atomic = studies.study("perfbook_448").published().set_index("threads")["ns_per_turn"]
    assert atomic[28] == pytest.approx(623.768 / 28)
    assert atomic.index.max() == 224
    locks = studies.study("lockbench_48").published()
    first = locks[(locks["series"] == "ticket") & (locks["threads"] == 32) & (locks["repeat"] == 0)]
    assert first["ns_per_turn"].item() == pytest.approx(1e9 / 1_278_941)
    assert studies.study("swift_mutex_44").published()["ns_per_turn"][0] == pytest.approx(6304 / 50)
    assert studies.study("java_locks_24").published()["ns_per_turn"][0] == pytest.approx(71 / 2.5)


def test_pinned_threads_fill_the_cores_before_the_siblings():
    study = studies.study("lockbench_48")
    assert study.cpus(3) == [0, 2, 4]
    assert study.cpus(26) == sorted([*range(0, 48, 2), 1, 3])
    assert studies.study("swift_mutex_44").cpus(3) is None


def test_the_distances_of_the_machine_are_those_of_the_pairs():
    study = studies.study("perfbook_448")
    pairs = pd.read_csv(FOLDER / "perfbook_448.pairs.csv")
    blind = pairs[pairs["series"] == "blind compare-and-swap"].groupby("where")["published"].median()
    near, far = (1000 * blind[f"socket of the {half} half"] for half in ("same", "other"))
    values, rmw = study.machine_for(112), 7000
    assert values["rmw_ps"] == rmw
    assert values["same_socket_ps"] == pytest.approx(1000 * blind["same socket"] - rmw, abs=100)
    assert values["other_socket_ps"] == pytest.approx(near - rmw, abs=100)
    assert study.machine_for(113)["other_socket_ps"] == pytest.approx((3 * near + 4 * far) / 7 - rmw, abs=100)


def test_a_varied_study_is_varied_beyond_too():
    study = studies.study("perfbook_448").varied("other_socket_ps", 0.5)
    assert study.machine_for(2)["other_socket_ps"] == 71_800
    assert study.machine_for(200)["other_socket_ps"] == 124_900


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"preset": "no such"}, "there is no machine 'no such'"),
        ({"value": {"unit": "parsecs"}}, "unit is 'parsecs', not one of"),
        ({"value": {"unit": "ms_of_all"}}, "needs the number of turns, got 0"),
        ({"series": {"x": {"operation": "mcs", "hold_ns": 3}}}, "hold_ns, which `chosen` does not explain"),
        (
            {"parameters": {"sockets": {"value": 0, "kind": "cited", "source": "s"}}},
            "sockets must be at least 1, got 0",
        ),
        (
            {"parameters": {"sockets": {"value": 1, "kind": "heard", "source": "s"}}},
            "parameters of kind heard",
        ),
        ({"title": None, "parameters": None}, "does not describe a study"),
    ],
)
def test_a_bad_description_is_refused_with_what_is_wrong(tmp_path, change, message):
    read = json.loads((FOLDER / "lockbench_48.json").read_text())
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(read | change))
    with pytest.raises(EngineRoomError, match=message):
        studies.load(path)


def test_an_unknown_study_is_answered_with_those_that_there_are():
    with pytest.raises(EngineRoomError, match="there is no study 'x'"):
        studies.study("x")
    assert paths.data() / "studies" == FOLDER


@pytest.mark.parametrize("name", studies.names())
def test_a_studys_cpus_are_no_estimate(name):
    assert not {"sockets", "cores_per_socket", "threads_per_core"} & set(
        studies.study(name).machine.uncertain()
    )
