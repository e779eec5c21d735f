"""What an answer tries against its grader costs its own question and nothing else, and gains nothing."""

from __future__ import annotations

import csv
import importlib
import io
import json
import os
import shutil
import socket
import struct
import threading
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from engineroom.errors import EngineRoomError
from engineroom.teach.grading import apart, jail, submissions
from engineroom.teach.grading import grade as grading
from engineroom.teach.grading.cli import classes
from engineroom.teach.grading.jail import Limits
from engineroom.teach.grading.sandbox import Sandbox

TEST = '''\
from otter.test_files import test_case

OK_FORMAT = False

name = "{question}"
points = 2

@test_case(points=None, hidden=False)
def test_of_three({name}, factor):
    assert {name}(3) == 3 * factor["{name}"]

@test_case(points=None, hidden=True)
def test_of_many({name}, factor):
    """Refused: engineroom.chapters.binlog.figures"""
    for n in range(5, 50):
        assert {name}(n) == n * factor["{name}"], "a hidden one"
'''
RIGHT = {"double": "def double(n):\n    return 2 * n", "triple": "def triple(n):\n    return 3 * n"}
GIVEN = 'import math\nfactor = {"double": 2, "triple": 3}'


def notebook(double: str, triple: str = RIGHT["triple"]) -> str:
    def cell(source: str, number: int, *tags: str) -> dict[str, object]:
        return {"cell_type": "code", "id": f"c{number}", "metadata": {"tags": list(tags)}, "source": source,
                "outputs": [], "execution_count": None}  # fmt: skip

    cells = [
        cell('import otter\ngrader = otter.Notebook("toy.ipynb")', 0),
        cell(GIVEN, 1),
        cell(double, 2, "otter_answer_cell"),
        cell('grader.check("q1")', 3),
        cell(triple, 4, "otter_answer_cell"),
        cell('grader.check("q2")', 5),
        cell("grader.export()", 6),
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture
def handed_out(tmp_path):
    """A chapter called toy with two questions, as `make class` would write it."""
    folder = tmp_path / "class"
    (folder / "toy" / "student").mkdir(parents=True)
    (folder / "toy" / "autograder").mkdir()
    (folder / "toy" / "student" / "toy.ipynb").write_text(
        notebook("def double(n):\n    ...", "def triple(n):\n    ...")
    )
    with zipfile.ZipFile(folder / "toy" / "autograder" / "toy-autograder.zip", "w") as archive:
        for question, name in (("q1", "double"), ("q2", "triple")):
            archive.writestr(f"tests/{question}.py", TEST.format(question=question, name=name))
    return folder


@pytest.fixture
def graded(handed_out, tmp_path):
    """A function from answers, by student, to results by student and question."""

    def grade(
        answers: dict[str, str],
        *,
        isolation: str = "auto",
        seconds: float = 2,
        wall_seconds: float = 60,
        class_folder: Path = handed_out,
    ):
        folder = tmp_path / "submissions"
        shutil.rmtree(folder, ignore_errors=True)
        for student, answer in answers.items():
            (folder / student).mkdir(parents=True)
            (folder / student / "toy.ipynb").write_text(
                answer if answer.startswith("{") else notebook(answer)
            )
        out = tmp_path / "grades.csv"
        results, used = grading.grade(
            submissions.find(folder, ["toy"]),
            submissions.read_class(class_folder),
            out=out,
            hidden=grading.secrets(class_folder, folder, out),
            limits=Limits(seconds=seconds, wall_seconds=wall_seconds, memory_mib=1024),
            jobs=2,
            isolation=isolation,
        )
        if isolation == "auto" and used != "namespaces":
            pytest.skip("no Linux namespaces here")
        return {(each.student, each.question): each for each in results}

    return grade


HARMLESS_TO_THE_MACHINE = {
    "infinite loop": "def double(n):\n    while True:\n        pass",
    "sys.exit": "import sys\ndef double(n):\n    sys.exit(0)",
    "os._exit": "import os\ndef double(n):\n    os._exit(0)",
    "segfault": "import ctypes\ndef double(n):\n    return ctypes.string_at(0)",
    "10 GB": "def double(n):\n    return 2 * n if bytearray(10 << 30) else 0",
    "100 MB of answer": "def double(n):\n    return 'x' * (100 << 20)",
    "endless recursion": "import sys\nsys.setrecursionlimit(10**9)\ndef double(n):\n    return double(n)",
    "1 GB file": "def double(n):\n    open('x', 'wb').write(bytes(100 << 20)) and 0\n    return 2 * n",
    "equal to everything": (
        "class Yes(int):\n    def __eq__(self, other):\n        return True\n    __ne__ = __lt__ = lambda *_: False\n"
        "def double(n):\n    return Yes()"
    ),
    "equal to everything, no number": (
        "class Yes:\n    def __eq__(self, other):\n        return True\n    def __reduce__(self):\n        return (print, ())\n"
        "def double(n):\n    return Yes()"
    ),
    "patched grader": (
        "import builtins, json, sys\n"
        "from engineroom.teach.grading import judge, plain, sandbox, talk\n"
        "judge.run = judge.test_cases = judge._failed = lambda *_: []\n"
        "judge._Telling.visit_Assert = lambda *_: None\n"
        "talk.Function.__eq__ = plain.Opaque.__eq__ = plain.read = lambda *_: True\n"
        "builtins.AssertionError = type('Never', (Exception,), {})\n"
        "factor['double'] = factor['triple'] = 0\n"
        "def double(n):\n    return 0"
    ),
    "forged message": (
        "import os\nos.write(3, b'\\0\\0\\0\\x11{\"passed\": [true]}' * 9)\n"
        "def double(n):\n    os.write(3, b'\\xff' * 999)\n    return 0"
    ),
    "class of the other side": (
        "def double(n):\n    return factor.__class__.__subclasses__()"
    ),
}  # fmt: skip


def assert_only_q1_is_lost(results, attacks):
    for name in attacks:
        assert results[name, "q1"].points == 0, results[name, "q1"]
        assert results[name, "q1"].failures
        assert all(failure["said"] for failure in results[name, "q1"].failures)
        assert results[name, "q2"].points == 2, results[name, "q2"]


def test_an_attack_costs_its_question_and_nothing_else(graded):
    results = graded(HARMLESS_TO_THE_MACHINE | {"right": RIGHT["double"]})
    assert_only_q1_is_lost(results, HARMLESS_TO_THE_MACHINE)
    assert results["right", "q1"].points == 2
    assert "more than 2 seconds of processor time" in results["infinite loop", "q1"].note
    assert "exit code 0" in results["os._exit", "q1"].note
    assert "SIGSEGV" in results["segfault", "q1"].note
    assert "MemoryError" in results["10 GB", "q1"].failures[0]["said"]
    assert "more than 64 MiB" in results["100 MB of answer", "q1"].failures[0]["said"]


def test_limits_alone_hold_off_what_breaks_the_own_process(graded):
    chosen = ("infinite loop", "sys.exit", "os._exit", "10 GB", "patched grader")
    attacks = {name: HARMLESS_TO_THE_MACHINE[name] for name in chosen}
    results = graded(attacks, isolation="limits")
    assert_only_q1_is_lost(results, attacks)
    assert "more than 2 seconds of processor time" in results["infinite loop", "q1"].note


def test_an_answer_that_sleeps_ends_by_the_clock_and_says_so(graded):
    sleeps = notebook(
        "import time\ndef double(n):\n    time.sleep(99)\n    return 2 * n", triple="def triple(n):\n    ..."
    )
    results = graded({"sleeps": sleeps}, wall_seconds=3)
    assert results["sleeps", "q1"].points == 0
    assert "longer than 3 seconds by the clock" in results["sleeps", "q1"].note


def test_a_fork_bomb_ends_with_its_question(graded):
    bomb = "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"
    assert_only_q1_is_lost(graded({"bomb": bomb}, wall_seconds=6), ["bomb"])


def test_namespaces_hide_files_tests_network_and_processes(graded, handed_out, tmp_path):
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "file").write_text("kept")
    archive = handed_out / "toy" / "autograder" / "toy-autograder.zip"
    reached = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = server.getsockname()[1]
        attacks = {
            "deletes": f"import shutil\nshutil.rmtree({str(tmp_path)!r}, ignore_errors=True)\n"
            f"def double(n):\n    open({str(victim / 'new')!r}, 'w')\n    return 2 * n",
            "reads the tests": f"def double(n):\n    return 2 * n if open({str(archive)!r}, 'rb') else 0",
            "uncovers the tests": "import ctypes, os\nlibc = ctypes.CDLL(None)\nlibc.unshare(0x10020000)\n"
            f"libc.umount2({str(handed_out)!r}.encode(), 2)\n"
            f"def double(n):\n    return 2 * n if open({str(archive)!r}, 'rb') else 0",
            "reads a neighbour": f"def double(n):\n    return 2 * n if open({str(tmp_path / 'submissions' / 'right' / 'toy.ipynb')!r})"
            " else 0",
            "network": f"import socket\ndef double(n):\n    socket.create_connection(('127.0.0.1', {port}), 1)\n    return 2 * n",
            "kills": "import os\ndef double(n):\n    os.kill(os.getppid(), 9)\n    os.kill(-1, 9)\n    return 0",
        }  # fmt: skip
        results = graded(attacks | {"right": RIGHT["double"]})
        try:
            server.accept()
            reached.set()
        except TimeoutError:
            pass
    assert_only_q1_is_lost(results, attacks)
    assert results["right", "q1"].points == 2
    assert not reached.is_set()
    assert [each.name for each in victim.iterdir()] == ["file"]


