"""Kinds of events, servers and files that made logs have: JSON diffs, MariaDB's, unknown ones, relay logs, streams, damage."""

from __future__ import annotations

import gzip
import json
import random
import shutil
import subprocess
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import zstandard
from click.testing import CliRunner

from engineroom import cli
from engineroom._native import binlog
from engineroom.ask import binlog_files
from engineroom.errors import EngineRoomError
from engineroom.servers import Server

UUID = bytes(range(16))
NAME = "00010203-0405-0607-0809-0a0b0c0d0e0f"
SECONDS = 1_700_000_000
TIME = "2023-11-14 22:13:20"
DOCS = binlog.Table("shop", "doc", ["int", "varchar(50)", "json", "int"], key=[0], id=9)
FRAME = 19 + 10 + 1 + 2  # of an update of DOCS: header, post-header, number of columns, bitmaps

Made = tuple[int, bytes]  # type and body


def packed(value: bytes) -> bytes:
    return len(value).to_bytes(4, "little") + value


def writer_events(*calls: tuple[Any, ...]) -> list[Made]:
    """What the writer makes of calls, taken apart."""
    writer = binlog.Writer()
    for name, *arguments in calls:
        getattr(writer, name)(*arguments)
    data, events = writer.take(), []
    while data:
        size = int.from_bytes(data[9:13], "little")
        events.append((data[4], data[19:size]))
        data = data[size:]
    return events


def log(path: Path, *events: Made, version: str = "9.7.4", relay: bool = False) -> Path:
    """A file without checksums; a relay log's events have their positions elsewhere."""
    writer = binlog.Writer(position=4, timestamp=SECONDS)
    writer.format_description(version, flags=0x40 if relay else 0)
    out = bytearray(b"\xfebin" + writer.take())
    for k, (kind, body) in enumerate(events):
        size = 19 + len(body)
        end = 4_000 + k if relay else len(out) + size
        head = SECONDS.to_bytes(4, "little") + bytes([kind]) + (7).to_bytes(4, "little")
        out += head + size.to_bytes(4, "little") + end.to_bytes(4, "little") + b"\0\0" + body
    path.write_bytes(out)
    return path


def gtid(number: int) -> Made:
    commit = (SECONDS + 30) * 1_000_000 * int(number == 2) + SECONDS * 1_000_000 * int(number != 2)
    body = b"\1" + UUID + number.to_bytes(8, "little") + b"\2" + bytes(16) + commit.to_bytes(7, "little")
    return 33, body + b"\xfc\0\1" + bytes(4)


def transaction(*inside: Made, number: int = 1) -> list[Made]:
    return [gtid(number), *writer_events(("begin",)), *inside, *writer_events(("xid", 1))]


def row(key: int, text: bytes, document: bytes, price: int) -> bytes:
    return key.to_bytes(4, "little") + bytes([len(text)]) + text + document + price.to_bytes(4, "little")


def partial(changes: Sequence[tuple[bytes, bytes]], flags: int = 1) -> list[Made]:
    """Updates of DOCS with the full row before and behind it options, bits of diffs and the row after."""
    images = b"".join(b"\0" + before + after for before, after in changes)
    head = (9).to_bytes(6, "little") + flags.to_bytes(2, "little") + b"\2\0\4\xff\xff"
    return [*writer_events(("table_map", DOCS)), (39, head + images)]


