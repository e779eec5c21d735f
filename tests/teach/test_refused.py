"""What would answer a question cannot be called in its answer's process, and the question says so."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from engineroom.teach import handouts, masters, refused
from engineroom.teach.grading import grade as grading
from engineroom.teach.grading import submissions
from engineroom.teach.grading.jail import Limits

CALLS = """
import numpy as np
from engineroom import _native

def block_nested_loop(outer_rows, inner_rows, row_bytes, join_buffer_bytes):
    counters = _native.hash_join.block_nested_loop(
        np.arange(inner_rows), np.arange(outer_rows), row_bytes=row_bytes, join_buffer_bytes=join_buffer_bytes, output="count"
    ).counters
    return counters["passes"], counters["comparisons"]
"""
TRIES = """
from engineroom import _native
from engineroom.chapters.hash_join import exercises
from engineroom.teach import refused, servers

counted = servers.buffers
refused.refuse(["engineroom._native.hash_join"])
for call in (_native.hash_join.nested_loop, exercises.cases, servers.buffers, exercises.Case):
    try:
        call()
    except RuntimeError as error:
        print(error)
print(_native.filesort.uses_priority_queue.__name__)
"""


def test_whatever_a_refused_module_computes_raises_and_so_does_what_students_do_not_have():
    ran = subprocess.run([sys.executable, "-c", TRIES], capture_output=True, text=True, check=True)
    *said, other = ran.stdout.splitlines()
    assert [each.partition(" is refused")[0] for each in said] == [
        "engineroom._native.hash_join.nested_loop",
        "engineroom.chapters.hash_join.exercises.cases",
        "engineroom.teach.servers.buffers",
        "engineroom.chapters.hash_join.exercises.Case",
    ]
    assert other == "uses_priority_queue"


def test_a_question_says_what_is_refused_and_its_test_tells_the_grader():
    declared = 0
    for master in handouts.masters():
        for asked, question in zip(masters.read(master).questions, handouts.questions(master), strict=True):
            names = asked.declared.get("refused", [])
            assert refused.named(question.tests[-1]) == names
            assert all(f"`{name}`" in asked.text.partition("*\n")[0] for name in names), asked.heading
            declared += len(names)
    assert declared > 10


@pytest.mark.slow
def test_an_answer_that_calls_the_kernel_earns_a_quarter_at_most(tmp_path):
    (master,) = (each for each in handouts.masters() if each.stem == "hash_join")
    handout = handouts.make(master, tmp_path / "class", run_tests=False)
    notebook = json.loads(handout.student.read_text())
    ids = submissions.read_class(tmp_path / "class").chapters()["hash_join"].ids
    for cell in notebook["cells"]:
        if ids.get(cell.get("id")) == "q2":
            cell["source"] = CALLS
    (tmp_path / "in" / "ann").mkdir(parents=True)
    (tmp_path / "in" / "ann" / "hash_join.ipynb").write_text(json.dumps(notebook))
    results, _ = grading.grade(
        submissions.find(tmp_path / "in", ["hash_join"]),
        submissions.read_class(tmp_path / "class"),
        out=tmp_path / "grades.csv",
        hidden=[],
        limits=Limits(wall_seconds=600),
        jobs=1,
    )
    (of,) = (each for each in results if each.question == "q2")
    assert of.points <= grading.PARTIAL * of.most
    assert "engineroom._native.hash_join.block_nested_loop is refused" in str(of.failures)
