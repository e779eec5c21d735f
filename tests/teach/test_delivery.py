"""Addresses that open the labs, and a folder that a class may have."""

from __future__ import annotations

import csv
import zipfile
from urllib.parse import parse_qs, urlsplit

import pytest

from engineroom import chapters, paths
from engineroom.errors import EngineRoomError
from engineroom.teach import delivery, handouts
from engineroom.teach.grading.roster import Person


def test_every_lab_has_an_address_on_each_service_and_its_notebook_is_there():
    found = delivery.links(hub="https://hub.example.org/")
    assert [chapter for chapter, service, _ in found if service == "Binder"] == [
        each.word for each in chapters.written()
    ]
    for _, service, address in found:
        asked = parse_qs(urlsplit(address).query)
        (opened,) = asked["urlpath"]
        if service == "Binder":
            assert (paths.root() / opened.removeprefix("lab/tree/")).is_file()
            assert "/v2/gh/" in address
        else:
            assert address.startswith("https://hub.example.org/hub/user-redirect/git-pull?")
            assert asked["branch"] == ["main"]
            assert (paths.root() / opened.removeprefix("lab/tree/engine-room/")).is_file()


def test_the_branch_of_a_class_has_its_exercises_too():
    addresses = [address for _, _, address in delivery.links(branch="students")]
    assert len(addresses) == 2 * len(chapters.written())
    assert sum("exercises%2F" in each for each in addresses) == len(chapters.written())


def test_refusals_say_what_to_do(tmp_path):
    for hub in ("javascript:0", "http://[", "hub.example.org"):
        with pytest.raises(EngineRoomError, match="hub"):
            delivery.links(hub=hub)
    with pytest.raises(EngineRoomError, match="branch"):
        delivery.links(branch="a b")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(EngineRoomError, match="there already"):
        delivery.student(tmp_path / "full")


@pytest.mark.usefixtures("spilled_to_memory")
def test_a_class_s_folder_has_labs_and_exercises_and_no_solutions(tmp_path):
    (master,) = (each for each in handouts.masters() if each.stem == "cats")
    folder = tmp_path / "students"
    delivery.student(folder, masters=[master])
    for name in (
        "notebooks/cats.md",
        "exercises/cats.ipynb",
        "book/web/explorables/query_graph.js",
        ".binder/postBuild",
        "environment.yml",
        "pyproject.toml",
    ):
        assert (folder / name).is_file(), name
    texts = [
        each.read_text() for each in folder.rglob("*") if each.suffix in (".md", ".ipynb", ".py", ".toml")
    ]
    for question in handouts.questions(master):
        line = max(question.solution.splitlines(), key=len).strip()
        assert not any(line in text for text in texts), (question.name, line)


def test_each_student_has_a_zip_that_works_alone_and_a_link_that_nobody_guesses(tmp_path):
    people = [Person("ann", "Ann Lee", "ann@x.org"), Person("bob+x", "=Bob")]
    for person in people:
        (tmp_path / "hand-out" / person.id).mkdir(parents=True)
        (tmp_path / "hand-out" / person.id / "cats.ipynb").write_text(person.name)
    package = tmp_path / "hand-out" / "engineroom-1.whl"
    package.write_bytes(b"a wheel")

    def packed(url: str = "", secret: bytes = b"secret") -> list[list[str]]:
        table = delivery.pack(tmp_path, people, secret, url=url)
        with table.open(newline="") as opened:
            return list(csv.reader(opened))

    (head, ann, bob) = packed()
    assert head == ["id", "name", "email", "link"]
    assert ann[:3] == ["ann", "Ann Lee", "ann@x.org"]
    assert bob[1] == "'=Bob"
    with zipfile.ZipFile(tmp_path / ann[3]) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            "cats.ipynb": b"Ann Lee",
            "engineroom-1.whl": b"a wheel",
        }
    assert packed() == [head, ann, bob], "the same when packed again"
    others = packed("https://files.example.org/a/", b"another")
    assert others[2][3].startswith("https://files.example.org/a/bob%2Bx-")
    assert others[1][3].rpartition("-")[2] != ann[3].rpartition("-")[2]
    with pytest.raises(EngineRoomError, match="no address of a folder"):
        delivery.refuse_no_address("files/a", "a folder")