DOCUMENT = packed(binlog.json_binary({"a": 1, "pad": "y" * 100}))
REPLACED = b"\0\x03$.a" + b"\x03\x05\x02\0"  # replace, the path, int16 2
BEFORE = row(1, b"x" * 90, DOCUMENT, 5)
PARTIAL: list[tuple[str, list[tuple[bytes, bytes]], int, Any]] = [
    # What changed, images, the bytes of a minimal event behind its frame, the diffs that `rows` prints.
    ("no JSON", [(BEFORE, b"\1\1\0" + row(1, b"x" * 90, packed(b""), 6))], 1 + 4 + 1 + 1 + 4, []),
    (
        "a diff",
        [(BEFORE, b"\1\1\0" + row(1, b"x" * 90, packed(REPLACED), 5))],
        1 + 4 + 2 + 1 + 4 + len(REPLACED),
        [{"op": "replace", "path": "$.a", "value": 2}],
    ),
    (
        "both",
        [(BEFORE, b"\1\1\0" + row(1, b"x" * 90, packed(b"\2\x03$.a"), 6))],
        1 + 4 + 2 + 1 + 4 + 5 + 4,
        [{"op": "remove", "path": "$.a"}],
    ),
    (
        "a whole document",
        [(BEFORE, b"\0\0" + row(1, b"x" * 90, packed(b"\x04\0"), 5))],
        1 + 4 + 1 + 1 + 6,
        None,
    ),
    ("nothing", [(BEFORE, b"\1\1\0" + row(1, b"x" * 90, packed(b""), 5))], 1 + 4 + 1 + 0, []),
    (
        "some rows",
        [(BEFORE, b"\1\1\0" + row(1, b"x" * 90, packed(d), 5)) for d in (REPLACED, b"", REPLACED)],
        3 * (1 + 4 + 2 + 1 + 4) + 2 * len(REPLACED),
        [{"op": "replace", "path": "$.a", "value": 2}],
    ),
]


@pytest.mark.parametrize(
    ("changes", "minimal", "diffs"), [each[1:] for each in PARTIAL], ids=[each[0] for each in PARTIAL]
)
def test_minimal_images_of_json_diffs_are_counted_by_hand(
    tmp_path: Path, changes: list[tuple[bytes, bytes]], minimal: int, diffs: Any
) -> None:
    file = log(tmp_path / "log", *transaction(*partial(changes)))
    found = binlog_files.sizes(file, levels=())
    assert found.tables[0]["changes"]["update"]["minimal_bytes"] == FRAME + minimal
    (_, written) = found.uncompressed["Update_rows_partial"]
    assert found.minimal_bytes == found.uncompressed_bytes - written + FRAME + minimal
    line = json.loads(b"".join(binlog_files.rows(file)).splitlines()[0])
    assert line.get("json_diffs", {"@3": None})["@3"] == diffs
    assert (line["gtid"], line["time"]) == (f"{NAME}:1", TIME)


def test_events_of_a_statement_that_become_short_are_one(tmp_path: Path) -> None:
    one = PARTIAL[0]
    statement = [
        *partial(one[1], flags=0),
        partial(one[1], flags=0)[1],
        partial(one[1])[1],
        partial(one[1])[1],
    ]
    found = binlog_files.sizes(log(tmp_path / "log", *transaction(*statement)), levels=(3,))
    # The third ends the statement.
    assert found.tables[0]["changes"]["update"]["minimal_bytes"] == 2 * FRAME + 4 * one[2]


def zipped(data: bytes) -> bytes:
    return b"\x82" + len(data).to_bytes(2, "big") + zlib.compress(data)


def maria(*inside: Made, number: int = 5, flags: int = 0) -> list[Made]:
    return [(162, number.to_bytes(8, "little") + bytes(4) + bytes([flags]) + bytes(6)), *inside]


MAP = writer_events(("table_map", DOCS))
XID = writer_events(("xid", 1))
V1 = (9).to_bytes(6, "little") + b"\1\0\4"
AFTER = row(1, b"x" * 90, DOCUMENT, 6)
MARIADB = [
    ("an update", (24, V1 + b"\xff\xff\0" + BEFORE + b"\0" + AFTER), 1, True),
    ("a compressed update", (167, V1 + b"\xff\xff" + zipped(b"\0" + BEFORE + b"\0" + AFTER)), 1, True),
    ("a compressed insert", (166, V1 + b"\xff" + zipped((b"\0" + BEFORE) * 9)), 9, False),
    ("a compressed delete", (168, V1 + b"\xff" + zipped((b"\0" + BEFORE) * 9)), 9, True),
    ("of version 2", (170, V1[:8] + b"\2\0\4\xff\xff" + zipped(b"\0" + BEFORE + b"\0" + AFTER)), 1, True),
]


