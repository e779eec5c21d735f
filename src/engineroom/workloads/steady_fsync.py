"""A disk whose fsync takes a given time: a library loaded into the server, which sleeps instead of calling the kernel.

Real disks vary twenty-fold between sittings, so that counts of fsyncs per transaction would compare disks and not servers. A server
under it is not durable; it is private to the experiment and thrown away.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from engineroom.measuring import preload

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
    with preload.preloaded(SOURCE, f"-DFSYNC_US={fsync_us}L", what="an fsync of a given time"):
        yield
