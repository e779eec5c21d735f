"""The binary log's writer against a live server, byte for byte, and its reader on the files of four generations.

Rows come from what the statements say, never from the server's file; from that come only timestamps, numbers of servers, tables and
transactions, and positions.
"""

from __future__ import annotations

import datetime
import json
import random
import shutil
import struct
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import zstandard

from engineroom import servers
from engineroom._native import binlog

pytestmark = pytest.mark.live

STATEMENTS = 420
SEED = 18
# What 9.7 has by default: ONLY_FULL_GROUP_BY, STRICT_TRANS_TABLES, NO_ZERO_IN_DATE, NO_ZERO_DATE, ERROR_FOR_DIVISION_BY_ZERO and
# NO_ENGINE_SUBSTITUTION, a bit each.
SQL_MODE = 0x45A00020
# utf8mb4_general_ci of the client and its connection, utf8mb4_0900_ai_ci of the server and as the default.
COLLATIONS = (45, 45, 255, 255)
TIME_ZONE = "+00:00"
USE_SQL_FOREIGN_KEY = 0x10
GTID_EVENT, PAYLOAD_EVENT, MAP_EVENT, XID_EVENT, QUERY_EVENT = 33, 40, 19, 16, 2
ROWS_EVENTS = (30, 31, 32)

Value = Any
Make = Callable[[random.Random], tuple[str, Value]]


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def hexed(data: bytes) -> str:
    return f"X'{data.hex()}'"


def integer(bits: int, *, unsigned: bool = False) -> Make:
    low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)

    def make(rng: random.Random) -> tuple[str, Value]:
        value = rng.choice([low, high, 0, 1, rng.randint(low, high), max(low, -1)])
        return str(value), value

    return make


def real(rng: random.Random) -> tuple[str, Value]:
    value = rng.choice([0.0, rng.randint(-(2**20), 2**20) / 64])
    return repr(value), value


def decimal(precision: int, scale: int) -> Make:
    def make(rng: random.Random) -> tuple[str, Value]:
        digits = rng.randint(1, precision)
        number = rng.choice([0, 10**digits - 1, rng.randrange(10**digits)]) * rng.choice([1, -1])
        value = Decimal(number).scaleb(-scale)
        return f"{value:f}", f"{value:f}"

    return make


def positive(rng: random.Random) -> tuple[str, Value]:
    text = f"{rng.randrange(10**9)}.{rng.randrange(10**9):09}"
    return text, text


def bits(n: int) -> Make:
    def make(rng: random.Random) -> tuple[str, Value]:
        value = rng.choice([0, 2**n - 1, rng.getrandbits(n)])
        return str(value), value

    return make


LETTERS = "abcXYZ 0189_éßñΩж日本語\U0001f600\U0001f680'\"\\%"


def text(most: int, letters: str = LETTERS, *, fixed: bool = False) -> Make:
    def make(rng: random.Random) -> tuple[str, Value]:
        value = "".join(rng.choices(letters, k=rng.choice([0, 1, most, rng.randint(0, most)])))
        return quoted(value), value.rstrip(" ") if fixed else value

    return make


def latin1(most: int, *, fixed: bool = False) -> Make:
    def make(rng: random.Random) -> tuple[str, Value]:
        value = "".join(rng.choices("abc éüß", k=rng.randint(0, most)))
        return quoted(value), (value.rstrip(" ") if fixed else value).encode("cp1252")

    return make


def data(most: int) -> Make:
    def make(rng: random.Random) -> tuple[str, Value]:
        value = rng.randbytes(rng.choice([0, 1, most, rng.randint(0, most)]))
        value += rng.choice([b"", b" ", b"\0"]) if len(value) < most else b""
        return hexed(value), value

    return make


def one_of(n: int) -> Make:
    def make(rng: random.Random) -> tuple[str, Value]:
        value = rng.randint(1, n)
        return f"'m{value}'", value

    return make


