"""What `make class` writes, and the package where the book is not: it grades an archive without a network, and runs what readers download, by a local index of wheels."""

from __future__ import annotations

import csv
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import venv
import zipfile
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from pathlib import Path

import jupytext
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from engineroom import __version__, paths
from engineroom.teach import handouts, masters, practice, wheel
from engineroom.teach.grading import submissions
from engineroom.teach.varied import HELD_BACK

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """The folder that `make class` writes."""
    folder = tmp_path_factory.mktemp("class")
    made = subprocess.run(
        [sys.executable, "-m", "engineroom.teach", "--target", str(folder)],
        capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    return folder


def test_make_class_writes_archives_that_otter_grades(archives, tmp_path):
    archive = archives / "hash_join" / "autograder" / "hash_join-autograder.zip"

    def score(submission: Path) -> float:
        output = tmp_path / submission.parent.name
        output.mkdir()
        graded = subprocess.run(
            [str(Path(sys.executable).with_name("otter")), "run", "--no-logo", "-a", str(archive), "-o", str(output),
             str(submission)],
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert graded.returncode == 0, graded.stderr
        tests = json.loads((output / "results.json").read_text())["tests"]
        return sum(test.get("score", 0) for test in tests)

    full = score(archives / "hash_join" / "autograder" / "hash_join.ipynb")
    assert full == 22
    assert score(archives / "hash_join" / "student" / "hash_join.ipynb") < full / 2


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
    tag = re.findall(r"^Tag: (.+)$", about.read_text(), re.MULTILINE)[-1]  # of two, the first is Python 2's
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


def quiet() -> dict[str, str]:
    """The environment without settings of pip, Python and the book."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PIP_", "PYTHON", "ENGINEROOM_"))
    }


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

    def alone(*command: str) -> str:
        ran = subprocess.run(
            [*without_network(), *command],
            capture_output=True,
            text=True,
            timeout=300,
            env=quiet(),
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


def test_a_notebooks_first_cell_installs_the_wheel_beside_it_and_asks_for_one(archives):
    from IPython.core.inputtransformer2 import (
        TransformerManager,
    )  # takes a second, which no other test is to pay

    notebook = json.loads((archives / "hash_join" / "student" / "hash_join.ipynb").read_text())
    first = TransformerManager().transform_cell("".join(notebook["cells"][0]["source"]))
    # To import otter takes many seconds; that it is there is enough.
    asked = "sys.modules.update({'otter': types.ModuleType('otter'), 'engineroom.runs': None})\nget_ipython = lambda: types.SimpleNamespace(run_line_magic=print)\n"

    def run(exit_code: int) -> subprocess.CompletedProcess[str]:
        script = f"import sys, types\n_exit_code = {exit_code}\n{asked}{first}"
        return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert f"put engineroom-{__version__}-....whl" in run(1).stderr
    assert "otter-grader==" not in run(1).stdout
    from_here, rest = run(0).stdout.splitlines()
    assert from_here.endswith(f"--no-index --no-deps --find-links . engineroom=={__version__}")
    assert f"engineroom=={__version__} otter-grader==" in rest


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


def test_the_wheel_is_small_and_has_what_pages_need(unpacked):
    (package,) = unpacked.glob("*.whl")
    assert package.stat().st_size < 15_000_000
    with zipfile.ZipFile(package) as opened:
        carried = set(opened.namelist())
    recorded = (paths.data() / "recorded").glob("*/*.csv")
    root = paths.root().as_posix()
    assert {each.as_posix().replace(root, "engineroom/share") for each in recorded} <= carried
    assert not [name for name in carried if name.endswith("datapackage.json")]


def with_all_they_need(*names: str) -> set[str]:
    """Installed packages and what they stand on, by the names that an index has."""
    found: set[tuple[str, str]] = set()
    left = [Requirement(name) for name in names]
    while left:
        asked = left.pop()
        for extra in ("", *asked.extras):
            if (asked_for := (canonicalize_name(asked.name), extra)) not in found:
                found.add(asked_for)
                needs = map(Requirement, metadata.requires(asked.name) or [])
                left += [each for each in needs if not each.marker or each.marker.evaluate({"extra": extra})]
    return {name for name, _ in found}


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def index(unpacked, tmp_path_factory) -> Iterator[str]:
    """The address of a local index of all that labs stand on, and of a page of releases."""
    folder = tmp_path_factory.mktemp("index")
    for name in with_all_they_need("engineroom[cluster]", "ipykernel") - {"engineroom"}:
        place = folder / "simple" / name
        place.mkdir(parents=True)
        as_wheel(name, place)
    (package,) = unpacked.glob("*.whl")
    (folder / "releases").mkdir()
    shutil.copy(package, folder / "releases")
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Silent, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(scope="module")
def empty(index, tmp_path_factory) -> Path:
    """A folder in which a notebook's kernel "empty" has nothing but what a kernel needs, and reaches nothing but the index."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder / "environment", symlinks=True, with_pip=True)
    python = str(folder / "environment" / "bin" / "python")
    settings = {
        "HOME": str(folder),
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "ENGINEROOM_CACHE": str(folder / "cache"),
        "PIP_INDEX_URL": f"{index}/simple/",
        "PIP_NO_CACHE_DIR": "1",
        "PIP_NO_COMPILE": "no",  # is how pip is told not to: to compile all that labs stand on takes half of the time
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "no_proxy": "127.0.0.1",
        **dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9"),
    }
    alone = ["env", "-i", *(f"{name}={value}" for name, value in settings.items()), python, "-m"]
    subprocess.run([*alone, "pip", "install", "-q", "--no-compile", "ipykernel"], check=True)
    spec = folder / "kernels" / "empty" / "kernel.json"
    spec.parent.mkdir(parents=True)
    argv = [*alone, "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": "Empty", "language": "python"}))
    return folder


EXECUTE = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, kernel_name="empty", timeout=500).execute()
nbformat.write(notebook, sys.argv[1])
"""


def executed(notebook: Path, folder: Path) -> list[str]:
    """Every line that the cells of a notebook print or give, run from top to bottom by the empty kernel."""
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, str(notebook)],
        capture_output=True, text=True, timeout=550, check=False, env=quiet() | {"JUPYTER_PATH": str(folder)}, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    outputs = [each for cell in json.loads(notebook.read_text())["cells"] for each in cell.get("outputs", [])]
    texts = [each.get("text") or each.get("data", {}).get("text/plain", "") for each in outputs]
    return [line for text in texts for line in "".join(text).splitlines()]


def test_a_lab_downloaded_into_an_empty_environment_runs_after_its_first_cell_and_says_what_is_recorded(
    index, empty
):
    lab = empty / "hash_join.ipynb"
    jupytext.write(jupytext.read(paths.root() / "notebooks" / "hash_join.md"), lab)
    handouts.say_what_to_install(lab, handouts.install_cell(wheels=f"{index}/releases/"))
    lines = executed(lab, empty)
    said = [line for line in lines if re.match(r"Shown: recorded run \d+ of .*, because .*MySQL", line)]
    assert said, lines


def test_exercises_downloaded_into_an_empty_environment_run_and_check_answers(index, empty):
    exercises = empty / "exercises.ipynb"
    practice.write(paths.root() / "notebooks" / "exercises" / "hash_join.md", exercises)
    handouts.say_what_to_install(exercises, handouts.install_cell(wheels=f"{index}/releases/"))
    assert sum(line.startswith("✗ ") for line in executed(exercises, empty)) >= 9
