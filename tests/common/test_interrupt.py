"""Ctrl-C ends each kernel that can run for more than a second, soon, and leaves it usable."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from engineroom import _native

join, sort = _native.hash_join, _native.filesort
cheap, redo = _native.low_concurrency, _native.redo_log

AFTER_S = 0.3
SOON_CPU_S = 1.0  # of this process: what others do to the machine does not count


def _sort() -> Callable[[], Any]:
    table = sort.article_table(rows=600_000, lob_bytes=100)
    return lambda: sort.sort(
        table, selected=[0, 1, 2, 3, 4], attach="packed_additional_fields", sort_buffer_bytes=1 << 18
    )


# What takes seconds to minutes on any machine, made ready before the clock runs: after a call that is over, the signal would end the tests.
KERNELS: dict[str, Callable[[], Callable[[], Any]]] = {
    "skewed_keys, many rows": lambda: (
        lambda: join.skewed_keys(rows=50_000_000, distinct=1 << 20, skew_quarters=1)
    ),
    "skewed_keys, many values": lambda: lambda: join.skewed_keys(rows=1, distinct=1 << 24, skew_quarters=8),
    "article_table": lambda: lambda: sort.article_table(rows=1_000_000, lob_bytes=4000),
    "parse_insert": lambda: lambda: cheap.parse_insert("list_5_7", rows=50_000, columns=4000),
    "measure_store": lambda: lambda: cheap.measure_store("none", passes=1 << 30),
    "measure_offsets": lambda: lambda: cheap.measure_offsets("v80", passes=1 << 30),
    "commit_cost, 5.7": lambda: lambda: redo.commit_cost("5.7", threads=2, commits_per_thread=1 << 40),
    "commit_cost, 8.0": lambda: lambda: redo.commit_cost("8.0", threads=2, commits_per_thread=1 << 40),
    "sort": _sort,
}


@pytest.mark.parametrize("name", KERNELS)
def test_ctrl_c_ends_a_long_call_soon(name):
    call = KERNELS[name]()
    sent_at = []

    def interrupt() -> None:
        sent_at.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(AFTER_S, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
        assert time.process_time() - sent_at[0] < SOON_CPU_S
    finally:
        timer.cancel()
        timer.join()
