"""MySQL from Debian's newest suite, with its whole library closure, in a private folder and without root.

apt runs with folders of its own and an empty list of installed packages, so that the C library is fetched as well: the
server needs a newer one than a stable Debian has, and is started through that library's own loader. Where the packages
come from is what the machine's own apt sources say; Debian's signature is checked. Tries are counted in one place, ours: apt's
own would multiply them, and where there is no network, half a minute would pass before it is said.
"""

from __future__ import annotations

import fnmatch
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

from engineroom import progress
from engineroom.errors import EngineRoomError
from engineroom.servers.catalogue import Unpack, plain_release, series_of
from engineroom.servers.providers.unpack import archive

__all__ = ["command", "fetch", "refusal"]

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")

SETTINGS = """\
#clear APT::Update;
#clear DPkg;
#clear Acquire::IndexTargets::deb;
Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State "{folder}/state";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}/cache";
APT::Architecture "amd64";
APT::Architectures "amd64";
APT::Install-Recommends "false";
APT::Sandbox::User "{user}";
Acquire::Languages "none";
Acquire::Retries "0";
Acquire::IndexTargets::deb::Packages {{
  MetaKey "$(COMPONENT)/binary-$(ARCHITECTURE)/Packages";
  ShortDescription "Packages";
  Description "$(RELEASE)/$(COMPONENT) $(ARCHITECTURE) Packages";
}};
"""


def refusal() -> str | None:
    """Why this way is closed here."""
    system = platform.freedesktop_os_release() if Path("/etc/os-release").exists() else {}
    if system.get("ID") != "debian":
        return f"only on Debian, this is {system.get('NAME', platform.system())}"
    missing = [tool for tool in ("apt-get", "dpkg-deb") if not shutil.which(tool)]
    if missing:
        return f"{' and '.join(missing)} not found"
    if not KEYRING.exists():
        return "the package debian-archive-keyring is not installed"
    return None


def fetch(unpack: Unpack, folder: Path, tree: Path) -> str:
    """Download the closure into `folder`, unpack it into `tree`, return the server's release."""
    archive.attempt(lambda: _download(unpack, folder), what=f"{unpack.package} from Debian {unpack.suite}")
    packages = sorted((folder / "cache" / "archives").glob("*.deb"))
    wanted = [
        path for path in packages if not any(fnmatch.fnmatch(_name(path), skip) for skip in unpack.skip)
    ]
    # A Debian root has its libraries under usr/, and links in the old places.
    for old in ("lib", "lib64", "bin", "sbin"):
        (tree / "usr" / old).mkdir(parents=True)
        (tree / old).symlink_to(f"usr/{old}")
    for path in progress.bar(wanted, desc="Unpacking", unit="package"):
        files = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", path], stdout=subprocess.PIPE)
        done = subprocess.run(
            [
                "tar",
                "-x",
                "-C",
                tree,
                "--keep-directory-symlink",
                "--no-same-owner",
                "--exclude=./usr/share/doc/*",
                *(f"--exclude=./{skip}" for skip in unpack.skip if "/" in skip),
            ],
            stdin=files.stdout,
            capture_output=True,
            text=True,
            check=False,
        )
        assert files.stdout is not None
        files.stdout.close()
        if files.wait() or done.returncode:
            raise EngineRoomError(
                f"cannot unpack {path.name}: {done.stderr.strip()[-200:]}",
                remedy="make room in the cache folder, then start again",
            )
    return _release(tree, unpack)


def command(tree: Path, mysqld: str) -> tuple[str, ...]:
    """The server under the root's own loader and libraries."""
    loader = next((tree / "usr" / "lib64").glob("ld-linux-*.so.*"))
    folders = [tree / "usr/lib/x86_64-linux-gnu", tree / "usr/lib/mysql/private"]
    return (str(loader), "--library-path", ":".join(map(str, folders)), str(tree / mysqld))


