"""Compiles the native kernels where the Python module is built, which then has them: while the packages that it needs are fetched.

`python -m engineroom.making.kernels` uses the standard library only.
"""

from __future__ import annotations

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
        done = children.run(command, is_read=True)
        if done.returncode:
            sys.exit(done.stdout)


if __name__ == "__main__":
    with children.ending_with_us():
        build()
