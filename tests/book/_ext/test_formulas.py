"""Formulas are part of the page, in MathML that was made when the book was built."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from bs4 import BeautifulSoup

from engineroom import paths

# A formula of MyST between dollars; what stands in a cell or another block of code is none.
CODE = re.compile(r"(?ms)^(```+)(?:\{code[^}]*\}|\w*)[^\n]*\n.*?^\1\s*$")
DOLLARS = re.compile(r"(?<![\\$`])\$([^$`]+)\$(?![$`])")


def built(folder: Path, text: str) -> tuple[BeautifulSoup, str]:
    """A page of one text with the book's extension, and what the build said."""
    (folder / "conf.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(paths.root() / 'book' / '_ext')!r})\n"
        "extensions = ['myst_parser', 'formulas']\n"
        "myst_enable_extensions = ['dollarmath']\n"
        "html_math_renderer = 'mathml'\n"
    )
    (folder / "index.md").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-qnW", "--keep-going", folder, folder / "html"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return BeautifulSoup((folder / "html" / "index.html").read_text(), "html.parser"), done.stderr


def test_a_formula_is_mathml_with_its_tex_as_words(tmp_path):
    page, said = built(tmp_path, "# Title\n\nAbout $a + e^{-a}$ commits, $n < \\lceil m \\rceil$.\n")
    assert said == ""
    first, second = page.find_all("math")
    assert first["alttext"] == "a + e^{-a}"
    assert first.get_text("", strip=True) == "a+e\N{MINUS SIGN}a"
    assert first.find("msup").find("mi").text == "e"
    assert second["alttext"] == r"n < \lceil m \rceil"
    assert second.get_text("", strip=True) == "n<⌈m⌉"
    assert not page.find_all("script", src=re.compile("math", re.IGNORECASE))


def test_a_displayed_formula_has_its_number_and_link(tmp_path):
    page, said = built(tmp_path, "# Title\n\n$$\nn \\cdot m\n$$ (work)\n\nSee {eq}`work`.\n")
    assert said == ""
    block = page.find("div", class_="math")
    assert block.math["display"] == "block"
    assert block.find(class_="eqno").text.startswith("(1)")
    assert page.select_one(f"p a[href='#{block['id']}']")


def test_tex_that_is_no_formula_is_a_warning_with_its_place(tmp_path):
    _, said = built(tmp_path, "# Title\n\nA $\\nosuchthing{a}$.\n")
    assert "index.md:3: WARNING: the formula" in said
    assert "nosuchthing" in said


def test_every_formula_of_a_page_is_there_and_no_page_loads_a_script_for_it(html):
    found = set()
    for file in sorted(html.rglob("*.html")):
        page = BeautifulSoup(file.read_text(encoding="utf-8"), "lxml")
        scripts = [script.get("src", "") for script in page.find_all("script")]
        assert not [src for src in scripts if re.search("math|katex", src, re.IGNORECASE)], file.name
        assert all(block.math for block in page.select(".math")), file.name
        source = paths.root() / file.relative_to(html).with_suffix(".md")
        written = DOLLARS.findall(CODE.sub("", source.read_text())) if source.is_file() else []
        shown = {math["alttext"] for math in page.find_all("math")}
        assert {" ".join(tex.split()) for tex in written} <= shown, file.name
        found |= shown
    assert {"n^2", "a + e^{-a}"} <= found
