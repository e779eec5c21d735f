"""Instructions of statements on a real server under callgrind, and of a planted function; refusals need neither."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import mysql.connector
import psutil
import pytest

from engineroom import servers
from engineroom.errors import EngineRoomError
from engineroom.measuring import callgrind, instructions
from engineroom.measuring.callgrind import Part
from engineroom.measuring.instructions import Counted, profile_of
from engineroom.servers.server import wait_until

OLD = "5.7"  # starts in 5 s under Valgrind, the newest in 25
needs_valgrind = pytest.mark.skipif(instructions.why_not() is not None, reason=str(instructions.why_not()))
needs_server = pytest.mark.skipif(
    "unpack" not in servers.runnable(OLD), reason=f"{OLD} cannot be unpacked here"
)
JOIN = "SELECT SUM(y.b) FROM d.t x JOIN d.t y ON y.a = x.b"
ROWS = 500


@pytest.fixture(scope="module")
def counted() -> Iterator[Counted]:
    values = ",".join(f"({i}, {i * 7 % ROWS})" for i in range(ROWS))
    with instructions.counting(OLD, provider="unpack") as found:
        found.server.execute(
            "CREATE DATABASE d",
            "CREATE TABLE d.t (a INT PRIMARY KEY, b INT NOT NULL)",
            f"INSERT INTO d.t VALUES {values}",
        )
        yield found


@pytest.mark.live
@pytest.mark.slow
@needs_valgrind
@needs_server
def test_a_statements_instructions_repeat_to_one_percent_whatever_other_threads_do(counted: Counted) -> None:
    first = counted.measure(JOIN, rows=ROWS)
    ended = threading.Event()

    def keep_busy() -> None:
        while not ended.is_set():
            counted.server.execute("DO BENCHMARK(20000, 1 + 1)")

    other = threading.Thread(target=keep_busy)
    other.start()
    try:
        second = counted.measure(JOIN, rows=ROWS)
    finally:
        ended.set()
        other.join()
    assert first.is_settled
    assert second.is_settled
    assert second.instructions == pytest.approx(first.instructions, rel=instructions.AGREE)
    assert second.others > 10 * first.others
    assert 1_000 < first.per_row < 20_000
    search = first.function("row_search_mvcc")
    assert search is not None
    assert search.calls == pytest.approx(2 * ROWS, rel=0.05)  # the scan's rows and the lookups
    assert search.own < search.inclusive < first.instructions
    assert sum(function.own for function in first.functions) == first.instructions
    assert first.nameless_share < 0.5


@pytest.mark.live
@needs_valgrind
@needs_server
def test_what_is_done_before_and_after_is_not_counted(counted: Counted) -> None:
    def insert(cursor) -> None:
        cursor.execute("INSERT INTO d.t VALUES (1000000, 1)")

    found = counted.measure(insert, before="START TRANSACTION", after="ROLLBACK")
    assert counted.server.query("SELECT COUNT(*) FROM d.t") == [(ROWS,)]
    assert found.function("row_insert_for_mysql") is not None
    assert not any("rollback" in function.name for function in found.functions)
    with pytest.raises(mysql.connector.Error, match="doesn't exist"):
        counted.measure("SELECT * FROM d.nothing")


@pytest.mark.live
@pytest.mark.slow
@needs_valgrind
@needs_server
def test_a_statement_that_does_not_end_ends_the_server() -> None:
    with instructions.counting(OLD, provider="unpack") as counted:
        with pytest.raises(EngineRoomError, match="did not end run 1 within 4 s") as caught:
            counted.measure("SELECT SLEEP(1000)", limit_s=4)
        assert "fewer rows" in caught.value.remedy
        assert wait_until(lambda: not counted.server.alive(), seconds=10)


KILLED = """
import sys
from engineroom.measuring import instructions
with instructions.counting(sys.argv[1], provider="unpack") as counted:
    print(counted.server.pid, flush=True)
    counted.measure("SELECT SLEEP(1000)")