# Each tries to read what it should not, into `found`; PLACES are the files.
READS = {
    "opens": "found = ''.join(read(place) for place in PLACES)",
    "links": "for place in PLACES:\n    os.symlink(place, 'x')\n    found += read('x')\n    os.remove('x')",
    "goes up": "found = ''.join(read('../' * 9 + place) + read('/..' * 9 + place) for place in PLACES)",
    "the process table": "found = ''.join(read(f'/proc/{who}/root{place}') for who in ('self', 1, os.getppid()) for place in PLACES)\n"
    "found += read('/proc/self/environ') + read('/proc/self/cmdline') + read('/proc/1/environ')",
    "inherited": "for number in range(4, 200):\n    try:\n        found += os.pread(number, 1 << 16, 0).decode('latin-1')\n    except OSError:\n        pass",
    "the environment": "found = str(os.environ)",
    "memory": "import gc\nfound = repr([each for each in gc.get_objects() if type(each) in (dict, list)])",
    "another program": "import subprocess\nfor place in PLACES:\n    try:\n        found += subprocess.run(['/bin/cat', place],"
    " capture_output=True, text=True).stdout\n    except OSError:\n        pass",
    "mounts and roots": "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.unshare(0x10020000)\nos.mkdir('y')\n"
    "libc.umount2(b'/', 2)\nlibc.chroot(b'y')\n"
    "found = ''.join(read('../' * 9 + place) + read(place) for place in PLACES)",
    "handles": "import ctypes\nlibc = ctypes.CDLL(None)\nhandle = ctypes.create_string_buffer(b'\\8\\0\\0\\0\\1\\0\\0\\0\\2', 200)\n"
    "at = os.open('/dev/null', 0)\nroot = libc.open_by_handle_at(at, handle, 0)\n"
    "found = ''.join(read(f'/proc/self/fd/{root}{place}') for place in PLACES) if root >= 0 else ''",
}  # fmt: skip
READER = """\
import os
PLACES = {places!r}
found = ''
def read(place):
    try:
        with open(place, errors='replace') as file:
            return file.read()
    except OSError:
        return ''
{how}
def double(n):
    return 2 * n if 'to' + 'ken-' in found else 0
"""


