"""Sizes of made files, counted by hand, and of files that servers of four generations wrote."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import zstandard
from click.testing import CliRunner

from engineroom import cli
from engineroom._native import binlog
from engineroom.ask import binlog_files
from engineroom.ask.binlog_files.sizes import ignores_levels, parse_key
from engineroom.errors import EngineRoomError
from engineroom.servers import Server

UUID = bytes(range(16))
TABLE = binlog.Table("shop", "item", ["int", "varchar(50)", "text", "int"], key=[0], id=9)
ROWS = [[k, f"name {k}", "text " * 100, k * 7] for k in range(1, 41)]


def changed(row: list[Any]) -> list[Any]:
    return [row[0], row[1], row[2], row[3] + 1]


def body(row: list[Any], image: str) -> bytes:
    """The events of a transaction: an insert, an update and a delete of one row."""
    writer = binlog.Writer(timestamp=1_700_000_000)
    writer.begin()
    for kind, options in (
        ("insert", {"after": [row]}),
        ("update", {"before": [row], "after": [changed(row)], "written": [3]}),
        ("delete", {"before": [changed(row)]}),
    ):
        writer.table_map(TABLE)
        writer.rows(binlog.Statement(TABLE, kind, image=image, **options))
    writer.xid(row[0])
    return writer.take()


def with_checksums(events: bytes, position: int) -> bytes:
    """Events of a payload as they are in a file."""
    out = b""
    while events:
        size = int.from_bytes(events[9:13], "little")
        event = bytearray(events[:size])
        position += size + 4
        event[9:17] = (size + 4).to_bytes(4, "little") + position.to_bytes(4, "little")
        out += bytes(event) + binlog.crc32(bytes(event)).to_bytes(4, "little")
        events = events[size:]
    return out


def made_file(path: Path, *, level: int = 0, image: str = "full") -> Path:
    writer = binlog.Writer(position=4, checksums=True, timestamp=1_700_000_000)
    writer.format_description("9.7.4")
    writer.previous_gtids([])
    path.write_bytes(b"\xfebin" + writer.take())
    with path.open("ab") as file:
        for row in ROWS:
            inside = body(row, image)
            position = file.tell()

            def rest(at: int, inside: bytes = inside) -> bytes:
                if not level:
                    return with_checksums(inside, at)
                writer = binlog.Writer(position=at, checksums=True, timestamp=1_700_000_000)
                writer.payload(
                    zstandard.ZstdCompressor(level=level).compress(inside), uncompressed_bytes=len(inside)
                )
                return writer.take()

            total, head = 0, b""
            while total != len(head) + len(rest(position)):
                total = len(head) + len(rest(position))
                writer = binlog.Writer(position=position, checksums=True, timestamp=1_700_000_000)
                writer.gtid(
                    uuid=UUID,
                    number=row[0],
                    last_committed=row[0] - 1,
                    sequence_number=row[0],
                    commit_us=1_700_000_000_000_000,
                    transaction_bytes=total,
                    server_version=90704,
                )
                head = writer.take()
            file.write(head + rest(position + len(head)))
    return path


def test_the_bytes_of_kinds_tables_and_columns_are_all_of_them(tmp_path: Path) -> None:
    file = made_file(tmp_path / "log")
    found = binlog_files.sizes(file, levels=())
    assert found.file_bytes == file.stat().st_size == 4 + sum(b for _, b in found.in_file.values())
    assert found.uncompressed_bytes == found.file_bytes
    assert found.uncompressed == found.in_file
    assert found.transactions == len(ROWS)
    (table,) = found.tables
    assert table["table"] == "shop.item"
    rows = {kind: change["rows"] for kind, change in table["changes"].items()}
    assert rows == {"insert": 40, "update": 40, "delete": 40}
    rows_bytes = sum(change["bytes"] for change in table["changes"].values())
    assert rows_bytes == sum(found.in_file[kind][1] for kind in ("Write_rows", "Update_rows", "Delete_rows"))
    # Two bytes of length before the text, four per number; before an update and a delete, after an insert and an update.
    number, name, text, price = table["columns"]
    assert (number["before_bytes"], number["after_bytes"], number["unchanged_bytes"]) == (320, 320, 160)
    assert text["before_bytes"] == text["after_bytes"] == 2 * 40 * (2 + 500)
    assert price["unchanged_bytes"] == 0
    frame = 19 + 10 + 1 + 1 + 1 + 4
    assert rows_bytes == 120 * frame + 40 + 40 + sum(
        one["before_bytes"] + one["after_bytes"] for one in (number, name, text, price)
    )


def test_other_settings_are_told_to_the_byte(tmp_path: Path) -> None:
    found = binlog_files.sizes(made_file(tmp_path / "full"), levels=(1, 3))
    minimal = made_file(tmp_path / "minimal", image="minimal")
    assert found.minimal_bytes == minimal.stat().st_size
    for level in found.levels:
        image = {"as logged": "full", "minimal": "minimal"}[level.image]
        compressed = made_file(tmp_path / "compressed", level=level.level, image=image)
        assert level.file_bytes == compressed.stat().st_size
        assert level.cpu_s > 0


def test_a_compressed_file_has_the_sizes_of_the_one_that_it_came_from(tmp_path: Path) -> None:
    plain = binlog_files.sizes(made_file(tmp_path / "log"), levels=(3,))
    packed = binlog_files.sizes(made_file(tmp_path / "packed", level=3), levels=(3,))
    assert packed.tables == plain.tables
    assert packed.uncompressed_bytes == plain.uncompressed_bytes
    assert [level.file_bytes for level in packed.levels] == [level.file_bytes for level in plain.levels]
    assert packed.file_bytes == packed.levels[0].file_bytes
    assert set(packed.in_file) == {"Format_desc", "Previous_gtids", "Gtid", "Transaction_payload"}


def test_the_assumed_key_is_the_first_column_and_another_is_taken_when_given(tmp_path: Path) -> None:
    file = made_file(tmp_path / "log")
    assumed = binlog_files.sizes(file, levels=())
    given = binlog_files.sizes(file, levels=(), keys=dict([parse_key("shop.item=1,2")]))
    assert (assumed.tables[0]["key"], assumed.tables[0]["key_from"]) == ([0], "assumed")
    assert (given.tables[0]["key"], given.tables[0]["key_from"]) == ([0, 1], "given")
    assert given.minimal_bytes > assumed.minimal_bytes


def test_both_forms_of_the_command_say_the_same(tmp_path: Path) -> None:
    file = str(made_file(tmp_path / "log"))
    text = CliRunner().invoke(cli._cli, ["binlog", "sizes", file, "--levels", "3"])
    found = json.loads(
        CliRunner().invoke(cli._cli, ["binlog", "sizes", file, "--levels", "3", "--format", "json"]).output
    )
    assert text.exit_code == 0
    for number in (found["minimal_bytes"], found["levels"][0]["file_bytes"], found["file_bytes"]):
        assert f"{number:,}" in text.output
    rows = CliRunner().invoke(cli._cli, ["binlog", "rows", file])
    lines = [json.loads(line) for line in rows.output.splitlines()]
    assert len(lines) == 3 * len(ROWS)
    assert lines[1]["before"] == {"@1": 1, "@2": "name 1", "@3": "text " * 100, "@4": 7}
    assert lines[1]["after"]["@4"] == 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--levels", "3,x"], "'x' is no level"),
        (["--levels", "23"], "no level 23"),
        (["--key", "item=1"], "'item=1' is no key"),
        (["--key", "shop.item=0"], "'shop.item=0' is no key"),
        (["--key", "shop.other=1"], "no changes of shop.other"),
    ],
)
def test_a_wrong_option_is_refused_with_what_to_write(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    file = str(made_file(tmp_path / "log"))
    result = CliRunner().invoke(cli._cli, ["binlog", "sizes", file, *arguments])
    assert isinstance(result.exception, EngineRoomError)
    assert message in str(result.exception)


def test_damage_is_told_with_its_position(tmp_path: Path) -> None:
    file = made_file(tmp_path / "log", level=3)
    data = bytearray(file.read_bytes())
    gtid = data.index(bytes([33]), 8) - 4
    data[gtid + 30] ^= 1
    file.write_bytes(data)
    with pytest.raises(EngineRoomError, match=f"at position {gtid}: the checksum"):
        binlog_files.sizes(file)
    file.write_bytes(data[: gtid + 10])
    with pytest.raises(EngineRoomError, match=f"at position {gtid}: the file ends inside an event"):
        binlog_files.sizes(file)
    with pytest.raises(EngineRoomError, match="cannot be read"):
        binlog_files.sizes(tmp_path / "none")


BOUNDED = """
import json, resource, sys
from pathlib import Path
from engineroom.ask import binlog_files
limit = 700 << 20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
found = binlog_files.sizes(Path(sys.argv[1]), levels=(1,))
print(json.dumps([found.transactions, found.tables[0]["changes"]["insert"]["rows"]]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hold this limit")
def test_memory_is_bounded_for_a_transaction_and_a_file_of_any_length(tmp_path: Path) -> None:
    # 1.2 GB, most of them in one transaction; a payload of 200 MB that has 200 kB.
    statement = binlog.Statement(TABLE, "insert", after=ROWS)
    file = tmp_path / "log"
    rows = 0
    with file.open("wb") as out:
        writer = binlog.Writer(position=4, checksums=True)
        writer.format_description("9.7.4")
        out.write(b"\xfebin" + writer.take())
        for length in (1, 50_000, 1):
            writer.begin()
            writer.table_map(TABLE)
            for _ in range(length):
                writer.rows(statement)
                rows += len(ROWS)
                out.write(writer.take())
            writer.xid(1)
        inner = binlog.Writer()
        inner.begin()
        inner.table_map(TABLE)
        for _ in range(9_000):
            inner.rows(statement)
            rows += len(ROWS)
        inner.xid(1)
        inside = inner.take()
        writer.payload(zstandard.ZstdCompressor().compress(inside), uncompressed_bytes=len(inside))
        out.write(writer.take())
    assert file.stat().st_size > 1_000_000_000
    done = subprocess.run(
        [sys.executable, "-c", BOUNDED, str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [4, rows]


DEFINITION = "CREATE TABLE shop.item (id INT PRIMARY KEY, name VARCHAR(50), info TEXT, price INT) DEFAULT CHARSET utf8mb4"


def run_load(server: Server, first: int) -> None:
    """The same transactions wherever it runs, on rows of their own."""
    with closing(server.connect("shop")) as connection:
        cursor = connection.cursor()
        # On a busy machine the load would last for more seconds, and their numbers do not compress.
        cursor.execute("SET SESSION timestamp = 1700000000")
        for k in range(first, first + 30):
            cursor.execute("START TRANSACTION")
            cursor.execute(
                f"INSERT INTO item (id, name, info, price) VALUES ({k}, 'name', REPEAT('text ', 100), 7)"
            )
            cursor.execute(f"UPDATE item SET price = price + 1 WHERE id = {k}")
            if k % 3 == 0:
                cursor.execute(f"DELETE FROM item WHERE id = {k}")
            cursor.execute("COMMIT")


def logged(server: Server, folder: Path, name: str, first: int, settings: Mapping[str, Any]) -> Path:
    """A file of the server with the load under these global settings, and nothing else."""
    server.execute(*(f"SET GLOBAL {key} = {value}" for key, value in settings.items()), "FLUSH LOGS")
    run_load(server, first)
    log = server.query("SHOW BINARY LOGS")[-1][0]
    server.execute("FLUSH LOGS", *(f"SET GLOBAL {key} = DEFAULT" for key in settings))
    return Path(shutil.copy(Path(server.variables()["datadir"]) / log, folder / name))


@pytest.mark.live
def test_what_is_told_of_other_settings_is_what_the_server_then_writes(
    server: Server, tmp_path: Path
) -> None:
    server.execute("CREATE DATABASE shop", DEFINITION)
    full = logged(server, tmp_path, "full", 1000, {"binlog_row_image": "FULL"})
    found = binlog_files.sizes(full, levels=(3, 10))
    assert found.file_bytes == found.uncompressed_bytes == full.stat().st_size
    assert {kind: change["rows"] for kind, change in found.tables[0]["changes"].items()} == {
        "insert": 30,
        "update": 30,
        "delete": 10,
    }
    begin_and_end = sum(
        found.in_file[kind][1] for kind in ("Gtid", "Anonymous_Gtid", "Query", "Xid") if kind in found.in_file
    )
    maps, map_bytes = found.in_file["Table_map"]
    fixed_bytes = begin_and_end / found.transactions + map_bytes / maps
    if said := {"5.6": 150, "9.7": 250}.get(server.series):  # on the page
        assert fixed_bytes == pytest.approx(said, rel=0.1)
    minimal = logged(server, tmp_path, "minimal", 2000, {"binlog_row_image": "MINIMAL"})
    assert found.minimal_bytes == minimal.stat().st_size
    if "binlog_transaction_compression" not in server.variables():
        return
    is_deaf = ignores_levels(str(server.version))
    assert bool(found.remarks) == is_deaf
    images = {"as logged": "FULL", "minimal": "MINIMAL"}
    for nth, level in enumerate(found.levels):
        settings = {
            "binlog_row_image": images[level.image],
            "binlog_transaction_compression": "ON",
            "binlog_transaction_compression_level_zstd": level.level,
        }
        packed = logged(server, tmp_path, f"packed{nth}", 3000 + 1000 * nth, settings)
        told_level = 3 if is_deaf else level.level
        (done,) = (each for each in found.levels if each.image == level.image and each.level == told_level)
        # Of its own transactions the estimate is the server's file, but for what another zstd makes of a frame.
        itself = binlog_files.sizes(packed, levels=(told_level,))
        assert itself.levels[0].file_bytes == pytest.approx(packed.stat().st_size, abs=10)
        # Other transactions of the same load: the numbers of rows and transactions alone move the size by 1 %.
        assert done.file_bytes == pytest.approx(packed.stat().st_size, rel=0.02)
        assert itself.minimal_bytes == found.minimal_bytes
