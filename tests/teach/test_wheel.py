"""An archive is graded in an empty environment without a network, by nothing but what lies in it and a few wheels beside it."""

from __future__ import annotations

import csv
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
import yaml

from engineroom import paths
from engineroom.teach import handouts, masters, wheel
from engineroom.teach.grading import submissions
from engineroom.teach.varied import HELD_BACK

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """A folder as `make class` writes it, of all chapters."""
    folder = tmp_path_factory.mktemp("class")
    package = wheel.build(folder / "package")
    for master in handouts.masters():
        wheel.put_into(handouts.make(master, folder, run_tests=False).autograder, package)
    wheel.for_students(package, folder / "hand-out")
    package.unlink()
    return folder


@pytest.fixture(scope="module")
def unpacked(archives, tmp_path_factory):
    """What an archive says to install."""
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(archives / "hash_join" / "autograder" / "hash_join-autograder.zip") as archive:
        archive.extractall(folder)
    return folder


def as_wheel(name: str, folder: Path) -> None:
    """An installed package as a wheel again: `pip download` would fetch the same files."""
    installed = metadata.distribution(name)
    files = [each for each in installed.files or [] if ".." not in each.parts and each.suffix != ".pyc"]
    (about,) = [each for each in files if each.name == "WHEEL"]
    tag = re.findall(r"^Tag: (.+)$", about.read_text(), re.MULTILINE)[0]
    known = about.parent.name.removesuffix(".dist-info")
    with zipfile.ZipFile(folder / f"{known}-{tag}.whl", "w") as packed:
        for each in files:
            packed.write(each.locate(), str(each))


@functools.cache
def without_network() -> list[str]:
    """What a command is put behind so that it reaches nothing; a namespace where there are any."""
    alone = ["unshare", "--net", "--map-root-user"]
    if (
        shutil.which("unshare")
        and subprocess.run([*alone, "true"], capture_output=True, check=False).returncode == 0
    ):
        return alone
    return ["env", *(f"{name}=http://127.0.0.1:9" for name in ("http_proxy", "https_proxy", "all_proxy"))]  # fmt: skip