@pytest.mark.parametrize("isolation", ["auto", "limits"])
def test_an_answer_sees_no_file_but_its_own(graded, handed_out, tmp_path, isolation, monkeypatch):
    if isolation == "limits" and not jail.landlock_version():
        pytest.skip("no Landlock here")
    neighbour = tmp_path / "submissions" / "right" / "toy.ipynb"
    places = [tmp_path / "secret", tmp_path / "earlier" / "grades.csv", handed_out / "solutions"]
    places[1].parent.mkdir()
    for place in places:
        place.write_text("token-1")
    journal = tmp_path / "grades.csv.journal"
    journal.write_text('{"seed": 1, "kept": "token-1"}\n')
    monkeypatch.setenv("CLASS_SECRET", "token-2")
    said = [str(place) for place in (*places, neighbour, journal)]
    attacks = {name: READER.format(places=said, how=how) for name, how in READS.items()}
    results = graded(attacks | {"right": RIGHT["double"] + "  # token-3"}, isolation=isolation)
    assert results["right", "q1"].points == 2
    assert_only_q1_is_lost(results, attacks)
    assert not [note for name in attacks if (note := results[name, "q1"].note)], "each has tried"


@pytest.mark.parametrize("isolation", ["auto", "limits"])
def test_nor_does_it_see_what_no_student_has_or_its_question_refuses(graded, isolation):
    if isolation == "limits" and not jail.landlock_version():
        pytest.skip("no Landlock here")
    held = {}
    for name in ("chapters.hash_join.exercises", "teach.servers", "chapters.binlog.figures", "teach.fresh"):
        module = importlib.import_module(f"engineroom.{name}")
        for place in (module.__file__, module.__cached__):
            if Path(place).exists():
                held[f"{name}-{Path(place).suffix}"] = place
    attack = READS["opens"] + "\nfound = found and 'token-'"
    attacks = {name: READER.format(places=[place], how=attack) for name, place in held.items()}
    results = graded(attacks, isolation=isolation)
    assert {name for name in held if results[name, "q1"].points} == {name for name in held if "fresh" in name}


