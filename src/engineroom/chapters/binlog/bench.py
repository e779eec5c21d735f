"""The binary log: what encoding costs beside compression, and reading a file against other readers."""

from __future__ import annotations

import datetime
import importlib.metadata
import importlib.util
import random
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import zstandard

from engineroom._native import binlog
from engineroom.ask.binlog_files import inflate
from engineroom.bench import Row, Sitting, row
from engineroom.errors import EngineRoomError

__all__ = ["PACKAGES", "bench"]

PACKAGES = ("zstandard",)
REPEATS = 7
LEVELS = (1, 3, 10)
TIMES = 5  # that a repeat encodes them, so that it is long enough to be timed
TRANSACTIONS = 20_000  # of the file, with ten rows inserted and five updated each
COMPRESSED = 2_000  # of them, at each level
SEED = 18
COLUMNS = [
    "int unsigned not null",
    "int",
    "varchar(60)",
    "decimal(12,2)",
    "datetime(6)",
    "bigint",
    "varchar(200)",
    "char(12)",
    "double",
    "tinyint",
]


def bench(sitting: Sitting) -> list[Row]:
    """All goals, by CPU time; the best of the repeats counts, since others' load only adds."""
    sitting.says(f"{TRANSACTIONS} transactions are made")
    made = transactions(TRANSACTIONS)
    rows = [_encoding(sitting, made[:COMPRESSED], level) for level in LEVELS]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "binlog.000001")
        write(file, made)
        sitting.notes["file"] = {"bytes": file.stat().st_size, "transactions": len(made), "seed": SEED}
        rows += [_against_mysqlbinlog(sitting, file), _against_package(sitting, file)]
    return rows


def transactions(n: int) -> list[list[binlog.Statement]]:
    """Orders as a shop writes them: random numbers, and texts of a few letters."""
    rng = random.Random(SEED)
    table = binlog.Table("shop", "orders", COLUMNS, key=[0])
    made = []
    for first in range(1, 10 * n, 10):
        rows = [_order(rng, number) for number in range(first, first + 10)]
        changed = [[line[0], line[1] + 1, *line[2:]] for line in rows[:5]]
        made.append(
            [
                binlog.Statement(table, "insert", after=rows),
                binlog.Statement(table, "update", before=rows[:5], after=changed),
            ]
        )
    return made


def _order(rng: random.Random, number: int) -> list[Any]:
    moment = datetime.datetime(2024, 1, 1) + datetime.timedelta(microseconds=rng.randrange(10**13))
    return [
        number,
        rng.randrange(10**6),
        f"customer {rng.randrange(10**5)}",
        f"{rng.randrange(10**6)}.{rng.randrange(100):02}",
        moment,
        rng.getrandbits(40),
        "".join(rng.choices("abcdefgh ijkl", k=rng.randrange(150))),
        f"status{rng.randrange(9)}",
        rng.random(),
        rng.randrange(100),
    ]


def write(file: Path, made: list[list[binlog.Statement]]) -> None:
    """The transactions as an uncompressed file with checksums."""
    table = binlog.Table("shop", "orders", COLUMNS, key=[0])
    writer = binlog.Writer(position=4, checksums=True, timestamp=1_700_000_000)
    writer.format_description("9.7.4")
    with file.open("wb") as out:
        out.write(b"\xfebin" + writer.take())
        for xid, statements in enumerate(made, start=1):
            writer.begin()
            for statement in statements:
                writer.table_map(table)
                writer.rows(statement)
            writer.xid(xid)
            out.write(writer.take())


def _encoding(sitting: Sitting, made: list[list[binlog.Statement]], level: int) -> Row:
    """The speed of encoding and compressing together against compressing alone, over the same transactions, in turns.

    Encoding begins with rows as a server's record buffer holds them, and ends in a buffer that the next transaction takes over, as a
    session's cache: what turns SQL into values, and what copies bytes to Python, is on neither side.
    """
    compressor = zstandard.ZstdCompressor(level=level)
    data, sizes = binlog.payloads(made)
    segments = np.column_stack([np.cumsum(sizes) - sizes, sizes]).astype(np.uint64)
    units = zstandard.BufferWithSegments(data, segments.tobytes())
    sitting.says(f"encoding and zstd {level}, {REPEATS} times")
    encode_s, compress_s = [], []
    for _ in range(REPEATS):
        start = time.thread_time()
        binlog.encode(made, times=TIMES)
        encode_s.append((time.thread_time() - start) / TIMES)
        start = time.thread_time()
        compressor.multi_compress_to_buffer(units)
        compress_s.append(time.thread_time() - start)
    megabytes = len(data) / 1e6
    alone, both = min(compress_s), min(compress_s) + min(encode_s)
    return row(
        f"encoding and zstd {level}, transactions of {len(data) / len(made) / 1000:.1f} kB",
        ours=megabytes / both,
        unit="MB/CPU s",
        peer=f"libzstd {'.'.join(map(str, zstandard.ZSTD_VERSION))} alone",
        peer_value=megabytes / alone,
        ratio=alone / both,
        side=">=",
        goal=0.95,
    )