@pytest.fixture(scope="module")
def graded(archives, unpacked, tmp_path_factory):
    """Points by student and chapter/question, of solutions in all chapters and of a wrong answer and a starter in one."""
    folder = tmp_path_factory.mktemp("elsewhere")
    wheels, environment = folder / "wheels", folder / "environment"
    wheels.mkdir()
    for name in wheel.NEEDED:
        as_wheel(name, wheels)
    venv.create(environment, symlinks=True)
    python = environment / "bin" / "python"
    (package,) = unpacked.glob("*.whl")
    quiet = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PIP_", "PYTHON", "ENGINEROOM_"))
    }

    def alone(*command: str) -> str:
        ran = subprocess.run(
            [*without_network(), *command],
            capture_output=True,
            text=True,
            timeout=300,
            env=quiet,
            cwd=folder,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    alone(
        sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-index", "--no-deps", "--no-compile",
        "--find-links", str(wheels), "-r", str(unpacked / "requirements.txt"), str(package),
    )  # fmt: skip
    where = alone(str(python), "-c", "import engineroom; print(engineroom.__file__)")
    assert Path(where.strip()).is_relative_to(environment)

    for chapter in [each.name for each in archives.iterdir() if (each / "student").is_dir()]:
        (folder / "submissions" / "right").mkdir(parents=True, exist_ok=True)
        shutil.copy(archives / chapter / "autograder" / f"{chapter}.ipynb", folder / "submissions" / "right")
    (master,) = [each for each in handouts.masters() if each.stem == "hash_join"]
    planted = next(each for each in handouts.wrong_answers(master) if each.question == "q2")
    notebook = json.loads((archives / "hash_join" / "autograder" / "hash_join.ipynb").read_text())
    check = next(
        i for i, each in enumerate(notebook["cells"]) if 'grader.check("q2")' in "".join(each["source"])
    )
    notebook["cells"][check - 1]["source"] = planted.code
    (folder / "submissions" / "wrong").mkdir()
    (folder / "submissions" / "wrong" / "hash_join.ipynb").write_text(json.dumps(notebook))
    alone(
        str(environment / "bin" / "engineroom"), "class", "grade", "submissions", "--class", str(archives),
        "--out", "grades.csv", "--jobs", "2",
    )  # fmt: skip
    with (folder / "grades.csv").open() as table:
        return {row["student"]: row for row in csv.DictReader(table)}


def test_every_solution_has_all_points_there(archives, graded):
    most = {
        f"{chapter}.{question}": points
        for chapter, given in submissions.read_class(archives).chapters().items()
        for question, points in given.points.items()
    }
    assert len(most) > 80
    assert {name: float(points) for name, points in graded["right"].items() if name in most} == most


def test_a_wrong_answer_loses_its_question_there_and_no_other(graded):
    right, wrong = graded["right"], graded["wrong"]
    lost = [name for name in right if name.startswith("hash_join.q") and wrong[name] != right[name]]
    assert lost == ["hash_join.q2"]
    assert float(wrong["hash_join.q2"]) <= 0.25 * float(right["hash_join.q2"])


def test_the_environment_of_an_archive_is_this_python_and_the_wheel(unpacked):
    environment = yaml.safe_load((unpacked / "environment.yml").read_text())
    (package,) = unpacked.glob("*.whl")
    python, pip = environment["dependencies"][0], environment["dependencies"][-1]["pip"]
    assert python == f"python={sys.version_info.major}.{sys.version_info.minor}"
    assert f"cp{sys.version_info.major}{sys.version_info.minor}-" in package.name
    assert f"/autograder/source/{package.name}" in pip
    assert any(each.startswith("otter-grader") for each in pip)


def test_a_notebooks_first_cell_installs_the_wheel_beside_it_and_asks_for_one(archives, tmp_path):
    from IPython.core.inputtransformer2 import (
        TransformerManager,
    )  # takes a second, which no other test is to pay

    notebook = json.loads((archives / "hash_join" / "student" / "hash_join.ipynb").read_text())
    first = TransformerManager().transform_cell("".join(notebook["cells"][0]["source"]))
    asked = "sys.modules['engineroom'] = None\nget_ipython = lambda: types.SimpleNamespace(run_line_magic=print)\n"
    (tmp_path / "first.py").write_text(f"import sys, types\nwheels = []\n{asked}{first}")

    def run():
        return subprocess.run(
            [sys.executable, "first.py"], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    assert "put engineroom-....whl beside this notebook" in run().stderr
    (tmp_path / "engineroom-0.1.0-any.whl").touch()
    assert "pip install -q otter-grader==" in run().stdout


@pytest.fixture(scope="module")
def for_students(archives):
    """The files of a students' package, as text, or nothing for what is none."""
    (package,) = (archives / "hand-out").glob("engineroom-*.whl")
    with zipfile.ZipFile(package) as opened:
        return {
            name: opened.read(name).decode() if name.endswith((".py", ".toml", "RECORD")) else ""
            for name in opened.namelist()
        }


def test_a_students_package_has_no_line_of_a_solution(for_students):
    lines = {line.strip() for text in for_students.values() for line in text.splitlines()}
    found = [
        (master.stem, asked.name, line)
        for master in handouts.masters()
        for asked in masters.read(master).questions
        for line in map(str.strip, asked.solution.splitlines())
        if len(line) >= 30 and not line.startswith(('"""', "#", "import ", "from ")) and line in lines
    ]
    assert found == []


def test_a_students_package_lacks_what_draws_and_answers_and_nothing_asks_for_it(for_students):
    assert not [name for name in for_students if wheel.WITHHELD.fullmatch(name) or "mutants" in name]
    (record,) = (text for name, text in for_students.items() if name.endswith("RECORD"))
    assert {line.split(",")[0] for line in record.splitlines()} == set(for_students)
    labs = "\n".join(lab.read_text() for lab in (paths.root() / "notebooks").glob("*.md"))
    imports = re.compile(r"^\s*from (engineroom[\w.]*) import (\w+)", re.MULTILINE)
    asked = [
        f"{module}.{name}"
        for text in (labs, *for_students.values())
        for module, name in imports.findall(text)
    ]
    assert "engineroom.teach.fresh" in asked
    assert [each for each in asked if HELD_BACK.fullmatch(each)] == []


def test_a_student_gets_no_wheel(archives):
    assert [each.name for each in (archives / "hash_join" / "student").iterdir()] == ["hash_join.ipynb"]
