"""A class rehearsed: variants are made for invented students, scripts answer them, and the grader's points are held against what each answer deserves."""

from __future__ import annotations

import json
import random
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engineroom import paths, progress
from engineroom.runs import provenance
from engineroom.teach import handouts, varied
from engineroom.teach.grading import grade as grading
from engineroom.teach.grading import variants
from engineroom.teach.grading.submissions import bound_names, used_names

__all__ = ["HOSTILE", "Answer", "file", "rehearse", "stand_alone", "summary", "took", "written"]

SECRET = b"a rehearsal has nothing to hide"
GOAL_MINUTES = 20  # by the clock, on two cores, for 100 students with five notebooks each
# What stands in the place of an answer; `{name}` is what the question asks for.
HOSTILE = {
    "ends the process": "import os\nos._exit(0)",
    "runs for ever": "while True:\n    pass",
    "crashes": "import ctypes\nctypes.string_at(0)",
    "takes 10 GB": "{name} = bytearray(10 << 30)",
    "starts processes without end": "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass",
    "equals everything": "class Yes:\n    def __call__(self, *args, **kwargs):\n        return self\n"
    "    def __eq__(self, other):\n        return True\n    def __getattr__(self, name):\n        return self\n{name} = Yes()",
    "replaces the grader": "import builtins\nfrom engineroom.teach import fresh\nfrom engineroom.teach.grading import judge\n"
    "fresh.agree = fresh.same = judge.run = lambda *_, **__: True\n"
    "builtins.AssertionError = type('Never', (Exception,), {{}})\n{name} = lambda *_, **__: None",
    "deletes files": "import pathlib\nfor each in pathlib.Path('/').glob('*/*'):\n    try:\n        each.unlink()\n    except OSError:\n"
    "        pass\n{name} = None",
    "sleeps": "import time\ntime.sleep(10**6)",
}


@dataclass(frozen=True)
class Answer:
    """What a script hands in for a question, and what is said of it: `kind` is right, wrong or hostile."""

    student: str
    chapter: str
    question: str
    kind: str
    what: str


def file() -> Path:
    """The rehearsal that was recorded last."""
    return paths.root() / "data" / "class" / "rehearsal.json"


