"""What `make` says when the kernels do not compile."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engineroom.making import kernels


def test_how_far_it_is_is_shown_where_somebody_watches(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    kernels.show("[12/93] Building CXX object\n")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    for line in ("[12/93] Building CXX object\n", "-- Configuring\n", "[ 13%] Building\n", ""):
        kernels.show(line)
    assert capsys.readouterr().err == "\r\033[KNative kernels: 12/93\r\033[KNative kernels: 13%\r\033[K"


def test_kernels_that_do_not_compile_end_it_with_what_the_tool_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "CMakeLists.txt").write_text('message(FATAL_ERROR "no compiler")')
    with pytest.raises(SystemExit, match="no compiler"):
        kernels.build()
