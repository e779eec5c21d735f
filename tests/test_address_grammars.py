"""What keeps the grammars of addresses out: this process, and those that find a folder first."""

from __future__ import annotations

import subprocess
import sys

from engineroom import address_grammars

LOADED = "import sys; import jsonschema; print('lark' in sys.modules)"


def test_a_process_that_skips_them_loads_no_parser():
    before = "from engineroom import address_grammars; address_grammars.skip(); "
    assert said(before + LOADED) == "False"


def test_a_folder_keeps_them_out_of_what_finds_it_first(tmp_path):
    address_grammars.skip_in(tmp_path)
    assert said(f"import sys; sys.path.insert(0, {str(tmp_path)!r}); " + LOADED) == "False"
    assert said(LOADED) == "True", "nothing to skip any more: delete the module"


def said(program: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.strip()
