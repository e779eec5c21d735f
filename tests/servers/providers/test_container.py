"""The container path, with a real container; faults of the engine with stand-ins for its client."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engineroom import servers
from engineroom.errors import EngineRoomError
from engineroom.servers import Server, local
from engineroom.servers.catalogue import resolve
from engineroom.servers.providers import container
from engineroom.servers.server import wait_until

TOOLS = Path(__file__).parents[2] / "container"
IMAGE = "localhost/engineroom-server:9.7"


@pytest.fixture(autouse=True)
def asked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here engines and images come and go (tests/conftest.py)."""
    monkeypatch.setattr(container, "_output", container._output.__wrapped__)


def podman(*words: str) -> str:
    return subprocess.run(["podman", *words], capture_output=True, text=True, check=True).stdout


def ours() -> list[str]:
    names = podman("ps", "--all", "--format", "{{.Names}}").split()
    return [name for name in names if name.startswith("engineroom-")]


@pytest.fixture
def engine(only_containers: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    """Podman with the local image in the place of the official one."""
    needed = [
        tool for tool in ("podman", "runc", "mmdebstrap") if not shutil.which(tool, path="/usr/sbin:/usr/bin")
    ]
    if needed or os.geteuid() != 0:
        reason = f"needs root and {', '.join(needed) or 'podman'}"
        assert "CI" not in os.environ, reason
        pytest.skip(reason)
    monkeypatch.setenv("CONTAINERS_CONF", str(TOOLS / "containers.conf"))
    monkeypatch.setenv("ENGINEROOM_ENGINE", "podman")
    monkeypatch.setenv("ENGINEROOM_IMAGE_9_7", IMAGE)
    if subprocess.run(["podman", "image", "exists", IMAGE], check=False).returncode:
        subprocess.run([TOOLS / "make_image", IMAGE], check=True)


@pytest.fixture
def server(
    engine: None,  # noqa: ARG001
    cache: Path,  # noqa: ARG001
    sockets: Path,  # noqa: ARG001
    nothing_left: Callable[[], None],
) -> Iterator[Server]:
    """A server in a container; nothing of it is left afterwards."""
    volumes = podman("volume", "ls", "--quiet")
    with servers.start("9.7", provider="container", options={"join_buffer_size": 65536}) as running:
        yield running
    assert ours() == []
    assert podman("volume", "ls", "--quiet") == volumes
    nothing_left()


@pytest.mark.container
def test_a_container_answers_counts_and_tells_where_it_comes_from(server: Server):
    assert server.provider == "container"
    assert server.version.startswith("9.7.")
    assert server.query("SELECT @@join_buffer_size") == [(65536,)]
    before = server.cpu_seconds()
    server.query("SELECT BENCHMARK(2000000, 1 + 1)")
    assert before is not None
    assert (server.cpu_seconds() or 0) > before
    differing = server.variables_differing()
    assert differing is not None
    assert differing["join_buffer_size"] == "65536"
    assert json.loads(json.dumps(server.provenance()))["provider"] == "container"


@pytest.mark.container
def test_a_container_is_published_on_loopback_only(server: Server):
    (name,) = ours()
    assert podman("port", name).strip() == f"3306/tcp -> 127.0.0.1:{server.port}"
    assert server.password not in podman("ps", "--all", "--no-trunc", "--format", "{{.Command}}")


@pytest.mark.container
def test_a_container_that_is_killed_during_a_query_is_an_error(server: Server):
    (name,) = ours()

    def kill_when_it_sleeps() -> None:
        wait_until(
            lambda: any(row[7] == "SELECT SLEEP(60)" for row in server.query("SHOW PROCESSLIST")), seconds=20
        )
        podman("kill", name)

    killer = threading.Thread(target=kill_when_it_sleeps)
    killer.start()
    with pytest.raises(EngineRoomError, match="died or was stopped during this statement"):
        server.query("SELECT SLEEP(60)")
    killer.join()


@pytest.mark.container
@pytest.mark.usefixtures("engine", "cache", "sockets")
def test_kill_9_of_the_interpreter_takes_the_container_away(nothing_left: Callable[[], None]):
    script = """
        import time
        from engineroom import servers
        server = servers.start("9.7", provider="container")
        print(server.pid, flush=True)
        time.sleep(60)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True
    ) as interpreter:
        assert interpreter.stdout is not None
        pid = int(interpreter.stdout.readline())
        assert ours()
        interpreter.send_signal(signal.SIGKILL)
    assert wait_until(lambda: ours() == [] and not Path(f"/proc/{pid}").exists(), seconds=20)
    nothing_left()


@pytest.mark.container
@pytest.mark.usefixtures("engine", "cache", "sockets")
def test_a_container_that_dies_at_start_shows_its_last_words(nothing_left: Callable[[], None]):
    with pytest.raises(EngineRoomError, match="ended while starting") as caught:
        servers.start("9.7", provider="container", options={"no_such_option": 1})
    assert "unknown variable 'no-such-option=1'" in caught.value.problem
    assert ours() == []
    nothing_left()


@pytest.mark.container
@pytest.mark.usefixtures("engine", "cache", "sockets")
def test_a_taken_port_is_seen_before_a_container_starts(nothing_left: Callable[[], None]):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(EngineRoomError, match=f"port {port} of 127.0.0.1 is taken"):
            servers.start("9.7", provider="container", options={"port": port})
    assert ours() == []
    nothing_left()


@pytest.mark.container
@pytest.mark.usefixtures("engine", "cache")
def test_an_engine_without_the_image_names_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ENGINEROOM_IMAGE_9_7", "localhost/engineroom/none:1")
    with pytest.raises(EngineRoomError, match="the image localhost/engineroom/none:1 is not here") as caught:
        servers.start("9.7", provider="container")
    assert "`podman pull localhost/engineroom/none:1`" in caught.value.problem
    assert ours() == []


@pytest.mark.container
@pytest.mark.usefixtures("engine", "cache", "sockets")
def test_an_image_that_holds_another_release_is_refused(
    monkeypatch: pytest.MonkeyPatch, nothing_left: Callable[[], None]
):
    monkeypatch.setenv("ENGINEROOM_IMAGE_8_4", IMAGE)
    with pytest.raises(EngineRoomError, match=rf"{IMAGE} holds MySQL 9\.7\.\S+, not 8\.4"):
        servers.start("8.4", provider="container")
    assert ours() == []
    nothing_left()


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder as the whole PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def podman_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The empty home of a plain user."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "CONTAINER_HOST", "ENGINEROOM_ENGINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return folder


def client(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


@pytest.mark.usefixtures("cache", "path")
def test_no_container_engine():
    with pytest.raises(
        EngineRoomError, match=r"container cannot serve MySQL 9\.7 here: no Docker or Podman"
    ) as caught:
        servers.start("9.7", provider="container")
    assert "engineroom doctor" in caught.value.remedy


@pytest.mark.usefixtures("cache")
def test_a_client_without_an_engine_behind_it(path: Path):
    client(path, "docker", "echo 'Cannot connect to the Docker daemon' >&2; exit 1")
    with pytest.raises(EngineRoomError, match="docker without an engine that answers"):
        servers.start("9.7", provider="container")


@pytest.mark.usefixtures("cache")
def test_docker_without_the_image(path: Path):
    client(path, "docker", '[ "$1" = version ] && echo 28.0')
    with pytest.raises(EngineRoomError, match=r"the image mysql:9\.7 is not here; `docker pull mysql:9\.7`"):
        servers.start("9.7", provider="container")


@pytest.mark.usefixtures("cache")
def test_podman_serves_when_docker_has_no_engine(path: Path, podman_home: Path):
    client(path, "docker", "exit 1")
    client(path, "podman", "echo 5.4")
    (podman_home / ".local" / "share" / "containers" / "storage").mkdir(parents=True)
    assert container.engine() == "podman"
    assert container.refusal(resolve("9.7")) is None


def test_podman_is_not_asked_for_a_user_who_has_never_used_it(
    path: Path, podman_home: Path, monkeypatch: pytest.MonkeyPatch
):
    client(path, "podman", f"echo asked > {podman_home}/asked")
    assert container.engine() is None
    assert (
        container.refusal(resolve("9.7"))
        == "Podman has no images of this user; `podman pull mysql:9.7` brings it"
    )
    assert list(podman_home.iterdir()) == []
    monkeypatch.setenv("ENGINEROOM_ENGINE", "podman")
    assert container.engine() == "podman"
    assert (podman_home / "asked").exists()


def test_podman_is_asked_by_root_and_where_its_store_is_elsewhere(
    path: Path, podman_home: Path, monkeypatch: pytest.MonkeyPatch
):
    client(path, "podman", "echo 5.4")
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: 0)
        assert container.engine() == "podman"
    assert container.engine() is None
    (podman_home / ".config" / "containers").mkdir(parents=True)
    (podman_home / ".config" / "containers" / "storage.conf").touch()
    assert container.engine() == "podman"


def test_an_exact_release_has_the_official_image_of_that_release():
    assert container.image(resolve("5.7.44")) == "mysql:5.7.44"


@pytest.mark.usefixtures("sockets")
def test_the_client_gets_the_password_in_its_environment_only(
    cache: Path, path: Path, monkeypatch: pytest.MonkeyPatch, nothing_left: Callable[[], None]
):
    seen = cache.parent / "seen"
    client(
        path,
        "docker",
        f'[ "$1" != run ] || {{ echo "$@" > {seen}; echo $MYSQL_ROOT_PASSWORD >> {seen}; }}; echo 1',
    )
    monkeypatch.setattr(local, "START_TIMEOUT_S", 1)
    with pytest.raises(EngineRoomError, match="ended while starting"):
        servers.start("9.7", provider="container", options={"join_buffer_size": 1024})
    arguments, password = seen.read_text().splitlines()
    assert password
    assert password not in arguments
    assert "--publish=127.0.0.1:" in arguments
    assert arguments.endswith("--join-buffer-size=1024")
    nothing_left()


@pytest.mark.usefixtures("cache", "sockets")
def test_an_engine_that_cannot_start_the_image_is_named_and_the_way_around_it(path: Path):
    client(
        path,
        "docker",
        'case "$1" in version) echo 5;; image) echo id;; run) echo "rlimits: permission denied" >&2; exit 126;; esac',
    )
    with pytest.raises(
        EngineRoomError, match=r"engine could not start MySQL 9\.7 \(exit code 126\)"
    ) as caught:
        servers.start("9.7", provider="container")
    assert "rlimits: permission denied" in caught.value.problem
    assert "ENGINEROOM_PROVIDER=unpack" in caught.value.remedy
