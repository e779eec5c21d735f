"""What `make` says when the kernels do not compile."""

from __future__ import annotations

from pathlib import Path

import pytest

from engineroom.making import kernels


def test_kernels_that_do_not_compile_end_it_with_what_the_tool_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "CMakeLists.txt").write_text('message(FATAL_ERROR "no compiler")')
    with pytest.raises(SystemExit, match="no compiler"):
        kernels.build()
