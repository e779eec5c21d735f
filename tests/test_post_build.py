"""Binder's postBuild fetches servers, and an image is made also where none can be fetched."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from engineroom import paths

PYTHON = """\
#!/bin/sh
case "$*" in
  *"server fetch"*) echo "asked: $*"; exit {code} ;;
  -c*) echo "{prefix}" ;;
  *) echo "called: $*" ;;
esac
"""


@pytest.mark.parametrize(
    ("code", "said"),
    [(0, "run live on the servers above"), (3, "not every server could be fetched"), (1, "show recordings")],
)
def test_an_image_is_made_whether_or_not_servers_can_be_fetched(tmp_path, code, said):
    shutil.copytree(paths.root() / ".binder", tmp_path / "book" / ".binder", symlinks=True)
    programs = tmp_path / "bin"
    programs.mkdir()
    python = programs / "python"
    python.write_text(PYTHON.format(code=code, prefix=tmp_path / "env"))
    python.chmod(0o755)
    made = subprocess.run(
        ["sh", str(tmp_path / "book" / ".binder" / "postBuild")],
        env={"PATH": f"{programs}:/usr/bin:/bin"}, capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert "asked: -m engineroom server fetch --available" in made.stdout
    assert said in made.stdout + made.stderr
    assert (tmp_path / "env" / "share" / "jupyter" / "lab" / "settings" / "overrides.json").exists()
