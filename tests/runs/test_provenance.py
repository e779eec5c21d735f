from __future__ import annotations

import json
import os
import platform
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from engineroom.runs import provenance


def test_the_machine_is_described_in_json() -> None:
    seen = provenance.machine(seed=7)
    assert json.loads(json.dumps(seen)) == seen
    assert seen["cores"] >= 1
    assert seen["seed"] == 7
    assert {"cpu", "caches", "kernel", "storage", "load", "steal_s", "date", "revision", "command"} <= set(
        seen
    )


@pytest.mark.parametrize(
    ("argv", "orig_argv", "command"),
    [
        (
            ["/b/engineroom", "record", "x"],
            ["/b/python", "/b/engineroom", "record", "x"],
            "engineroom record x",
        ),
        (
            ["/src/bench/__main__.py", "hash_join"],
            ["/b/python3", "-m", "engineroom.bench", "hash_join"],
            "python -m engineroom.bench hash_join",
        ),
        (["/x/run.py", "-m", "a b"], ["/b/python", "-X", "dev", "/x/run.py", "-m", "a b"], "run.py -m 'a b'"),
        (
            ["/b/engineroom", "compare", "--dsn=MySQL://me:pass word@h/shop", "q.sql"],
            ["/b/python", "/b/engineroom", "compare"],
            "engineroom compare '--dsn=mysql://…' q.sql",
        ),
        ([""], ["/b/python"], "python"),
    ],
)
def test_the_command_is_what_was_typed(argv: list[str], orig_argv: list[str], command: str) -> None:
    assert provenance._command(argv, orig_argv) == command


def test_the_caches_are_told_level_by_level_and_nothing_where_the_system_is_silent(tmp_path: Path) -> None:
    for index, (level, kind, size) in enumerate((("1", "Data", "32K"), ("3", "Unified", "32768K"))):
        (tmp_path / f"index{index}").mkdir()
        for name, text in (("level", level), ("type", kind), ("size", size)):
            (tmp_path / f"index{index}" / name).write_text(f"{text}\n")
    (tmp_path / "index2").mkdir()  # without its files
    assert provenance._caches(tmp_path) == ["L1 data 32K", "L3 unified 32768K"]
    assert provenance._caches(tmp_path / "none") is None


def test_the_description_passes_its_own_gate() -> None:
    seen = provenance.machine()
    assert provenance.scrub(seen) == seen
    assert str(Path.cwd()) not in json.dumps(seen)


def test_a_watch_tells_what_happened_meanwhile() -> None:
    worked_s = 0.1
    before, start = psutil.getloadavg()[0], time.monotonic()
    with provenance.watch() as seen:
        end = time.process_time() + worked_s
        while time.process_time() < end:
            pass
    assert worked_s - 0.001 <= seen["wall_s"] <= time.monotonic() - start + 0.001
    assert seen["load_before"] == pytest.approx(before, abs=0.5)
    # This process alone kept one of the processors busy for so long, to a tick of the system's clock on each side.
    own = 100 * (worked_s - 0.02) / (seen["wall_s"] * (os.cpu_count() or 1))
    assert 0.8 * own <= seen["busy_percent"] <= 100
    assert seen["steal_percent"] is None or 0 <= seen["steal_percent"] <= 100


def test_a_watch_tells_it_also_when_the_block_raises() -> None:
    with pytest.raises(ZeroDivisionError), provenance.watch() as seen:
        1 / 0  # noqa: B018
    assert set(seen) == {"wall_s", "load_before", "load_after", "busy_percent", "steal_percent"}


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("log at /home/ann/x/error.log: full", "log at …/error.log: full"),
        ("--socket=/tmp/a/b.sock --x", "--socket=…/b.sock --x"),
        ("~/data/mysql", "…/mysql"),
        (r"C:\Users\ann\run.csv", "…/run.csv"),
        ("read from /proc/1234/task/5/schedstat", "read from /proc/1234/task/5/schedstat"),
        ("5.7/8.0 and tps/s, a / b", "5.7/8.0 and tps/s, a / b"),
        ("https://example.org/a/b", "https://example.org/a/b"),
        ("SELECT /*+ JOIN_ORDER(a, b) */ 1", "SELECT /*+ JOIN_ORDER(a, b) */ 1"),
        ("#innodb_temp/x.ibt", "#innodb_temp/x.ibt"),
    ],
)
def test_a_path_keeps_only_its_last_part(text: str, clean: str) -> None:
    assert provenance.scrub(text) == clean


def test_names_of_host_and_user_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "node", lambda: "athena")
    monkeypatch.setattr("getpass.getuser", lambda: "ann")
    assert (
        provenance.scrub("ann@athena ran it for anna on athena2")
        == "<user>@<host> ran it for anna on athena2"
    )


def test_private_keys_are_dropped_at_any_depth() -> None:
    given = {"servers": [{"version": "9.7.4", "socket": "x", "Port": 3306, "password": "p", "user": "root"}]}
    assert provenance.scrub(given) == {"servers": [{"version": "9.7.4"}]}


def test_numbers_become_json() -> None:
    given = {
        "a": np.int64(3),
        "b": (np.float64(0.5), float("nan")),
        "c": Path("/a/b/c"),
        "d": True,
        "e": None,
    }
    assert provenance.scrub(given) == {"a": 3, "b": [0.5, None], "c": "…/c", "d": True, "e": None}
