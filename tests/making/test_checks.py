"""`make test` runs every check, some beside the others, and fails with the names of those that failed."""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from engineroom import paths
from engineroom.making import checks


def said_by(monkeypatch, *chosen: checks.Check) -> tuple[int, str]:
    monkeypatch.chdir(paths.root())
    monkeypatch.setattr(checks, "CHECKS", chosen)
    done = CliRunner().invoke(checks._main, [])
    return done.exit_code, done.output


def check(name: str, code: str, *, runs_beside: bool = False) -> checks.Check:
    return checks.Check(name, [[sys.executable, "-c", code]], runs_beside=runs_beside)


def test_all_run_and_those_that_fail_are_named(monkeypatch):
    code, output = said_by(
        monkeypatch,
        check("first", "raise SystemExit('not well')"),
        check("beside", "raise SystemExit('nor I')", runs_beside=True),
        check("well", "pass"),
        check("well beside", "pass", runs_beside=True),
    )
    assert code == 1
    assert "failed: first, beside\n" in output
    assert "not well" in output
    assert "nor I" in output
    assert "well: ok" in output
    assert "well beside: ok" in output


def test_one_that_runs_beside_does_not_keep_the_others_waiting(monkeypatch, tmp_path):
    """It ends only when the one after it has written a file."""
    file = tmp_path / "written"
    waits = f"import pathlib, time\nwhile not pathlib.Path({str(file)!r}).exists(): time.sleep(0.01)"
    code, output = said_by(
        monkeypatch,
        check("waits", waits, runs_beside=True),
        check("writes", f"open({str(file)!r}, 'w').close()"),
    )
    assert (code, "waits: ok" in output) == (0, True)


def test_the_quick_checks_compile_nothing_and_leave_out_what_starts_something():
    quick = checks._quick(is_whole=True)
    tools = [command[0] for check in quick for command in check.commands]
    assert not {"cmake", "ctest"} & set(tools)
    tests = quick[-1].commands[0]
    assert tests[-1] == "not live and not container and not browser and not built and not slow"


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("src/engineroom/runs/summary.py", "tests/runs/test_summary.py"),
        ("src/engineroom/servers/catalogue.py", "tests/servers/test_catalogue.py"),
        ("src/engineroom/chapters/cats/experiments/simulated.py", "tests/chapters/cats/test_experiments.py"),
        ("src/engineroom/chapters/cats/numbers.py", "tests/chapters/cats/test_numbers.py"),
        ("book/cats.md", "tests/making/test_page.py"),
        ("src/engineroom/show/curves.py", "tests/show/test_figures.py"),
        ("native/kernels/read_views/load.hpp", "tests/chapters/read_views/test_kernel.py"),
        ("data/recorded/filesort/num-fs-1.live.9.csv", "tests/chapters/filesort/test_figures.py"),
        ("tests/runs/test_summary.py", "tests/runs/test_summary.py"),
        ("README.md", "tests/test_repository.py"),
    ],
)
def test_what_changed_is_tested_by_the_tests_of_its_name_or_folder(monkeypatch, changed, tests):
    monkeypatch.chdir(paths.root())
    chosen = [Path(name) for name in checks.tests_of([Path(changed)])]
    assert any(Path(tests) == path or path in Path(tests).parents for path in chosen)


def test_a_change_of_one_chapter_runs_a_small_part_of_the_tests(monkeypatch):
    monkeypatch.chdir(paths.root())
    chosen = checks.tests_of([Path("src/engineroom/chapters/cats/figures.py")])
    assert all(Path(name).exists() for name in chosen)
    assert not [name for name in chosen if "hash_join" in name]
    assert len(chosen) == len(set(chosen))


def test_the_book_is_built_for_the_tests_that_open_it_and_their_runner_has_the_last_word():
    assert "engineroom.making.book" in checks.CHECKS[-2].commands[-1]
    assert not checks.CHECKS[-2].runs_beside
    assert "pytest" in checks.CHECKS[-1].commands[-1]
    assert not checks.CHECKS[-1].runs_beside


def test_every_native_test_runs_under_sanitizers_and_those_of_threads_without_them_too():
    words = {check.name: [word for command in check.commands for word in command] for check in checks.CHECKS}
    assert "-DENGINEROOM_TESTS_NAMED=" in words["native tests, sanitized"]
    for name in ("native tests, fast", "native tests, threads"):
        assert any("OnTheHost" in word for word in words[name])
    assert not any("SANITIZE" in word for word in words["native tests, fast"])


def test_what_sanitizers_make_a_part_of_is_whole_in_the_build_without_them():
    cut = {}
    for path in sorted((paths.root() / "native").glob("**/tests/*.cpp")):
        heads = list(re.finditer(r"^TEST(?:_P|_F)?\((\w+), (\w+)\)", text := path.read_text(), re.MULTILINE))
        for head, following in itertools.zip_longest(heads, heads[1:]):
            body = text[head.end() : following.start() if following else len(text)]
            if "part_of(" in body or "kIsSanitized" in body:
                cut[f"{path.name}: {head[1]}.{head[2]}"] = re.search(checks._OF_MANY_RUNS, head[0])
    assert len(cut) > 15
    assert [name for name, whole in cut.items() if not whole] == []
