"""The stepper of read views: each version is judged as the native view judges it, and what is found is what the snapshot says."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import pytest

from engineroom._native import read_views
from engineroom.show import headless

READ_UNCOMMITTED, READ_COMMITTED, REPEATABLE_READ = range(3)
EVENTS = 11
HISTORIES = range(4)
GRID = [
    {"history": history, "level": level, "moment": moment, "step": 5}
    for history, level, moment in itertools.product(HISTORIES, range(3), range(EVENTS + 1))
]


@pytest.fixture(scope="module")
def seen(node):
    assert node
    results = headless.evaluate("read_views", GRID)["results"]
    return list(zip(GRID, results, strict=True))


@dataclass
class Replay:
    """The events again, slowly: who had committed when, in sets and dictionaries."""

    counter: int = 1
    ids: dict[str, int] = field(default_factory=dict)
    active: set[str] = field(default_factory=set)
    versions: list[tuple[str, bool]] = field(default_factory=list)  # oldest first: writer, deleted

    def take(self) -> int:
        self.counter += 1
        return self.counter - 1

    def event(self, what: str, who: str) -> None:
        if what == "b":
            self.ids[who] = self.take()
            self.active.add(who)
        elif what == "c":
            self.take()
            self.active.remove(who)
        else:
            self.versions.append((who, what == "x"))

    def committed(self) -> set[str]:
        return set(self.ids) - self.active


def replayed(result, moment):
    """The state at the view's making and at the end."""
    replay = Replay()
    if any(version["who"] == "L" for version in result["versions"]):
        replay.event("b", "L")
        replay.event("w", "L")
        replay.event("c", "L")
    then = None
    for at, event in enumerate(result["events"]):
        if at == moment:
            then = (replay.counter, replay.committed(), set(replay.active))
        replay.event(event["what"], event["who"])
    now = (replay.counter, replay.committed(), set(replay.active))
    return replay, then or now, now


def test_what_is_found_is_what_had_been_committed_when_the_view_was_made(seen):
    outcomes = set()
    for inputs, result in seen:
        replay, then, now = replayed(result, inputs["moment"])
        assert [each["id"] for each in result["events"]] == [
            replay.ids[each["who"]] for each in result["events"]
        ]
        assert result["counter"] == replay.counter
        newest_first = replay.versions[::-1]
        assert [(each["who"], each["is_deleted"]) for each in result["versions"]] == newest_first
        if inputs["level"] == READ_UNCOMMITTED:
            shown = [each for each, _ in newest_first]
        else:
            shown = [*(then if inputs["level"] == REPEATABLE_READ else now)[1], "R"]
        expected = next(((who, deleted) for who, deleted in newest_first if who in shown), None)
        found = result["found"]
        assert found["is_there"] == (expected is not None and not expected[1]), inputs
        if found["is_there"]:
            version = next(each for each in result["versions"] if each["who"] in shown)
            assert found["value"] == version["value"]
        is_shown = [who in shown for who, _ in newest_first]
        invisible = is_shown.index(True) if True in is_shown else len(is_shown)
        assert found["steps"] == min(invisible, len(newest_first) - 1)
        outcomes.add((found["is_there"], expected is None))
    assert outcomes == {(True, False), (False, False), (False, True)}, "shown, deleted, not yet inserted"


def test_the_view_is_a_copy_of_who_was_active_at_its_moment(seen):
    for inputs, result in seen:
        if inputs["level"] == READ_UNCOMMITTED:
            assert result["view"] is None
            continue
        replay, then, now = replayed(result, inputs["moment"])
        counter, _, active = then if inputs["level"] == REPEATABLE_READ else now
        ids = sorted(replay.ids[who] for who in active if who != "R")
        assert result["view"]["low_limit_id"] == counter
        assert result["view"]["ids"] == ids
        assert result["view"]["up_limit_id"] == (ids[0] if ids else counter)
        assert result["view"]["creator_id"] == replay.ids.get("R", 0)


def test_each_version_is_judged_as_the_native_view_judges_it_and_by_the_first_rule_that_fits(seen):
    rules = set()
    for inputs, result in seen:
        view = result["view"]
        if view is None:
            assert {version["rule"] for version in result["versions"]} == {0}
            continue
        asked = [version for version in result["versions"] if version["rule"]]
        assert asked == result["versions"][: result["asked"]]
        native = read_views.changes_visible(
            [version["id"] for version in asked],
            low_limit_id=view["low_limit_id"],
            active=view["ids"],
            creator_id=view["creator_id"],
        )
        assert [version["is_shown"] for version in asked] == native, inputs
        assert not any(native[:-1]), "the first one that is shown ends the walk"
        for version in asked:
            fits = [
                version["id"] < view["up_limit_id"],
                version["id"] == view["creator_id"],
                version["id"] >= view["low_limit_id"],
                True,
            ]
            assert version["rule"] == fits.index(True) + 1
            rules.add((version["rule"], version["is_shown"]))
    assert rules == {(1, True), (2, True), (3, False), (4, True), (4, False)}


def test_the_knobs_reach_all_versions_and_all_histories(seen):
    (definition,) = headless.evaluate("read_views", [{}])["results"]
    assert len(definition["histories"]) == len(HISTORIES)
    for _, result in seen:
        assert len(result["events"]) == EVENTS, "the knob of the first read has as many values"
        assert len(result["versions"]) <= 5, "the picture has room for five"
        assert result["counter"] <= 12
        assert result["judged"] == result["asked"]