def rehearse(
    folder: Path,
    *,
    students: int,
    notebooks: int,
    jobs: int,
    seconds: float = 20,
    masters: list[Path] | None = None,
) -> dict[str, Any]:
    """Makes a class in `folder`, answers and grades it; JSON-able: provenance, costs, a row per kind, and the misses.

    Each student has `notebooks` chapters, the next student's begin one chapter later. Half of the answers are right, and every second student has
    one that is hostile. Answers on which others of the notebook stand are right ones, so that each answer stands for itself.
    """
    masters = masters or handouts.masters()
    seen = provenance.machine(seed=0)
    roster = [f"student-{i:03}" for i in range(students)]
    begun = time.monotonic()
    given = _made(folder / "class", roster, masters, notebooks)
    made_seconds = time.monotonic() - begun
    answers = [each for student in progress.bar(roster, desc="Answers", unit="student")
               for each in _handed_in(folder, student, roster.index(student), given[student])]  # fmt: skip
    cpu, begun = _children_seconds(), time.monotonic()
    with provenance.watch() as load:
        subprocess.run(
            [sys.executable, "-c", "from engineroom.cli import main; main()", "class", "grade", str(folder / "submissions"), "--class", str(folder / "class"),
             "--out", str(folder / "grades.csv"), "--jobs", str(jobs), "--seconds", str(seconds)],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
    return summary(answers, grading.read_journal(grading.journal_of(folder / "grades.csv"))) | {
        "students": students,
        "notebooks": sum(map(len, given.values())),
        "jobs": jobs,
        "made_wall_minutes": made_seconds / 60,
        "wall_minutes": (time.monotonic() - begun) / 60,
        "cpu_minutes": (_children_seconds() - cpu) / 60,
        "goal_wall_minutes": GOAL_MINUTES,
        "load": load,
        "machine": seen,
    }


def _children_seconds() -> float:
    """Processor time of the commands that have ended, with all that they started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _made(target: Path, roster: list[str], masters: list[Path], notebooks: int) -> dict[str, list[Path]]:
    """Each student's masters; their variants are made in `target`."""
    n = len(masters)
    given = {
        student: [masters[(i + k) % n] for k in range(min(notebooks, n))] for i, student in enumerate(roster)
    }
    for chosen in {tuple(mine) for mine in given.values()}:
        mine = [student for student, theirs in given.items() if tuple(theirs) == chosen]
        variants.make(SECRET, mine, target, list(chosen))
    return given


def _handed_in(folder: Path, student: str, number: int, masters: list[Path]) -> Iterator[Answer]:
    """Writes a student's notebooks and tells what is in them."""
    (folder / "submissions" / student).mkdir(parents=True, exist_ok=True)
    dice = random.Random(student)
    choice = {master: _choices(master) for master in masters}
    free = [
        (master, name)
        for master in masters
        for name, (_, _, stands_alone) in choice[master].items()
        if stands_alone
    ]
    attacked = dice.choice(free) if number % 2 == 0 else None
    attack = list(HOSTILE)[number // 2 % len(HOSTILE)]
    for master in masters:
        seed = _seed(folder / "class" / "hand-out" / student / f"{master.stem}.ipynb")
        answers: dict[str, str] = {}
        for name, (right, wrong, stands_alone) in choice[master].items():
            if (master, name) == attacked:
                kind, what, code = "hostile", attack, HOSTILE[attack].format(name=_name(right[0].code))
            else:
                kind = "wrong" if stands_alone and dice.random() < 0.5 else "right"
                chosen = dice.choice(wrong if kind == "wrong" else right)
                what, code = chosen.misconception, chosen.code
                if variant := varied.variant(master.stem, name, seed):
                    code = variant.answer(code, right[0].code)
            answers[name] = code
            yield Answer(student, master.stem, name, kind, what)
        source = folder / "class" / "hand-out" / student / f"{master.stem}.ipynb"
        (folder / "submissions" / student / source.name).write_text(
            _filled(source, answers), encoding="utf-8"
        )


def _choices(
    master: Path,
) -> dict[str, tuple[list[handouts.WrongAnswer], list[handouts.WrongAnswer], bool]]:
    """By question: its right answers, the solution first, its planted wrong ones, and whether no other answer stands on it."""
    mine = handouts.questions(master)
    wrong, right = handouts.wrong_answers(master), handouts.right_answers(master)
    alone = stand_alone(mine, [*wrong, *right])
    return {
        each.name: (
            [handouts.WrongAnswer(each.name, "the solution", each.solution), *(a for a in right if a.question == each.name)],
            [a for a in wrong if a.question == each.name],
            each.name in alone,
        )
        for each in mine
    }  # fmt: skip


def stand_alone(questions: list[handouts.Question], others: list[handouts.WrongAnswer]) -> set[str]:
    """The questions whose names no solution to another one uses, and none of the `others` that may be handed in for it."""
    used = {each.name: used_names(each.solution) for each in questions}
    for other in others:
        used[other.question] |= used_names(other.code)
    return {
        each.name
        for each in questions
        if not any(bound_names(each.solution) & names for name, names in used.items() if name != each.name)
    }


def _name(solution: str) -> str:
    """What a question asks for: the last name that its solution defines at its top."""
    defined = re.findall(r"^(?:def )?(\w+)(?=\(| = )", solution, re.MULTILINE)
    return str(defined[-1])


def _seed(notebook: Path) -> int:
    """Of a student's variant."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    found = handouts.SEED_LINE.search("\n".join("".join(each["source"]) for each in cells))
    return int(found[0].rpartition("=")[2]) if found else 0


def _filled(notebook: Path, answers: dict[str, str]) -> str:
    """The notebook as handed in: each question's answer in the last cell before its check."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))
    answer = None
    for cell in cells["cells"]:
        if "otter_answer_cell" in cell["metadata"].get("tags", []):
            cell["source"], answer = "pass", cell
        elif (check := handouts.CHECK_CELL.match("".join(cell["source"]).strip())) and answer is not None:
            answer["source"] = answers[check.group(1)]
    return json.dumps(cells)


def summary(answers: list[Answer], results: dict[tuple[str, str, str], grading.Result]) -> dict[str, Any]:
    """How many answers of each kind had which points, and those that had others than they deserve."""
    rows, misses = [], []
    for kind in ("right", "wrong", "hostile"):
        mine = [each for each in answers if each.kind == kind]
        shares = [_share(results.get((each.student, each.chapter, each.question))) for each in mine]
        deserved = [share == 1 if kind == "right" else 0 <= share <= grading.PARTIAL for share in shares]
        rows.append(
            {
                "kind": kind,
                "answers": len(mine),
                "as_deserved": sum(deserved),
                "mean_share": sum(shares) / len(shares) if shares else None,
            }
        )
        misses += [
            asdict(each) | {"share": share}
            for each, share, fits in zip(mine, shares, deserved, strict=True)
            if not fits
        ]
    return {"rows": rows, "misses": misses}


def _share(result: grading.Result | None) -> float:
    """Of the question's points; -1 for an answer that has no result."""
    return -1.0 if result is None else result.points / result.most


def written(kept: dict[str, Any] | None = None) -> str:
    """The guide's sentences and table about a rehearsal, the recorded one unless told."""
    if kept is None:
        if not file().exists():
            return "No rehearsal is recorded yet.\n"
        kept = json.loads(file().read_text(encoding="utf-8"))
    wants = {
        "right": "all points",
        "wrong": "a quarter at most",
        "hostile": "a quarter at most, and no other question's points",
    }
    lines = ["| answers | deserve | tried | had them | mean share of the points |", "|---|---|---|---|---|"]
    lines += [
        f"| {row['kind']} | {wants[row['kind']]} | {row['answers']} | {row['as_deserved']} | {_percent(row['mean_share'])} |"
        for row in kept["rows"]
    ]
    named = "".join(
        f"- {each['chapter']} {each['question']}, {each['kind']}: {each['what']}: {_percent(each['share'])}\n"
        for each in kept["misses"][:10]
    )
    return (
        "\n".join(lines)
        + f"\n\n{kept['students']} invented students with {kept['notebooks']} notebooks, {sum(row['answers'] for row in kept['rows'])} answers, graded by "
        f"{kept['jobs']} workers: {kept['cpu_minutes']:.1f} minutes of processor time, {kept['wall_minutes']:.1f} minutes by the clock "
        f"with a load of {kept['load']['load_before']:g} to {kept['load']['load_after']:g}. {_judged(kept)} "
        f"Recorded {kept['machine']['date'][:10]}, revision {kept['machine']['revision']}.\n"
        + (f"\nThese {len(kept['misses'])} had other points:\n\n{named}" if named else "")
    )


def took(kept: dict[str, Any] | None = None) -> str:
    """The guide's item about how long grading takes, of the recorded rehearsal unless told."""
    if kept is None:
        if not file().exists():
            return "- **Time.** No rehearsal is recorded yet.\n"
        kept = json.loads(file().read_text(encoding="utf-8"))
    questions = sum(row["answers"] for row in kept["rows"])
    return (
        f"- **Time.** In the recorded rehearsal below, {questions} questions of {kept['notebooks']} notebooks took {kept['cpu_minutes']:.1f} minutes of processor time, "
        f"{60 * kept['cpu_minutes'] / questions:.1f} s per question, those that an attack holds up included.\n"
        f"  {_judged(kept)}\n"
    )


def _judged(kept: dict[str, Any]) -> str:
    """Whether the goal was held: it is one of a whole class only."""
    goal = f"less than {kept['goal_wall_minutes']} minutes by the clock for 100 students with five notebooks each"
    if (kept["students"], kept["notebooks"]) != (100, 500):
        return f"The goal, {goal}, was not judged: this class was smaller."
    return (
        f"The goal, {goal}, was {'held' if kept['wall_minutes'] < kept['goal_wall_minutes'] else 'missed'}."
    )


def _percent(share: float | None) -> str:
    return "-" if share is None else "no result" if share < 0 else f"{100 * share:.1f} %"
