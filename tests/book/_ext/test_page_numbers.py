"""What a figure is called on a page: its author's conclusion, as long as the claim in it holds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bs4 import BeautifulSoup

from engineroom import paths


def built(folder: Path, claim: str, options: str = "") -> tuple[BeautifulSoup, str]:
    """A page with one figure, and what the build said."""
    (folder / "conf.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(paths.root() / 'book' / '_ext')!r})\n"
        "extensions = ['myst_parser', 'sphinx_design', 'page_numbers']\n"
        "myst_enable_extensions = ['colon_fence']\n"
        "root_doc = 'filesort'\n"
        "exclude_patterns = ['html']\n"
    )
    (folder / "filesort.md").write_text(
        '# Page\n\n```{show} figure("num-fs-2", "live")\n'
        f":title: 8.0 reads `all` of {{n}}`limits_rows : ,` values{{claim}}`{claim}`\n{options}```\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-qW", "--keep-going", folder, folder / "html"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return BeautifulSoup((folder / "html" / "filesort.html").read_text(), "html.parser"), done.stderr


def test_a_title_whose_claim_holds_stands_above_its_figure(tmp_path):
    page, said = built(tmp_path, "limits_rows > 0")
    assert said == ""
    [title] = page.select("p.figure-title")
    assert title.get_text() == "8.0 reads all of 3,000 values"
    assert title.find_next_sibling("figure")["data-figure"] == "num-fs-2"


def test_a_title_that_the_data_contradict_fails_the_build_and_leaves_the_figure_with_its_caption(tmp_path):
    page, said = built(tmp_path, "limits_rows < 0")
    assert "filesort.md:" in said
    assert "limits_rows < 0" in said
    assert page.select("p.figure-title") == []
    assert "8.0 reads" not in page.get_text()
    [figure] = page.select("figure[data-figure=num-fs-2]")
    assert figure.select_one("figcaption").get_text(strip=True)


def test_a_folded_figure_is_opened_by_its_title(tmp_path):
    page, said = built(tmp_path, "limits_rows > 0", ":fold:\n")
    assert said == ""
    [fold] = page.select("details:has(figure)")
    assert " ".join(fold.select_one("summary").get_text().split()) == "8.0 reads all of 3,000 values"
    assert page.select("p.figure-title") == []