def some_of(n: int) -> Make:
    def make(rng: random.Random) -> tuple[str, Value]:
        value = rng.choice([0, 2**n - 1, rng.getrandbits(n)])
        members = ",".join(f"m{i + 1}" for i in range(n) if value >> i & 1)
        return f"'{members}'", value

    return make


def year(rng: random.Random) -> tuple[str, Value]:
    value = rng.choice([0, 1901, 2155, rng.randint(1901, 2155)])
    return f"'{value:04}'", value


def date(rng: random.Random) -> tuple[str, Value]:
    value = datetime.date(
        rng.choice([1000, 9999, rng.randint(1000, 9999)]), rng.randint(1, 12), rng.randint(1, 28)
    )
    return f"'{value.isoformat()}'", value


def fraction(rng: random.Random, digits: int) -> int:
    return rng.randrange(10**digits) * 10 ** (6 - digits)


def clock(digits: int) -> Make:
    def make(rng: random.Random) -> tuple[str, Value]:
        seconds = rng.choice([0, 838 * 3600 + 59 * 60 + 58, rng.randrange(838 * 3600)])
        micro = fraction(rng, digits)
        value = rng.choice([1, -1]) * datetime.timedelta(seconds=seconds, microseconds=micro)
        sign = "-" if value < datetime.timedelta(0) else ""
        return f"'{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{micro:06}'", value

    return make


def moment(digits: int, first: int, last: int) -> Make:
    def make(rng: random.Random) -> tuple[str, Value]:
        value = datetime.datetime(
            rng.randint(first, last),
            rng.randint(1, 12),
            rng.randint(1, 28),
            rng.randrange(24),
            rng.randrange(60),
            rng.randrange(60),
            fraction(rng, digits),
        )
        return f"'{value.isoformat(sep=' ', timespec='microseconds')}'", value

    return make


def document(rng: random.Random, depth: int = 0) -> Value:
    kind = rng.choice(["null", "bool", "int", "real", "text", "list", "dict"][: 5 if depth > 3 else 7])
    if kind == "bool":
        return rng.random() < 0.5
    if kind == "int":
        return rng.choice(
            [0, -1, 32767, -32769, 2**31, -(2**31) - 1, 2**63 - 1, 2**64 - 1, rng.randint(-(2**40), 2**40)]
        )
    if kind == "real":
        return rng.choice([0.5, -2.25, 1.0, rng.randint(-(10**6), 10**6) / 32])
    if kind == "text":
        return "".join(rng.choices(LETTERS + "\n\t", k=rng.choice([0, 5, 130, 300])))
    if kind == "list":
        return [document(rng, depth + 1) for _ in range(rng.randint(0, 6))]
    if kind == "dict":
        keys = {"".join(rng.choices("abcdéZ", k=rng.randint(0, 5))) for _ in range(rng.randint(0, 6))}
        return {key: document(rng, depth + 1) for key in sorted(keys)}
    return None


def json_document(rng: random.Random) -> tuple[str, Value]:
    value = document(rng)
    if rng.random() < 0.05:
        value = {"large": ["x" * 1000] * 70, "n": [1, 70000, -70000, 2**33]}
    return quoted(json.dumps(value, ensure_ascii=False)), binlog.json_binary(value)


@dataclass
class Table:
    """A table of the test: its columns with what makes values, and the rows that it has by now."""

    name: str
    columns: list[tuple[str, Make]]
    key: tuple[int, ...] = (0,)
    suffix: str = ""
    partitions: int = 0
    rows: list[list[Value]] = field(default_factory=list)
    next_id: int = 1

    def definition(self) -> str:
        columns = [f"c{i} {declared}" for i, (declared, _) in enumerate(self.columns)]
        if self.key:
            columns.append(f"PRIMARY KEY ({', '.join(f'c{i}' for i in self.key)})")
        return f"CREATE TABLE {self.name} ({', '.join(columns)}) {self.suffix}"


