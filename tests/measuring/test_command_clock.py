"""The clock of single commands: notes as bytes, what is made of them, and a server's."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

import numpy as np
import pytest

from engineroom import servers
from engineroom.errors import EngineRoomError
from engineroom.measuring.command_clock import (
    _RECORD,
    EXECUTE,
    QUERY,
    QUIT,
    CommandClock,
    clocked,
    commands_of,
    noted,
)
from engineroom.measuring.preload import preloaded
from engineroom.measuring.processors import apart
from engineroom.measuring.thread_clock import thread_of
from engineroom.servers.catalogue import measured

PREPARE = 0x16


def _notes(*rows: tuple[int, int, int, int, bytes]) -> np.ndarray:
    """(CPU ns, wall ns, thread, command, text)."""
    made = np.zeros(len(rows), _RECORD)
    for i, (cpu_ns, wall_ns, thread, command, text) in enumerate(rows):
        made[i] = (cpu_ns, wall_ns, thread, np.frombuffer(bytes([command, *text]).ljust(20, b"\0"), "u1"))
    return made


def test_a_command_took_what_the_thread_used_until_the_next_one():
    notes = _notes(
        (100, 1000, 7, QUERY, b"SET NAMES utf8"),
        (150, 2000, 7, QUERY, b"\0\1BEGIN"),
        (10, 2500, 8, QUERY, b"SELECT 1"),
        (180, 3000, 7, EXECUTE, b"\2"),
        (260, 3900, 7, PREPARE, b"SELECT"),
        (300, 4000, 7, QUERY, b"COMMIT"),
        (320, 4100, 7, QUIT, b""),
    )
    commands = commands_of(noted(notes.tobytes()), b"BEGIN")
    assert commands["text"].tolist() == [b"BEGIN", b"\2", b"COMMIT"]
    assert commands["cpu_ns"].tolist() == [30, 80, 20]
    assert commands["wall_ns"].tolist() == [1000, 900, 100]


def test_notes_that_another_connection_was_writing_are_not_cut_in_half(tmp_path: Path):
    earlier = _notes((1, 1, 7, QUERY, b"SELECT 2"), (2, 2, 7, QUIT, b"")).tobytes()
    file = tmp_path / "commands"
    file.write_bytes(earlier[:-9])
    clock = CommandClock(file)
    clock.skip()
    later = _notes((1, 3, 8, QUERY, b"BEGIN"), (5, 4, 8, QUERY, b"COMMIT"), (9, 5, 8, QUIT, b""))
    file.write_bytes(earlier + later.tobytes())
    assert clock.taken(b"BEGIN")["cpu_ns"].tolist() == [4, 4]


def test_the_last_connection_that_began_so_counts_from_its_first_such_statement():
    notes = _notes(
        (1, 1, 7, QUERY, b"BEGIN"),
        (2, 2, 7, QUIT, b""),
        (5, 3, 8, QUERY, b"BEGIN"),
        (9, 4, 8, QUERY, b"BEGIN"),
        (10, 5, 8, QUIT, b""),
    )
    assert commands_of(notes, b"BEGIN")["cpu_ns"].tolist() == [4, 1]


def test_a_thread_that_serves_other_connections_before_and_after_notes_nothing_of_them():
    notes = _notes(
        (1, 1, 7, QUERY, b"BEGIN"),
        (2, 2, 7, QUIT, b""),
        (2, 3, 7, QUERY, b"SET NAMES utf8"),
        (3, 4, 7, QUERY, b"BEGIN"),
        (4, 5, 8, QUERY, b"SHOW STATUS"),
        (7, 6, 7, QUERY, b"COMMIT"),
        (9, 7, 7, QUIT, b""),
        (10, 8, 7, QUERY, b"SHOW STATUS"),
        (11, 9, 7, QUIT, b""),
    )
    commands = commands_of(notes, b"BEGIN")
    assert commands["text"].tolist() == [b"BEGIN", b"COMMIT"]
    assert commands["cpu_ns"].tolist() == [4, 2]


def test_notes_are_waited_for_until_the_connection_that_is_asked_for_has_ended(tmp_path, monkeypatch):
    """Another one that has ended says nothing of it: on a busy machine its thread may not have heard yet."""
    file = tmp_path / "commands"
    clock = CommandClock(file)
    parts = [
        _notes((1, 1, 7, QUERY, b"BEGIN"), (5, 2, 7, QUERY, b"COMMIT")),
        _notes((1, 3, 8, QUERY, b"SHOW STATUS"), (2, 4, 8, QUIT, b"")),
        _notes((9, 5, 7, QUIT, b"")),
    ]
    cut = iter([*(part.tobytes() for part in parts[:2]), parts[2].tobytes()[:9], parts[2].tobytes()[9:]])

    def goes_on(_: float) -> None:
        with file.open("ab") as end:
            end.write(next(cut))

    monkeypatch.setattr("engineroom.measuring.command_clock.time.sleep", goes_on)
    assert clock.taken(b"BEGIN")["cpu_ns"].tolist() == [4, 4]


def test_a_statement_that_nobody_sent_is_an_error():
    with pytest.raises(EngineRoomError, match="begins with 'DO 0'"):
        commands_of(_notes((1, 1, 7, EXECUTE, b"DO 0")), b"DO 0")


@pytest.mark.parametrize("data", [b"", b"12345", b"0" * (_RECORD.itemsize + 1)])
def test_no_notes_and_half_a_note_are_errors(data):
    with pytest.raises(EngineRoomError, match="noted"):
        noted(data)


def test_a_library_that_is_no_c_says_what_it_was_for():
    with (
        pytest.raises(EngineRoomError, match="library for a test does not compile"),
        preloaded("no C", what="a test"),
    ):
        pass


@pytest.mark.live
@pytest.mark.parametrize("version", measured(since="5.7"))
def test_a_server_notes_each_statement_and_a_longer_one_takes_more(version, tmp_path):
    with contextlib.ExitStack() as stack:
        with clocked(tmp_path, "commands") as clock:
            server = stack.enter_context(servers.start(version))
        clock.skip()
        server.execute("DO 0", *["DO 1"] * 30, *["DO BENCHMARK(300000, 1 + 1)"] * 5)
        commands = clock.taken(b"DO 0")
    texts = np.array([text.partition(b"(")[0] for text in commands["text"]])
    assert [int((texts == text).sum()) for text in (b"DO 0", b"DO 1", b"DO BENCHMARK")] == [1, 30, 5]
    short, long = (np.median(commands["cpu_ns"][texts == text]) for text in (b"DO 1", b"DO BENCHMARK"))
    assert 0 < short < long
    assert (commands["wall_ns"] > 0).all()


@pytest.mark.live
def test_the_threads_that_serve_clients_stay_on_their_processor(tmp_path):
    processor, _ = apart()
    with contextlib.ExitStack() as stack:
        with clocked(tmp_path, "commands", processor=processor):
            server = stack.enter_context(servers.start("9.7"))
        connection = stack.enter_context(server.connect())
        thread = thread_of(server, connection.connection_id)
        assert os.sched_getaffinity(thread) == {processor}
        process = Path(f"/proc/{thread}/status").read_text()
        leader = int(re.search(r"Tgid:\s+(\d+)", process)[1])
        assert os.sched_getaffinity(leader) == os.sched_getaffinity(0), "the rest of the server goes anywhere"
