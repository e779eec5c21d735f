"""The package as a wheel: for machines that grade and do not have the book, and for students."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zipfile
from importlib import metadata
from pathlib import Path

import yaml

from engineroom import paths
from engineroom.errors import EngineRoomError

__all__ = ["NEEDED", "WITHHELD", "build", "for_students", "put_into", "requirements"]

# What `engineroom class grade` and the tests of all chapters import, IPython with all that it needs. Labs, servers and figures need more.
NEEDED = (
    "asttokens", "click", "executing", "filelock", "ipython", "ipython-pygments-lexers", "jedi", "matplotlib-inline",
    "numpy", "pandas", "parso", "pexpect", "platformdirs", "prompt-toolkit", "psutil", "ptyprocess", "pure-eval",
    "pygments", "python-dateutil", "pyyaml", "sqlglot", "stack-data", "tqdm", "traitlets", "typing-extensions",
    "wcwidth",
)  # fmt: skip
# What draws the data of questions, or solves them; the modules of `engineroom.teach.varied`, and files beside them.
WITHHELD = re.compile(
    r"engineroom/(?:chapters/\w+/(?:exercises\.py|\w+\.toml)|teach/(?:capstone|servers)\.py)"
)
# Where Gradescope unpacks an archive before it makes the environment.
UNPACKED = "/autograder/source"


def build(folder: Path) -> Path:
    """Builds the wheel into `folder`, of the kernels that are compiled already; a few seconds."""
    with tempfile.TemporaryDirectory() as scratch:
        made = subprocess.run(
            [sys.executable, "-m", "pip", "wheel", "--disable-pip-version-check", "--no-build-isolation", "--no-deps",
             "-w", scratch, str(paths.root())],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        found = list(Path(scratch).glob("*.whl"))
        if made.returncode or not found:
            raise EngineRoomError(
                f"the package's wheel cannot be built: {made.stderr.strip().splitlines()[-1:]}",
                remedy="make book, which builds the native module, then the same command again",
            )
        folder.mkdir(parents=True, exist_ok=True)
        wheel = folder / found[0].name
        wheel.write_bytes(found[0].read_bytes())
        return wheel


def for_students(package: Path, folder: Path) -> Path:
    """The package for whom it is not to answer: all but what is withheld, in a folder of its own. Labs run with it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        zipfile.ZipFile(package) as whole,
        zipfile.ZipFile(folder / package.name, "w", zipfile.ZIP_DEFLATED) as part,
    ):
        for each in whole.infolist():
            if WITHHELD.fullmatch(each.filename):
                continue
            data = whole.read(each)
            if each.filename.endswith(".dist-info/RECORD"):
                data = b"".join(
                    line for line in data.splitlines(keepends=True) if not WITHHELD.match(line.decode())
                )
            part.writestr(each, data)
    return folder / package.name


def requirements() -> str:
    """What grading needs beside the wheel, in the versions with which the exercises were made."""
    return "".join(f"{name}=={metadata.version(name)}\n" for name in NEEDED)


def put_into(archive: Path, wheel: Path) -> None:
    """Adds the wheel to an archive of otter's, and tells its environment of it: this Python, and the wheel to install."""
    with zipfile.ZipFile(archive) as opened:
        members = {name: opened.read(name) for name in opened.namelist()}
    environment = yaml.safe_load(members["environment.yml"])
    python = f"python={sys.version_info.major}.{sys.version_info.minor}"
    environment["dependencies"] = [
        {"pip": [*each["pip"], f"{UNPACKED}/{wheel.name}"]}
        if isinstance(each, dict)
        else python if each.startswith("python=") else each
        for each in environment["dependencies"]
    ]  # fmt: skip
    members["environment.yml"] = yaml.safe_dump(environment, sort_keys=False).encode()
    members["requirements.txt"] = requirements().encode()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, data in members.items():
            opened.writestr(name, data)
        opened.write(wheel, wheel.name, zipfile.ZIP_STORED)  # compressed already
