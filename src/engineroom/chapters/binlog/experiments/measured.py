"""The binary log's experiments: bytes and CPU time of TPC-C's transactions under each setting, and every level of zstd.

Bytes are exact: the server's come from its own positions in the log, before and after each commit; the kernel's from the same
transactions, encoded and compressed here. CPU time is the best of the repeats, since others' load only adds.
"""

from __future__ import annotations

import datetime
import json
import random
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import zstandard

from engineroom._native import binlog
from engineroom.measuring.sitting import LiveSitting
from engineroom.measuring.turns import in_turns
from engineroom.runs import Run
from engineroom.runs.sitting import Sitting
from engineroom.servers.catalogue import measured as installed
from engineroom.workloads import tpcc
from engineroom.workloads.tpcc_transactions import Change, Transaction, declarations, keys, transactions

DATABASE = "tpcc"
# Each seed is a repeat: other customers, items and amounts, on the same loaded database.
SEEDS = (1, 2, 3)
TRANSACTIONS = 1000
SCALE = 0.05  # of the specification's rows per warehouse; it does not change how long a row is
DEFAULT_LEVEL = 3
GTID_UUID = bytes(range(16))
TIMESTAMP = 1_700_000_000
SQL_MODE = 0x45A00020  # what 9.7 has by default
COLLATIONS = (45, 45, 255, 255)  # what the connector asks for, and what the server has
USE_SQL_FOREIGN_KEY = 0x10  # a flag of rows that 9.7 sets
LEVELS = range(1, 23)
COMPRESSING = installed(since="8.0.31")
NEAREST = "8.0.31"  # to the source's server


@dataclass(frozen=True)
class Setting:
    """What a session sets: the row image, and the level of zstd, 0 for no compression."""

    image: str
    level: int

    @property
    def name(self) -> str:
        """As the tables have it: "full, zstd 3"."""
        return f"{self.image}, {f'zstd {self.level}' if self.level else 'uncompressed'}"

    def statements(self) -> list[str]:
        """What a session of 8.0.20 and later runs to have it."""
        compression = [f"SET SESSION binlog_transaction_compression = {'ON' if self.level else 'OFF'}"]
        if self.level:
            compression.append(f"SET SESSION binlog_transaction_compression_level_zstd = {self.level}")
        return [f"SET SESSION binlog_row_image = {self.image.upper()}", *compression]


class Logged(NamedTuple):
    """What the log has of one statement: the table's map, and its rows."""

    table: binlog.Table
    change: str
    rows: binlog.Statement


FULL, MINIMAL = Setting("full", 0), Setting("minimal", 0)
PACKED, BOTH = Setting("full", DEFAULT_LEVEL), Setting("minimal", DEFAULT_LEVEL)
PACKED_MORE = Setting("full", 19)  # which 8.0.31 does not
SETTINGS = (FULL, MINIMAL, PACKED, BOTH, PACKED_MORE)
# What the simulated figures compare.
DEMANDS_OF = (FULL, PACKED, MINIMAL)
# What the sources' figures call them.
IN_FIGURES: Mapping[str, Mapping[str, Setting]] = {
    "fig-7-27": {"uncompressed": FULL, "compressed": PACKED},
    "fig-7-29": {"full": FULL, "minimal": MINIMAL},
    "num-ch7-2": {"minimal": MINIMAL, "compressed": PACKED, "minimal_compressed": BOTH},
}
COUNTS = (
    "bytes that the transactions of one client put into the log, which depend on no other work on the machine"
)
# Bytes do not depend on when they reach the disk.
OPTIONS_OF_SIZES: Mapping[str, str | int] = {
    "log_bin": "binlog",
    "server_id": 1,
    "sync_binlog": 0,
    "innodb_flush_log_at_trx_commit": 2,
}
# CPU time is taken with the sources' durability.
OPTIONS_OF_COSTS: Mapping[str, str | int] = {
    "log_bin": "binlog",
    "server_id": 1,
    "sync_binlog": 1,
    "innodb_flush_log_at_trx_commit": 1,
}
COLUMNS = {
    "setting": "the row image and compression, as the source calls them",
    "binlog_gb": "GB of binary log per million transactions, which is kB per transaction",
    "server": "version",
    "kind": "the transaction; `mix` is all of them together",
    "bytes_per_txn": "bytes in the binary log per transaction, all events with headers and checksums",
    "transactions": "transactions of this kind in the repeat",
    "image": "binlog_row_image",
    "level": "level of zstd; 0 is no compression",
    "server_cpu_us": "CPU time of the whole server per transaction, microseconds",
    "rows_kind": "what the rows hold, see `kinds`",
    "ratio": "compressed bytes over uncompressed bytes",
    "cpu_ns_per_byte": "CPU time of compressing per uncompressed byte, nanoseconds",
    "unit_bytes": "mean uncompressed bytes of a transaction",
    "encode_us": "CPU time of writing a transaction's events into the session's cache, microseconds",
    "compress_us": "CPU time of compressing them, microseconds",
    "checksum_us": "CPU time of CRC32 over what goes to the file, microseconds",
}


