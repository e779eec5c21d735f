"""A variant of the exercises per student: other data, drawn from a secret and the student's id."""

from __future__ import annotations

import hashlib
import hmac
import shutil
from dataclasses import dataclass
from pathlib import Path

from engineroom import files, progress
from engineroom.errors import EngineRoomError
from engineroom.teach import handouts
from engineroom.teach.trial import tried

__all__ = ["Made", "make", "read_secret", "seed_of", "seeded"]

SHORTEST_SECRET = 16
MOST_TRIES = 20


@dataclass(frozen=True)
class Made:
    """How many students have a variant of which chapters; the other chapters are the same for all."""

    students: int
    varied: list[str]
    same: list[str]


def read_secret(file: Path) -> bytes:
    """The secret in a file, without the white space around it; refuses one that could be guessed."""
    secret = files.read_text(file, "secret").strip().encode()
    if len(secret) < SHORTEST_SECRET:
        raise EngineRoomError(
            f"the secret {files.visible(str(file))} has fewer than {SHORTEST_SECRET} characters",
            remedy="make one: python -c 'import secrets; print(secrets.token_hex(32))' > FILE",
        )
    return secret


def seed_of(secret: bytes, student: str, chapter: str, tries: int = 0) -> int:
    """The seed of a student's variant. It stands in the notebook; the secret cannot be computed from it."""
    said = "\0".join((student, chapter, str(tries)))
    return int.from_bytes(hmac.digest(secret, said.encode(), hashlib.sha256)[:6], "big") | 1


def seeded(master: Path) -> bool:
    """Whether the questions of a master differ by seed."""
    return handouts.SEED_LINE.search(master.read_text()) is not None


def make(secret: bytes, students: list[str], target: Path, masters: list[Path]) -> Made:
    """Writes `hand-out/STUDENT/CHAPTER.ipynb` to give away, and `grading`, which holds tests and solutions, to keep."""
    differing = [master for master in masters if seeded(master)]
    same = [master for master in masters if master not in differing]
    for student in students:
        (target / "hand-out" / student).mkdir(parents=True, exist_ok=True)
    with progress.bar(
        total=len(same) + len(differing) * len(students), desc="Notebooks", unit="notebook"
    ) as bar:
        for master in same:
            made = handouts.make(master, target / "grading" / "shared", run_tests=False)
            for student in students:
                shutil.copy(made.student, target / "hand-out" / student)
            bar.update()
        for student in students:
            for master in differing:
                made = _variant(secret, student, master, target / "grading" / "students" / student)
                shutil.copy(made.student, target / "hand-out" / student)
                bar.update()
    return Made(len(students), [each.stem for each in differing], [each.stem for each in same])


def _variant(secret: bytes, student: str, master: Path, folder: Path) -> handouts.Handout:
    """The first variant of a student's that the solution itself solves: some drawn numbers may leave a question without sense."""
    for tries in range(MOST_TRIES):
        seed = seed_of(secret, student, master.stem, tries)
        made = handouts.make(master, folder, seed=seed, run_tests=False)
        if not any(failed for _, failed in tried(made.solution, handouts.questions(master, seed=seed))):
            return made
    raise EngineRoomError(
        f"the solutions of {master.stem} fail in {MOST_TRIES} variants",
        remedy="make quick says what is wrong with them",
    )
