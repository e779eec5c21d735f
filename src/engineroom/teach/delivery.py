"""What a class is sent: a zip file per student, links that open the labs on Binder or a JupyterHub, and the book's files without solutions."""

from __future__ import annotations

import csv
import hmac
import re
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

from engineroom import chapters, files, paths, progress
from engineroom.errors import EngineRoomError
from engineroom.teach import handouts, wheel
from engineroom.teach.grading.roster import Person, safe

__all__ = ["EXERCISES", "ZIPS", "links", "pack", "refuse_no_address", "student", "zipped"]

# Where the student's folder has the notebooks with the questions.
EXERCISES = "exercises"
# Where `pack` puts a zip file per student.
ZIPS = "zips"
# What shows solutions, or checks them: the masters, the pages with what they say, the tests; and what a wheel withholds. The labs need the explorables.
WITHHELD = ("notebooks/exercises/", "book/", "tests/")
NEEDED = "book/web/"
_PROVIDERS = {"github.com": "gh", "gitlab.com": "gl"}
_NAME = re.compile(r"[\w./-]+")


def links(*, branch: str = "", hub: str = "") -> list[tuple[str, str, str]]:
    """For each lab and each service its address: (chapter, service, address), from `_config.yml`.

    `branch` other than the book's own is one that `student` wrote: its exercises are linked, too. `hub` is the address of a JupyterHub with nbgitpuller.
    """
    said = files.read_yaml(
        paths.root() / "_config.yml", "configuration", remedy="run it in a checkout of the book"
    )
    repository, binder = said["repository"], said["launch_buttons"]["binderhub_url"].rstrip("/")
    url = str(repository["url"]).rstrip("/")
    host, _, name = f"{urlsplit(url).hostname}/{urlsplit(url).path.strip('/')}".partition("/")
    if host not in _PROVIDERS:
        raise EngineRoomError(
            f"Binder's address for a repository on {files.visible(host)} is not known here",
            remedy=f"name one on {' or '.join(_PROVIDERS)} in _config.yml, or make the link on {binder}",
        )
    chosen = branch or str(repository["branch"])
    if not _NAME.fullmatch(chosen):
        raise EngineRoomError(
            f"{files.visible(repr(chosen))} is no branch's name", remedy="use letters, digits and . _ - /"
        )
    refuse_no_address(hub, "a hub")
    project = name if host == "github.com" else quote(name, safe="")
    found = []
    for chapter in chapters.written():
        notebooks = [f"notebooks/{chapter.word}.md"]
        if branch and branch != repository["branch"]:
            notebooks.append(f"{EXERCISES}/{chapter.word}.ipynb")
        for notebook in notebooks:
            lab = urlencode({"urlpath": f"lab/tree/{notebook}"})
            address = f"{binder}/v2/{_PROVIDERS[host]}/{project}/{quote(chosen, safe='')}?{lab}"
            found.append((chapter.word, "Binder", address))
            if hub:
                opened = f"lab/tree/{name.rpartition('/')[2]}/{notebook}"
                pulled = urlencode({"repo": url, "branch": chosen, "urlpath": opened})
                found.append(
                    (chapter.word, "JupyterHub", f"{hub.rstrip('/')}/hub/user-redirect/git-pull?{pulled}")
                )
    return found


def refuse_no_address(text: str, what: str) -> None:
    """Raises EngineRoomError for a text that is no address on the web; none is named by an empty one."""
    if text and not _is_address(text):
        raise EngineRoomError(
            f"{files.visible(repr(text))} is no address of {what}",
            remedy="name one as in https://hub.example.org",
        )


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:  # as for a bracket that is not closed
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def pack(folder: Path, people: list[Person], secret: bytes, *, url: str = "") -> Path:
    """Packs the notebooks of each student, with the wheel in `hand-out`, and writes who gets which into `links.csv`, whose path it returns.

    The names of the files follow from the secret, so that nobody guesses another's.
    """
    rows = [["id", "name", "email", "link"]]
    (folder / ZIPS).mkdir(exist_ok=True)
    for person in progress.bar(people, desc="Zip files", unit="student"):
        token = hmac.digest(secret, f"zip\0{person.id}".encode(), "sha256").hex()[:16]
        name = f"{person.id}-{token}.zip"
        mine = (folder / "hand-out" / person.id).glob("*.ipynb")
        zipped(folder / ZIPS / name, [*sorted(mine), *(folder / "hand-out").glob("*.whl")])
        link = f"{url.rstrip('/')}/{quote(name)}" if url else f"{ZIPS}/{name}"
        rows.append([person.id, person.name, person.email, link])
    table = folder / "links.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([safe(cell) for cell in row] for row in rows)
    return table


def zipped(archive: Path, contents: list[Path]) -> None:
    """Packs files side by side."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for each in contents:
            opened.write(each, each.name, zipfile.ZIP_STORED if each.suffix == ".whl" else None)


def student(folder: Path, *, seed: int = 0, masters: list[Path] | None = None) -> int:
    """Writes into a new `folder` what a class may have of the book, its exercises as notebooks without solutions; how many files.

    Refuses a folder that is not empty, and a book that is no checkout.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise EngineRoomError(
            f"{files.visible(str(folder))} is there already", remedy="name a folder that does not exist"
        )
    root = paths.root()
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise EngineRoomError(
            "the book's files are not known: this is no checkout",
            remedy="run it in a clone of the repository",
        ) from error
    given = [
        name
        for name in listed.split("\0")
        if name.startswith(NEEDED)
        or (
            name
            and not name.startswith(WITHHELD)
            and "/tests/" not in name
            and not wheel.WITHHELD.fullmatch(name.removeprefix("src/"))
        )
    ]
    try:
        for name in given:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, folder / name)
        (folder / EXERCISES).mkdir()
        chosen = masters or handouts.masters()
        with tempfile.TemporaryDirectory() as scratch:
            for master in progress.bar(chosen, desc="Exercises", unit="notebook"):
                made = handouts.make(master, Path(scratch), seed=seed, run_tests=False)
                shutil.copy(made.student, folder / EXERCISES)
    except (OSError, ValueError) as error:
        raise EngineRoomError(
            f"{files.visible(str(folder))} cannot be written: {error}",
            remedy="name a folder in which you may write",
        ) from error
    return len(given) + len(chosen)