def sizes_live(
    *,
    n: int = TRANSACTIONS,
    seeds: Sequence[int] = SEEDS,
    scale: float = SCALE,
    versions: Sequence[str] = COMPRESSING,
) -> list[Run]:
    """Run the same transactions under each setting on servers that compress, and read off their logs' positions."""
    found: list[dict[str, Any]] = []
    size = tpcc.Size(1, scale)
    with LiveSitting(seed=seeds[0]) as sitting:
        for version in versions:
            with sitting.session(version, options=OPTIONS_OF_SIZES) as (server, connection):
                for (repeat, seed), setting in _seeds_and_settings(seeds):
                    tpcc.load(
                        server, database=DATABASE, warehouses=1, scale=scale, replace=True, progress=False
                    )
                    _prepare(connection, setting)
                    with connection.cursor() as cursor:
                        for transaction in transactions(n, size=size, seed=seed):
                            before = _position(cursor)
                            _run(connection, cursor, transaction)
                            one = _one(repeat, setting, transaction.kind, _position(cursor) - before)
                            found.append(one | {"version": version, "server": server.version})
    return _runs(sitting, found, _load(n, scale, seeds))


def sizes_kernel(*, n: int = TRANSACTIONS, seeds: Sequence[int] = SEEDS, scale: float = SCALE) -> list[Run]:
    """The bytes of the same transactions by the kernel, which has seen no server."""
    found: list[dict[str, Any]] = []
    size = tpcc.Size(1, scale)
    with Sitting("kernel", seed=seeds[0]) as sitting:
        for (repeat, seed), setting in _seeds_and_settings(seeds):
            made = statements(setting.image)
            for transaction in transactions(n, size=size, seed=seed):
                found.append(
                    _one(repeat, setting, transaction.kind, _bytes(made(transaction), setting.level))
                )
    return _runs(sitting, found, _load(n, scale, seeds))


def costs_live(*, blocks: int = 9, per_block: int = 150, scale: float = SCALE) -> Run:
    """CPU time of the server per transaction under several settings, in turns of a block of transactions each."""
    settings = (FULL, *(Setting("full", level) for level in (1, 3, 10, 19)), MINIMAL, BOTH)
    found = []
    with (
        LiveSitting(seed=SEEDS[0]) as sitting,
        sitting.session("9.7", options=OPTIONS_OF_COSTS) as (server, connection),
    ):
        tpcc.load(server, database=DATABASE, warehouses=1, scale=scale, replace=True, progress=False)
        left = transactions((blocks + 1) * len(settings) * per_block, size=tpcc.Size(1, scale), seed=SEEDS[0])
        # The first round warms the server up.
        for turn, setting in in_turns(blocks + 1, settings, desc="settings", unit="block"):
            _prepare(connection, setting)
            block = [next(left) for _ in range(per_block)]
            before, cpu_before = _log_position(connection), _cpu_s(server)
            with connection.cursor() as cursor:
                for transaction in block:
                    _run(connection, cursor, transaction)
            cpu_s = _cpu_s(server) - cpu_before
            if turn > 0:
                found.append({
                    "setting": setting.name, "series": "server", "image": setting.image, "level": setting.level, "repeat": turn - 1,
                    "server_cpu_us": 1e6 * cpu_s / per_block,
                    "bytes_per_txn": (_log_position(connection) - before) / per_block,
                })  # fmt: skip
    return sitting.run(
        "own-binlog-cpu",
        found,
        summary="min",
        columns=COLUMNS,
        options=OPTIONS_OF_COSTS,
        transactions_per_block=per_block,
        clients=1,
        scale=scale,
    )


