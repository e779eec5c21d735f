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


def run_post_build(tmp_path, code=0, **environment):
    shutil.copytree(paths.root() / ".binder", tmp_path / "book" / ".binder", symlinks=True)
    programs = tmp_path / "bin"
    programs.mkdir()
    python = programs / "python"
    python.write_text(PYTHON.format(code=code, prefix=tmp_path / "env"))
    python.chmod(0o755)
    return subprocess.run(
        ["sh", str(tmp_path / "book" / ".binder" / "postBuild")],
        env={"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(tmp_path), **environment},
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("code", "said"),
    [(0, "run live on the servers above"), (3, "not every server could be fetched"), (1, "show recordings")],
)
def test_an_image_is_made_whether_or_not_servers_can_be_fetched(tmp_path, code, said):
    made = run_post_build(tmp_path, code)
    assert made.returncode == 0, made.stderr
    assert "asked: -m engineroom server fetch --available" in made.stdout
    assert said in made.stdout + made.stderr
    assert (tmp_path / "env" / "share" / "jupyter" / "lab" / "settings" / "overrides.json").exists()


@pytest.mark.parametrize("is_image", [True, False])
def test_an_image_keeps_nothing_that_can_be_made_again_and_a_contributors_folder_does(tmp_path, is_image):
    made_again = [tmp_path / "book/_build/native", tmp_path / ".cache/engineroom/templates"]
    for folder in made_again:
        folder.mkdir(parents=True)
    done = run_post_build(tmp_path, **({"REPO_DIR": str(tmp_path / "book")} if is_image else {}))
    assert done.returncode == 0, done.stderr
    assert [folder.exists() for folder in made_again] == [not is_image] * 2
