"""Statements and logs of nasty patterns take time and memory linear in their size."""

from __future__ import annotations

import io
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable

import pytest

from engineroom import sql_text
from engineroom.ask.digests import slow_log
from engineroom.ask.digests.fingerprint import digest_of

NASTY: dict[str, Callable[[int], str]] = {
    "nested parentheses": lambda n: "(" * n,
    "VALUES that never close": lambda n: "values (()," * (n // 11),
    "lists within lists": lambda n: "in ((1,2)," * (n // 10),
    "an open quote": lambda n: "'" + "a" * n,
    "quotes and escapes": lambda n: "'" + "a''\\" * (n // 4) + "\\",
    "backslashes": lambda n: "'" + "\\" * n,
    "backticks": lambda n: "`" * (n | 1),
    "hints that never close": lambda n: "/*+" * (n // 3),
    "executable comments": lambda n: "/*!1 */" * (n // 7),
    "NULs and signs": lambda n: "\0+-" * (n // 3),
    "one long name": lambda n: "_a1" * (n // 3),
    "unions": lambda n: "select a union select b union " * (n // 30),
    "lines that begin as a head": lambda n: "\n# Time: 1;" * (n // 11),
    "heads that never end": lambda n: (
        f"# User@Host: {'[' * (n // 4)}\n/x{', Version: ' * (n // 44)}\n# {'a' * (n // 4)}\nuse {' ' * (n // 4)};x"
    ),
    "semicolons": lambda n: ";\n" * (n // 2),
}
READERS: list[Callable[[str], object]] = [
    sql_text.statements,
    sql_text.first_word,
    sql_text.without_texts,
    digest_of,
    lambda text: list(slow_log.events(io.StringIO(f"# Query_time: 1\n{text}"), Counter())),
]


@pytest.mark.parametrize("pattern", NASTY)
def test_time_and_memory_of_reading_grow_no_faster_than_the_text(pattern):
    small, traced, large = (NASTY[pattern](n) for n in (2**15, 2**17, 2**20))

    def cpu_s(read: Callable[[str], object], text: str) -> float:
        before = time.process_time()
        read(text)
        return time.process_time() - before

    for read in READERS:
        # Thirty-two times the text: what is quadratic takes a thousand times as long.
        assert cpu_s(read, large) < 150 * max(cpu_s(read, small), 0.002)
        tracemalloc.start()
        try:
            read(traced)
            assert tracemalloc.get_traced_memory()[1] < 50 * len(traced) + 2**16
        finally:
            tracemalloc.stop()