ID = ("int not null", integer(32))
TABLES = [
    Table("ints", [
        ID, ("tinyint", integer(8)), ("tinyint unsigned", integer(8, unsigned=True)), ("smallint", integer(16)),
        ("smallint unsigned", integer(16, unsigned=True)), ("mediumint", integer(24)),
        ("mediumint unsigned", integer(24, unsigned=True)), ("int unsigned", integer(32, unsigned=True)),
        ("bigint", integer(64)), ("bigint unsigned", integer(64, unsigned=True)),
    ]),
    Table("numbers", [
        ID, ("float", real), ("double", real), ("decimal(10,2)", decimal(10, 2)), ("decimal(65,30)", decimal(65, 30)),
        ("decimal(9,0)", decimal(9, 0)), ("decimal(20,19)", decimal(20, 19)), ("decimal(18,9) unsigned", positive),
        ("bit(1)", bits(1)), ("bit(13)", bits(13)), ("bit(64)", bits(64)),
    ]),
    Table("members", [
        ID, ("enum('m1','m2','m3')", one_of(3)), ("enum(" + ",".join(f"'m{i}'" for i in range(1, 301)) + ")", one_of(300)),
        ("set('m1','m2','m3')", some_of(3)), ("set(" + ",".join(f"'m{i}'" for i in range(1, 21)) + ")", some_of(20)),
        ("set(" + ",".join(f"'m{i}'" for i in range(1, 65)) + ")", some_of(64)), ("year", year),
    ]),
    Table("texts", [
        ID, ("char(5)", text(5, fixed=True)), ("char(70)", text(70, fixed=True)), ("varchar(63)", text(63)), ("varchar(64)", text(64)), ("varchar(500)", text(500)),
        ("varchar(30) character set latin1", latin1(30)), ("char(9) character set latin1", latin1(9, fixed=True)),
    ]),
    Table("bytes", [
        ID, ("binary(8)", data(8)), ("varbinary(20)", data(20)), ("varbinary(300)", data(300)), ("tinyblob", data(255)),
        ("blob", data(3000)), ("mediumblob", data(3000)), ("longblob", data(3000)), ("tinytext", text(60)), ("text", text(2000)),
        ("mediumtext", text(2000)), ("longtext", text(2000)),
    ]),
    Table("documents", [ID, ("json", json_document), ("json", json_document), ("int", integer(32))]),
    Table("moments", [
        ID, ("date", date), *[(f"time({n})", clock(n)) for n in range(7)], *[(f"datetime({n})", moment(n, 1000, 9999)) for n in range(7)],
        *[(f"timestamp({n})", moment(n, 1971, 2037)) for n in range(7)],
    ]),
    Table("wide", [ID, *[column for _ in range(70) for column in (
        ("int", integer(32)), ("varchar(20)", text(20)), ("decimal(10,2)", decimal(10, 2)), ("datetime", moment(0, 1000, 9999)))]]),
    Table("keyless", [("int", integer(32)), ("varchar(40)", text(40)), ("text", text(300))], key=()),
    Table("pairs", [("varchar(10)", text(10)), ID, ("text", text(300)), ("bigint unsigned", integer(64, unsigned=True))], key=(1, 3)),
    Table("parts", [ID, ("varchar(40)", text(40))], suffix="PARTITION BY HASH (c0) PARTITIONS 4", partitions=4),
]  # fmt: skip


@dataclass
class Change:
    """What one statement did to one table, as the test knows it."""

    table: Table
    kind: str
    image: str
    before: list[list[Value]] | None
    after: list[list[Value]] | None
    written: list[int] | None
    partition: int | None
    uses_time_zone: bool


@dataclass
class Transaction:
    """The changes of a transaction and the session that made it."""

    thread_id: int
    compressed: bool
    changes: list[Change]


