"""The published data: described to the last column, and free of what belongs to its making."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import frictionless
import pytest

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.ledger.claims import figures
from engineroom.runs import published

PUBLISHED = paths.data() / "published"
PACKAGES = [paths.data(), PUBLISHED, paths.data() / "workloads"]


@pytest.mark.parametrize("folder", PACKAGES, ids=lambda folder: folder.name)
def test_a_data_package_is_valid(folder: Path) -> None:
    report = frictionless.validate(str(folder / "datapackage.json"))
    assert report.valid, report.flatten()


def test_every_file_has_its_description() -> None:
    described = {
        each["path"] for each in json.loads((PUBLISHED / "datapackage.json").read_text())["resources"]
    }
    assert described == {path.name for path in PUBLISHED.iterdir()} - {"README.md", "datapackage.json"}


def test_every_column_has_a_type_and_a_description() -> None:
    for resource in json.loads((PUBLISHED / "datapackage.json").read_text())["resources"]:
        if resource["format"] == "csv":
            with (PUBLISHED / resource["path"]).open(newline="") as file:
                header = next(csv.reader(file))
            fields = resource["schema"]["fields"]
            assert [field["name"] for field in fields] == header
            assert all(field["type"] and field["description"] for field in fields)


def test_every_table_belongs_to_a_figure_and_every_figure_finds_its_table() -> None:
    named = {
        entry[key] for entry in published.entries().values() for key in ("csv", "detail") if entry.get(key)
    }
    assert named == {path.name for path in PUBLISHED.glob("*.csv")} - {"independent.csv", "more.csv"}


def test_published_rows_use_the_series_of_their_figure() -> None:
    for id, entry in published.entries().items():
        table = published.rows(id)
        if not table.empty:
            columns = entry["columns"]
            known = set(columns["series"]) | set(columns.get("optional_series", []))
            assert set(table["series"]) <= known
            assert table.columns[0] == columns["x"]


def test_independent_numbers_bear_on_something_that_exists() -> None:
    with (PUBLISHED / "independent.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    sources = {entry["source"] for entry in published.entries().values()}
    assert {row["bears_on"] for row in rows} <= sources | set(published.entries())


def spoilt_book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> None:
    """A book whose figures.yaml differs by one text from the real one."""
    text = (PUBLISHED / "figures.yaml").read_text(encoding="utf-8")
    assert old in text
    folder = tmp_path / "data" / "published"
    folder.mkdir(parents=True)
    (folder / "figures.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    monkeypatch.setenv("ENGINEROOM_ROOT", str(tmp_path))


@pytest.fixture
def read_anew() -> Iterator[None]:
    caches = (published._catalogue, figures)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.mark.usefixtures("read_anew")
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("figures:\n", "figures: [\n", "figures.yaml is not YAML"),
        ("figures:\n", "figures: " + "[" * 5000 + "\n", "figures.yaml is nested too deep"),
        (
            "  kind: chart\n",
            "  kind: sketch\n",
            'kind is "sketch", not one of chart, screenshot, table, statement',
        ),
        ("published: 0.986}", "published: one}", 'effects[0].published is "one", not a number'),
        ("published: 0.986}", "publised: 0.986}", "effects[0] has no published"),
        (
            "    said_by_source: true\n",
            "    said_by_source: true\n    sure: 1\n",
            '"sure", which means nothing here',
        ),
    ],
)
def test_a_mistake_in_figures_yaml_is_named_by_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, said: str
) -> None:
    spoilt_book(tmp_path, monkeypatch, old, new)
    with pytest.raises(EngineRoomError) as caught:
        figures()
    assert "figures.yaml" in caught.value.problem
    assert said in caught.value.problem


@pytest.mark.usefixtures("read_anew")
def test_a_claim_that_is_no_claim_is_named_with_its_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    each = next(iter(figures().values()))
    published._catalogue.cache_clear()
    figures.cache_clear()
    first = each.claims[0]
    spoilt_book(tmp_path, monkeypatch, first.expr, "__import__(1)")
    with pytest.raises(
        EngineRoomError, match=rf"figures\.yaml: the claim {first.id} of {each.id}: a claim may not"
    ):
        figures()