@pytest.mark.parametrize("isolation", ["auto", "limits"])
def test_an_environment_inside_the_class_folder_shows_nothing_else_of_it(
    graded, handed_out, isolation, monkeypatch
):
    if isolation == "limits" and not jail.landlock_version():
        pytest.skip("no Landlock here")
    packages = handed_out / "environment" / "lib" / "site-packages"
    packages.mkdir(parents=True)
    monkeypatch.setenv("PYTHONPATH", str(packages), prepend=os.pathsep)
    for place in (handed_out / "solutions", packages.parent / "notes"):
        place.write_text("token-1")
    attack = READER.format(
        places=[str(handed_out / "solutions"), str(packages.parent / "notes")], how=READS["opens"]
    )
    results = graded({"reads": attack, "right": RIGHT["double"]}, isolation=isolation)
    assert (results["reads", "q1"].points, results["right", "q1"].points) == (0, 2)


def test_a_class_folder_among_pythons_packages_is_covered_or_refused(
    graded, handed_out, tmp_path, monkeypatch
):
    inside = tmp_path / "site-packages" / "class"
    shutil.copytree(handed_out, inside)
    monkeypatch.setenv("PYTHONPATH", str(inside.parent), prepend=os.pathsep)
    (inside / "solutions").write_text("token-1")
    answers = {
        "reads": READER.format(places=[str(inside / "solutions")], how=READS["opens"]),
        "right": RIGHT["double"],
    }
    if jail.landlock_version():
        with pytest.raises(EngineRoomError, match=r"answers could read .*class"):
            graded(answers, isolation="limits", class_folder=inside)
    results = graded(answers, class_folder=inside)
    assert (results["reads", "q1"].points, results["right", "q1"].points) == (0, 2)