def demands_kernel(*, n: int = TRANSACTIONS, repeats: int = 7, scale: float = SCALE, times: int = 5) -> Run:
    """What one transaction of TPC-C takes of its session and of the one that writes for the group, by setting.

    Encoding is the kernel's, from packed rows to a cache that is used again; compressing is libzstd's, a frame per transaction; the
    checksum is zlib's, as the server's is.
    """
    found = []
    with Sitting("kernel", seed=SEEDS[0]) as sitting:
        made = {setting: _packed(setting, n, scale) for setting in DEMANDS_OF}
        for repeat, setting in in_turns(repeats, DEMANDS_OF, desc="demands", unit="setting"):
            of = made[setting]
            start = time.thread_time()
            binlog.encode(of.statements, times=times)
            encode_s = time.thread_time() - start
            compress_s = 0.0
            if setting.level:
                start = time.thread_time()
                zstandard.ZstdCompressor(level=setting.level).multi_compress_to_buffer(of.parts)
                compress_s = time.thread_time() - start
            start = time.thread_time()
            for _ in range(times):
                for part in of.written:
                    zlib.crc32(part)
            checksum_s = time.thread_time() - start
            found.append({
                "setting": setting.name, "series": "kernel", "repeat": repeat,
                "encode_us": 1e6 * encode_s / n / times, "compress_us": 1e6 * compress_s / n,
                "checksum_us": 1e6 * checksum_s / n / times, "bytes_per_txn": of.bytes_per_txn,
            })  # fmt: skip
    return sitting.run(
        "own-binlog-demands", found, summary="min", columns=COLUMNS, load=_load(n, scale, SEEDS[:1])
    )


class _Packed(NamedTuple):
    """The same transactions as statements, as what zstd is given, and as what goes to the file."""

    statements: list[list[binlog.Statement]]
    parts: zstandard.BufferWithSegments
    written: list[bytes]
    bytes_per_txn: float


def _packed(setting: Setting, n: int, scale: float) -> _Packed:
    made = statements(setting.image)
    logged = [made(transaction) for transaction in transactions(n, size=tpcc.Size(1, scale), seed=SEEDS[0])]
    of_statements = [[one.rows for one in transaction] for transaction in logged]
    parts = [_events_of(transaction, checksums=False) for transaction in logged]
    sizes = np.array([len(part) for part in parts], dtype=np.uint64)
    segments = np.column_stack([np.cumsum(sizes) - sizes, sizes]).astype(np.uint64)
    compressor = zstandard.ZstdCompressor(level=setting.level or DEFAULT_LEVEL)
    return _Packed(
        statements=of_statements,
        parts=zstandard.BufferWithSegments(b"".join(parts), segments.tobytes()),
        written=[compressor.compress(part) for part in parts] if setting.level else parts,
        bytes_per_txn=sum(_bytes(transaction, setting.level) for transaction in logged) / n,
    )


def levels(*, kilobytes: int = 500, repeats: int = 5, at: Sequence[int] = LEVELS) -> Run:
    """Ratio and CPU time of every level for three kinds of rows, transactions as they are: one frame each."""
    found = []
    with Sitting("kernel", seed=SEEDS[0]) as sitting:
        made = {kind: units(kind, 1000 * kilobytes) for kind in KINDS_OF_ROWS}
        for repeat, level, kind in in_turns(repeats, at, made, desc="levels", unit="level"):
            data, sizes = made[kind]
            segments = np.column_stack([np.cumsum(sizes) - sizes, sizes]).astype(np.uint64)
            compressor = zstandard.ZstdCompressor(level=level)
            parts = zstandard.BufferWithSegments(data, segments.tobytes())
            start = time.thread_time()
            frames = compressor.multi_compress_to_buffer(parts)
            cpu_s = time.thread_time() - start
            found.append({
                "rows_kind": kind, "series": kind, "level": level, "repeat": repeat, "ratio": frames.size() / len(data),
                "cpu_ns_per_byte": 1e9 * cpu_s / len(data), "unit_bytes": len(data) / len(sizes),
            })  # fmt: skip
    return sitting.run(
        "own-binlog-levels",
        found,
        summary="min",
        columns=COLUMNS,
        kinds=dict(KINDS_OF_ROWS),
        zstd=".".join(map(str, zstandard.ZSTD_VERSION)),
    )


