"""Damage in the cache is recognised by what was recorded, and what is damaged is fetched or made again."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from engineroom.errors import EngineRoomError
from engineroom.servers import local, manifest
from engineroom.servers.catalogue import Request, Unpack, resolve
from engineroom.servers.providers import unpack


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, Path]:
    folder = tmp_path / "made"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "mysqld").write_text("program")
    (folder / "lib").symlink_to("bin")
    manifest.write(folder, tmp_path / "made.json")
    return folder, tmp_path / "made.json"


def test_what_is_as_it_was_made_is_not_damaged_and_may_hold_more(made: tuple[Path, Path]):
    folder, record = made
    (folder / "private-libraries").mkdir()
    (folder / "private-libraries" / "libaio.so.1").touch()
    assert manifest.damage(folder, record) is None
    assert manifest.damage(folder, record, thorough=True) is None


def test_what_was_made_before_there_were_manifests_is_taken_as_it_is(made: tuple[Path, Path]):
    folder, record = made
    record.unlink()
    (folder / "bin" / "mysqld").unlink()
    assert manifest.damage(folder, record, thorough=True) is None


def test_a_file_that_was_cut_is_seen_without_reading_it(made: tuple[Path, Path]):
    folder, record = made
    (folder / "bin" / "mysqld").write_text("prog")
    assert manifest.damage(folder, record) == "bin/mysqld is not what it was when it was made"


def test_a_byte_that_turned_is_seen_by_the_hash(made: tuple[Path, Path]):
    folder, record = made
    (folder / "bin" / "mysqld").write_text("pr0gram")
    assert manifest.damage(folder, record) is None
    assert manifest.damage(folder, record, thorough=True) == "bin/mysqld is not what it was when it was made"


def test_what_is_missing_or_points_elsewhere_is_seen(made: tuple[Path, Path]):
    folder, record = made
    (folder / "lib").unlink()
    (folder / "lib").symlink_to("elsewhere")
    assert manifest.damage(folder, record) == "lib is not what it was when it was made"
    (folder / "lib").unlink()
    assert manifest.damage(folder, record) == "lib: No such file or directory"


@pytest.mark.parametrize("text", ["", "[]", '{"bin/mysqld": 7}', '{"bin/mysqld": [{}]}'])
def test_a_manifest_that_cannot_be_read_is_damage(made: tuple[Path, Path], text: str):
    folder, record = made
    record.write_text(text)
    assert manifest.damage(folder, record) == "made.json cannot be read"


class Registry:
    """In place of Maven: a server of one file, and how often it was fetched."""

    def __init__(self) -> None:
        self.fetched = 0

    def refusal(self) -> None:
        return None

    def fetch(self, wanted: Unpack, folder: Path, tree: Path) -> str:
        self.fetched += 1
        (folder / "server.jar").write_text("an archive")
        (tree / "bin").mkdir()
        (tree / wanted.mysqld).write_text("a program")
        return wanted.version or ""


@pytest.fixture
def request_(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Request:  # noqa: ARG001
    monkeypatch.setattr(unpack.libraries, "environment", lambda *_: {})
    monkeypatch.setattr(local, "require_space", lambda *_, **__: None)
    return resolve("5.7")


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    mine = Registry()
    monkeypatch.setitem(unpack.KINDS, "maven", mine)
    return mine


def test_a_damaged_server_is_fetched_again_and_said(
    request_: Request, registry: Registry, capsys: pytest.CaptureFixture[str]
):
    program = Path(unpack.install(request_).command[0])
    unpack.install(request_)
    assert registry.fetched == 1
    program.write_text("a pro")
    unpack.install(request_)
    assert (registry.fetched, program.read_text()) == (2, "a program")
    assert "5.7 in the cache is damaged and is fetched again: bin/mysqld" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "[]", '{"version": 5, "sha256": ""}', '{"version": "5.7.22"}'])
def test_a_server_whose_facts_cannot_be_read_is_fetched_again(
    request_: Request, registry: Registry, text: str
):
    program = Path(unpack.install(request_).command[0])
    (program.parents[1] / "engineroom.json").write_text(text)
    unpack.install(request_)
    assert registry.fetched == 2


def test_what_was_fetched_is_recorded_by_hash(request_: Request, registry: Registry):
    tree = Path(unpack.install(request_).command[0]).parents[1]
    facts = json.loads((tree / "engineroom.json").read_text())
    assert facts["fetched"] == {"server.jar": hashlib.sha256(b"an archive").hexdigest()}
    assert registry.fetched == 1


def test_when_a_start_fails_the_hashes_tell_whether_it_was_damage(
    request_: Request, registry: Registry, monkeypatch: pytest.MonkeyPatch
):
    started = []

    def start(installed: local.Installed, _: Request) -> str:
        started.append(Path(installed.command[0]).read_text())
        if started[-1] != "a program":
            raise EngineRoomError("it ended while starting", remedy="report the log")
        return "a server"

    monkeypatch.setattr(local, "start", start)
    program = Path(unpack.install(request_).command[0])
    program.write_text("a pr0gram")  # of the same size
    assert unpack.start(request_) == "a server"
    assert started == ["a pr0gram", "a program"]
    assert registry.fetched == 2


def test_a_start_that_fails_on_a_whole_server_is_tried_once(
    request_: Request, registry: Registry, monkeypatch: pytest.MonkeyPatch
):
    def start(*_: object) -> None:
        raise EngineRoomError("an option is wrong", remedy="correct it")

    monkeypatch.setattr(local, "start", start)
    with pytest.raises(EngineRoomError, match="an option is wrong"):
        unpack.start(request_)
    assert registry.fetched == 1


@pytest.fixture
def installed(tmp_path: Path) -> local.Installed:
    program = tmp_path / "mysqld"
    program.touch()
    return local.Installed(version="5.7.22", provider="unpack", command=(str(program),), share=tmp_path)


def initialise(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """In place of a server's own initialisation; the templates that were made."""
    made: list[Path] = []

    def instead(_: object, __: object, ___: object, template: Path) -> None:
        template.mkdir()
        (template / "ibdata1").write_text("pages")
        manifest.write(template, local._manifest(template))
        made.append(template)

    monkeypatch.setattr(local, "_initialise", instead)
    return made


@pytest.mark.parametrize("spoil", ["cut", "removed"])
def test_a_damaged_template_is_made_again(
    request_: Request, installed: local.Installed, monkeypatch: pytest.MonkeyPatch, spoil: str
):
    made = initialise(monkeypatch)
    template = local.template(installed, request_)
    assert local.template(installed, request_) == template
    assert len(made) == 1
    if spoil == "cut":
        (template / "ibdata1").write_text("pa")
    else:
        shutil.rmtree(template)
    assert (local.template(installed, request_) / "ibdata1").read_text() == "pages"
    assert len(made) == 2


def test_when_a_start_fails_the_template_is_looked_at_too(
    request_: Request, installed: local.Installed, monkeypatch: pytest.MonkeyPatch
):
    made = initialise(monkeypatch)
    (local.template(installed, request_) / "ibdata1").write_text("p4ges")

    def start(installed: local.Installed, request: Request, *_: object) -> object:
        if (local.template(installed, request) / "ibdata1").read_text() != "pages":
            raise EngineRoomError("the data dictionary cannot be read", remedy="report the log")
        return SimpleNamespace(answers=True)

    monkeypatch.setattr(local, "_start", start)
    assert local.start(installed, request_).answers
    assert len(made) == 2
