"""The published data: described to the last column, and free of what belongs to its making."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import frictionless
import pytest

from engineroom import paths, published

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
    assert named == {path.name for path in PUBLISHED.glob("*.csv")} - {"independent.csv"}


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
