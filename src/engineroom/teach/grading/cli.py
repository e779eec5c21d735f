"""`engineroom class`: make a variant per student, grade a folder of submissions."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import click

from engineroom import files, paths
from engineroom.errors import EngineRoomError, refuse_unwritable
from engineroom.teach import delivery, similarity, wheel
from engineroom.teach import handouts as making
from engineroom.teach.grading import exports, sheets, submissions, variants
from engineroom.teach.grading import grade as grading
from engineroom.teach.grading import roster as rosters
from engineroom.teach.grading.jail import Limits
from engineroom.teach.grading.sandbox import ISOLATIONS

__all__ = ["classes"]


@click.group()
def classes() -> None:
    """Exercises for a class."""


@classes.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The table of points to write.")
@click.option(
    "--class",
    "class_folder",
    type=click.Path(path_type=Path),
    help="Folder of `make class` or `engineroom class make`; by default _build/class.",
)
@click.option("--format", "form", type=click.Choice(sheets.FORMS), default="csv", show_default=True)
@click.option(
    "--roster",
    "roster_file",
    type=click.Path(path_type=Path),
    help="A CSV file of the students: ids, names, e-mail addresses. The gradebook that your LMS exports is one.",
)
@click.option(
    "--pattern",
    help=r"What a path in FOLDER says, as in (?P<chapter>\w+)/(?P<student>[^_]+)_.*: a regular expression with named groups.",
)
@click.option(
    "--jobs", type=click.IntRange(1, 64), help="How many notebooks run at once; by default one per processor."
)
@click.option(
    "--seconds",
    type=click.FloatRange(1, 3600),
    default=20,
    show_default=True,
    help="Seconds of processor time per cell, and per question; three times as many by the clock.",
)
@click.option(
    "--memory-mib",
    type=click.IntRange(512, 1 << 20),
    default=2048,
    show_default=True,
    help="Memory per process, in MiB.",
)
@click.option(
    "--isolation",
    type=click.Choice(["auto", "namespaces", "limits"]),
    default="auto",
    show_default=True,
    help="auto: refuse where nothing can hide the solutions. namespaces: refuse to grade without them. limits: do without them; where Linux has Landlock, it keeps files from answers.",
)
def grade(
    *,
    folder: Path,
    out: Path,
    class_folder: Path | None,
    form: str,
    roster_file: Path | None,
    pattern: str | None,
    jobs: int | None,
    seconds: float,
    memory_mib: int,
    isolation: str,
) -> None:
    """Grade the notebooks in FOLDER, which holds what Canvas, Moodle, Gradescope or nbgrader exports, unpacked.

    STUDENT/CHAPTER.ipynb and STUDENT_CHAPTER.ipynb are read, too, and the zip files that students export. Put what your LMS exports for each
    chapter into a folder of the chapter's name. Without a roster, students are called as their files are.

    Each notebook runs from top to bottom in a process of its own, with a copy for each question. What is finished is kept in a journal beside OUT: the same command goes on
    from there, and grades again only what has changed. Beside OUT is a report with every failure, for the instructor only, and a folder with a page
    per student, which names no hidden test.
    """
    chosen = class_folder or paths.build() / "class"
    roster = rosters.read(roster_file) if roster_file else None
    naming = exports.compiled(pattern) if pattern else None
    handouts = submissions.read_class(chosen)
    chapters = handouts.chapters()
    found = [
        dataclasses.replace(each, person=None, fault=f"{each.student} has no variant in {chosen}")
        if not each.fault and handouts.of(each.student, each.chapter) is None
        else each
        for each in submissions.find(folder, list(chapters), pattern=naming, roster=roster)
    ]
    sheets.refuse(form, found, roster)
    refuse_unwritable(out)
    written = [out, out.with_suffix(".report.md"), grading.journal_of(out)]
    for file in written:
        refuse_unwritable(file)
    pages = out.with_name(out.stem + "-feedback")
    secrets = [*grading.secrets(chosen, folder, out), written[1].resolve(), pages.resolve()]
    results, used = grading.grade(
        found,
        handouts,
        out=out,
        hidden=secrets,
        limits=Limits(seconds=seconds, wall_seconds=3 * seconds, memory_mib=memory_mib),
        jobs=jobs or os.cpu_count() or 1,
        isolation=isolation,
    )
    try:
        sheets.write(out, form, results, found, chapters, roster=roster)
        report = sheets.report(results, found, ISOLATIONS[used], roster) + similarity.told(found, handouts)
        texts = {written[1]: report}
        for student in {each.student for each in results}:
            texts[pages / sheets.page(student)] = sheets.feedback(student, results)
        pages.mkdir(exist_ok=True)
        for file, text in texts.items():
            file.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise EngineRoomError(
            f"{error.filename} cannot be written: {error.strerror}",
            remedy="make room there, or name another place",
        ) from error
    click.echo(f"Isolation: {ISOLATIONS[used]}")
    students = {each.student for each in found}
    click.echo(f"{len(students)} students, {len(found)} notebooks, {len(results)} questions: {out}")
    click.echo(f"Every failure, with what was given, expected and got: {written[1]}")
    click.echo(f"A page to give back to each student: {pages}")
    if form in ("canvas", "moodle"):
        headings = sheets.columns(sorted({each.chapter for each in results}), roster)
        click.echo("Columns: " + ", ".join(f"{each} as {files.visible(headings[each])}" for each in headings))
    for line in sheets.unmatched(found, roster) if roster else ():
        click.echo(files.visible(line), err=True)
    for each in found:
        if each.fault:
            said = f"not graded: {each.origin}: {each.fault}".encode("utf-8", "backslashreplace").decode()
            click.echo(files.visible(said), err=True)


@classes.command()
@click.option(
    "--secret", type=click.Path(path_type=Path), required=True, help="A file with a long random text."
)
@click.option(
    "--roster",
    type=click.Path(path_type=Path),
    required=True,
    help="A CSV file with the students' ids in column id; or the gradebook that your LMS exports.",
)
@click.option(
    "--target", type=click.Path(path_type=Path), help="Folder to write to; by default _build/class-variants."
)
@click.option("--chapter", "chapters", multiple=True, help="Only these chapters; may be repeated.")
@click.option(
    "--url",
    default="",
    help="Address of the folder to which you will copy the zip files: https://files.example.org/class.",
)
def make(*, secret: Path, roster: Path, target: Path | None, chapters: tuple[str, ...], url: str) -> None:
    """Make exercises with other data for each student of a roster.

    The data follow from the secret and the student's id, so that the same command makes the same notebooks again. The secret is in
    none of them. Give each student the zip file that links.csv names, and keep the folder grading to yourself.
    """
    delivery.refuse_no_address(url, "a folder")
    key, people = variants.read_secret(secret), rosters.read(roster).people
    masters = _masters(chapters)
    folder = target or paths.build() / "class-variants"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = variants.make(key, [each.id for each in people], folder, masters)
        package = wheel.build(folder / "grading")
        wheel.for_students(package, folder / "hand-out")
        (folder / "grading" / "requirements.txt").write_text(wheel.requirements())
        table = delivery.pack(folder, people, key, url=url)
    except (OSError, ValueError) as error:
        raise EngineRoomError(
            f"{folder} cannot be written: {error}", remedy="name a folder in which you may write"
        ) from error
    click.echo(f"{made.students} students. Another variant for each: {', '.join(made.varied) or 'none'}")
    click.echo(f"The same for all: {', '.join(made.same) or 'none'}")
    click.echo(f"One zip per student: {folder / delivery.ZIPS}; who gets which: {table}")
    click.echo(f"Keep {folder / 'grading'} to yourself.")
    click.echo(f"The package, for a machine that grades without the book: {package}")
    click.echo(f"engineroom class grade SUBMISSIONS --class {folder} --out grades.csv")


@classes.command()
@click.option(
    "--branch", default="", help="Another branch than the book's: one with the files of `class student`."
)
@click.option(
    "--hub", default="", help="Address of your JupyterHub with nbgitpuller: https://hub.example.org."
)
def links(*, branch: str, hub: str) -> None:
    """Print the addresses that open each lab on Binder, and on a JupyterHub.

    They are made from the repository in _config.yml. With the branch of a student's folder, the exercises have addresses, too.
    """
    found = delivery.links(branch=branch, hub=hub)
    for chapter, service, address in found:
        click.echo(f"{chapter}\t{service}\t{address}")
    if any("/OWNER/" in address for _, _, address in found):
        click.echo("They lead nowhere until _config.yml names your repository.", err=True)


@classes.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--seed", type=click.IntRange(0, 2**62), default=0, show_default=True, help="Variant of the numbers."
)
def student(*, folder: Path, seed: int) -> None:
    """Write a FOLDER for a class: labs, kernels and exercises of the book, without solutions, pages and tests.

    Publish it as a branch or a repository of its own, for Binder or a JupyterHub.
    """
    _masters(())
    n = delivery.student(folder, seed=seed)
    click.echo(f"{n} files in {folder}; the exercises are in {folder / delivery.EXERCISES}")
    click.echo("Publish it, for example as a branch of your repository:")
    click.echo("  git init -b students && git add -A && git commit -m 'Labs and exercises'")
    click.echo("  git push YOUR-REPOSITORY students")
    click.echo("engineroom class links --branch students")


def _masters(chapters: tuple[str, ...]) -> list[Path]:
    """The masters of these chapters, of all where none is named."""
    masters = making.masters()
    if unknown := sorted(set(chapters) - {each.stem for each in masters}):
        raise EngineRoomError(
            f"{', '.join(unknown)}: no chapter with exercises",
            remedy=f"choose from {', '.join(each.stem for each in masters)}",
        )
    chosen = [each for each in masters if not chapters or each.stem in chapters]
    if missing := [each for each in chosen if not each.is_file()]:
        raise EngineRoomError(
            f"{', '.join(str(each) for each in missing)}: no such file",
            remedy="run it in a checkout of the book, or name one in ENGINEROOM_ROOT",
        )
    return chosen
