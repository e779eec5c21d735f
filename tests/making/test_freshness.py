"""A page is executed again when something changed that it was made from, and only then."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import engineroom._native
from engineroom import paths, servers
from engineroom.making import freshness
from engineroom.making.freshness import Records

pytestmark = pytest.mark.usefixtures("engines_asked_once")
NATIVE = "src/engineroom/_native.so"
# As a page's kernel does, but with the copy's modules: an editable installation names the real ones.
EXECUTED = """
import sys
sys.meta_path = [finder for finder in sys.meta_path if type(finder).__name__ != "ScikitBuildRedirectingFinder"]
from engineroom import _native, figures
figures.show({figure!r})
"""
# Each chapter's figure, as its page shows it.
FIGURES = {"hash_join": "fig-7-23", "redo_log": "fig-7-06"}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository's code and data, with a page of two chapters executed in it."""
    copy, real = tmp_path_factory.mktemp("house"), paths.root()
    for part in ("src", "data", "requirements"):
        shutil.copytree(real / part, copy / part, ignore=shutil.ignore_patterns("__pycache__", "_native*"))
    shutil.copy(engineroom._native.__file__, copy / NATIVE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENGINEROOM_ROOT", str(copy))
        records = Records(copy / "reads")
        for page, figure in FIGURES.items():
            since = time.time()
            subprocess.run(
                [sys.executable, "-c", EXECUTED.format(figure=figure)],
                env={
                    **os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1",
                    "ENGINEROOM_READS": str(records.log(page)),
                },
                check=True,
            )  # fmt: skip
            records.keep(page, since=since)
    return copy


@pytest.fixture
def to_execute(house: Path, monkeypatch: pytest.MonkeyPatch):
    """A function that says which pages are to be executed now."""
    monkeypatch.setenv("ENGINEROOM_ROOT", str(house))

    def pages() -> list[str]:
        records = Records(house / "reads")
        return [page for page in FIGURES if records.changed(page)]

    assert pages() == []
    return pages


@pytest.fixture
def changed(house: Path) -> Iterator:
    """A function that changes a file of the copy, or adds it, until the test ends."""
    before: dict[Path, bytes | None] = {}

    def change(name: str) -> None:
        path = house / name
        before[path] = path.read_bytes() if path.exists() else None
        with path.open("ab") as file:
            file.write(b"\n")

    yield change
    for path, content in before.items():
        if content is None:
            path.unlink()
        else:
            path.write_bytes(content)


def figure_module(house: Path, word: str) -> str:
    (found,) = (house / "src/engineroom/figures").rglob(f"{FIGURES[word].replace('-', '_')}.py")
    return str(found.relative_to(house))


@pytest.mark.parametrize("word", FIGURES)
def test_a_figures_module_is_of_its_own_page(house: Path, to_execute, changed, word: str):
    changed(figure_module(house, word))
    assert to_execute() == [word]


def test_a_run_is_of_the_page_that_shows_it(house: Path, to_execute, changed):
    run = max((house / "data/recorded/hash_join").glob("fig-7-23.live.*.csv"))
    changed(str(run.relative_to(house)))
    assert to_execute() == ["hash_join"]


@pytest.mark.parametrize(
    "name",
    ["src/engineroom/figures/drawing.py", "src/engineroom/runs.py", "data/published/figures.yaml", NATIVE,
     "requirements/book.txt"],
)  # fmt: skip
def test_what_is_shared_is_of_both(to_execute, changed, name: str):
    changed(name)
    assert to_execute() == list(FIGURES)


def test_a_run_that_is_added_may_be_shown_by_the_page(to_execute, changed):
    changed("data/recorded/hash_join/fig-7-23.live.9999.json")
    assert "hash_join" in to_execute()


def test_what_no_page_reads_is_of_none(to_execute, changed):
    changed("src/engineroom/doctor.py")
    changed("src/engineroom/bench/__main__.py")
    changed("data/servers.toml")
    assert to_execute() == []


def test_a_file_that_changes_while_the_page_is_executed_is_taken_as_changed(tmp_path: Path):
    file = tmp_path / "data"
    file.write_text("before")
    since = file.stat().st_mtime
    kept = freshness.fingerprint([f"file {file}"], since=since)
    assert kept["file"] != freshness.fingerprint([f"file {file}"])["file"]


def test_servers_count_for_a_page_that_can_start_one(monkeypatch: pytest.MonkeyPatch):
    asks = [f"file {paths.root() / 'src/engineroom/servers/lifecycle.py'}"]
    monkeypatch.setattr(servers, "runnable", lambda _: ["unpack"])
    kept = freshness.fingerprint(asks)
    monkeypatch.setattr(servers, "runnable", lambda series: ["unpack"] if series != "5.6" else [])
    assert kept["servers"] != freshness.fingerprint(asks)["servers"]
    assert freshness.fingerprint([])["servers"] is None


def test_a_page_that_says_why_a_server_is_lacking_is_executed_again_when_it_has_come(
    monkeypatch: pytest.MonkeyPatch,
):
    asks = [f"file {paths.root() / 'src/engineroom/servers/lifecycle.py'}"]
    monkeypatch.setattr(servers, "runnable", lambda _: ["unpack"])
    monkeypatch.setattr(servers, "failed_lately", lambda series: series == "5.6")
    kept = freshness.fingerprint(asks)["servers"]
    assert kept == freshness.fingerprint(asks)["servers"]
    monkeypatch.setattr(servers, "failed_lately", lambda _: False)
    assert kept != freshness.fingerprint(asks)["servers"]


def test_a_page_that_was_asked_for_recordings_is_executed_again_when_it_no_longer_is(
    monkeypatch: pytest.MonkeyPatch,
):
    asks = [f"file {paths.root() / 'src/engineroom/servers/lifecycle.py'}"]
    monkeypatch.setattr(servers, "runnable", lambda _: ["unpack"])
    monkeypatch.setenv("ENGINEROOM_LIVE", "0")
    kept = freshness.fingerprint(asks)["servers"]
    monkeypatch.delenv("ENGINEROOM_LIVE")
    assert kept != freshness.fingerprint(asks)["servers"]


PAGE = """---
kernelspec: {name: python3, display_name: Python 3}
jupytext: {text_representation: {extension: .md, format_name: myst}}
---
# %s

```{code-cell} ipython3
import time
from engineroom import paths
print((paths.data() / "published" / "%s").read_text(), "at", time.time_ns())
```
"""
SETTINGS = """
import sys
from engineroom import address_grammars
address_grammars.skip()
sys.path.insert(0, {extensions!r})
extensions = ["myst_nb", "executed"]
root_doc = "one"
exclude_patterns = ["_build"]
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
"""


@pytest.mark.slow
def test_the_book_executes_the_pages_that_changed_and_no_other(tmp_path: Path):
    real = paths.root()
    (tmp_path / "data/published").mkdir(parents=True)
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements/book.txt").write_text("")
    (tmp_path / "conf.py").write_text(SETTINGS.format(extensions=str(real / "book/_ext")))
    for page in ("one", "two"):
        (tmp_path / "data/published" / page).write_text(f"datum of {page}")
        (tmp_path / f"{page}.md").write_text(PAGE % (page, page))

    def built() -> dict[str, str]:
        """What each page shows: its datum, and when its cell ran."""
        done = subprocess.run(
            [sys.executable, "-m", "sphinx", "-q", str(tmp_path), str(tmp_path / "_build/html")],
            env={**os.environ, "ENGINEROOM_ROOT": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        pages = {page: (tmp_path / f"_build/html/{page}.html").read_text() for page in ("one", "two")}
        return {page: re.findall(r"datum of .* at \d+", text)[0] for page, text in pages.items()}

    first = built()
    (tmp_path / "one.md").write_text(PAGE.replace("# %s", "Other words.\n\n# %s") % ("one", "one"))
    assert built() == first, "words alone execute nothing"

    (tmp_path / "data/published/one").write_text("datum of one, mended")
    second = built()
    assert second["one"].startswith("datum of one, mended at ")
    assert second["two"] == first["two"]

    text = (tmp_path / "two.md").read_text()
    (tmp_path / "two.md").write_text(text.replace(".read_text()", ".read_text().upper().lower()"))
    third = built()
    assert third["two"] != second["two"]
    assert third["one"] == second["one"]

    (tmp_path / "data/published/two").write_text("datum of two, mended")
    (tmp_path / "two.md").write_text(text)
    assert built()["two"].startswith("datum of two, mended at "), "outputs of the same cells with other data"