def _download(unpack: Unpack, folder: Path) -> Path:
    archives = folder / "cache" / "archives"
    for needed in (archives / "partial", folder / "state" / "lists" / "partial"):
        needed.mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    user = "root" if os.geteuid() == 0 else "_apt"
    (folder / "apt.conf").write_text(SETTINGS.format(folder=folder, user=user))
    apt_get = ["apt-get", "-c", str(folder / "apt.conf"), "-q", "-y"]
    failures = []
    for mirror in _mirrors():
        (folder / "sources.list").write_text(f"deb [signed-by={KEYRING}] {mirror} {unpack.suite} main\n")
        try:
            with progress.bar(desc="Reading Debian's index", total=1, bar_format="{desc}: {elapsed}"):
                _update([*apt_get, "-o", "APT::Update::Error-Mode=any"])
            break
        except subprocess.CalledProcessError as error:
            failures.append(error)
    else:
        raise failures[-1]
    _refuse_another_series(unpack, _run([*apt_get, "install", "--simulate", unpack.package]))
    with progress.bar(desc=f"Downloading {unpack.package}", total=100, unit="%") as bar:
        _install(
            [*apt_get, "install", "--download-only", "-o", "APT::Status-Fd=1", unpack.package], bar.update
        )
    return archives


def _update(apt_get: list[str]) -> None:
    """Read the index. One that is past its date, as a mirror that stands still has, is taken by its signature alone, and said."""
    try:
        _run([*apt_get, "update"])
    except subprocess.CalledProcessError as error:
        if "is expired" not in error.stderr and "not valid" not in error.stderr:
            raise
        print("Debian's index is past its date; its signature is checked all the same.", file=sys.stderr)
        _run([*apt_get, "-o", "Acquire::Check-Valid-Until=false", "update"])


def _refuse_another_series(unpack: Unpack, simulated: str) -> None:
    """Debian's newest suite moves on; what it would install now is told before it is downloaded."""
    found = re.search(rf"^Inst {re.escape(unpack.package)} \((?:\d+:)?(\S+)", simulated, re.MULTILINE)
    if found is None or series_of(found[1]) == unpack.series:
        return
    series, name = unpack.series, unpack.series.replace(".", "_")
    raise EngineRoomError(
        f"Debian {unpack.suite} has {plain_release(found[1])} by now, and {series} no longer",
        remedy=f"take {series} from elsewhere: `podman pull mysql:{series}`, `conda install -c conda-forge mysql-server={series}`, or a "
        f"server of your own in ENGINEROOM_DSN_{name}; a {series} that another machine has unpacked can be copied from its cache "
        f"folder servers/{series}",
    )


def _run(command: list[str]) -> str:
    done = subprocess.run(
        command,
        env={**os.environ, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    return done.stdout


def _install(command: list[str], advance: object) -> None:
    """Run apt-get and move the bar by the percentages that it reports."""
    last = 0.0
    with subprocess.Popen(
        command,
        env={**os.environ, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for line in process.stdout:
            if line.startswith("dlstatus:") and callable(advance):
                percent = float(line.split(":")[2])
                advance(percent - last)
                last = percent
        error = process.stderr.read()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, stderr=error)


def _mirrors() -> list[str]:
    """The base addresses that the machine's own apt sources name, Debian's main one first."""
    codename = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    listed = _run(["apt-get", "update", "--print-uris"])
    found = re.findall(r"^'(\S+)/dists/(\S+)/(?:In)?Release'", listed, re.MULTILINE)
    ordered = sorted(found, key=lambda pair: pair[1] != codename)
    plain = [base for base, suite in ordered if "-" not in suite]
    if not plain:
        raise EngineRoomError(
            "the machine's apt sources name no Debian mirror",
            remedy="add a `deb` line for Debian, or choose another provider",
        )
    return list(dict.fromkeys(plain))


def _name(package: Path) -> str:
    return package.name.partition("_")[0]


def _release(tree: Path, unpack: Unpack) -> str:
    done = subprocess.run(
        [*command(tree, unpack.mysqld), "--no-defaults", "--version"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    found = re.search(r"Ver (\d+\.\d+\.\d+)", done.stdout)
    if found is None:
        raise EngineRoomError(
            f"the unpacked mysqld does not run: {(done.stderr or done.stdout).strip()[-300:]}",
            remedy="report this with the output of `engineroom doctor`",
        )
    return found[1]
