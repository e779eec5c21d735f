"""A disk whose fsync takes a given time: a library loaded into the server, which sleeps instead of calling the kernel.

Real disks vary twenty-fold between sittings, so that counts of fsyncs per transaction would compare disks and not servers. A server
under it is not durable; it is private to the experiment and thrown away.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engineroom.errors import EngineRoomError

__all__ = ["SOURCE", "preloaded"]

SOURCE = """
#include <time.h>
static int steady(void) {
  struct timespec t = {FSYNC_US / 1000000, FSYNC_US % 1000000 * 1000};
  while (nanosleep(&t, &t) != 0) {
  }
  return 0;
}
int fsync(int fd) { (void)fd; return steady(); }
int fdatasync(int fd) { (void)fd; return steady(); }
"""


@contextmanager
def preloaded(fsync_us: int) -> Iterator[None]:
    """Processes that are started in this block have the steady disk."""
    if fsync_us < 0:
        raise ValueError(f"fsync_us is {fsync_us}: pass 0 or more")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise EngineRoomError(
            "an fsync of a given time needs a C compiler, and there is none",
            remedy="apt-get install gcc, or with conda: conda install -c conda-forge compilers",
        )
    with tempfile.TemporaryDirectory(prefix="er-fsync-") as folder:
        source, library = Path(folder, "steady.c"), Path(folder, "steady.so")
        source.write_text(SOURCE)
        command = [
            compiler,
            "-shared",
            "-fPIC",
            "-O2",
            f"-DFSYNC_US={fsync_us}L",
            str(source),
            "-o",
            str(library),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise EngineRoomError(
                f"the library with the steady fsync does not compile: {done.stderr.strip()}",
                remedy="report it with this message and the version of your compiler",
            )
        before = os.environ.get("LD_PRELOAD")
        os.environ["LD_PRELOAD"] = str(library)
        try:
            yield
        finally:
            if before is None:
                del os.environ["LD_PRELOAD"]
            else:
                os.environ["LD_PRELOAD"] = before