@pytest.mark.parametrize(
    ("event", "n", "can_shrink"), [each[1:] for each in MARIADB], ids=[each[0] for each in MARIADB]
)
def test_mariadb_is_read_by_name(tmp_path: Path, event: Made, n: int, can_shrink: bool) -> None:
    alone = (165, bytes(8) + b"\4" + bytes(4) + b"shop\0" + zipped(b"CREATE TABLE t (i INT)"))
    events = [
        *maria(*MAP, event, *XID),
        *maria(alone, number=6, flags=1),
        *maria(*MAP, event, *XID, number=7),
    ]
    file = log(tmp_path / "log", *events, version="10.11.6-MariaDB-log")
    lines = [json.loads(line) for line in b"".join(binlog_files.rows(file)).splitlines()]
    assert [line["gtid"] for line in lines] == ["0-7-5"] * n + ["0-7-7"] * n
    found = binlog_files.sizes(file)
    assert found.transactions == 2
    assert not any(kind.startswith("type") for kind in found.in_file)
    assert (found.minimal_bytes < found.uncompressed_bytes) == can_shrink
    assert not found.levels
    assert any("MariaDB does not compress" in remark for remark in found.remarks)
    output = CliRunner().invoke(cli._cli, ["binlog", "sizes", str(file)]).output
    assert "10.11.6-MariaDB" in output
    assert "MySQL" not in output


@pytest.mark.parametrize(
    "event", [(166, V1 + b"\xff" + bad) for bad in (b"\x92\0\1x", b"\x82\0\1x", zipped(b"")[:3] + b"\xff")]
)
def test_a_compressed_event_that_is_none_is_damage(tmp_path: Path, event: Made) -> None:
    file = log(tmp_path / "log", *maria(*MAP, event, *XID), version="10.11.6-MariaDB-log")
    with pytest.raises(EngineRoomError, match="compressed"):
        binlog_files.sizes(file)


@pytest.mark.parametrize("version", ["9.7.4", "10.11.6-MariaDB"])
def test_what_is_encrypted_is_refused_by_name(tmp_path: Path, version: str) -> None:
    with pytest.raises(EngineRoomError, match="encrypted from here on"):
        binlog_files.sizes(log(tmp_path / "log", (164, bytes(17)), version=version))


@pytest.mark.parametrize(
    ("kind", "size", "is_told"),
    [(200, 5_000, True), (163, 300, True), (20, 300, True), (99, 1, False), (160, 99, True)],
)
def test_bytes_of_unknown_kinds_stand_beside_the_total(
    tmp_path: Path, kind: int, size: int, is_told: bool
) -> None:
    inside = writer_events(
        ("table_map", DOCS), ("rows", binlog.Statement(DOCS, "insert", after=[[1, "x" * 90, {}, 5]] * 20))
    )
    file = log(tmp_path / "log", *transaction(*inside), (kind, bytes(size)))
    found = json.loads(
        CliRunner().invoke(cli._cli, ["binlog", "sizes", str(file), "--format", "json"]).output
    )
    assert found["unestimated_bytes"] == {f"type {kind}": size + 19}
    assert any(f"{size + 19:,} bytes" in remark for remark in found["remarks"]) == is_told
    text = CliRunner().invoke(cli._cli, ["binlog", "sizes", str(file)]).output
    assert ("not estimated" in text) == is_told
    rows = CliRunner().invoke(cli._cli, ["binlog", "rows", str(file)])
    assert (f"type {kind}" in rows.stderr) == is_told
    assert rows.stdout.count("\n") == 20


