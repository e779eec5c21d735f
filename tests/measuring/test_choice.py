"""What a lab's cell shows where it has no server: what it found when it was recorded, and why."""

from __future__ import annotations

import json
import re

import pytest

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.measuring import choice

KEPT = json.loads((paths.data() / "labs" / "cells.json").read_text())


@pytest.fixture
def no_server(monkeypatch):
    monkeypatch.setenv("ENGINEROOM_LIVE", "0")


def unasked():
    raise AssertionError("there is no server to ask")


@pytest.mark.parametrize("cell", KEPT)
@pytest.mark.usefixtures("no_server")
def test_without_a_server_a_cell_shows_its_recording_and_why(cell):
    shown = choice.live_or_kept(unasked, cell=cell, versions=["9.7"])
    first, _, text = repr(shown).partition("\n")
    assert first.startswith(f"Recorded {KEPT[cell]['date']} on MySQL {' and '.join(KEPT[cell]['servers'])} (")
    assert first.endswith("because ENGINEROOM_LIVE is 0:")
    assert text == KEPT[cell]["text"]


@pytest.mark.usefixtures("no_server")
def test_a_cell_that_was_never_recorded_says_so():
    with pytest.raises(EngineRoomError, match="nothing is recorded"):
        choice.live_or_kept(unasked, cell="another", versions=["9.7"])


def test_what_is_found_live_is_shown_and_kept_when_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(choice, "why_recorded", lambda _: None)
    monkeypatch.setattr(choice, "_cells", lambda: tmp_path / "labs" / "cells.json")
    assert choice.live_or_kept(lambda: 4, cell="a", versions=["5.7"]) == 4
    assert not (tmp_path / "labs").exists()
    monkeypatch.setenv("ENGINEROOM_KEEP_CELLS", "1")
    for cell in ("b", "a"):
        choice.live_or_kept(lambda: 4, cell=cell, versions=["5.7"])
    kept = json.loads((tmp_path / "labs" / "cells.json").read_text())
    assert list(kept) == ["a", "b"]
    assert (kept["a"]["text"], kept["a"]["servers"]) == ("4", ["5.7"])


def test_the_labs_ask_for_the_cells_that_are_recorded_and_for_no_others():
    asked = set()
    for lab in sorted((paths.root() / "notebooks").glob("*.md")):
        asked |= set(re.findall(r"live_or_kept\([^\n]*cell=f?\"([^\"]+)\"", lab.read_text()))
    patterns = [re.escape(name).replace(r"\{release\}", r"[\d.]+") for name in asked]
    assert all(any(re.fullmatch(pattern, cell) for cell in KEPT) for pattern in patterns)
    assert all(any(re.fullmatch(pattern, cell) for pattern in patterns) for cell in KEPT)
    assert len(asked) >= 3
