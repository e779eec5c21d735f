"""What Binder does, without Binder: a clean copy, a fresh environment, both scripts, and a lab opened in JupyterLab.

Conda's packages are those of the same names from the environment of the tests, with all that they need, and conda's `mysqld` is a server
of the cache put on PATH.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from engineroom import paths
from engineroom.servers.catalogue import resolve
from engineroom.servers.providers import unpack

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(900)]

# Of conda's packages those that pip has not, or that the system has.
NOT_PYTHON = {"python", "pip", "c-compiler", "cxx-compiler", "cmake", "make", "ninja", "mysql-server"}
PROBE = """\
---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {display_name: Python 3, language: python, name: python3}
---
# A lab of one cell

```{code-cell} ipython3
from engineroom import _native, servers

with servers.start("9.7") as server:
    (version,) = server.query("SELECT VERSION()")[0]
print(server.provider, version, _native.hash_join.nested_loop.__name__)
```
"""


@pytest.fixture(scope="module")
def binder(
    tmp_path_factory: pytest.TempPathFactory, compiled_once: Callable[..., str]
) -> tuple[Path, dict[str, str]]:
    """The copy of the repository after postBuild, and the environment of its shell."""
    room = tmp_path_factory.mktemp("binder")
    repository, prefix, home = room / "repository", room / "env", room / "home"
    home.mkdir()
    _copy_tracked(paths.root(), repository)
    (repository / "notebooks" / "probe.md").write_text(PROBE)

    environment = {
        "PATH": f"{prefix / 'bin'}:{_mysqld_on_path(room / 'conda')}:/usr/bin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "ENGINEROOM_PROVIDER": "on_path",
        "CMAKE_CXX_COMPILER_LAUNCHER": compiled_once({repository: paths.root(), prefix: Path(sys.prefix)}),
        **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
        "PIP_CACHE_DIR": subprocess.run(
            [sys.executable, "-m", "pip", "cache", "dir"], capture_output=True, text=True, check=True
        ).stdout.strip(),
    }
    _run([sys.executable, "-m", "venv", str(prefix)], environment)
    _install_as_here(repository / ".binder" / "environment.yml", prefix)
    _run([str(repository / ".binder" / "postBuild")], environment)
    return repository, environment


def test_a_text_notebook_runs_on_the_server_on_path(binder):
    repository, environment = binder
    _run(
        [str(repository / ".binder" / "start"), "jupytext", "--to", "ipynb", "--execute", "notebooks/probe.md"],
        environment, cwd=repository,
    )  # fmt: skip
    cells = json.loads((repository / "notebooks" / "probe.ipynb").read_text())["cells"]
    said = "".join("".join(output.get("text", "")) for output in cells[-1]["outputs"])
    assert said.startswith("on_path 9.7.")
    assert said.rstrip().endswith("nested_loop")


def test_the_lab_runs_from_top_to_bottom(binder):
    repository, environment = binder
    _run(
        [str(repository / ".binder" / "start"), "jupytext", "--to", "ipynb", "--execute", "notebooks/hash_join.md"],
        environment, cwd=repository,
    )  # fmt: skip


def test_the_lab_opens_as_a_notebook_in_jupyterlab(binder):
    repository, environment = binder
    with _jupyterlab(repository, environment) as get:
        lab = get("api/contents/notebooks/hash_join.md?type=notebook&content=1")
        assert lab["type"] == "notebook"
        assert {"code", "markdown"} <= {cell["cell_type"] for cell in lab["content"]["cells"]}
        exercises = get("api/contents/notebooks/exercises/hash_join.md?type=notebook&content=1")
        assert exercises["content"]["cells"]
        settings = get("lab/api/settings/@jupyterlab/docmanager-extension:plugin")
        assert (
            settings["schema"]["properties"]["defaultViewers"]["default"]["markdown"] == "Jupytext Notebook"
        )


def _written(path: Path) -> Any:
    """A JSON file's contents; None until it is there and whole: the server writes it in place."""
    try:
        return json.loads(path.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None


@contextmanager
def _jupyterlab(repository: Path, environment: dict[str, str]) -> Iterator[Any]:
    """JupyterLab behind .binder/start; yields a function from a path to the server's JSON answer."""
    runtime = Path(environment["HOME"]) / "runtime"
    command = [
        str(repository / ".binder" / "start"), "jupyter", "lab", "--no-browser", "--ip=127.0.0.1", "--port=0",
        "--allow-root",
    ]  # fmt: skip
    log = Path(environment["HOME"]) / "jupyterlab.log"
    with log.open("w") as output:
        server = subprocess.Popen(
            command, cwd=repository, env={**environment, "JUPYTER_RUNTIME_DIR": str(runtime)},
            stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
    try:
        found = runtime / f"jpserver-{server.pid}.json"  # its own number: `start` became the server
        deadline = time.monotonic() + 60
        while (facts := _written(found)) is None:
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)

        def get(path: str) -> Any:
            request = urllib.request.Request(
                f"{facts['url']}{path}", headers={"Authorization": f"token {facts['token']}"}
            )
            for attempt in range(50):
                try:
                    with urllib.request.urlopen(request, timeout=60) as answer:
                        return json.load(answer)
                except urllib.error.URLError as error:  # the facts are written before the socket listens
                    if attempt == 49 or not isinstance(error.reason, ConnectionRefusedError):
                        raise AssertionError(log.read_text()) from error
                    time.sleep(0.1)
            return None

        yield get
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(timeout=60)


def _copy_tracked(source: Path, target: Path) -> None:
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=source,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in filter(None, listing.split("\0")):
        if not (source / name).exists():
            continue
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / name, target / name, follow_symlinks=False)


