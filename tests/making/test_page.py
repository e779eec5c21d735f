"""Expressions on pages: each page's have values, and what has none is refused with the reason."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engineroom import paths
from engineroom.making import page

PAGES = sorted(paths.root().glob("book/*.md"))
ROLE = re.compile(r"\{(n|claim)\}`([^`]+)`")
SHOWN = re.compile(r"^```\{show\} (.+)$", re.MULTILINE)
FIGURE = re.compile(r"^```\{show\} (figure\(.+)\n((?::.*\n)*)```", re.MULTILINE)
FIGURED = [file for file in PAGES if FIGURE.search(file.read_text(encoding="utf-8"))]
NAMES = {
    "cpu_s": pd.Series({("5.7.22", "loop"): 4.5, ("9.7.4", "loop"): 1.5}),
    "clients": 3,
    "nothing": float("nan"),
    "is_so": np.bool_(True),
    "median": np.float64(16.0),
}


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.stem)
def test_every_number_and_claim_of_a_page_has_a_value(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    if not ROLE.search(text):
        return
    names, wrong = page.names_of(f"book/{file.stem}"), []
    for kind, expression in ROLE.findall(text):
        try:
            holds = page.value_of(expression, names) if kind == "claim" else page.text_of(expression, names)
            if not holds:
                wrong.append(f"{expression}: {holds!r}")
        except Exception as error:  # noqa: BLE001 (each is named)
            wrong.append(f"{expression}: {error!r}")
    assert wrong == []


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.stem)
def test_what_a_page_shows_is_written_as_an_expression_may_be(file: Path) -> None:
    """The built book shows them; here none is evaluated, since some draw for seconds."""
    for expression in SHOWN.findall(file.read_text(encoding="utf-8")):
        compile(expression, "page", "eval")


@pytest.mark.parametrize("file", FIGURED, ids=lambda file: file.stem)
def test_a_figure_is_called_by_a_conclusion_that_its_data_bear_out(file: Path) -> None:
    """The claims in titles are held with those of the text."""
    found = FIGURE.findall(file.read_text(encoding="utf-8"))
    without = [name for name, options in found if not re.search(r":title: \S.*\{claim\}`", options)]
    assert without == []


@pytest.mark.parametrize(
    "said", ["No module named 'engineroom._native'", "cannot import name '_native' from 'engineroom'"]
)
def test_only_to_be_read_may_a_page_lack_what_a_kernel_computes(
    monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    assert not page.lacks_kernel(ImportError(said))
    monkeypatch.setenv("ENGINEROOM_TO_READ", "1")
    assert page.lacks_kernel(ImportError(said))
    assert not page.lacks_kernel(ImportError("No module named 'scipy'"))
    assert not page.lacks_kernel(ValueError(said))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('cpu_s["5.7.22", "loop"] : .2f', "4.50"),
        ('cpu_s["5.7.22", "loop"] / cpu_s["9.7.4", "loop"] : .1f', "3.0"),
        ("clients", "3"),
        ("1000 * clients : ,", "3,000"),
        ("median", "16"),
    ],
)
def test_a_value_is_shown_in_its_format(text: str, shown: str) -> None:
    assert page.text_of(text, NAMES) == shown


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nothing : .1f", "nan"),
        ('cpu_s["8.0.15", "loop"] : .1f', "8.0.15"),
        ("unknown", "unknown"),
        ("1 / 3", "needs a format"),
        ("is_so", "say it in words"),
        ("clients.__class__", "private"),
        ("[x for x in cpu_s]", "ListComp"),
        ("(lambda: 1)()", "Lambda"),
        ("clients :", "invalid syntax"),
    ],
)
def test_what_has_no_value_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(Exception, match=re.escape(why)):
        page.text_of(text, NAMES)


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.stem)
def test_a_page_hides_no_cell(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert re.findall(r"(?:remove|hide)-(?:cell|input|output)", text) == []
    assert "{glue" not in text
