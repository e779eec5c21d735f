"""The build of a copy takes what was compiled of the same bytes by the same command, and compiles the rest."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not shutil.which("ninja"), reason="without Ninja everything is compiled")
NINJA = """\
rule cxx
  command = {command} -MD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
rule precompile
  command = g++ -O1 -isystem {packages} -x c++-header -MD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
build cmake_pch.hxx.gch: precompile cmake_pch.hxx
build a.o: cxx {source} | cmake_pch.hxx.gch
"""
TAKEN = b"what the real one compiled"


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A repository that was built, its object marked, and a copy that was not."""
    real, copy = tmp_path / "real", tmp_path / "copy"
    (real / "build").mkdir(parents=True)
    (real / "a.hpp").write_text("inline int two() { return 2; }\n")
    (real / "a.cpp").write_text(
        '#include "a.hpp"\n#include <package.hpp>\nint six() { return three() * two(); }\n'
    )
    header = real / "build" / "cmake_pch.hxx"
    header.write_text("#include <precompiled.hpp>\n")
    shutil.copytree(real, copy)
    (real / "env").mkdir()
    (real / "env" / "precompiled.hpp").write_text("inline int one() { return 1; }\n")
    (real / "env" / "package.hpp").write_text("inline int three() { return 3; }\n")
    shutil.copytree(real / "env", tmp_path / "another")
    source, packages = real / "a.cpp", real / "env"
    command = f"g++ -O1 -I{real} -isystem {packages} -include {header}"
    (real / "build" / "build.ninja").write_text(
        NINJA.format(command=command, source=source, packages=packages)
    )
    (real / "build" / "compile_commands.json").write_text(
        json.dumps([{"command": f"{command} -c {source} -o a.o", "file": str(source)}])
    )
    subprocess.run(["ninja", "-C", str(real / "build")], check=True, capture_output=True)
    made = real / "build" / "a.o"
    at_ns = made.stat().st_mtime_ns
    made.write_bytes(TAKEN)
    os.utime(made, ns=(at_ns, at_ns))
    return real, copy


@pytest.fixture
def is_taken(folders, compiled_once):
    """A function that builds the copy with these options and says whether the real object was taken."""
    real, copy = folders

    def build(level: str = "-O1") -> bool:
        packages = copy.with_name("another")
        launcher = compiled_once({copy: real, packages: real / "env"}).split(";")
        command = [
            "g++", level, f"-I{copy}", "-isystem", str(packages), "-include", str(copy / "build" / "cmake_pch.hxx"),
            "-MD", "-MF", "a.o.d", "-c", str(copy / "a.cpp"), "-o", "a.o",
        ]  # fmt: skip
        subprocess.run([*launcher, *command], cwd=copy / "build", check=True)
        made = (copy / "build" / "a.o").read_bytes()
        assert made == TAKEN or made.startswith(b"\x7fELF")
        return made == TAKEN

    return build


def test_the_same_bytes_by_the_same_command_are_taken(is_taken):
    assert is_taken()


def test_another_command_is_compiled(is_taken):
    assert not is_taken("-O2")


@pytest.mark.parametrize("name", ["a.cpp", "a.hpp", "../another/package.hpp", "../another/precompiled.hpp"])
def test_a_file_that_differs_is_compiled(is_taken, folders, name):
    path = folders[1] / name
    path.write_text(path.read_text() + "// another\n")
    assert not is_taken()


def test_a_real_file_that_changed_since_is_compiled(is_taken, folders):
    for folder in folders:
        path = folder / "a.hpp"
        path.write_text(path.read_text().replace("2;", "3;"))
        later = (folders[0] / "build" / "a.o").stat().st_mtime + 10
        os.utime(path, (later, later))
    assert not is_taken()


def test_without_a_real_build_everything_is_compiled(is_taken, folders):
    shutil.rmtree(folders[0] / "build")
    assert not is_taken()