# What the rows of `levels` hold.
KINDS_OF_ROWS: Mapping[str, str] = {
    "orders": "TPC-C's transactions as they come: numbers, short random texts, few rows each",
    "documents": "100 rows per insert, each a JSON document of a web shop's event: the same names again and again",
    "digests": "100 rows per insert, each a key and 48 random bytes: hashes, UUIDs, encrypted values",
}


def units(kind: str, least_bytes: int) -> tuple[bytes, np.ndarray[Any, np.dtype[np.uint64]]]:
    """Transactions of one kind of rows, as a server hands them to zstd, of at least so many bytes; and the bytes of each."""
    parts: list[bytes] = []
    for transaction in {"orders": _orders, "documents": _documents, "digests": _digests}[kind]():
        parts.append(_events_of(transaction, checksums=False))
        if sum(map(len, parts)) >= least_bytes:
            break
    return b"".join(parts), np.array([len(part) for part in parts], dtype=np.uint64)


def statements(image: str) -> Callable[[Transaction], list[Logged]]:
    """What makes the kernel's statements of a TPC-C transaction."""
    declared, key_of = declarations(), keys()
    tables = {
        name: binlog.Table(
            DATABASE,
            name,
            [_in_latin1(kind) for kind in columns.values()],
            key=[list(columns).index(column) for column in key_of[name]],
            id=100 + nth,
        )
        for nth, (name, columns) in enumerate(declared.items())
    }

    def one(change: Change) -> Logged:
        table = tables[change.table]
        rows = binlog.Statement(
            table,
            change.change,
            before=change.before,
            after=change.after,
            image=image,
            flags=USE_SQL_FOREIGN_KEY,
            written=None if change.change == "delete" else list(change.written),
        )
        return Logged(table, change.change, rows)

    return lambda transaction: [one(step.change) for step in transaction.steps]


def _orders() -> Iterator[list[Logged]]:
    made = statements("full")
    for transaction in transactions(100_000, size=tpcc.Size(1, SCALE), seed=SEEDS[0]):
        yield made(transaction)


def _documents() -> Iterator[list[Logged]]:
    rng = random.Random(SEEDS[0])
    table = binlog.Table("shop", "event", ["bigint not null", "datetime not null", "json not null"], key=[0])
    number = 0
    while True:
        rows = []
        for _ in range(100):
            number += 1
            document = {
                "type": rng.choice(["view", "view", "view", "search", "cart", "order"]),
                "customer": rng.randrange(10**6),
                "session": f"{rng.getrandbits(64):016x}",
                "page": f"/shop/{rng.choice(['shoes', 'coats', 'shirts', 'bags'])}/{rng.randrange(5000)}",
                "device": {"kind": rng.choice(["phone", "phone", "desktop"]), "width": rng.choice([390, 412, 1440, 1920])},
                "milliseconds": rng.randrange(4000),
            }  # fmt: skip
            moment = datetime.datetime(2024, 2, 1) + datetime.timedelta(seconds=number)
            rows.append([number, moment, json.loads(json.dumps(document))])
        yield [Logged(table, "insert", binlog.Statement(table, "insert", after=rows))]


def _digests() -> Iterator[list[Logged]]:
    rng = random.Random(SEEDS[0])
    table = binlog.Table("shop", "token", ["bigint not null", "binary(16)", "binary(32)"], key=[0])
    number = 0
    while True:
        rows = [[number + i, rng.randbytes(16), rng.randbytes(32)] for i in range(100)]
        number += 100
        yield [Logged(table, "insert", binlog.Statement(table, "insert", after=rows))]


def _in_latin1(declared: str) -> str:
    """TPC-C's tables are in latin1; the kernel wants it beside the type."""
    if "char" not in declared:
        return declared
    return declared.replace(")", ") character set latin1")


def _events_of(made: list[Logged], *, checksums: bool) -> bytes:
    """A transaction's events behind its GTID event; in a file they have positions and checksums, for compressing neither.

    What the server would number, sessions, tables and transactions, is numbered here, and the rest has its defaults.
    """
    writer = binlog.Writer(
        position=4 if checksums else 0, checksums=checksums, timestamp=TIMESTAMP, server_id=1
    )
    writer.begin(
        thread_id=8,
        database=DATABASE,
        sql_mode=SQL_MODE,
        collations=COLLATIONS,
        tables_for_update=int(made[0].change == "update"),
    )
    for one in made:
        writer.table_map(one.table)
        writer.rows(one.rows)
    writer.xid(1000)
    return writer.take()


