"""`python -m engineroom.teach`: what `make class` runs."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from engineroom import paths, progress
from engineroom.errors import EngineRoomError
from engineroom.teach import delivery, handouts, wheel
from engineroom.teach.trial import OWN_CELL, Trial, tried


@click.command()
@click.option("--seed", default=0, show_default=True, help="Variant of the numbers; 0 is the book's own.")
@click.option(
    "--target", type=click.Path(path_type=Path), help="Folder to write to; by default _build/class."
)
@click.option(
    "--check", is_flag=True, help="Only run starters, solutions and planted wrong answers, quickly."
)
def main(seed: int, target: Path | None, check: bool) -> None:
    """Make student notebooks and autograder archives of all exercises."""
    if check:
        with tempfile.TemporaryDirectory() as scratch:
            found = [fault for master in handouts.masters() for fault in _faults(master, Path(scratch), seed)]
        for fault in found:
            click.echo(fault)
        click.echo(f"{len(found)} faults in {len(handouts.masters())} masters")
        sys.exit(bool(found))

    folder = target or paths.build() / "class"
    package = wheel.build(folder / "grading")
    students = wheel.for_students(package, folder / "hand-out")
    (folder / "grading" / "requirements.txt").write_text(wheel.requirements())
    notebooks = []
    for master in progress.bar(handouts.masters(), desc="Exercises", unit="master"):
        handout = handouts.make(master, folder, seed=seed)
        wheel.put_into(handout.autograder, package)
        notebooks.append(handout.student)
        click.echo(f"{handout.name}\n  for students: {handout.student}\n  to grade:     {handout.autograder}")
    delivery.zipped(folder / "hand-out" / "students.zip", [*notebooks, students])
    click.echo(f"All notebooks and the package, for students: {folder / 'hand-out' / 'students.zip'}")
    click.echo(f"The package, for machines that grade without the book: {package}")
    click.echo("Grade one submission:  otter run -a ARCHIVE -o FOLDER SUBMISSION   (FOLDER must exist)")


def _faults(master: Path, scratch: Path, seed: int) -> list[str]:
    handout = handouts.make(master, scratch, seed=seed, run_tests=False)
    questions = handouts.questions(master, seed=seed)
    found = [
        f"{handout.name} {question.name}: the starter passes"
        for question, failed in tried(handout.student, questions)
        if not failed
    ]
    found += [
        f"{handout.name} {question.name}: the solution fails\n{each.test}: {each.said}"
        for question, failed in tried(handout.solution, questions)
        for each in failed
    ]
    trials = {question.name: Trial(question) for question in questions}
    for wrong in handouts.wrong_answers(master):
        failed = trials[wrong.question].failures(wrong.code)
        if not any(each.is_by_a_test for each in failed):
            raised = next((each.said for each in failed if each.test == OWN_CELL), None)
            reason = f"raises {raised}" if raised else "no test rejects it"
            found.append(f"{handout.name} {wrong.question}, {wrong.misconception}: {reason}")
    return found


if __name__ == "__main__":
    try:
        main()
    except EngineRoomError as error:
        click.echo(f"engineroom.teach: {error}", err=True)
        sys.exit(1)