class Load:
    """Statements and what they do, from a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.image = "full"

    def value(self, table: Table, column: int) -> tuple[str, Value]:
        declared, make = table.columns[column]
        if "not null" not in declared and column not in table.key and self.rng.random() < 0.15:
            return "NULL", None
        return make(self.rng)

    def statement(self) -> tuple[str, Change]:
        while True:
            table = self.rng.choice(TABLES)
            kind = self.rng.choices(["insert", "update", "delete"], [5, 4, 1])[0]
            made = self.insert(table) if kind == "insert" else self.change(table, kind)
            if made is not None:
                return made

    def id_column(self, table: Table) -> int:
        return next(i for i, (declared, _) in enumerate(table.columns) if declared.startswith("int"))

    def insert(self, table: Table) -> tuple[str, Change]:
        n = len(table.columns)
        id_column = self.id_column(table)
        optional = [i for i in range(n) if i != id_column and i not in table.key]
        left_out = (
            set(self.rng.sample(optional, self.rng.randint(0, len(optional))))
            if self.rng.random() < 0.4
            else set()
        )
        given = [i for i in range(n) if i not in left_out]
        texts, rows = [], []
        partition = self.rng.randrange(table.partitions) if table.partitions else None
        for _ in range(self.rng.choice([1, 1, 1, 2, 7])):
            row: list[Value] = [None] * n
            words = []
            for i in given:
                word, row[i] = self.value(table, i)
                if i == id_column:
                    table.next_id += 1
                    if partition is not None:
                        table.next_id += (partition - table.next_id) % table.partitions
                    word, row[i] = str(table.next_id), table.next_id
                words.append(word)
            texts.append(f"({', '.join(words)})")
            rows.append(row)
        table.rows += [list(row) for row in rows]
        names = ", ".join(f"c{i}" for i in given)
        sql = f"INSERT INTO t.{table.name} ({names}) VALUES {', '.join(texts)}"
        return sql, self.made(table, "insert", after=rows, written=given, partition=partition)

    def change(self, table: Table, kind: str) -> tuple[str, Change] | None:
        if not table.rows:
            return None
        id_column = self.id_column(table)
        some = table.rows
        if table.partitions:  # of one partition, so that there is one event
            part = some[0][id_column] % table.partitions
            some = [row for row in some if row[id_column] % table.partitions == part]
        chosen = self.rng.sample(some, min(len(some), self.rng.choice([1, 1, 2, 5])))
        chosen.sort(key=lambda row: table.rows.index(row) if not table.key else row[id_column])
        where = f"c{id_column} IN ({', '.join(str(row[id_column]) for row in chosen)})"
        partition = chosen[0][id_column] % table.partitions if table.partitions else None
        before = [list(row) for row in chosen]
        if kind == "delete":
            table.rows = [row for row in table.rows if not any(row is one for one in chosen)]
            return f"DELETE FROM t.{table.name} WHERE {where}", self.made(
                table, kind, before=before, partition=partition
            )
        free = [i for i in range(len(table.columns)) if i != id_column and i not in table.key]
        written = sorted(self.rng.sample(free, self.rng.randint(1, min(3, len(free)))))
        words = []
        for i in written:
            word, value = self.value(table, i)
            words.append(f"c{i} = {word}")
            for row in chosen:
                row[i] = value
        # A row that stays as it was is not logged.
        changed = [(old, list(new)) for old, new in zip(before, chosen, strict=True) if old != new]
        if not changed:
            return None
        old_rows, new_rows = [old for old, _ in changed], [new for _, new in changed]
        made = self.made(table, kind, before=old_rows, after=new_rows, written=written, partition=partition)
        return f"UPDATE t.{table.name} SET {', '.join(words)} WHERE {where}", made

    def made(
        self,
        table: Table,
        kind: str,
        *,
        before: list[list[Value]] | None = None,
        after: list[list[Value]] | None = None,
        written: list[int] | None = None,
        partition: int | None = None,
    ) -> Change:
        # A text that becomes a time of a day may hold a time zone of its own, so that the session's is logged.
        moments = [i for i in written or () if table.columns[i][0].startswith(("timestamp", "datetime"))]
        uses_time_zone = any(row[i] is not None for row in after or () for i in moments)
        return Change(table, kind, self.image, before, after, written, partition, uses_time_zone)


def read_events(data_bytes: bytes, start: int) -> Iterator[tuple[int, bytes]]:
    """Type and bytes of each event from a position on."""
    while start < len(data_bytes):
        (size,) = struct.unpack_from("<I", data_bytes, start + 9)
        yield data_bytes[start + 4], data_bytes[start : start + size]
        start += size


@dataclass(frozen=True)
class Log:
    """What the server wrote, and what the statements were."""

    data: bytes
    transactions: list[Transaction]
    uuid: bytes
    version: str


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Log:
    load = Load(SEED)
    transactions: list[Transaction] = []
    with servers.start("9.7", options={"log_bin": "binlog", "server_id": 7, "sync_binlog": 0}) as server:
        connection = server.connect()
        cursor = connection.cursor()
        cursor.execute(f"SET time_zone = '{TIME_ZONE}'")
        cursor.execute("CREATE DATABASE t")
        cursor.execute("USE t")
        for table in TABLES:
            cursor.execute(table.definition())
        cursor.execute("FLUSH LOGS")
        done = 0
        while done < STATEMENTS:
            load.image = load.rng.choice(["full", "full", "minimal", "noblob"])
            level = load.rng.choice([0, 0, 0, *range(1, 23)])
            cursor.execute(
                f"SET binlog_row_image = {load.image}, binlog_transaction_compression = {int(level > 0)}"
            )
            cursor.execute(f"SET binlog_transaction_compression_level_zstd = {level or 3}")
            cursor.execute("START TRANSACTION")
            transaction = Transaction(connection.connection_id, level > 0, [])
            for _ in range(load.rng.choice([1, 1, 1, 4])):
                sql, change = load.statement()
                cursor.execute(sql)
                transaction.changes.append(change)
                done += 1
            cursor.execute("COMMIT")
            transactions.append(transaction)
        ((name, *_),) = server.query("SHOW BINARY LOG STATUS")
        server.execute("FLUSH LOGS")
        file = tmp_path_factory.mktemp("log") / "binlog"
        shutil.copy(Path(server.variables()["datadir"]) / name, file)
        server_uuid = uuid.UUID(server.variables()["server_uuid"]).bytes
        version = server.variables()["version"]
    return Log(file.read_bytes(), transactions, server_uuid, version)


def kernel_table(table: Table, table_id: int) -> binlog.Table:
    return binlog.Table(
        "t", table.name, [declared for declared, _ in table.columns], key=list(table.key), id=table_id
    )


def statement(change: Change, table_id: int) -> binlog.Statement:
    return binlog.Statement(
        kernel_table(change.table, table_id),
        change.kind,
        before=change.before,
        after=change.after,
        image=change.image,
        written=change.written,
        flags=USE_SQL_FOREIGN_KEY,
        partitions=None if change.partition is None else (change.partition, change.partition),
    )


def stamps(event: bytes) -> int:
    return int(struct.unpack_from("<I", event)[0])


def write_body(writer: binlog.Writer, transaction: Transaction, theirs: list[tuple[int, bytes]]) -> None:
    """BEGIN to XID; each statement has the time of the server's."""
    maps = iter([event for kind, event in theirs if kind == MAP_EVENT])
    first = transaction.changes[0]
    writer.timestamp = stamps(theirs[0][1])
    writer.begin(
        thread_id=transaction.thread_id,
        # Not 0 where the machine is so busy that a statement takes until the next second.
        seconds=int.from_bytes(theirs[0][1][23:27], "little"),
        database="t",
        sql_mode=SQL_MODE,
        collations=COLLATIONS,
        time_zone=TIME_ZONE if first.uses_time_zone else "",
        tables_for_update=int(first.kind == "update"),
    )
    for change in transaction.changes:
        their_map = next(maps)
        table_id = int.from_bytes(their_map[19:25], "little")
        writer.timestamp = stamps(their_map)
        writer.table_map(kernel_table(change.table, table_id))
        writer.rows(statement(change, table_id))
    kind, xid = theirs[-1]
    assert kind == XID_EVENT
    writer.timestamp = stamps(xid)
    writer.xid(int.from_bytes(xid[19:27], "little"))


