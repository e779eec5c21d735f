"""All mutants in one build: each does what it says when it is switched on, and nothing changes when none is."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from engineroom import paths
from engineroom.mutation import schemata
from engineroom.mutation.__main__ import drawn
from engineroom.mutation.sites import mutants_of

SOURCE = b"""#include <algorithm>
#include <cstdio>
void twice(int& n) { n = n * 2; }
int main() {
  int n = 3;
  if (n > 3) n += 10;
  twice(n);
  n = std::max(n, 4) - 1;
  std::printf("%d", n > 4 && n < 6 ? n : 0);
}
"""


def run(folder: Path, mutant: int) -> str:
    program = folder / "program"
    return subprocess.run(
        [program], env={**os.environ, "MUTANT": str(mutant)}, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.skipif(not shutil.which("c++"), reason="no C++ compiler")
def test_each_mutant_is_switched_on_by_its_number(tmp_path: Path):
    mutants = [m for m in mutants_of("n.cpp", SOURCE) if m.line != 4 and "printf" not in m.before]
    (tmp_path / "native").mkdir()
    (tmp_path / "n.cpp").write_bytes(SOURCE)
    schemata.write_mutants(tmp_path, mutants, without=())
    header = tmp_path / "native/mutants.hpp"
    subprocess.run(
        ["c++", "-std=c++20", "-w", "-include", header, tmp_path / "n.cpp", "-o", tmp_path / "program"],
        check=True,
    )
    assert run(tmp_path, 0) == "5"
    said = {(m.change, m.before, m.line): run(tmp_path, number) for number, m in enumerate(mutants, start=1)}
    assert said["negated condition", "n > 3", 6] == "0"  # 13, 26, 25
    assert said["relation", ">", 6] == "0"
    assert said["arithmetic", "*", 3] == "0"  # 3 / 2, then 4 - 1
    assert said["removed statement", "twice(n);", 7] == "0"  # 3, then 4 - 1
    assert said["min or max", "std::max", 8] == "0"  # 4 - 1
    assert said["arithmetic", "-", 8] == "0"  # 6 + 1
    assert said["and or or", "&&", 9] == "5"
    assert said["negated condition", "n > 4 && n < 6", 9] == "0"


def test_a_mutant_that_does_not_compile_is_left_out_and_the_others_keep_their_numbers(tmp_path: Path):
    mutants = mutants_of("n.cpp", SOURCE)
    (tmp_path / "native").mkdir()
    (tmp_path / "n.cpp").write_bytes(SOURCE)
    schemata.write_mutants(tmp_path, mutants, without={mutants[1].name})
    text = (tmp_path / "n.cpp").read_text()
    assert "mutants::is(2)" not in text
    assert all(f"mutants::is({n})" in text for n in (1, 3, len(mutants)))
    schemata.write_mutants(tmp_path, mutants, without={m.name for m in mutants})
    assert (tmp_path / "n.cpp").read_bytes() == SOURCE


def test_every_file_that_is_mutated_is_understood():
    root = paths.root()
    for file in schemata.sources(root):
        source = (root / file).read_bytes()
        mutants = list(enumerate(mutants_of(file, source), start=1))
        if mutants:
            everything = schemata.switched(mutants, {mutant.name for _, mutant in mutants})
            assert everything == source.decode(), file


def test_a_draw_takes_of_each_file_and_is_kept_by_a_change_elsewhere():
    root = paths.root()
    mutants = [
        mutant
        for file in ("native/sync/event.hpp", "native/sync/latch.hpp")
        for mutant in mutants_of(file, (root / file).read_bytes())
    ]
    chosen = drawn(mutants, 0.2, 1)
    assert {mutant.file for mutant in chosen} == {mutant.file for mutant in mutants}
    assert 0.19 < len(chosen) / len(mutants) < 0.22
    assert drawn(mutants, 0.2, 2) != chosen
    of_event = [mutant for mutant in mutants if "event" in mutant.file]
    assert drawn(of_event, 0.2, 1) == [mutant for mutant in chosen if "event" in mutant.file]