def test_grading_is_refused_where_nothing_hides_the_solutions(graded, monkeypatch):
    monkeypatch.setattr(Sandbox, "_heard", lambda _: {"isolation": "limits", "exposed": []})
    with pytest.raises(EngineRoomError, match="answers could read tests and solutions"):
        graded({"right": RIGHT["double"]})


# Each gives away TEXT, which stands for a file that it has read.
CARRIES = {
    "message": "raise ValueError(TEXT)",
    "class": "raise type(TEXT, (KeyError,), {'__module__': 'builtins'})(TEXT)",
    "notes": "error = ValueError()\n    error.add_note(TEXT)\n    raise error from ValueError(TEXT)",
    "source": "exec(compile('raise ValueError  # ' + TEXT, '<tests>', 'exec'))",
    "assertion": "raise AssertionError(f'`assert double(3)`: {TEXT}')",
    "the end": "from engineroom.teach.grading import talk\n    raise talk.Ended(TEXT)",
    "text": "return TEXT",
    "numbers": "return list(TEXT.encode())",
    "one number": "return int.from_bytes(TEXT.encode(), 'big')",
    "kind": "return type(TEXT, (), {'__repr__': lambda _: TEXT})()",
    "keys": "return {TEXT: n, (TEXT,): TEXT}",
    "output": "import sys, warnings\n    warnings.warn(TEXT)\n    print(TEXT)\n    os.write(2, TEXT.encode())\n    sys.exit(TEXT)",
    "forged": "say({'raised': TEXT, 'text': TEXT})",
    "forged line": "say({'name': 'test_of_three', 'passed': False, 'said': TEXT, 'shown': TEXT, 'hidden': False})",
    "forged kind": "say({'value': [{'t': TEXT, 'v': TEXT}, []]})",
    "forged record": "say({'value': [{'t': 'record', 'm': TEXT, 'n': TEXT, 'v': {}}, []]})",
    "forged question": "say({'asks': 0, 'operator': TEXT, 'args': [TEXT], 'kwargs': {}})",
}  # fmt: skip
TEXT = "a-secret-of-the-class"
CARRIER = """\
import json, os, struct
TEXT = {text!r}
def say(form):
    said = json.dumps(form).encode()
    os.write(3, struct.pack('!i', len(said)) + said)
def double(n):
    {how}
raise ValueError(TEXT)
"""


def test_a_feedback_page_holds_nothing_that_an_answer_made_up(command, tmp_path):
    for name, how in CARRIES.items():
        (tmp_path / "in" / name).mkdir()
        (tmp_path / "in" / name / "toy.ipynb").write_text(notebook(CARRIER.format(text=TEXT, how=how)))
    assert command().exit_code == 0
    forms = [TEXT, TEXT.encode().hex(), ", ".join(map(str, TEXT.encode())), str(int.from_bytes(TEXT.encode(), "big"))]  # fmt: skip
    for name in CARRIES:
        page = (tmp_path / "out-feedback" / f"{name}.md").read_text()
        assert "toy q1: 0 of 2 points" in page
        assert "- `test_of_three`: " in page
        assert not [form for form in forms if form[:12] in page], page
    assert (
        '`assert double(3) == 3 * factor["double"]`: ValueError'
        in (tmp_path / "out-feedback" / "message.md").read_text()
    )
    assert TEXT in (tmp_path / "out.report.md").read_text(), "the instructor sees it"


def test_a_failure_says_what_was_given_expected_and_got(graded):
    (failure, hidden) = graded({"square": "def double(n):\n    return n * n"})["square", "q1"].failures
    assert failure["given"] == "double(3) returned 9"
    assert failure["said"] == "expected: 6; got: 9"
    assert (hidden["hidden"], hidden["said"]) == (True, "expected: 10; got: 25 (a hidden one)")


@pytest.fixture
def asked(monkeypatch):
    """The students whose notebooks are run."""
    found, whole = [], grading._graded

    def graded(sandbox, work, *rest):
        found.append(work.student)
        return whole(sandbox, work, *rest)

    monkeypatch.setattr(grading, "_graded", graded)
    return found