def write_transaction(
    log: Log, transaction: Transaction, theirs: list[tuple[int, bytes]], position: int
) -> bytes:
    """The whole transaction as it should be in the file."""
    gtid = theirs[0][1]
    number, _, last_committed, sequence_number = struct.unpack_from("<qBqq", gtid, 19 + 17)
    commit_us = int.from_bytes(gtid[19 + 42 : 19 + 49], "little")
    major, minor, patch = (int(part) for part in log.version.split("-")[0].split("."))

    def write_gtid(at: int, transaction_bytes: int) -> bytes:
        writer = binlog.Writer(position=at, checksums=True, server_id=7, timestamp=stamps(gtid))
        writer.gtid(
            uuid=log.uuid,
            number=number,
            last_committed=last_committed,
            sequence_number=sequence_number,
            commit_us=commit_us,
            transaction_bytes=transaction_bytes,
            server_version=major * 10000 + minor * 100 + patch,
        )
        return writer.take()

    def write_rest(at: int) -> bytes:
        writer = binlog.Writer(position=at, checksums=True, server_id=7)
        if not transaction.compressed:
            write_body(writer, transaction, theirs[1:])
            return writer.take()
        event = theirs[1][1]
        frame = event[event.index(zstandard.FRAME_HEADER, 19) : -4]
        inside = zstandard.ZstdDecompressor().decompress(frame)
        ours = binlog.Writer(server_id=7)
        write_body(ours, transaction, list(read_events(inside, 0)))
        body = ours.take()
        assert body == inside
        writer.timestamp = stamps(event)
        writer.payload(frame, uncompressed_bytes=len(body))
        return writer.take()

    # The length is packed and counts itself.
    rest_bytes = len(write_rest(position))
    total = rest_bytes + len(write_gtid(position, 0))
    while (head := write_gtid(position, total)) and len(head) + rest_bytes != total:
        total = len(head) + rest_bytes
    return head + write_rest(position + len(head))


