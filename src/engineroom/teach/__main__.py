"""`python -m engineroom.teach`: what `make class` runs."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from engineroom import paths, progress
from engineroom.errors import EngineRoomError
from engineroom.teach import delivery, handouts, wheel


@click.command()
@click.option("--seed", default=0, show_default=True, help="Variant of the numbers; 0 is the book's own.")
@click.option(
    "--target", type=click.Path(path_type=Path), help="Folder to write to; by default _build/class."
)
def main(seed: int, target: Path | None) -> None:
    """Make student notebooks and autograder archives of all exercises."""
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


if __name__ == "__main__":
    try:
        main()
    except EngineRoomError as error:
        click.echo(f"engineroom.teach: {error}", err=True)
        sys.exit(1)