def test_what_is_finished_is_not_graded_again_and_what_changed_is(graded, tmp_path, asked):
    same = {"ann": RIGHT["double"], "eve": f"{RIGHT['double']}  # eve"}
    graded(same | {"bob": "def double(n):\n    return 0"})
    asked.clear()
    journal = tmp_path / "grades.csv.journal"
    lines = journal.read_text().splitlines()
    assert len(lines) == 7, "the seed of all inputs, and six results"
    lost = next(line for line in lines if '"ann"' in line and '"q2"' in line)
    journal.write_text("\n".join(line for line in lines if line != lost) + "\n" + lost[:40])
    results = graded(same | {"bob": f"{RIGHT['double']}  # bob"})
    assert sorted(asked) == ["ann", "bob"]
    assert [each.points for each in results.values()] == [2] * 6


def test_notebooks_that_are_the_same_are_graded_once_and_count_for_everyone(graded, tmp_path, asked):
    unchanged = notebook("def double(n):\n    ...")
    results = graded({"ann": unchanged, "bob": unchanged, "eve": notebook(RIGHT["double"])})
    assert len(asked) == 2
    assert {key: each.points for key, each in results.items()} == {
        ("ann", "q1"): 0, ("bob", "q1"): 0, ("eve", "q1"): 2,
        ("ann", "q2"): 2, ("bob", "q2"): 2, ("eve", "q2"): 2,
    }  # fmt: skip
    assert all(each.student == student for (student, _), each in results.items())
    kept = grading.read_journal(tmp_path / "grades.csv.journal")
    assert {(student, question) for student, _, question in kept} == set(results)


@pytest.fixture
def command(handed_out, tmp_path):
    def run(*more: str):
        out = str(tmp_path / "out.csv")
        folder = str(tmp_path / "in")
        return CliRunner().invoke(
            classes, ["grade", folder, "--class", str(handed_out), "--out", out, "--jobs", "1", *more]
        )

    (tmp_path / "in").mkdir()
    return run


def table(file: Path) -> list[list[str]]:
    with file.open(newline="") as opened:
        return list(csv.reader(opened))


def test_what_is_no_notebook_has_no_points_and_stops_nobody(command, tmp_path):
    folder = tmp_path / "in"
    (folder / "ann_toy.ipynb").write_text(notebook(RIGHT["double"]))
    (folder / "=bob_toy.ipynb").write_text("{")
    (folder / "cat_toy.ipynb").write_text('{"cells": [{"cell_type": "code"}]}')
    (folder / "dan").mkdir()
    (folder / "dan" / "toy.zip").write_bytes(b"no zip")
    (folder / "eve").mkdir()
    with zipfile.ZipFile(folder / "eve" / "toy_2026.zip", "w") as archive:
        archive.writestr("toy.ipynb", notebook(RIGHT["double"]))
    result = command()
    assert result.exit_code == 0, result.output
    assert table(tmp_path / "out.csv") == [
        ["student", "toy.q1", "toy.q2", "total", "most"],
        ["'=bob", "0.0", "0.0", "0.0", "4.0"],
        ["ann", "2.0", "2.0", "4.0", "4.0"],
        ["cat", "0.0", "0.0", "0.0", "4.0"],
        ["dan", "0.0", "0.0", "0.0", "4.0"],
        ["eve", "2.0", "2.0", "4.0", "4.0"],
    ]
    assert "dan/toy.zip: not graded" in (tmp_path / "out.report.md").read_text()
    assert "Isolation: " in result.output


def of_member(data: bytes, how: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip file with one notebook."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", how) as archive:
        archive.writestr("toy.ipynb", data)
    return file.getvalue()