def _bytes(made: list[Logged], level: int) -> int:
    """All events of a transaction in a file with checksums."""
    writer = binlog.Writer(position=4, checksums=True)
    if level:
        inside = _events_of(made, checksums=False)
        frame = zstandard.ZstdCompressor(level=level).compress(inside)
        writer.payload(frame, uncompressed_bytes=len(inside))
        behind = len(writer.take())
    else:
        behind = len(_events_of(made, checksums=True))
    # The GTID event holds the transaction's length, its own included, in as many bytes as that takes.
    whole = 0
    for _ in range(2):
        writer.gtid(
            uuid=GTID_UUID, number=1, last_committed=0, sequence_number=1, commit_us=1, transaction_bytes=behind + whole, server_version=90704
        )  # fmt: skip
        whole = len(writer.take())
    return behind + whole


def _seeds_and_settings(seeds: Sequence[int]) -> Iterator[tuple[tuple[int, int], Setting]]:
    """Seed by seed, which is repeat by repeat, the settings in turn."""
    for repeat, setting in in_turns(len(seeds), SETTINGS, desc="settings", unit="setting"):
        yield (repeat, seeds[repeat]), setting


def _prepare(connection: Any, setting: Setting) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"USE {DATABASE}")
        for statement in setting.statements():
            cursor.execute(statement)
    connection.commit()


def _load(n: int, scale: float, seeds: Sequence[int]) -> dict[str, Any]:
    """What a protocol says of the transactions."""
    return {
        "workload": "TPC-C's New-Order, Payment and Delivery by one client, warehouses: 1",
        "scale": scale,
        "transactions": n,
        "seeds": list(seeds),
    }


def _run(connection: Any, cursor: Any, transaction: Transaction) -> None:
    cursor.execute("BEGIN")
    for step in transaction.steps:
        cursor.execute(step.sql)
    connection.commit()


def _position(cursor: Any) -> int:
    cursor.execute("SHOW BINARY LOGS")
    return sum(int(n_bytes) for _, n_bytes, *_ in cursor.fetchall())


def _log_position(connection: Any) -> int:
    with connection.cursor() as cursor:
        return _position(cursor)


def _cpu_s(server: Any) -> float:
    time.sleep(0.01)  # the system books a thread's time when it leaves the processor
    return float(server.cpu_seconds())


def _one(repeat: int, setting: Setting, kind: str, n_bytes: int) -> dict[str, Any]:
    return {
        "version": NEAREST,
        "server": "kernel",
        "repeat": repeat,
        "setting": setting,
        "kind": kind,
        "bytes": n_bytes,
    }


def _runs(sitting: Sitting, found: Sequence[Mapping[str, Any]], load: Mapping[str, Any]) -> list[Run]:
    """The three figures of the sources, and ours by kind of transaction."""
    totals: dict[tuple[str, int, Setting, str], list[int]] = {}
    servers = {row["version"]: row["server"] for row in found}
    for row in found:
        for kind in (row["kind"], "mix"):
            totals.setdefault((row["version"], row["repeat"], row["setting"], kind), []).append(row["bytes"])
    by_kind = [
        {
            "kind": kind, "series": setting.name, "image": setting.image, "level": setting.level, "repeat": repeat,
            "bytes_per_txn": sum(sizes) / len(sizes), "transactions": len(sizes), "server": servers[version],
        }
        for (version, repeat, setting, kind), sizes in totals.items()
    ]  # fmt: skip
    runs = [
        sitting.run(
            figure,
            [
                {
                    "setting": name,
                    "series": "binlog_size" if version == NEAREST else version,
                    "repeat": repeat,
                    "binlog_gb": sum(sizes) / len(sizes) / 1000,
                    "server": servers[version],
                }
                for name, wanted in names.items()
                for (version, repeat, setting, kind), sizes in totals.items()
                if setting == wanted and kind == "mix"
            ],
            columns=COLUMNS,
            counts=COUNTS,
            load=load,
        )
        for figure, names in IN_FIGURES.items()
    ]
    own = sitting.run("own-binlog-transactions", by_kind, columns=COLUMNS, counts=COUNTS, load=load)
    return [*runs, own]
