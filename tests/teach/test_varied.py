"""A student's notebook has the data of a seed as values: nothing in it draws them, or knows what is to be predicted of them."""

from __future__ import annotations

import ast

import pytest

from engineroom.errors import EngineRoomError
from engineroom.teach import handouts, masters
from engineroom.teach.trial import Trial
from engineroom.teach.varied import HELD_BACK, WrittenOut

MASTERS = handouts.masters()
each_master = pytest.mark.parametrize("master", MASTERS, ids=lambda master: master.stem)
CELL = """\
import math

from engineroom.chapters.group_commit import exercises as classroom

seed = 4  # class seed
pair, _ = classroom.crashed_pair(seed), None
first = min(pair["states"])
pair
"""


def names_held_back(code: str) -> list[str]:
    return [
        f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if HELD_BACK.fullmatch(f"{node.module}.{alias.name}")
    ]


def test_a_value_stands_in_the_place_of_what_draws_it():
    written = WrittenOut().cell(CELL)
    assert written.startswith("import math\n\npair = {'binlog': [(")
    assert written.endswith('\nfirst = min(pair["states"])\npair')
    assert "seed" not in written
    assert "classroom" not in written
    space: dict[str, object] = {}
    exec(written, space)  # noqa: S102
    from engineroom.chapters.group_commit import exercises as classroom

    assert space["pair"] == classroom.crashed_pair(4)


def test_a_seed_that_is_used_stays():
    assert (
        WrittenOut().cell("seed = 4  # class seed\ntwice = 2 * seed")
        == "seed = 4  # class seed\ntwice = 2 * seed"
    )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("classroom.crashed_pair(seed)", "what they do not have"),
        ("def lost(pair):\n    return classroom.crashed_pair", "what they do not have"),
        ("draw = classroom.crashed_pair", "draw cannot be written out"),
    ],
)
def test_what_is_no_value_is_refused(more, said):
    with pytest.raises(EngineRoomError, match=said):
        WrittenOut().cell(f"{CELL}\n{more}\n")


@each_master
def test_no_cell_that_a_student_gets_brings_what_answers(master):
    read, written = masters.read(master, seed=7), WrittenOut()
    cells = [written.cell(cell) for cell in read.given]
    for asked in read.questions:
        cells += [written.cell(cell) for cell in asked.given]
        if asked.starter:
            written.cell(asked.solution)
        visible = [found for test in asked.visible for found in names_held_back(test)]
        assert visible == [], asked.heading
        assert "classroom" not in asked.text, asked.heading
    assert [found for cell in cells for found in names_held_back(cell)] == []


@each_master
def test_what_is_said_to_follow_from_the_seed_does(master):
    one, other = (
        {each.name: each for each in handouts.questions(master, seed=seed)} for seed in (2**40 + 1, 2**40 + 3)
    )
    for asked in masters.read(master).questions:
        if name := asked.declared.get("seed"):
            first, second = (repr(Trial(each[asked.name]).before[name]) for each in (one, other))
            assert first != second, asked.heading


@each_master
def test_every_chapter_has_data_of_each_students_own(master):
    assert any("seed" in asked.declared for asked in masters.read(master).questions)