def _decode(file: Path) -> float:
    """CPU seconds of all rows as text."""
    start = time.process_time()
    reader = binlog.RowLines(file_bytes=file.stat().st_size, inflate=inflate)
    with file.open("rb") as source:
        while piece := source.read(1 << 20):
            reader.feed(piece)
    reader.end()
    return time.process_time() - start


def _against_mysqlbinlog(sitting: Sitting, file: Path) -> Row:
    command = [
        *_mysqlbinlog(),
        "--no-defaults",
        "-v",
        "--base64-output=DECODE-ROWS",
        "--verify-binlog-checksum",
        str(file),
    ]

    def theirs() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    version = subprocess.run([*_mysqlbinlog(), "--version"], capture_output=True, text=True, check=True)
    peer = "mysqlbinlog -v " + version.stdout.split("Ver ")[-1].split()[0]
    return _decoding(sitting, file, theirs, peer=peer, goal=2.0, repeats=REPEATS)


def _mysqlbinlog() -> tuple[str, ...]:
    """The program of the newest series: the system's, or the one that came with the unpacked server."""
    from engineroom.servers.catalogue import resolve
    from engineroom.servers.providers import unpack
    from engineroom.servers.providers.unpack import apt

    if found := shutil.which("mysqlbinlog"):
        return (found,)
    mysqld = Path(unpack.install(resolve("9.7")).command[-1])
    program = mysqld.parent.parent / "bin" / "mysqlbinlog"
    if not program.exists():
        raise EngineRoomError(
            "there is no mysqlbinlog to compare with", remedy="install the client programs of MySQL"
        )
    tree = mysqld.parents[2]
    return apt.command(tree, str(program.relative_to(tree)))


def _against_package(sitting: Sitting, file: Path) -> Row:
    """mysql-replication, of its parts only what decodes events: no network, no statements about tables."""
    if importlib.util.find_spec("pymysqlreplication") is None:
        raise EngineRoomError(
            "the bench of binlog compares with mysql-replication, which is not installed",
            remedy="run `make bench`, which installs it first, or `pip install -e '.[bench]'`",
        )
    peer = f"mysql-replication {importlib.metadata.version('mysql-replication')}"
    return _decoding(sitting, file, lambda: _decode_by_package(file), peer=peer, goal=20.0, repeats=1)


def _decode_by_package(file: Path) -> float:
    from pymysql.connections import MysqlPacket
    from pymysqlreplication import row_event
    from pymysqlreplication.packet import BinLogPacketWrapper

    connection = SimpleNamespace(charset="utf8mb4", _get_dbms=lambda: "mysql")
    events = (
        row_event.TableMapEvent,
        row_event.WriteRowsEvent,
        row_event.UpdateRowsEvent,
        row_event.DeleteRowsEvent,
    )
    tables: dict[int, Any] = {}
    start = time.process_time()
    with file.open("rb") as source:
        source.read(4)
        while header := source.read(19):
            rest = source.read(int.from_bytes(header[9:13], "little") - 19)
            event = BinLogPacketWrapper(
                from_packet=MysqlPacket(b"\0" + header + rest, "utf8mb4"),
                table_map=tables,
                ctl_connection=connection,
                mysql_version=(9, 7, 4),
                use_checksum=True,
                allowed_events=frozenset(events),
                only_tables=None,
                ignored_tables=None,
                only_schemas=None,
                ignored_schemas=None,
                freeze_schema=False,
                ignore_decode_errors=False,
                verify_checksum=True,
                optional_meta_data=True,
                enable_logging=False,
            ).event
            if isinstance(event, row_event.TableMapEvent):
                tables[event.table_id] = event.get_table()
            elif event is not None:
                _ = event.rows  # decoded when asked for
    return time.process_time() - start


def _decoding(
    sitting: Sitting, file: Path, theirs: Callable[[], float], *, peer: str, goal: float, repeats: int
) -> Row:
    """CPU seconds for all rows of the file, in turns."""
    sitting.says(f"all rows of the file, {REPEATS} times and {repeats} times by {peer}")
    ours_s, theirs_s = [], []
    for nth in range(REPEATS):
        ours_s.append(_decode(file))
        if nth < repeats:
            theirs_s.append(theirs())
    megabytes = file.stat().st_size / 1e6
    return row(
        f"all rows of a file of {megabytes:.0f} MB as text",
        ours=min(ours_s),
        unit="CPU s",
        peer=peer,
        peer_value=min(theirs_s),
        ratio=min(theirs_s) / min(ours_s),
        side=">=",
        goal=goal,
    )