ZIPPED = of_member(notebook(RIGHT["double"]).encode())
SIZE = struct.pack("<I", len(notebook(RIGHT["double"])))
FILES = {
    "toy.zip": {
        "packed tight": of_member(bytes(1 << 24), zipfile.ZIP_BZIP2),
        "lies small": ZIPPED.replace(SIZE, struct.pack("<I", 9)),
        "lies large": of_member(bytes(70 << 20)).replace(struct.pack("<I", 70 << 20), SIZE),
        "damaged": ZIPPED[:60] + bytes(20) + ZIPPED[80:],
        "cut off": ZIPPED[:-30],
        "encrypted": ZIPPED[:6] + b"\1" + ZIPPED[7:].replace(b"PK\1\2\x14\3\x14\0\0", b"PK\1\2\x14\3\x14\0\1"),
    },
    "toy.ipynb": {
        "deep": b"[" * 200_000,
        "deep cells": b'{"cells": ' + b'[{"a":' * 40_000,
        "memory": b"[" + b"[]," * 5_000_000 + b"[]]",
        "many cells": json.dumps({"cells": [{"cell_type": "code", "source": "a = a"}] * 3000}).encode(),
        "no text": b"\xff\xfe" * 100,
        "numbers": b"9" * 10_000,
    },
}  # fmt: skip
GRADED = {"n" * 250, "zo\u00e9", "caf\udce9"}


def test_whatever_is_handed_in_costs_itself_alone_and_is_named(command, tmp_path, monkeypatch):
    monkeypatch.setattr(apart, "MEMORY_MIB", 256)
    folder, right = tmp_path / "in", notebook(RIGHT["double"])
    for name in ("ann", *GRADED, "an\u200bn", "zoe\u0301", "two", "fifo", "device", "link", "surrogate"):
        (folder / name).mkdir()
        (folder / name / "toy.ipynb").write_text(right)
    for file, contents in FILES.items():
        for name, content in contents.items():
            (folder / name).mkdir()
            (folder / name / file).write_bytes(content)
    (folder / "two" / "toy_old.zip").write_bytes(FILES["toy.zip"]["damaged"])
    for name in ("fifo", "device", "link"):
        (folder / name / "toy.ipynb").unlink()
    os.mkfifo(folder / "fifo" / "toy.ipynb")
    (folder / "device" / "toy.ipynb").symlink_to("/dev/zero")
    (folder / "link" / "toy.ipynb").symlink_to(folder / "ann" / "toy.ipynb")
    (folder / "elsewhere").symlink_to(tmp_path)
    (folder / "surrogate" / "toy.ipynb").write_text(
        notebook("def double(n):\n    raise ValueError('\\ud800')")
    )
    result = command()
    assert result.exit_code == 0, result.output
    points = {row[0]: row[3] for row in table(tmp_path / "out.csv")[1:]}
    assert {name for name, total in points.items() if total == "4.0"} == {
        "ann",
        "two",
        "n" * 250,
        "zo\u00e9",
        "caf\\udce9",
    }
    assert points["surrogate"] == "2.0"
    for name in (
        *FILES["toy.zip"],
        *FILES["toy.ipynb"],
        "fifo",
        "device",
        "link",
        "elsewhere",
        "two/toy_old.zip",
        "zoe\u0301",
    ):
        assert f"not graded: {name}" in result.output
        assert f"- {name}" in (tmp_path / "out.report.md").read_text()
    assert "looks like another student's" in result.output
    assert len(list((tmp_path / "out-feedback").iterdir())) == len(GRADED) + 3


def test_refusals_say_what_to_do(handed_out, tmp_path):
    with pytest.raises(EngineRoomError, match="make class"):
        submissions.read_handouts(tmp_path / "nowhere")
    with pytest.raises(EngineRoomError, match="no folder"):
        submissions.find(tmp_path / "nowhere", ["toy"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(EngineRoomError, match="one folder per student"):
        submissions.find(tmp_path / "empty", ["toy"])
    (handed_out / "toy" / "student" / "toy.ipynb").write_text("{")
    with pytest.raises(EngineRoomError, match="damaged"):
        submissions.read_handouts(handed_out)
