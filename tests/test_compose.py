"""compose.yaml: valid by the public schema, on loopback only; each server answers, with an image that we can make. `lab` is not run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import mysql.connector
import pytest
import yaml

from engineroom import paths
from engineroom.servers import local
from engineroom.servers.catalogue import resolve
from engineroom.servers.providers import dsn
from engineroom.servers.server import CHARSET, wait_until

IMAGE = "localhost/engineroom-server:9.7"
SERVERS = ["5.7", "8.0", "8.4", "9.7"]
TOOLS = Path(__file__).parent / "container"
PROJECT = "engineroom-test"


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((paths.root() / "compose.yaml").read_text())
    return document


def test_it_is_valid_by_the_compose_schema():
    command = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        "vendor.compose-spec",
        "compose.yaml",
    ]
    done = subprocess.run(command, cwd=paths.root(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_port_is_published_on_loopback_only(compose: dict[str, Any]):
    for name, service in compose["services"].items():
        assert service["ports"], name
        assert all(port.startswith("127.0.0.1:") for port in service["ports"]), name


@pytest.mark.parametrize("series", SERVERS)
def test_a_server_is_the_catalogues_official_image_unless_another_is_named(
    compose: dict[str, Any], series: str
):
    variable = f"ENGINEROOM_IMAGE_{series.replace('.', '_')}"
    assert (
        compose["services"][f"mysql-{series}"]["image"] == f"${{{variable}:-{resolve(series).entry.image}}}"
    )


@pytest.mark.parametrize("series", SERVERS)
def test_the_lab_finds_every_server_by_its_address(
    compose: dict[str, Any], series: str, monkeypatch: pytest.MonkeyPatch
):
    lab = compose["services"]["lab"]
    variable = f"ENGINEROOM_DSN_{series.replace('.', '_')}"
    text = lab["environment"][variable].replace("${ENGINEROOM_PASSWORD:-engineroom}", "engineroom")
    monkeypatch.setenv(variable, text)
    address = dsn._address(resolve(series))
    assert (address.host, address.port, address.password) == (f"mysql-{series}", 3306, "engineroom")
    assert lab["depends_on"][f"mysql-{series}"] == {"condition": "service_healthy"}


def test_the_labs_command_is_a_script_that_the_shell_accepts(compose: dict[str, Any]):
    shell, flags, script = compose["services"]["lab"]["command"]
    subprocess.run([shell, "-n", flags, script], check=True)
    assert "make book" in script


@pytest.fixture(scope="module")
def services(only_containers: None) -> Iterator[dict[str, int]]:  # noqa: ARG001
    """All servers of the file, as podman-compose runs them, with the local image; their ports by series."""
    lacking = [tool for tool in ("podman", "runc", "mmdebstrap") if not shutil.which(tool)]
    if lacking or os.geteuid() != 0:
        reason = f"needs root and {', '.join(lacking) or 'podman'}"
        assert "CI" not in os.environ, reason
        pytest.skip(reason)
    ports = {series: local.free_port() for series in SERVERS}
    environment = {
        **os.environ,
        "CONTAINERS_CONF": str(TOOLS / "containers.conf"),
        "DISABLE_HC_SYSTEMD": "true",  # there is no systemd here to run the health checks on time
        **{f"ENGINEROOM_IMAGE_{series.replace('.', '_')}": IMAGE for series in SERVERS},
        **{f"ENGINEROOM_PORT_{series.replace('.', '_')}": str(port) for series, port in ports.items()},
    }
    if subprocess.run(["podman", "image", "exists", IMAGE], check=False).returncode:
        subprocess.run([TOOLS / "make_image", IMAGE], env=environment, check=True)

    def podman_compose(*words: str) -> None:
        command = [sys.executable, "-m", "podman_compose", "-p", PROJECT, "-f", "compose.yaml", *words]
        done = subprocess.run(
            command,
            cwd=paths.root(),
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    try:
        podman_compose("up", "--detach", *[f"mysql-{series}" for series in SERVERS])
        yield ports
    finally:
        containers = [f"{PROJECT}_mysql-{series}_1" for series in SERVERS]
        subprocess.run(
            ["podman", "rm", "--force", "--volumes", "--time=0", *containers],
            capture_output=True,
            check=False,
        )
        subprocess.run(
            ["podman", "network", "rm", "--force", f"{PROJECT}_default"], capture_output=True, check=False
        )


@pytest.mark.container
@pytest.mark.slow
@pytest.mark.parametrize("series", SERVERS)
def test_a_service_becomes_healthy_and_answers_on_its_loopback_port(services: dict[str, int], series: str):
    name = f"{PROJECT}_mysql-{series}_1"

    def is_healthy() -> bool:
        return (
            subprocess.run(
                ["podman", "healthcheck", "run", name], capture_output=True, check=False
            ).returncode
            == 0
        )

    assert wait_until(is_healthy, seconds=120, every=0.5)
    where = {"host": "127.0.0.1", "port": services[series], "user": "root", "password": "engineroom"}
    with closing(mysql.connector.connect(**where, **CHARSET)) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT @@innodb_buffer_pool_size, @@log_bin")
        assert cursor.fetchall() == [(128 * 2**20, 0)]
