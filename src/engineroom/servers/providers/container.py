"""A container of Docker or Podman, through the engine's own command-line client: both understand the same words.

Nothing is pulled: an image that is not here is named in the refusal with the command that brings it.
`ENGINEROOM_IMAGE_9_7` names another image for a series, `ENGINEROOM_ENGINE` another client than the first that answers.
Podman makes its store in the user's home and folders among the temporary files with any command, even with `--version`: a user who has
no store yet has no image either, and Podman is not asked.
An image must take server options as arguments and the password of root from `MYSQL_ROOT_PASSWORD`, as the official do.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from engineroom.errors import EngineRoomError
from engineroom.servers import local
from engineroom.servers.catalogue import Request, Setting, release
from engineroom.servers.instance import Instance
from engineroom.servers.server import Address, Server

NAME = "container"

ENGINES = ("docker", "podman")


def refusal(request: Request) -> str | None:
    if request.entry.product != "MySQL":
        return f"images of {request.entry.product} are started in another way"
    client = engine()
    if client is None:
        found = [name for name in _candidates() if shutil.which(name)]
        if "podman" in found and _is_untouched("podman"):
            return f"Podman has no images of this user; `podman pull {image(request)}` brings it"
        return f"{' and '.join(found)} without an engine that answers" if found else "no Docker or Podman"
    if not _has_image(client, image(request)):
        return f"the image {image(request)} is not here; `{client} pull {image(request)}` brings it"
    return None


def fetch(request: Request) -> None:
    """Nothing: an image initialises itself at each start."""


def start(request: Request) -> Server:
    client = engine()
    if client is None:
        raise EngineRoomError("no container engine answers", remedy="start Docker or install Podman")
    settings = request.settings()
    chosen = settings.pop("port", None)
    if release(request.exact or request.entry.series) < (5, 7):
        settings.pop("secure_file_priv", None)  # NULL is no value there yet: the image's own stays
    return local.on_a_free_port(lambda port: _start(client, request, settings, port), chosen=chosen)


def _start(client: str, request: Request, settings: dict[str, Setting], port: int) -> Server:
    address = Address(port=port, password=secrets.token_urlsafe(12))
    instance = Instance.create()
    name = f"engineroom-{instance.folder.name}"
    try:
        instance.launch(
            [
                client,
                "run",
                "--rm",
                "--pull=never",
                f"--name={name}",
                f"--publish=127.0.0.1:{address.port}:3306",
                "--env=MYSQL_ROOT_PASSWORD",  # its value is in the client's environment, not in its arguments
                "--env=MYSQL_ROOT_HOST=%",
                image(request),
                *_arguments(settings),
            ],
            environment={"MYSQL_ROOT_PASSWORD": address.password},
            on_stop=[[client, "kill", name], [client, "rm", "--force", "--volumes", name]],
            shared=request.shared,
        )
        server = Server(
            version=request.name,
            provider=NAME,
            address=address,
            instance=instance,
            shared=request.shared,
            settings=settings,
            help_command=[client, "exec", name, "mysqld"],
        )
        local.wait_until_answers(server, instance)
        version = str(server.query("SELECT VERSION()")[0][0])
        if not request.accepts(version):
            raise EngineRoomError(
                f"the image {image(request)} holds MySQL {version}, not {request.name}",
                remedy=f"correct {_variable(request)}, or ask for the version that the image holds",
            )
        server.identify(version, pid=_pid(client, name))
        instance.note(**server.facts())
    except BaseException:
        instance.remove()
        raise
    return server


def engine() -> str | None:
    """The first client whose engine answers."""
    return next(
        (name for name in _candidates() if shutil.which(name) and not _is_untouched(name) and _answers(name)),
        None,
    )


def image(request: Request) -> str:
    """The image of this request: from the environment, the official one of an exact release, or the catalogue's."""
    chosen = os.environ.get(_variable(request))
    if chosen:
        return chosen
    return f"mysql:{request.exact}" if request.exact else request.entry.image


def _variable(request: Request) -> str:
    return "ENGINEROOM_IMAGE_" + request.entry.series.replace(".", "_")


def _candidates() -> tuple[str, ...]:
    chosen = os.environ.get("ENGINEROOM_ENGINE")
    return (chosen,) if chosen else ENGINES


def _is_untouched(client: str) -> bool:
    """Whether this is Podman, and a plain user of Linux has never used it."""
    if client != "podman" or client == os.environ.get("ENGINEROOM_ENGINE"):
        return False
    if sys.platform != "linux" or os.geteuid() == 0 or "CONTAINER_HOST" in os.environ:
        return False
    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    settings = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    places = (data / "containers" / "storage", settings / "containers" / "storage.conf")
    return not any(place.exists() for place in places)


def _answers(client: str) -> bool:
    # Both clients print a server's version only when they reach one; for Podman the client is the server.
    form = "{{.Server.Version}}" if Path(client).name.startswith("docker") else "{{.Version}}"
    return _output(client, "version", "--format", form) is not None


def _has_image(client: str, name: str) -> bool:
    return _output(client, "image", "inspect", "--format", "{{.Id}}", name) is not None


def _pid(client: str, name: str) -> int | None:
    """The server's process as this machine sees it; `None` where the engine runs in another machine."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        pid = _output(client, "inspect", "--format", "{{.State.Pid}}", name)
        if pid and pid.isdigit() and int(pid) > 0:
            try:
                is_mysqld = "mysqld" in Path(f"/proc/{pid}/cmdline").read_text()
            except OSError:
                return None
            return int(pid) if is_mysqld else None
        time.sleep(0.1)
    return None


def _output(*command: str) -> str | None:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _arguments(settings: Mapping[str, Setting]) -> Iterator[str]:
    for name, value in settings.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            yield option
        elif value is not False:
            yield f"{option}={value}"
