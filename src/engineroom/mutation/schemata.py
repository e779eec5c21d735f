"""All mutants in one build: a copy of the native code in which each is switched on by an environment variable.

A compile costs more than a run: a mutant of its own build would take a minute, in one build of all it takes a condition.
The copy has what the machine, sync/ and the redo log need, and every native test of these.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from tree_sitter import Node

from engineroom.errors import EngineRoomError
from engineroom.mutation.sites import Mutant

__all__ = ["build", "sources", "switched", "write_copy", "write_mutants"]

# Parameters and their descriptions, planted mistakes, what judges a crash run and what measures real threads are not mutated.
_MUTATED = ("native/machine/**/*.[hc]pp", "native/sync/*.[hc]pp", "native/kernels/redo_log/*.[hc]pp")
_NOT_MUTATED = re.compile(
    r"/(host_machine\.[hc]pp|parking\.[hc]pp|mistakes\.hpp|crash_runs\.[hc]pp|commit_cost\.[hc]pp|call_cost\.[hc]pp|any_load\.[hc]pp|fast_log\.cpp)$"
)
_COPIED = ("common", "machine", "sync", "sessions", "crash", "validation", "kernels/redo_log")

_HEADER = """#pragma once
#include <cstdio>
#include <cstdlib>
#include <type_traits>

namespace mutants {
inline bool reached[{n} + 1];
inline const int active = [] {
  const char* number = std::getenv("MUTANT");
  if (std::getenv("MUTANTS_REACHED") != nullptr) {
    std::atexit([] {
      std::FILE* file = std::fopen(std::getenv("MUTANTS_REACHED"), "w");
      for (int i = 1; i <= {n}; ++i) {
        if (reached[i]) std::fprintf(file, "%d\\n", i);
      }
      std::fclose(file);
    });
  }
  return number != nullptr ? std::atoi(number) : 0;
}();
constexpr bool is(int mutant) {
  if (std::is_constant_evaluated()) return false;
  reached[mutant] = true;
  return active == mutant;
}
}  // namespace mutants
"""


def sources(root: Path) -> list[str]:
    """The files that are mutated, under `root`."""
    found = {str(path.relative_to(root)) for pattern in _MUTATED for path in root.glob(pattern)}
    return sorted(file for file in found if not _NOT_MUTATED.search(file))


def write_copy(root: Path, copy: Path) -> None:
    """Write what is built of the native code of `root` into the folder `copy`."""
    shutil.rmtree(copy, ignore_errors=True)
    for folder in _COPIED:
        shutil.copytree(root / "native" / folder, copy / "native" / folder)
    (copy / "native/tests").mkdir()
    strangers = [path.name for path in (root / "native/kernels").iterdir() if path.name != "redo_log"]
    for test in (root / "native/tests").iterdir():
        if not re.search(rf'#include "({"|".join(strangers)})/', test.read_text()):
            shutil.copy2(test, copy / "native/tests")
    shutil.copy2(root / "CMakeLists.txt", copy)


def write_mutants(copy: Path, mutants: Sequence[Mutant], without: Collection[str]) -> None:
    """Write mutant n (from 1) into its file of the copy, switched on by MUTANT=n; not those named in `without`."""
    (copy / "native/mutants.hpp").write_text(_HEADER.replace("{n}", str(len(mutants))))
    of_file: dict[str, list[tuple[int, Mutant]]] = defaultdict(list)
    for number, mutant in enumerate(mutants, start=1):
        of_file[mutant.file].append((number, mutant))
    for file, numbered in of_file.items():
        text = switched(numbered, without)
        if text != (copy / file).read_text():
            (copy / file).write_text(text)


def build(copy: Path) -> tuple[Path, set[int]]:
    """Build the copy. Gives the program of all tests, or the numbers of the mutants that no compiler takes.

    Raises EngineRoomError when it fails elsewhere.
    """
    folder = copy.parent / "build"
    options = ["-DENGINEROOM_TESTS=ON", "-DENGINEROOM_PYTHON=OFF", "-DCMAKE_BUILD_TYPE=Release"]
    flags = f"-O1 -UNDEBUG -D_GLIBCXX_ASSERTIONS -w -Wno-narrowing -include {copy / 'native/mutants.hpp'}"
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    subprocess.run(
        ["cmake", "-S", copy, "-B", folder, *generator, *options, f"-DCMAKE_CXX_FLAGS_RELEASE={flags}"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    keep_going = ["--", "-k", "0"] if generator else ["--", "-k"]
    done = subprocess.run(
        ["nice", "cmake", "--build", folder, "--target", "engineroom_tests", "--parallel", "2", *keep_going],
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.returncode:
        return folder / "engineroom_tests", set()
    refused = set()
    for file, line in re.findall(r"^(\S+?):(\d+):\d+: error", done.stdout, re.MULTILINE):
        text = Path(file).read_text().split("\n")
        near = re.findall(r"mutants::is\((\d+)\)", " ".join(text[max(0, int(line) - 2) : int(line)]))
        refused |= {int(number) for number in near}
    if not refused:
        raise EngineRoomError(
            f"the mutated copy does not build:\n{done.stdout[-3000:]}{done.stderr[-3000:]}",
            remedy="build and run the native tests first (make test): the sound code must pass them",
        )
    return folder / "engineroom_tests", refused


def switched(numbered: Sequence[tuple[int, Mutant]], without: Collection[str]) -> str:
    """The text of a file with its mutants in it."""
    root = numbered[0][1].nodes[0]
    while root.parent is not None:
        root = root.parent
    source = root.text or b""
    mutants_at: dict[int, list[tuple[int, Mutant]]] = defaultdict(list)
    for number, mutant in numbered:
        if mutant.name not in without:
            mutants_at[mutant.nodes[0].id].append((number, mutant))

    def text_of(node: Node) -> str:
        text = plain_text(node)
        for number, mutant in mutants_at.get(node.id, ()):
            if len(mutant.nodes) == 1:
                text = mutant.render(f"mutants::is({number})", of_current(node, text))
        return text

    def of_current(node: Node, text: str) -> Callable[[Node], str]:
        return lambda other: text if other.id == node.id else text_of(other)

    def plain_text(node: Node) -> str:
        at = node.start_byte
        pieces = []
        children = list(node.children)
        while children:
            child = children.pop(0)
            pieces.append(source[at : child.start_byte].decode())
            pairs = [(n, m) for n, m in mutants_at.get(child.id, ()) if len(m.nodes) == 2]
            if pairs:  # two statements take the place of each other
                number, mutant = pairs[0]
                pieces.append(mutant.render(f"mutants::is({number})", text_of))
                while child.id != mutant.nodes[1].id:
                    child = children.pop(0)
            else:
                pieces.append(text_of(child))
            at = child.end_byte
        pieces.append(source[at : node.end_byte].decode())
        return "".join(pieces)

    return text_of(root)
