from __future__ import annotations

import re
from pathlib import Path

import pytest

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.servers import Server, catalogue
from engineroom.servers.catalogue import _document, features, measured, release, resolve
from engineroom.servers.providers import container
from engineroom.servers.server import Address


def server(version: str) -> Server:
    return Server(version=version, provider="dsn", address=Address())


def test_the_catalogue_is_ordered_by_age():
    assert list(catalogue()) == ["5.6", "5.7", "8.0.15", "8.0.31", "8.0.33", "8.4", "9.7", "11.8"]


@pytest.mark.parametrize("name", ["5.6", "5.7", "8.0.15", "8.0.31", "8.0.33"])
def test_a_fixed_archive_is_pinned_by_its_checksum(name: str):
    unpack = catalogue()[name].unpack
    assert unpack is not None
    assert unpack.version is not None
    assert re.fullmatch(r"[0-9a-f]{64}", unpack.sha256)


@pytest.mark.parametrize("series", ["5.6", "5.7", "8.0"])
def test_an_old_generation_carries_a_visible_note(series: str):
    assert "museum piece" in repr(server(f"{series}.1"))


def test_mariadb_is_named_by_its_product_and_passes_for_no_mysql():
    request = resolve("mariadb")
    assert (request.entry.product, request.entry.name) == ("MariaDB", resolve("MariaDB").entry.series)
    assert container.refusal(request) == "images of MariaDB are started in another way"
    found = server(f"{request.entry.name}.3")
    assert repr(found).startswith(f"<MariaDB {request.entry.name}.3 by")
    assert not any(found.supports(feature) for feature in features())


@pytest.mark.parametrize("version", ["3.2", "5", "abc", "", "5.7.22.1", "5.7.22-log", "05.7"])
def test_an_unknown_version_is_refused_with_the_known_ones(version: str):
    with pytest.raises(EngineRoomError, match="unknown server version") as caught:
        resolve(version)
    assert "5.6, 5.7, 8.0.15, 8.0.31, 8.0.33, 8.4, 9.7" in caught.value.remedy


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[settings]\n", "[settings\n", "cannot be read: .*line 6"),
        ('image = "mysql:5.6.24"', "image = 56", r'servers\["5.6"\].image is 56, not a text'),
        ('note = ""', "", r'servers\["8.4"\] has no note'),
        (
            "download_megabytes = 18",
            'download_megabytes = "18"',
            r'unpack.download_megabytes is "18", not a whole',
        ),
        ("download_megabytes = 18", "download = 18", r"unpack has no download_megabytes"),
        ('member = "', 'menber = "', 'unpack has "menber", which means nothing here'),
    ],
)
def test_a_mistake_in_servers_toml_is_named_by_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, said: str
):
    text = (paths.data() / "servers.toml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "servers.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    monkeypatch.setattr(paths, "data", lambda: tmp_path)
    with pytest.raises(EngineRoomError, match=rf"^servers.toml.*{said}"):
        _document.__wrapped__()


def test_a_series_accepts_every_release_of_it_and_no_other():
    request = resolve("9.7")
    assert request.accepts("9.7.5-1")
    assert not request.accepts("9.8.0")


def test_the_servers_of_live_experiments_are_those_that_anyone_can_have():
    assert measured() == ("5.6", "5.7", "8.0.15", "8.0.31", "9.7")
    assert measured(since="8.0.18") == ("8.0.31", "9.7")


def test_a_series_of_several_releases_is_the_newest_that_is_fetched_unasked():
    assert resolve("8.0").entry.name == "8.0.31"
    assert resolve("8.0").accepts("8.0.15")
    assert resolve("8.0.15").entry.name == "8.0.15"
    assert resolve("8.0.40").entry.image == "mysql:8.0.31"  # its settings; the release asked for is pulled


def test_a_debug_build_is_refused_where_there_is_none():
    assert resolve("8.0.33", debug=True).debug
    with pytest.raises(EngineRoomError, match=r"no debug build of 5\.7") as caught:
        resolve("5.7", debug=True)
    assert "8.0.33" in caught.value.remedy


def test_a_release_accepts_only_itself():
    request = resolve("5.7.22")
    assert request.accepts("5.7.22-log")
    assert not request.accepts("5.7.21")


def test_a_readers_option_wins_over_the_books_setting_in_either_spelling():
    request = resolve("9.7", {"innodb-buffer-pool-size": "1G"})
    assert request.settings()["innodb_buffer_pool_size"] == "1G"


@pytest.mark.parametrize("name", ["datadir", "bind-address", "socket"])
def test_an_option_that_keeps_servers_apart_cannot_be_chosen(name: str):
    with pytest.raises(EngineRoomError, match="cannot be chosen"):
        resolve("9.7", {name: "x"})


def test_a_feature_begins_with_its_release():
    assert not server("8.0.15").supports("hash_join")
    assert server("8.0.18").supports("hash_join")
    assert server("9.7.4").supports("hypergraph_optimizer")
    assert not server("5.6.24").supports("hints")


def test_an_unknown_feature_is_an_error_that_lists_the_known_ones():
    with pytest.raises(EngineRoomError, match="no server feature") as caught:
        server("9.7.4").supports("hash_joins")
    assert "hash_join" in caught.value.remedy


def test_every_feature_names_a_release():
    assert all(len(release(first)) == 3 for first in features().values())


def test_a_password_is_not_shown():
    assert "secret" not in repr(Address(password="secret"))
