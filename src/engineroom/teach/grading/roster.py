"""Who is in a class, by a CSV file of any origin, and which of them an exported file belongs to."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from engineroom import files
from engineroom.errors import EngineRoomError

__all__ = ["NUMBER", "Person", "Roster", "folded", "plain", "read", "safe"]

# Headings by what they hold, those of Canvas, Moodle and Gradescope among them; the first that a row fills is the student's id.
IDS = ("sis login id", "login id", "id", "student id", "sid", "username", "id number", "sis user id")
MAILS = ("email", "email address", "e-mail", "e-mail address", "mail")
NAMES = ("name", "full name", "student name", "student")
FIRST, LAST = ("first name", "firstname"), ("last name", "lastname", "surname")
NUMBER = "identifier"  # of a student in one assignment of Moodle: "Participant 123"
# How the gradebook that Canvas exports begins; in any other file a column ID has other ids than Canvas does.
CANVAS = (["Student", "ID"], ["LastName", "FirstName", "ID"])
NOBODY = re.compile(r"(muted|manual posting.*)?", re.IGNORECASE)
ID = re.compile(r"[A-Za-z0-9_@][A-Za-z0-9._@+-]{0,99}")


@dataclass(frozen=True)
class Person:
    """A student: a row of the roster, or what the name of a file says where there is none."""

    id: str
    name: str
    email: str = ""
    canvas: str = ""  # Canvas's own number of the student
    row: tuple[str, ...] = ()


class Roster:
    """The students of a class, in the order of the file, with all that the file says of them."""

    def __init__(self, head: list[str], rows: list[list[str]]) -> None:
        self.head = head
        self.is_canvas = "Section" in head and (head[:2] == CANVAS[0] or head[:3] == CANVAS[1])
        self.possible = next((row for row in rows if row[0].startswith("Points Possible")), [])
        self._headings = [_heading(name) for name in head]
        self.people = [
            self._person(row)
            for row in rows
            if row is not self.possible and not all(map(NOBODY.fullmatch, row))
        ]
        self._places: dict[tuple[str, str], set[int]] = {}
        for place, person in enumerate(self.people):
            for key in self._keys(person):
                self._places.setdefault(key, set()).add(place)

    def column(self, heading: str) -> int | None:
        """Where this heading stands, in lower case."""
        return self._headings.index(heading) if heading in self._headings else None

    def identity(self) -> list[int]:
        """The columns that say who a student is."""
        known = {*IDS, *MAILS, *NAMES, *FIRST, *LAST}
        return [i for i, name in enumerate(self._headings) if name in known]

    def find(self, says: dict[str, str]) -> Person | None:
        """Whom the name of a file means; nobody if nothing of it is known. Refuses one that could be two students.

        `says` has what the name holds, by kind: id, email, name, canvas, moodle, or student for an id, an e-mail address or a name.
        """
        known = [places for kind, value in says.items() if (places := self._known(kind, value))]
        if not known:
            return None
        agreed = set.intersection(*known)
        if len(agreed) == 1:
            return self.people[agreed.pop()]
        meant = sorted(self.people[place].id for place in agreed or set.union(*known))
        raise EngineRoomError(
            f"{' '.join(says.values())!a} can be {' or '.join(meant)} of the roster",
            remedy="name one of their ids in the path of the file, and say with --pattern where it stands",
        )

    def _known(self, kind: str, value: str) -> set[int]:
        kinds = ("id", "email", "name") if kind == "student" else (kind,)
        return next(
            (self._places[key] for each in kinds if (key := _key(each, value)) in self._places), set()
        )

    def _cells(self, row: tuple[str, ...] | list[str], headings: tuple[str, ...]) -> list[str]:
        """What the row has under these headings, in their order."""
        places = [i for each in headings if (i := self.column(each)) is not None]
        return [row[i] for i in places if i < len(row) and row[i]]

    def _person(self, row: list[str]) -> Person:
        ids, mails, number = self._cells(row, IDS), self._cells(row, MAILS), self._cells(row, (NUMBER,))
        names = self._cells(row, NAMES) or [" ".join(self._cells(row, FIRST) + self._cells(row, LAST))]
        if len(self.head) == 1 or not {*IDS, *MAILS, NUMBER} & set(self._headings):
            ids = self._cells(row, ("student",)) or row[:1]
        chosen = [*ids, *mails, *(re.sub(r"\D", "", each) for each in number), ""][0]
        if not ID.fullmatch(chosen):
            raise EngineRoomError(
                f"{files.visible(repr(chosen))} in the roster is no id that can be a folder's name",
                remedy="use letters, digits and . _ @ + -, beginning with a letter or a digit",
            )
        canvas = [*self._cells(row, ("id",)), ""][0] if self.is_canvas else ""
        return Person(chosen, names[0] or chosen, [*mails, ""][0], canvas, tuple(row))

    def _keys(self, person: Person) -> set[tuple[str, str]]:
        found = [("id", each) for each in (person.id, *self._cells(person.row, IDS))]
        found += [("email", each) for each in self._cells(person.row, MAILS)]
        found += [("moodle", re.sub(r"\D", "", each)) for each in self._cells(person.row, (NUMBER,))]
        found.append(("canvas", person.canvas))
        words = person.name.replace(",", " ").split()  # "Doe, Jane" and "Jane Doe", whatever the last name is
        found += [("name", "".join(words[i:] + words[:i])) for i in range(len(words))]
        return {_key(kind, value) for kind, value in found if value}


def _heading(name: str) -> str:
    return " ".join(name.lower().replace("_", " ").split())


def _key(kind: str, value: str) -> tuple[str, str]:
    return kind, folded(value) if kind == "name" else plain(value).casefold()


def plain(name: str) -> str:
    """A name without what nobody sees: its letters in one form, and no marks without width."""
    composed = unicodedata.normalize("NFKC", name)
    return "".join(each for each in composed if unicodedata.category(each) != "Cf").strip()


def folded(name: str) -> str:
    """A name by its letters and digits alone, as Canvas writes it into the names of files."""
    return "".join(
        each for each in plain(name).casefold() if each.isalnum() or unicodedata.category(each)[0] == "M"
    )


def safe(cell: object) -> object:
    """What a table may hold of others' names: none becomes a formula of a spreadsheet. A lone - is Moodle's word for no grade."""
    is_formula = isinstance(cell, str) and cell.lstrip()[:1] in ("=", "+", "-", "@") and cell != "-"
    return f"'{cell}" if is_formula else cell


def read(file: Path) -> Roster:
    """The roster in a CSV file, which may be the gradebook that Canvas, Moodle or Gradescope exports."""
    text = files.read_text(file, "roster")
    remedy = "write a heading, id, and one student's id per line; or take the gradebook that your LMS exports"
    first = text.partition("\n")[0]
    parsed = csv.reader(
        io.StringIO(text, newline=""), delimiter=";" if first.count(";") > first.count(",") else ","
    )
    try:
        rows = [[cell.strip() for cell in row] for row in parsed if any(map(str.strip, row))]
    except csv.Error as error:
        raise EngineRoomError(
            f"the roster {files.visible(str(file))} is not CSV: {error}", remedy=remedy
        ) from error
    head = rows[0] if rows else []
    if len(head) > 1 and not {*IDS, *MAILS, NUMBER, "student"} & set(map(_heading, head)):
        raise EngineRoomError(
            f"the roster has no column id among {files.visible(', '.join(head))}",
            remedy=f"call one of them {', '.join((*IDS, MAILS[0]))} or {NUMBER}",
        )
    roster = Roster(head, rows[1:])
    if not roster.people:
        raise EngineRoomError("the roster names no students", remedy=remedy)
    ids = [each.id.lower() for each in roster.people]
    if twice := sorted({each.id for each in roster.people if ids.count(each.id.lower()) > 1}):
        raise EngineRoomError(f"{', '.join(twice)}: twice in the roster", remedy="give each student one id")
    return roster
