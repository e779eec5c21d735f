"""What was seen of the small mistakes in each question's solution, kept in `data/mutants/exercises.csv` and shown to instructors."""

from __future__ import annotations

import csv
import datetime
import hashlib
import io
import json
import re
import tomllib
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from engineroom import paths
from engineroom.runs import provenance
from engineroom.teach import handouts
from engineroom.teach.mutants import FEWEST, Verdict

__all__ = ["Row", "changed", "digest", "keep", "read", "written"]


ADDED = re.compile(
    rf"\n    from engineroom\.classroom import fresh\n\n    {re.escape(handouts.KEEPS)}\(.*\)(?=\n)"
)


@dataclass(frozen=True)
class Row:
    """A question as it was judged: with which solution and tests (`digest`), by which revision, when."""

    chapter: str
    question: str
    mutants: int
    seen: int
    equivalent: int
    digest: str
    revision: str
    date: str


def file() -> Path:
    """The kept table: one row per question."""
    return paths.root() / "data" / "mutants" / "exercises.csv"


def digest(question: handouts.Question) -> str:
    """Of all that a verdict on the question's mutants stands on, apart from the graders' own code, such as what every handout adds to a test."""
    own = replace(question, tests=tuple(ADDED.sub("", test) for test in question.tests))
    return hashlib.sha256(json.dumps(asdict(own)).encode()).hexdigest()[:12]


def read() -> dict[tuple[str, str], Row]:
    """The kept rows by chapter and question; none where nothing was recorded."""
    if not file().exists():
        return {}
    kept = csv.DictReader(io.StringIO(file().read_text()))
    numbers = {each.name for each in fields(Row) if each.type == "int"}
    typed = ({name: int(text) if name in numbers else text for name, text in row.items()} for row in kept)
    rows = [Row(**each) for each in typed]  # type: ignore[arg-type]
    return {(each.chapter, each.question): each for each in rows}


def changed(masters: list[Path]) -> set[tuple[str, str]]:
    """The questions of these masters that were never judged, or have another solution or other tests since."""
    kept = read()
    return {
        (master.stem, each.name)
        for master in masters
        for each in handouts.questions(master)
        if getattr(kept.get((master.stem, each.name)), "digest", "") != digest(each)
    }


def keep(verdicts: list[Verdict]) -> None:
    """Writes the rows of what was judged now, beside those of the other questions that still exist."""
    digests = {
        (master.stem, each.name): digest(each)
        for master in handouts.masters()
        for each in handouts.questions(master)
    }
    seen = provenance.machine()
    rows = {key: row for key, row in read().items() if key in digests}
    for key in {(each.chapter, each.mutant.question) for each in verdicts}:
        mine = [each for each in verdicts if (each.chapter, each.mutant.question) == key]
        rows[key] = Row(
            *key,
            mutants=len(mine),
            seen=sum(each.is_killed for each in mine),
            equivalent=sum(bool(each.equivalent) for each in mine),
            digest=digests[key],
            revision=str(seen["revision"]),
            date=str(datetime.date.fromisoformat(str(seen["date"])[:10])),
        )
    ordered = [rows[key] for key in digests if key in rows]
    with file().open("w", newline="") as out:
        table = csv.DictWriter(out, [each.name for each in fields(Row)], lineterminator="\n")
        table.writeheader()
        table.writerows(asdict(each) for each in ordered)


def written(titles: dict[str, str]) -> str:
    """The guide's table: a row per chapter of `titles` (word: title), in which each question has its own share."""
    rows = list(read().values())
    if not rows:
        return "Nothing is recorded yet.\n"
    head = "| chapter | mistakes | seen | equivalent | seen of those that matter, by question |\n|---|---|---|---|---|\n"
    lines = []
    for word, title in titles.items():
        mine = [each for each in rows if each.chapter == word]
        if not mine:
            lines.append(f"| [{title}]({word}.md) | | | | not recorded yet |")
            continue
        each_one = ", ".join(f"{each.question} {each.seen}/{each.mutants - each.equivalent}" for each in mine)
        lines.append(f"| [{title}]({word}.md) | {_sums(mine)} | {each_one} |")
    dates = sorted({each.date for each in rows})
    recorded = " to ".join(dict.fromkeys(dates[:1] + dates[-1:]))
    return (
        f"{head}{chr(10).join(lines)}\n| all | {_sums(rows)} | {_share(rows)} |\n\n"
        f"Recorded {recorded}; `data/mutants/exercises.csv` has the revision of each question. A prediction whose solution the kernel computes has no\n"
        f"mistakes to plant and is left out.{_few(rows)}\n"
    )


def _few(rows: list[Row]) -> str:
    """Which questions have fewer mistakes than the others, with the reasons that are kept."""
    entries = tomllib.loads((paths.root() / "data" / "mutants" / "exercises.toml").read_text())["few"]
    judged = {(each.chapter, each.question): each.mutants for each in rows}
    said = [
        f"- {each['chapter']} {each['question']}, {judged[each['chapter'], each['question']]}: {each['reason']}."
        for each in entries
        if (each["chapter"], each["question"]) in judged
    ]
    return f" In these, fewer than {FEWEST} can be made:\n\n" + "\n".join(said) if said else ""


def _sums(rows: list[Row]) -> str:
    return " | ".join(
        str(sum(getattr(each, name) for each in rows)) for name in ("mutants", "seen", "equivalent")
    )


def _share(rows: list[Row]) -> str:
    matter: Any = sum(each.mutants - each.equivalent for each in rows)
    seen = sum(each.seen for each in rows)
    return f"{len(rows)} questions: {100 * seen / matter:.1f} %" if matter else "none recorded"
