"""The kit that travels: what is packed, what its program measures alone, and what is read of its results."""

from __future__ import annotations

import ast
import json
import lzma
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from engineroom import servers
from engineroom.ask.kit import packing, reading, runner
from engineroom.ask.kit.cli import kit
from engineroom.errors import EngineRoomError
from engineroom.runs import newest
from engineroom.servers.local import Installed

BOOK = newest("own-crowd", "live")
SOURCE = Path(runner.__file__).read_text(encoding="utf-8")


def test_a_device_is_not_replaced_by_a_kit(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(EngineRoomError, match="is no file"):
        packing.make(pipe, [])
    assert pipe.is_fifo()


def test_the_program_needs_python_3_8_and_its_standard_library_alone():
    tree = ast.parse(SOURCE, feature_version=(3, 8))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [each.name for each in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= set(sys.stdlib_module_names)


@pytest.mark.parametrize("version", BOOK.provenance["servers"])
def test_servers_have_the_settings_of_the_recording(version: str):
    assert runner.settings(version, 2048) == BOOK.provenance["servers"][version]["settings"]


@pytest.mark.parametrize(
    ("processors", "threads", "clients"),
    [
        (16, 1, {12, 13, 14, 15}),
        (16, 2, {12, 13, 14, 15}),
        (6, 4, {4, 5}),
        (2, 1, {1}),
        (2, 2, {0, 1}),
        (1, 1, {0}),
    ],
)
def test_a_quarter_of_the_processors_in_whole_cores_is_for_the_clients(processors, threads, clients):
    server, found = runner.split(range(processors), lambda each: str(each // threads))
    assert found == clients
    assert server == (set(range(processors)) - clients or clients)


def test_values_of_a_row_are_told_by_their_lengths():
    assert list(runner.cells(b"\x03abc\xfb\x00\xfc\x2c\x01" + b"x" * 300)) == ["abc", "", "", "x" * 300]


def test_a_row_is_what_moved_between_two_looks():
    look = {
        "server_s": 1.0,
        "client_s": 0.5,
        "switches": 10,
        "machine": [0] * 8,
        "waits": {"a/b": (1, 10**12)},
    }
    before = {**look, "at": 1.0, "status": {"Com_update": "100", "Innodb_row_lock_time": "7"}}
    after = {
        **look,
        "at": 3.0,
        "server_s": 4.0,
        "switches": 410,
        "waits": {"a/b": (201, 5 * 10**12), "a/c": (0, 0)},
        "status": {"Com_update": "300", "Innodb_row_lock_time": "107"},
        "machine": [350, 0, 0, 0, 0, 0, 0, 50],
    }
    of = {"clients": 4, "series": "5.7.22", "load": runner.HOT, "setting": runner.TIMED}
    row, waits = runner.compared(of, before, after)
    assert (row["tps"], row["server_cpus"], row["cpu_us"], row["switches"]) == (100, 1.5, 15000, 2)
    assert (row["row_lock_ms"], row["steal_percent"], row["fsyncs"]) == (0.5, 12.5, 0)
    assert waits == [
        {**of, "latch": "b", "acquisitions": 1, "wait_us": 20000, "clients_waiting": 2, "tps": 100}
    ]
    with pytest.raises(runner.FailedError, match="no transaction"):
        runner.compared(of, before, {**before, "at": 2.0})


@pytest.mark.parametrize(
    ("memory", "data", "message"), [(2**60, 1, "of memory are free"), (1, 2**60, "of room: .* has")]
)
def test_too_little_memory_or_room_is_refused_before_anything_starts(tmp_path, memory, data, message):
    with pytest.raises(SystemExit, match=message):
        runner.place(tmp_path, data, memory)


@pytest.mark.parametrize("words", [["--servers", "4.1"], ["--seconds", "0"], ["--most", "1000"]])
def test_an_option_out_of_its_range_is_refused(words, capsys):
    with pytest.raises(SystemExit):
        runner.chosen(words, ["5.7.22"])
    assert words[1] in capsys.readouterr().err


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    """A server, and a SysBench before all others, which are only programs of this machine."""
    (tmp_path / "bin").mkdir()
    for name in ("sysbench", "mysqld"):
        shutil.copy("/bin/true", tmp_path / "bin" / name)
    for name in (
        "share/sysbench/a.lua",
        "share/english/errmsg.sys",
        "share/charsets/Index.xml",
        "share/other/x",
        "LICENSE",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    mysqld = str(tmp_path / "bin" / "mysqld")
    return Installed(version="5.7.22", provider="unpack", command=(mysqld,), share=tmp_path / "share")


def test_a_kit_holds_what_runs_and_nothing_else(tmp_path: Path, installed: Installed):
    sizes = packing.make(tmp_path / "kit.tar.xz", [installed])
    assert sum(sizes.values()) == (tmp_path / "kit.tar.xz").stat().st_size
    with tarfile.open(tmp_path / "kit.tar.xz") as archive:
        members = {each.name.removeprefix("engineroom-kit/"): each for each in archive}
        archive.extractall(tmp_path / "there", filter="data")
    assert {
        "run",
        "kit.json",
        "sysbench/bin/sysbench",
        "sysbench/share/a.lua",
        "lib/libc.so.6",
    } < members.keys()
    of_server = {name.removeprefix("servers/5.7.22/") for name in members if name.startswith("servers/")}
    shares = {"share/english/errmsg.sys", "share/charsets/Index.xml"}
    assert of_server == {"bin/mysqld", "plugin/README", "LICENSE"} | shares
    assert members["run"].mode & members["servers/5.7.22/bin/mysqld"].mode & 0o111
    there = tmp_path / "there" / "engineroom-kit"
    subprocess.run(runner.command_of(there / "lib", there / "servers/5.7.22/bin/mysqld"), env={}, check=True)
    said = subprocess.run(
        [sys.executable, there / "run", "--help"], env={}, capture_output=True, text=True, check=True
    )
    assert "here: 5.7.22" in said.stdout


def test_a_kit_that_is_too_large_is_refused_with_what_fits(tmp_path, installed, monkeypatch):
    noise = tmp_path / "share" / "english" / "noise"
    noise.write_bytes(os.urandom(10**6))
    small = Installed(version="8.0.31", provider="unpack", command=installed.command, share=tmp_path / "none")
    monkeypatch.setattr(packing, "LARGEST_BYTES", 1_500_000)
    with pytest.raises(EngineRoomError, match=r"at most 2 travel: .*5\.7\.22 1\.0(?s:.*)--servers 8\.0\.31$"):
        packing.make(tmp_path / "kit.tar.xz", [installed, small])
    assert not list(tmp_path.glob("*kit.tar.xz*"))


@pytest.mark.parametrize("version", ["5.6", "8.0.15", "mariadb"])
def test_a_server_that_the_recording_lacks_is_refused(version: str):
    with pytest.raises(
        EngineRoomError, match=r"is not of the book's recording[\s\S]*5\.7\.22, 8\.0\.31, 9\.7"
    ):
        packing.here(["9.7", version])


def results(folder: Path, cores: int = 8, **about) -> Path:
    """Such a folder as the program writes, with half of the book's throughput."""
    rows, latches = [], []
    for clients, version, load in (
        (n, v, each) for n in (1, 4, 8, 32) for v in ("5.7.22", "9.7.9") for each in runner.LOADS
    ):
        row = {
            "clients": clients,
            "series": version,
            "load": load,
            "setting": runner.USUAL,
            "tps": 1000.0 + clients,
        }
        rows.append(
            {**row, "server_cpus": 1, "cpu_us": 10, "row_lock_ms": 0.1, "server": version, "repeat": 0}
        )
        latches.append(
            {**row, "latch": f"of {clients}", "acquisitions": 1, "wait_us": 5, "clients_waiting": 2.5}
        )
    during = {"wall_s": 9, "load_before": 0.1, "steal_percent": 0}
    held = {
        "cores": cores,
        "cpu": "Z80",
        "date": "2026-12-01T00:00:00+00:00",
        "storage": "ext4",
        "server_processors": [0, 1, 2, 3, 4, 5],
        "before": {},
        "during": during,
        "left_out": {"8.0.31": "it broke"},
        "servers": {"5.7.22": {}},
        "options": {"rows": 100_000, "megabytes": 2048},
        "processor_quota": None,
        **about,
    }
    folder.mkdir()
    runner.write(folder, rows, latches, held, ["said"])
    return folder


def test_results_stand_beside_the_book_with_as_many_clients_per_processor(tmp_path: Path):
    said = CliRunner().invoke(kit, ["read", str(results(tmp_path / "r"))], catch_exceptions=False).output
    theirs = BOOK.values("load", "series", "clients", y="tps", where="setting == 'usual'")[
        "hot rows", "9.7.4", 64
    ]
    assert ["9.7.9", "32", "1,032", "64", f"{theirs:,.0f}", f"{1032 / theirs:.2f}"] in [
        line.split()[2:] for line in said.splitlines() if line.startswith("  hot rows")
    ]
    for part in (
        "Z80",
        "with 32 clients 2.5 threads wait for of 32; in the book, with 64, ",
        "here each fsync",
        "Left out: 8.0.31: it broke",
        "leave 100 %",
    ):
        assert part in said
    assert not any(part in said for part in ("caution", "Tables had", "quota"))


def test_what_tells_against_the_numbers_is_told(tmp_path: Path):
    during = {"load_before": 9.0, "steal_percent": 0.0}
    small = {"rows": 1000, "megabytes": 64}
    folder = results(tmp_path / "r", during=during, options=small, processor_quota="200000 100000")
    said = reading.text(reading.read(folder), None)
    for part in ("with caution: the machine was busy", "Tables had 1000 rows", "(cpu.max 200000 100000)"):
        assert part in said


def test_the_page_has_the_figure_of_both_and_the_csv_the_rows(tmp_path: Path):
    folder = str(results(tmp_path / "r"))
    page = CliRunner().invoke(kit, ["read", folder, "--format", "html"], catch_exceptions=False).output
    assert page.count("<figure") == 2
    assert "<th scope" in page
    rows = CliRunner().invoke(kit, ["read", folder, "--format", "csv"], catch_exceptions=False).output
    assert rows.splitlines()[1].startswith("1,5.7.22,uniform,usual,1001.0")


def test_another_loads_absence_is_no_damage(tmp_path: Path):
    folder = results(tmp_path / "r")
    rows = [{**row, "clients": int(row["clients"])} for row in reading.read(folder).table.to_dict("records")]
    rows = [row for row in rows if row["load"] == runner.UNIFORM]
    runner.write(folder, rows, [], json.loads((folder / "crowd.json").read_text())["provenance"], [])
    assert "hot rows" not in reading.text(reading.read(folder), BOOK)
    assert reading.html(reading.read(folder), BOOK).count("<figure") == 1


def spoiled(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new))


FAULTS = {
    "is no folder of results": lambda folder: (folder / "crowd.json").unlink(),
    "is not JSON": lambda folder: (folder / "crowd.json").write_text("{"),
    "another program wrote it": lambda folder: spoiled(folder, "crowd.json", "engineroom-crowd-1", "engineroom-crowd-9"),
    "is missing": lambda folder: (folder / "crowd.csv").unlink(),
    "latches.csv is damaged": lambda folder: spoiled(folder, "crowd.latches.csv", "of 32", "of 33"),
    "it is not what was written": lambda folder: spoiled(folder, "crowd.csv", "1032.0", "9032.0"),
    "not a whole number": lambda folder: spoiled(folder, "crowd.json", '"cores": 8', '"cores": "8"'),
    "holds no measurement": lambda folder: spoiled(folder, "crowd.json", '"cores": 8', '"cores": 0'),
}  # fmt: skip


@pytest.mark.parametrize("message", FAULTS)
def test_a_foreign_or_damaged_folder_is_refused(tmp_path: Path, message: str):
    folder = results(tmp_path / "r")
    FAULTS[message](folder)
    with pytest.raises(EngineRoomError, match=message):
        reading.read(folder)


@pytest.mark.parametrize(
    ("column", "value"), [("tps", "inf"), ("tps", ""), ("clients", "two"), ("server", None)]
)
def test_a_table_of_other_values_is_refused_whatever_its_sum(tmp_path: Path, column: str, value: str | None):
    folder = results(tmp_path / "r")
    held = json.loads((folder / "crowd.json").read_text())
    row = {
        name: value if name == column else 1
        for name in reading._NEEDED[runner.ROWS]
        if value is not None or name != column
    }
    runner.write(folder, [row], [], held["provenance"], [])
    with pytest.raises(EngineRoomError, match="damaged"):
        reading.read(folder)


@pytest.fixture(scope="module")
def unpacked() -> Iterator[Path]:
    """A kit with 5.7, packed in haste, in a folder with a short name."""
    if "unpack" not in servers.runnable("5.7") or shutil.which("sysbench") is None:
        pytest.skip("5.7 cannot be unpacked here, or there is no sysbench: engineroom doctor")
    folder = Path(tempfile.mkdtemp(prefix="erk-"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "_FILTERS", [{"id": lzma.FILTER_LZMA2, "preset": 0}])
        packing.make(folder / "kit.tar.xz", packing.here(["5.7.22"]))
    with tarfile.open(folder / "kit.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    yield folder
    shutil.rmtree(folder)


def begun(folder: Path) -> subprocess.Popen[str]:
    (folder / "data").mkdir(exist_ok=True)
    words = [
        "--seconds",
        "0.5",
        "--most",
        "0.5",
        "--rows",
        "100",
        "--megabytes",
        "64",
        "--data",
        "data",
        "--out",
        ".",
    ]
    command = [sys.executable, folder / "engineroom-kit" / "run", *words]
    return subprocess.Popen(
        command, cwd=folder, env={}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def left(folder: Path) -> list[str]:
    """What a run has left: processes, data and half results."""
    every = (" ".join(each.info["cmdline"] or ()) for each in psutil.process_iter(["cmdline"]))
    return [
        *(each for each in every if str(folder) in each),
        *map(str, folder.glob("data/*")),
        *map(str, folder.glob(".crowd-*")),
    ]


@pytest.mark.live
def test_a_kit_measures_alone_and_is_read_again(unpacked: Path):
    process = begun(unpacked)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0, said
    [folder] = unpacked.glob("crowd-*")
    run = reading.read(folder)
    assert set(run.table["load"]) == {runner.UNIFORM, runner.HOT}
    assert (run.table["cpu_us"] > 0).all()
    assert not run.tables["latches"].empty
    assert run.provenance["left_out"] == {}
    assert "5.7.22" in reading.text(run, BOOK)
    assert left(unpacked) == []


@pytest.mark.live
def test_a_killed_run_leaves_nothing(unpacked: Path):
    before = set(unpacked.glob("crowd-*"))
    process = begun(unpacked)
    assert process.stdout is not None
    for line in process.stdout:
        if "per second" in line:
            break
    assert any("mysqld" in each for each in left(unpacked))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    until = time.monotonic() + 20
    while left(unpacked) and time.monotonic() < until:
        time.sleep(0.1)
    assert left(unpacked) == []
    assert set(unpacked.glob("crowd-*")) == before
