"""When a lab is executed again: after a change of what its cells may read, and of nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engineroom import paths, servers
from engineroom.making import freshness

FILES = {
    "requirements/book.txt": "numpy\n",
    "src/engineroom/runs/summary.py": "",
    "src/engineroom/chapters/cats/figures.py": "",
    "src/engineroom/chapters/filesort/figures.py": "",
    "data/published/figures.yaml": "",
    "data/recorded/cats/fig-7-10.sim.1.csv": "series\n",
    "book/web/explorables/cats.js": "",
}


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """A function to the state of a lab as the files are now, of a small book."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    monkeypatch.setattr(servers, "catalogue", lambda: ["9.7"])
    monkeypatch.setattr(servers, "failed_lately", lambda _: False)
    monkeypatch.setattr(servers, "runnable", lambda _: [])

    def now(lab: str) -> str:
        freshness._files.cache_clear()
        freshness._machine.cache_clear()
        return freshness.state(lab)

    yield now
    freshness._files.cache_clear()
    freshness._machine.cache_clear()


@pytest.mark.parametrize("name", FILES)
def test_what_a_lab_may_read_makes_it_stale_and_another_chapters_code_does_not(
    state: Callable[[str], str], tmp_path: Path, name: str
):
    before = {lab: state(lab) for lab in ("cats", "filesort")}
    assert {lab: state(lab) for lab in before} == before
    (tmp_path / name).write_text("changed")
    stale = {lab for lab in before if state(lab) != before[lab]}
    chapter = name.split("/")[3] if name.startswith("src/engineroom/chapters/") else None
    assert stale == ({chapter} if chapter else {"cats", "filesort"})


def test_a_server_that_has_come_and_a_wish_for_recordings_make_it_stale(
    state: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
):
    before = state("cats")
    monkeypatch.setattr(servers, "runnable", lambda _: ["unpack"])
    with_server = state("cats")
    monkeypatch.setenv("ENGINEROOM_LIVE", "0")
    assert len({before, with_server, state("cats")}) == 3
