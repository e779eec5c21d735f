"""A chapter's exercises on its page: made while the book is built."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bs4 import BeautifulSoup

from engineroom import paths


def built(folder: Path, word: str) -> tuple[BeautifulSoup, str]:
    (folder / "conf.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(paths.root() / 'book' / '_ext')!r})\n"
        "extensions = ['myst_nb', 'sphinx_exercise', 'exercises']\n"
        "myst_enable_extensions = ['dollarmath']\n"
    )
    (folder / "index.md").write_text(f"# Page\n\n```{{exercises}} {word}\n```\n")
    made = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(folder), str(folder / "html")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return BeautifulSoup((folder / "html" / "index.html").read_text(), "html.parser"), made.stderr


def test_each_question_is_there_with_its_folds(tmp_path):
    page, said = built(tmp_path, "redo_log")
    assert said == ""
    ids = [each["id"] for each in page.select("div.exercise")]
    assert ids == [f"exercise-redo-log-q{n}" for n in range(1, 8)]
    assert len(page.select("div.exercise details > summary")) == 4 * len(ids)
    assert "{'design': '8.0'" in page.select_one("#exercise-redo-log-q4").text


def test_a_chapter_without_exercises_is_refused_with_those_that_have_some(tmp_path):
    _, said = built(tmp_path, "redo_lag")
    assert "no exercises of 'redo_lag'; there are those of binlog," in said
