"""`make test` runs every check, some beside the others, and fails with the names of those that failed."""

from __future__ import annotations

import sys

from click.testing import CliRunner

from engineroom import checks, paths


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
    tools = [command[0] for check in checks.QUICK for command in check.commands]
    assert not {"cmake", "ctest"} & set(tools)
    tests = checks.QUICK[-1].commands[0]
    assert "not live and not container and not browser and not built and not slow" in tests


def test_the_book_is_built_for_the_tests_that_open_it_and_their_runner_has_the_last_word():
    assert "engineroom.book" in checks.CHECKS[-2].commands[-1]
    assert not checks.CHECKS[-2].runs_beside
    assert "pytest" in checks.CHECKS[-1].commands[-1]
    assert not checks.CHECKS[-1].runs_beside