def _install_as_here(file: Path, prefix: Path) -> None:
    """The packages of conda's file and what they need, nothing else, as pip put them into the environment of the tests."""
    *names, from_pip = yaml.safe_load(file.read_text())["dependencies"]
    here_as = {"matplotlib-base": "matplotlib"}
    asked = [here_as.get(name := re.split("[=<>]", each)[0], name) for each in [*names, *from_pip["pip"]]]
    waiting = [(canonicalize_name(name), "") for name in sorted(set(asked) - NOT_PYTHON)]
    seen = set(waiting)
    while waiting:
        name, extra = waiting.pop()
        for requirement in map(Requirement, importlib.metadata.requires(name) or []):
            if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
                continue
            found = {(canonicalize_name(requirement.name), each) for each in ("", *requirement.extras)}
            waiting += sorted(found - seen)
            seen |= found
    needed = {name for name, _ in seen}
    assert len(needed) > 50
    here = Path(sys.prefix)
    for name in sorted(needed):
        held = importlib.metadata.distribution(name)
        for listed in held.files or []:
            source = Path(os.path.normpath(held.locate_file(listed)))
            if source.suffix == ".pyc" or not source.exists():
                continue
            target = prefix / source.relative_to(here)
            target.parent.mkdir(parents=True, exist_ok=True)
            if "site-packages" in target.parts:  # which nobody writes into
                _linked(source, target)
                continue
            shutil.copy2(source, target)
            if target.parent == prefix / "bin" and (script := target.read_bytes()).startswith(b"#!"):
                target.write_bytes(script.replace(bytes(here), bytes(prefix), 1))


def _linked(source: Path, target: Path) -> None:
    """The same file in a second place, a copy where that is on another disk: an environment has most of a gigabyte."""
    target.unlink(missing_ok=True)  # of another package, or the one that came with the environment
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _mysqld_on_path(prefix: Path) -> Path:
    """A folder with a `mysqld`, laid out as conda lays it out; the program itself stays in the cache."""
    installed = unpack.install(resolve("9.7"))
    (prefix / "bin").mkdir(parents=True)
    (prefix / "share").mkdir()
    (prefix / "share" / "mysql").symlink_to(installed.share)
    variables = [f"{name}={value}" for name, value in installed.environment.items()]
    options = [f"--{name.replace('_', '-')}={value}" for name, value in installed.options.items()]
    mysqld = prefix / "bin" / "mysqld"
    # The options file must come first on mysqld's command line, our options last.
    mysqld.write_text(
        f'#!/bin/sh\nexec env {shlex.join(variables)} {shlex.join(installed.command)} "$@" {shlex.join(options)}\n'
    )
    mysqld.chmod(0o755)
    return mysqld.parent


def _run(command: list[str], environment: dict[str, str], cwd: Path | None = None) -> None:
    done = subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
