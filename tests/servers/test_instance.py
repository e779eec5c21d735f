"""The keeper, with `sleep` in place of a server."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from engineroom.errors import EngineRoomError
from engineroom.servers.instance import Instance, sweep
from engineroom.servers.server import Address, Server, wait_until

pytestmark = pytest.mark.usefixtures("sockets")


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def launched(*command: str, shared: bool = False) -> Instance:
    instance = Instance.create()
    instance.launch(command or ("sleep", "100"), shared=shared)
    return instance


@pytest.mark.usefixtures("cache")
def test_removing_an_instance_ends_its_process_and_its_folder(nothing_left: Callable[[], None]):
    instance = launched()
    assert instance.alive()
    assert instance.pid is not None
    instance.remove()
    assert gone(instance.pid or 0)
    nothing_left()


@pytest.mark.usefixtures("cache")
def test_the_folder_is_private():
    instance = launched()
    try:
        assert instance.folder.stat().st_mode & 0o077 == 0
    finally:
        instance.remove()


@pytest.mark.usefixtures("cache")
def test_a_process_that_ends_leaves_its_exit_code_and_its_last_words():
    instance = launched("sh", "-c", "echo first; echo last; exit 7")
    try:
        assert wait_until(lambda: instance.exit_code is not None, seconds=10)
        assert instance.exit_code == 7
        assert not instance.alive()
        assert instance.log_tail(1) == "last"
    finally:
        instance.remove()


@pytest.mark.usefixtures("cache")
def test_a_command_that_does_not_exist_says_so_in_the_log():
    instance = launched("/no/such/program")
    try:
        assert wait_until(lambda: instance.exit_code is not None, seconds=10)
        assert "No such file" in instance.log_tail()
    finally:
        instance.remove()


@pytest.mark.usefixtures("cache")
def test_the_process_dies_when_its_keeper_is_killed_and_the_next_sweep_takes_the_folder(
    nothing_left: Callable[[], None],
):
    instance = launched()
    keeper, pid = int((instance.folder / "keeper").read_text()), instance.pid
    os.kill(keeper, signal.SIGKILL)
    assert wait_until(lambda: gone(pid or 0), seconds=10)
    assert wait_until(lambda: list(sweep()) == [], seconds=10)
    assert not instance.folder.exists()
    instance.remove()
    nothing_left()


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("killed", ["keeper", "pid"])
@pytest.mark.parametrize(
    "error",
    [psutil.NoSuchProcess(1), KeyError("Threads_running"), TypeError("None - 1.5"), BrokenPipeError()],
    ids=lambda error: type(error).__name__,
)
def test_what_fails_since_the_server_was_killed_says_that_it_died(
    nothing_left: Callable[[], None], killed: str, error: Exception
):
    instance = launched()
    server = Server(version="9.7.4", provider="unpack", address=Address(), instance=instance)

    def measured() -> None:
        with server:
            os.kill(int((instance.folder / killed).read_text()), signal.SIGKILL)
            raise error

    with pytest.raises(EngineRoomError, match=r"MySQL 9\.7\.4 died or was stopped during a measurement"):
        measured()
    nothing_left()


def test_a_folder_that_a_killed_keeper_left_empty_is_swept(cache: Path, nothing_left: Callable[[], None]):
    left = cache / "instances" / "0123abcd"
    (left / "data").mkdir(parents=True)
    assert list(sweep()) == []
    assert not left.exists()
    nothing_left()


@pytest.mark.usefixtures("cache")
def test_a_sweep_leaves_a_running_instance_alone():
    instance = launched()
    try:
        assert [found.folder for found in sweep()] == [instance.folder]
        assert instance.alive()
    finally:
        instance.remove()


@pytest.mark.usefixtures("cache")
def test_a_shared_instance_outlives_the_handle_and_is_stopped_through_another(
    nothing_left: Callable[[], None],
):
    folder = launched(shared=True).folder
    other = Instance(folder)
    assert other.alive()
    other.remove()
    nothing_left()


@pytest.mark.parametrize("shared", [False, True])
def test_removing_the_cache_folder_ends_keeper_and_process(cache: Path, shared: bool):
    instance = launched(shared=shared)
    keeper, pid = int((instance.folder / "keeper").read_text()), instance.pid or 0
    assert not gone(pid)
    shutil.rmtree(cache)
    assert wait_until(lambda: gone(pid) and gone(keeper), seconds=30)
    instance.remove()


@pytest.mark.parametrize("fork", [False, True], ids=["alone", "with a forked child that keeps the pipe"])
def test_kill_9_of_the_owner_ends_the_process(cache: Path, nothing_left: Callable[[], None], fork: bool):
    script = f"""
        import os, time
        from engineroom.servers.instance import Instance
        instance = Instance.create()
        instance.launch(["sleep", "100"])
        child = os.fork() if {fork} else 0
        if {fork} and child == 0:
            time.sleep(60)
        print(instance.pid, child, flush=True)
        time.sleep(60)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        pid, child = map(int, owner.stdout.readline().split())
        try:
            assert not gone(pid)
            owner.kill()
            owner.wait()
            assert wait_until(lambda: gone(pid), seconds=10)
            nothing_left()
        finally:
            if child:
                os.kill(child, signal.SIGKILL)
    assert not list((cache / "instances").iterdir())


@pytest.mark.usefixtures("cache")
def test_a_forked_child_cannot_end_its_parents_instance():
    instance = launched()
    try:
        child = os.fork()
        if child == 0:
            instance.remove()
            os._exit(0)
        os.waitpid(child, 0)
        time.sleep(0)
        assert instance.alive()
    finally:
        instance.remove()
