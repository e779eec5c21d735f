"""Compiles the native kernels where the Python module is built, which then has them: while the packages that it needs are fetched.

`python -m engineroom.making.kernels` uses the standard library only.
"""

from __future__ import annotations

import re
import shutil
import sys

from engineroom import children

__all__ = ["build"]


def build(folder: str = "_build/native") -> None:
    """SystemExit with what was said if it fails."""
    # As scikit-build-core chooses, which goes on in the same folder.
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    for command in (
        ["cmake", "-S", ".", "-B", folder, *generator, "-DCMAKE_BUILD_TYPE=Release"],
        ["cmake", "--build", folder, "--parallel", "--target", "engineroom_kernels"],
    ):
        said = []
        with children.started(command, is_read=True) as tool:
            for line in tool.stdout or ():
                said.append(line)
                show(line)
        if tool.returncode:
            sys.exit("".join(said))
    show("")


def show(line: str) -> None:
    """How far it is, where somebody watches: "[12/93]" of Ninja's line, "[ 13%]" of Make's."""
    if sys.stderr.isatty():
        far = re.match(r"\[ *(\d+/\d+|\d+%)\]", line)
        if far or not line:
            sys.stderr.write(f"\r\033[KNative kernels: {far[1]}" if far else "\r\033[K")
            sys.stderr.flush()


if __name__ == "__main__":
    with children.ending_with_us():
        build()