def test_transactions_and_minutes_are_told_with_gtid_and_position(tmp_path: Path) -> None:
    events = [*transaction(*partial(PARTIAL[5][1])), *transaction(*partial(PARTIAL[0][1]), number=2)]
    file = log(tmp_path / "log", *events)
    found = binlog_files.sizes(file)
    assert [(one["gtid"], one["rows"]) for one in found.largest] == [(f"{NAME}:1", 3), (f"{NAME}:2", 1)]
    assert [(one["gtid"], one["seconds"]) for one in found.longest] == [
        (f"{NAME}:2", 30.0),
        (f"{NAME}:1", 0.0),
    ]
    (first, second) = sorted(one["position"] for one in found.largest)
    assert file.read_bytes()[first + 4] == file.read_bytes()[second + 4] == 33
    assert found.minutes == {SECONDS // 60: (found.file_bytes - 4, 2)}
    output = CliRunner().invoke(cli._cli, ["binlog", "sizes", str(file), "--levels="]).output
    assert f"{second}  {NAME}:2" in output
    assert "2023-11-14 22:13" in output


def test_a_relay_log_has_the_positions_of_its_source(tmp_path: Path) -> None:
    events = [*transaction(*partial(PARTIAL[0][1])), *transaction(*partial(PARTIAL[1][1]), number=2)]
    plain, relay = log(tmp_path / "log", *events), log(tmp_path / "relay", *events, relay=True)
    assert list(binlog_files.rows(relay)) == list(binlog_files.rows(plain))
    assert binlog_files.sizes(relay).largest == [
        {**one, "file": "relay"} for one in binlog_files.sizes(plain).largest
    ]


@pytest.fixture
def three(tmp_path: Path) -> list[Path]:
    """As it is, gzipped in two members, and in two frames of zstd."""
    plain = log(tmp_path / "one", *transaction(*partial(PARTIAL[0][1])))
    data = plain.read_bytes()
    (tmp_path / "two.gz").write_bytes(gzip.compress(data[:200]) + gzip.compress(data[200:]))
    pack = zstandard.ZstdCompressor().compress
    (tmp_path / "three.zst").write_bytes(pack(data[:99]) + pack(data[99:]))
    return [plain, tmp_path / "two.gz", tmp_path / "three.zst"]


def test_compressed_files_and_standard_input_are_read_as_the_file(three: list[Path]) -> None:
    read = [binlog_files.sizes(file) for file in three]
    assert len({(one.file_bytes, one.minimal_bytes, one.levels[0].file_bytes) for one in read}) == 1
    command = [sys.executable, "-c", "from engineroom.cli import main; main()", "binlog", "rows", "-"]
    for file in three:
        with file.open("rb") as source:
            done = subprocess.run(command, stdin=source, capture_output=True, check=True)
        assert done.stdout == b"".join(binlog_files.rows(three[0]))


def test_a_damaged_file_costs_itself_alone(three: list[Path], tmp_path: Path) -> None:
    cut = tmp_path / "cut.gz"
    cut.write_bytes(three[1].read_bytes()[:-30])
    bad = tmp_path / "bad"
    bad.write_bytes(three[0].read_bytes()[:-3])
    names = [str(file) for file in (three[0], cut, bad, three[1], tmp_path / "none", three[2])]
    result = CliRunner().invoke(cli._cli, ["binlog", "sizes", *names, "--format", "json"])
    found = json.loads(result.stdout)
    assert [one["file"] for one in found["files"]] == ["one", "two.gz", "three.zst"]
    assert len(found["damaged"]) == 3
    assert found["together"]["minimal_bytes"] == 3 * found["files"][0]["minimal_bytes"]
    assert found["together"]["tables"][0]["changes"]["update"]["rows"] == 3
    assert found["together"]["minutes"][0]["transactions"] == 3
    assert isinstance(result.exception, EngineRoomError)
    assert all(f"{name}" in str(result.exception) for name in (cut, bad, tmp_path / "none"))
    text = CliRunner().invoke(cli._cli, ["binlog", "sizes", *names]).stdout
    assert "3 files: " in text
    assert "two.gz:" in text
    rows = CliRunner().invoke(cli._cli, ["binlog", "rows", *names])
    assert [json.loads(line)["file"] for line in rows.stdout.splitlines()] == ["one", "two.gz", "three.zst"]


def test_bytes_that_are_no_text_become_a_message(tmp_path: Path) -> None:
    data = log(tmp_path / "log", *transaction(*partial(PARTIAL[1][1]))).read_bytes()
    for text in (b"shop", b"doc\0", b"9.7.4", b"$.a"):
        (tmp_path / "bad").write_bytes(data.replace(text, b"\xed\xa0\x80"[: len(text)] + text[3:], 1))
        with pytest.raises(EngineRoomError, match="no UTF-8"):
            list(binlog_files.rows(tmp_path / "bad"))


@pytest.mark.parametrize("seed", range(5))
def test_whatever_the_damage_there_is_a_message(tmp_path: Path, seed: int) -> None:
    mixed = [*transaction(*partial(PARTIAL[2][1])), *maria(*MAP, MARIADB[seed][1], *XID), (42, bytes(60))]
    version = "10.11.6-MariaDB" if seed % 2 else "9.7.4"
    file = log(tmp_path / "log", *mixed, version=version, relay=seed > 2)
    draw = random.Random(seed)
    for _ in range(60):
        data = bytearray(file.read_bytes())
        for _ in range(draw.randint(1, 3)):
            data[draw.randrange(100, len(data))] = draw.choice(
                [0, 1, 0x7F, 0x80, 250, 254, 255, draw.randrange(256)]
            )
        (tmp_path / "bad").write_bytes(data)
        for read in (
            lambda file: binlog_files.sizes(file, levels=(1,)),
            lambda file: list(binlog_files.rows(file)),
        ):
            try:
                read(tmp_path / "bad")
            except EngineRoomError:
                continue


@pytest.mark.live
def test_minimal_images_of_json_diffs_are_what_the_server_then_writes(server: Server, tmp_path: Path) -> None:
    if server.series not in ("8.0", "9.7"):
        pytest.skip("no PARTIAL_JSON before 8.0")
    server.execute(
        "CREATE DATABASE docs",
        "CREATE TABLE docs.d (id INT PRIMARY KEY, t TEXT, doc JSON, other JSON, n INT)",
    )

    def logged(image: str, packed: str = "OFF") -> Path:
        server.execute("DELETE FROM docs.d")
        values = ", ".join(
            f"""({k}, REPEAT('x', 900), '{{"a": 1, "l": [1, 2], "p": "{"y" * 300}"}}', '[1, 2, "{"z" * 99}"]', 0)"""
            for k in range(60)
        )
        server.execute(
            f"INSERT INTO docs.d VALUES {values}",
            "FLUSH LOGS",
            f"SET binlog_row_image = {image}, binlog_row_value_options = 'PARTIAL_JSON', timestamp = 1700000000",
            *([f"SET binlog_transaction_compression = {packed}"] if packed == "ON" else []),
            "UPDATE docs.d SET n = n + 1",
            "UPDATE docs.d SET doc = JSON_SET(doc, '$.a', id)",
            "UPDATE docs.d SET doc = JSON_REMOVE(doc, '$.l[0]'), other = JSON_REPLACE(other, '$[0]', 7) WHERE id > 5",
            "UPDATE docs.d SET other = '[]', n = 9 WHERE id < 50",
            "UPDATE docs.d SET doc = NULL WHERE id = 3",
            "DELETE FROM docs.d WHERE id > 20",
        )
        name = server.query("SHOW BINARY LOGS")[-1][0]
        server.execute("FLUSH LOGS")
        return Path(shutil.copy(Path(server.variables()["datadir"]) / name, tmp_path / (image + packed)))

    full, minimal = (binlog_files.sizes(logged(image), levels=()) for image in ("FULL", "MINIMAL"))
    assert full.minimal_bytes == pytest.approx(minimal.file_bytes, rel=0.01)
    if "binlog_transaction_compression" in server.variables():
        again = binlog_files.sizes(logged("FULL", "ON"), levels=())
        assert again.file_bytes < full.file_bytes / 2
        assert again.minimal_bytes == pytest.approx(full.minimal_bytes, rel=0.01)


def test_a_sample_of_a_large_file_stands_for_the_rest_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(1)

    def inserts(n: int, is_easy: bool) -> list[Made]:
        made = []
        for _ in range(n):
            rows = [
                [k, "", {"a": "ab" * 4000 if is_easy else draw.randbytes(4000).hex()}, k] for k in range(20)
            ]
            statement = binlog.Statement(DOCS, "insert", after=rows)
            made += transaction(*writer_events(("table_map", DOCS), ("rows", statement)))
        return made

    # First what compresses well, then what does not.
    file = log(tmp_path / "log", *inserts(110, True), *inserts(150, False))
    monkeypatch.setattr(sys.modules[binlog_files.FileSizes.__module__], "WHOLE_BYTES", 1 << 20)
    found = binlog_files.sizes(file, levels=(1,))
    exact = binlog_files.sizes(file, levels=(1,), is_exact=True)
    assert 0.3 < found.sampled_share < 0.6
    assert any("--exact" in remark for remark in found.remarks)
    for one, other in zip(found.levels, exact.levels, strict=True):
        assert one.file_bytes == pytest.approx(other.file_bytes, rel=0.05)
    assert (found.minimal_bytes, exact.sampled_share) == (exact.minimal_bytes, 1.0)
