"""Rows out of the files of four generations, against what the statements said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from engineroom._native import binlog
from engineroom.ask import binlog_files
from engineroom.errors import EngineRoomError
from engineroom.servers import Server

# Column, what the statement says, what the log's row is read as.
VALUES: list[tuple[str, str, Any]] = [
    ("INT PRIMARY KEY", "1", 1),
    ("TINYINT", "-5", -5),
    ("MEDIUMINT", "-70000", -70000),
    ("BIGINT", "-5000000000", -5000000000),
    ("FLOAT", "1.5", 1.5),
    ("DOUBLE", "-0.1", -0.1),
    ("DECIMAL(20,7)", "-12345.6789012", "-12345.6789012"),
    ("BIT(13)", "4660", 4660),
    ("ENUM('a','b','c')", "'b'", 2),
    ("SET('x','y','z')", "'x,z'", 5),
    ("CHAR(200)", "'dé '", "dé"),
    ("VARCHAR(50)", "'😀'", "😀"),
    ("VARCHAR(400)", "NULL", None),
    ("VARBINARY(300)", "X'FF00'", "0xFF00"),
    ("MEDIUMBLOB", "X'C328'", "0xC328"),
    ("LONGTEXT", "'text'", "text"),
    ("DATE", "'2020-02-29'", "2020-02-29"),
    ("TIME", "'-12:34:56'", "-12:34:56"),
    ("TIME(3)", "'-00:00:00.5'", "-00:00:00.500"),
    ("DATETIME(6)", "'2021-12-31 23:59:59.999999'", "2021-12-31 23:59:59.999999"),
    ("TIMESTAMP(2) NULL", "'2023-03-03 03:03:03.25'", "2023-03-03 03:03:03.25"),
    ("YEAR", "1999", 1999),
]
UNSIGNED = ("BIGINT UNSIGNED", "18000000000000000000", 18000000000000000000)
DOCUMENT = (
    "JSON",
    """'{"a": [1, 2.5, "x", null, true], "b": {}}'""",
    {"a": [1, 2.5, "x", None, True], "b": {}},
)


@pytest.mark.live
def test_a_row_of_every_type_is_read_as_the_statement_says(server: Server, tmp_path: Path) -> None:
    columns = list(VALUES)
    if server.series != "5.6":
        columns.append(DOCUMENT)
    if server.series in ("8.0", "9.7"):  # an older log does not tell that a number has no sign
        columns.append(UNSIGNED)
    definitions = ", ".join(f"c{i} {definition}" for i, (definition, _, _) in enumerate(columns))
    texts = ", ".join(text for _, text, _ in columns)
    server.execute(
        "CREATE DATABASE types",
        f"CREATE TABLE types.t ({definitions}) DEFAULT CHARSET utf8mb4",
        "FLUSH LOGS",
        "SET time_zone = '+00:00'",
        f"INSERT INTO types.t VALUES ({texts})",
        "UPDATE types.t SET c1 = 6",
        "SET binlog_row_image = MINIMAL",
        "DELETE FROM types.t WHERE c0 = 1",
    )
    log = server.query("SHOW BINARY LOGS")[-1][0]
    server.execute("FLUSH LOGS")
    file = Path(shutil.copy(Path(server.variables()["datadir"]) / log, tmp_path / "log"))
    insert, update, delete = (json.loads(line) for line in b"".join(binlog_files.rows(file)).splitlines())
    expected = {f"@{i + 1}": value for i, (_, _, value) in enumerate(columns)}
    assert insert["after"] == update["before"] == expected
    assert update["after"] == expected | {"@2": 6}
    assert delete["before"] == {"@1": 1}


def test_a_frame_that_is_none_is_damage_with_its_position(tmp_path: Path) -> None:
    writer = binlog.Writer(position=4)
    writer.format_description("9.7.4")
    position = writer.position
    writer.payload(b"not zstd", uncompressed_bytes=100)
    (tmp_path / "log").write_bytes(b"\xfebin" + writer.take())
    with pytest.raises(
        EngineRoomError, match=f"at position {position}: a compressed transaction cannot be decompressed"
    ):
        list(binlog_files.rows(tmp_path / "log"))


def test_what_is_no_file_of_the_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("SELECT 1")
    for name, message in (
        ("text", "does not begin as a binary log does"),
        ("none", "cannot be read"),
        (".", "cannot be read"),
    ):
        with pytest.raises(EngineRoomError, match=message):
            list(binlog_files.rows(tmp_path / name))