def test_every_transaction_of_hundreds_of_statements_is_the_servers_byte_for_byte(log: Log) -> None:
    events = list(read_events(log.data, 4))
    position = 4 + sum(len(event) for _, event in events[:2])
    groups: list[list[tuple[int, bytes]]] = []
    for kind, event in events[2:]:
        if kind == GTID_EVENT:
            groups.append([])
        if groups and kind != 4:
            groups[-1].append((kind, event))
    assert len(groups) == len(log.transactions)
    assert sum(len(transaction.changes) for transaction in log.transactions) >= 200
    for transaction, theirs in zip(log.transactions, groups, strict=True):
        whole = b"".join(event for _, event in theirs)
        ours = write_transaction(log, transaction, theirs, position)
        what = [(change.kind, change.table.name, change.image) for change in transaction.changes]
        assert ours == whole, what
        position += len(whole)


def test_the_first_events_of_a_file_are_the_servers(log: Log) -> None:
    events = list(read_events(log.data, 4))
    format_description, previous = events[0][1], events[1][1]
    writer = binlog.Writer(position=4, checksums=True, server_id=7, timestamp=stamps(format_description))
    writer.format_description(log.version)
    assert writer.take() == format_description
    first, end = struct.unpack_from("<qq", previous, 19 + 8 + 16 + 8)
    writer.timestamp = stamps(previous)
    writer.previous_gtids([(log.uuid, first, end - 1)])
    assert writer.take() == previous
