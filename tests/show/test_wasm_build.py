"""What is committed for the browser is what the sources give."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from engineroom import paths
from engineroom.show import bundle

needs_clang = pytest.mark.skipif(
    shutil.which("clang++-19") is None, reason="no clang++-19 here: .ci/run installs it"
)


@needs_clang
@pytest.mark.slow
def test_committed_webassembly_is_what_the_sources_give(tmp_path):
    subprocess.run([paths.root() / "native/wasm/build.sh", tmp_path], check=True, capture_output=True)
    committed = {
        file.name: file.read_bytes() for file in (paths.root() / "book/web/explorables").glob("*.wasm")
    }
    rebuilt = {file.name: file.read_bytes() for file in tmp_path.glob("*.wasm")}
    assert {bundle.wasm_file(word).name for word in bundle.words()} <= rebuilt.keys() == committed.keys()
    changed = [name for name, code in rebuilt.items() if code != committed[name]]
    assert changed == [], "a kernel changed: run `make wasm` and commit"