"""


def words_of_all() -> list[str]:
    """The words of every command that runs."""
    return [word for process in psutil.process_iter(["cmdline"]) for word in process.info["cmdline"] or ()]


@pytest.mark.live
@pytest.mark.slow
@needs_valgrind
@needs_server
def test_a_run_that_is_killed_leaves_no_process_and_no_file() -> None:
    with tempfile.TemporaryDirectory(prefix="ert-") as name:
        environment = {**os.environ, "TMPDIR": name}
        with subprocess.Popen(
            [sys.executable, "-c", KILLED, OLD], env=environment, stdout=subprocess.PIPE, text=True
        ) as killed:
            assert killed.stdout is not None
            server = psutil.Process(int(killed.stdout.readline()))
            folder = Path(server.cwd()).parent / "tmp"  # beside the datadir
            assert wait_until(lambda: any(folder.glob("counts.*")), seconds=60)
            assert any(folder.glob("vgdb*"))
            killed.send_signal(signal.SIGKILL)
        # A vgdb that outlived its parent would trace the dead server, which then stays a zombie.
        assert wait_until(
            lambda: not any("vgdb" in word and str(folder) in word for word in words_of_all()), seconds=20
        )
        assert wait_until(lambda: not server.is_running(), seconds=20)
        assert wait_until(lambda: not folder.exists(), seconds=20)
        assert wait_until(lambda: not any(Path(name).iterdir()), seconds=20)


PLANTED = """
namespace planted {
__attribute__((noinline)) unsigned slow(unsigned n) { unsigned x = n; while (n--) x = x * 31 + n; return x; }
__attribute__((noinline)) unsigned quick(unsigned n) { return n * 3; }
struct Engine { template <typename T> __attribute__((noinline)) T run(T n) { return slow(100000) + slow(n) + quick(n); } };
}
int main(int n, char**) { return static_cast<int>(planted::Engine().run<unsigned>(n) & 1); }
"""


@needs_valgrind
@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
def test_a_slow_function_that_was_planted_is_found_by_name(tmp_path: Path) -> None:
    source, program = tmp_path / "planted.cpp", tmp_path / "planted"
    source.write_text(PLANTED)
    subprocess.run(["c++", "-O1", "-o", str(program), str(source)], check=True)
    subprocess.run(
        [*instructions.valgrind(tmp_path, caches=True, from_start=True), str(program)], check=False
    )
    (file,) = tmp_path.glob("counts*-01")
    profile = profile_of(callgrind.read(file)[-1], version="planted")
    worst = profile.functions[0]
    assert (worst.name, worst.calls) == ("planted::slow", 2)
    assert worst.own > 0.5 * profile.instructions
    assert worst.full_names == ("planted::slow(unsigned int)",)
    (path,) = [path for path in profile.paths if path[-1] == "planted::slow"]
    assert path[-3:] == ("main", "planted::Engine::run", "planted::slow")
    assert profile.event("Dr") > 0
    assert worst.own_events["Ir"] == worst.own


OWN = {
    ("main",): (10, 1),
    ("main", "f(int)"): (20, 2),
    ("main", "g(A<int>)", "f(int)"): (5, 0),
    ("main", "0x1 in mysqld"): (65, 7),
}
PART = Part(
    thread=1,
    events=("Ir", "DLmr"),
    own=OWN,
    calls={("main", "f(int)"): 4, ("main", "g(A<int>)", "f(int)"): 1},
)


def test_functions_add_up_over_their_callers_and_include_what_they_call() -> None:
    profile = profile_of(PART, version="9.7.4", rows=10)
    assert (profile.instructions, profile.per_row, profile.event("DLmr"), profile.nameless_share) == (
        100,
        10,
        10,
        0.65,
    )
    found = {
        function.name: (function.own, function.inclusive, function.calls) for function in profile.functions
    }
    assert found == {
        "no name below main": (65, 65, 0),
        "f": (25, 25, 5),
        "main": (10, 100, 0),
        "g": (0, 5, 0),
    }
    assert profile.function("f").own_events == {"Ir": 25, "DLmr": 2}
    assert (profile.functions[1].own_per_row, profile.functions[1].calls_per_row) == (2.5, 0.5)
    assert profile.function("h") is None
    with pytest.raises(EngineRoomError, match="Bcm was not counted") as caught:
        profile.event("Bcm")
    assert "branches=True" in caught.value.remedy


def test_repeats_that_lie_apart_are_not_settled() -> None:
    profile = profile_of(PART, version="9.7.4", repeats=(150, 100, 102))
    assert profile.differs_by == pytest.approx(0.02)
    assert not profile.is_settled


def test_without_valgrind_its_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(EngineRoomError, match="Valgrind is not installed") as caught,
        instructions.counting(OLD),
    ):
        pass
    assert "apt-get install valgrind" in caught.value.remedy


@pytest.mark.parametrize(("system", "machine"), [("darwin", "x86_64"), ("linux", "aarch64")])
def test_another_system_is_refused(monkeypatch: pytest.MonkeyPatch, system: str, machine: str) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(instructions.platform, "machine", lambda: machine)
    with pytest.raises(EngineRoomError, match="counted on Linux and x86-64") as caught:
        instructions.require()
    assert "on such a machine" in caught.value.remedy


@needs_valgrind
def test_a_server_that_is_no_process_of_ours_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers.lifecycle.PROVIDERS["container"], "refusal", lambda _: None)
    with (
        pytest.raises(EngineRoomError, match="a server by container is no process of ours") as caught,
        instructions.counting(OLD, provider="container"),
    ):
        pass
    assert "on_path, unpack" in caught.value.remedy


class Fixed(Counted):
    """Without a server: what Valgrind would count is given."""

    def __init__(self, folder: Path, runs: list[int]) -> None:
        class Alive:
            version, pid = "9.7.4", 1
            alive = staticmethod(lambda: True)

        super().__init__(Alive(), folder)  # type: ignore[arg-type]
        self.runs = iter([10_000_000, 10_000_000, 0, *runs])  # the mark twice, and the idle second

    def _do(self, connection: object, work: object) -> None:
        pass

    def _control(self, *words: str) -> None:
        if words == ("dump",):
            n = next(self.runs)
            (self._folder / "counts.1-07").write_text(
                f"thread: 7\nevents: Ir\nfn=(1) f\n0 {n}\ntotals: {n}\n"
            )


class Connection:
    connection_id = 3


@pytest.mark.parametrize(
    ("runs", "used"),
    [
        ([500, 100, 100], 3),  # the first is none of the two
        ([100, 100, 200, 201], 4),
        ([100, 200, 100, 200, 100, 200, 100, 200, 100], 8),
    ],
)
def test_runs_go_on_until_two_agree(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, runs: list[int], used: int
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    profile = Fixed(tmp_path, runs).measure("SELECT 1", connection=Connection())
    assert profile.repeats == tuple(runs[:used])
    assert profile.instructions == runs[used - 1]
    assert profile.is_settled == (used < 8)


def test_valgrind_that_does_not_answer_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "vgdb"
    program.write_text("#!/bin/sh\necho no such process >&2\nexit 2\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    with pytest.raises(EngineRoomError, match=r"does not do `zero` .exit code 2: no such process") as caught:
        Counted(Fixed(tmp_path, []).server, tmp_path)._control("zero")
    assert "SYS_PTRACE" in caught.value.remedy
