"""What `make book` says when a book does not build."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.making import book

EXTENSIONS = paths.root() / "book" / "_ext"
PAGE = """---
kernelspec: {name: python3, display_name: Python 3}
jupytext: {text_representation: {extension: .md, format_name: myst}}
---
# A page

```{code-cell} ipython3
import sys
print("a warning of some package", file=sys.stderr)
```
"""
SETTINGS = """
execute: {execute_notebooks: cache, stderr_output: warn}
only_build_toc_files: true
sphinx: {config: {suppress_warnings: [myst.domains]}}
"""


def test_a_cell_that_writes_to_stderr_is_an_error_whose_last_lines_say_which_and_what(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "_config.yml").write_text(SETTINGS)
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: page\n")
    (tmp_path / "page.md").write_text(PAGE)
    monkeypatch.setattr(book.paths, "root", lambda: tmp_path)
    with pytest.raises(EngineRoomError, match="did not build") as error:
        book.build()
    last = str(error.value).splitlines()[-6:]
    assert any("page.md" in line and "stderr" in line for line in last), last
    assert "stderr of the cell that begins with 'import sys':" in last
    assert "a warning of some package" in last
    with pytest.raises(EngineRoomError, match="stderr"):
        book.build()  # what Sphinx has read with a warning is not taken as good


def test_to_read_a_book_no_cell_is_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "_config.yml").write_text(
        SETTINGS.replace("sphinx: {", f"sphinx: {{local_extensions: {{executed: {EXTENSIONS}}}, ")
    )
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: book/index\n")
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "index.md").write_text(f"{PAGE}\n```{{code-cell}} ipython3\n1 / 0\n```\n")
    monkeypatch.setattr(book.paths, "root", lambda: tmp_path)
    page = book.build(is_executed=False).read_text()
    assert 'class="cell_input' in page
    assert 'class="cell_output' not in page
    assert not list(tmp_path.rglob("base.ipynb"))


def test_a_lab_that_is_downloaded_says_once_what_to_install(tmp_path: Path):
    lab = tmp_path / "cats.ipynb"
    cell = {"cell_type": "code", "execution_count": None, "id": "a", "metadata": {}, "outputs": [], "source": ["import engineroom"]}  # fmt: skip
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    lab.write_text(json.dumps(notebook))
    for _ in range(2):  # an incremental build may see it again
        book._notebooks_to_download(tmp_path)
    first, second = json.loads(lab.read_text())["cells"]
    nbformat.validate(nbformat.reads(lab.read_text(), as_version=4))
    assert "%pip install" in first["source"]
    assert second == cell
    plain = "\n".join(line for line in first["source"].splitlines() if "%pip" not in line)
    exec(plain, {})  # noqa: S102
