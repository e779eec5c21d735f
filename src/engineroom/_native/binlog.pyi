"""
Events of the binary log: written as a server writes them, and read.
"""

import collections.abc
import typing

import numpy
import numpy.typing

__all__: list[str] = [
    "Damaged",
    "Reader",
    "RowLines",
    "Sizes",
    "Statement",
    "Table",
    "Writer",
    "crc32",
    "encode",
    "example",
    "json_binary",
    "json_text",
    "payloads",
]

class Damaged(ValueError):
    """
    The bytes are not a binary log's; the text begins with the position.
    """

class Table:
    """
    A table as the binary log knows it.

    columns: their declarations, such as "int unsigned not null", "varchar(50)", "decimal(20,7)", "char(5) character set latin1" or
    "enum('a','b')". key: the columns of its primary key, from 0. id: its number on the server.

    Raises ValueError with a declaration that it does not know.
    """
    def __init__(
        self,
        database: str,
        name: str,
        columns: collections.abc.Sequence[str],
        *,
        key: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] = [],
        id: typing.SupportsInt | typing.SupportsIndex = 1,
    ) -> None: ...
    @property
    def columns(self) -> list[str]:
        """
        Its columns as far as a log tells.
        """

class Statement:
    """
    What one statement did to the rows of one table.

    change: "insert" (rows after), "delete" (rows before) or "update" (both). A row has a value per column: None, int (also for BIT,
    YEAR, an ENUM's member from 1, a SET's bits), float, str or bytes, Decimal, date, datetime (a TIMESTAMP in UTC), timedelta for TIME;
    a JSON document as dict, list, str and so on. image: "full", "minimal" or "noblob"; written: the columns that the statement
    names, all by default. partitions: to and from.

    Raises ValueError for a value that its column cannot hold.
    """
    def __init__(
        self,
        table: Table,
        change: str,
        *,
        before: collections.abc.Sequence[collections.abc.Sequence[typing.Any]] | None = None,
        after: collections.abc.Sequence[collections.abc.Sequence[typing.Any]] | None = None,
        image: str = "full",
        written: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
        partitions: tuple[
            typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex
        ]
        | None = None,
    ) -> None: ...

class Writer:
    """
    Writes events behind each other, as a server of 9.7 does.

    position: of the next event in its file; 0 for events of a payload, which have no positions. checksums: CRC32 behind each.
    """
    def __init__(
        self,
        *,
        position: typing.SupportsInt | typing.SupportsIndex = 0,
        checksums: bool = False,
        server_id: typing.SupportsInt | typing.SupportsIndex = 1,
        timestamp: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None: ...
    def begin(
        self,
        *,
        thread_id: typing.SupportsInt | typing.SupportsIndex = 0,
        seconds: typing.SupportsInt | typing.SupportsIndex = 0,
        database: str = "",
        options: typing.SupportsInt | typing.SupportsIndex = 0,
        sql_mode: typing.SupportsInt | typing.SupportsIndex = 0,
        auto_increment: tuple[
            typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex
        ] = (1, 1),
        collations: typing.Annotated[
            collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], "FixedSize(4)"
        ] = [255, 255, 255, 255],
        time_zone: str = "",
        tables_for_update: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None:
        """
        BEGIN. seconds: that the first statement had taken. collations: of client, connection and server, and utf8mb4's default. time_zone: if the statement used it.
        """
    def format_description(
        self,
        server_version: str,
        *,
        created: typing.SupportsInt | typing.SupportsIndex = 0,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None:
        """
        The first event of a file.
        """
    def gtid(
        self,
        *,
        uuid: bytes,
        number: typing.SupportsInt | typing.SupportsIndex,
        last_committed: typing.SupportsInt | typing.SupportsIndex,
        sequence_number: typing.SupportsInt | typing.SupportsIndex,
        commit_us: typing.SupportsInt | typing.SupportsIndex,
        transaction_bytes: typing.SupportsInt | typing.SupportsIndex,
        server_version: typing.SupportsInt | typing.SupportsIndex,
        may_have_statements: bool = False,
    ) -> None:
        """
        A transaction's identifier; anonymous with number 0.
        """
    def payload(
        self, compressed: bytes, *, uncompressed_bytes: typing.SupportsInt | typing.SupportsIndex
    ) -> None:
        """
        A transaction that zstd has compressed.
        """
    def previous_gtids(
        self,
        intervals: collections.abc.Sequence[
            tuple[bytes, typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex]
        ],
    ) -> None:
        """
        What was executed before this file: UUID, first and last number of each interval.
        """
    def rotate(self, next_file: str, *, next_position: typing.SupportsInt | typing.SupportsIndex = 4) -> None:
        """
        The name of the next file.
        """
    def rows(
        self, statement: Statement, *, most_bytes: typing.SupportsInt | typing.SupportsIndex = 8192
    ) -> None:
        """
        A statement's rows, in events of at most `most_bytes` (binlog_row_event_max_size) where that is more than one row.
        """
    def table_map(self, table: Table) -> None:
        """
        What the rows behind it are rows of.
        """
    def take(self) -> bytes:
        """
        What was written since the last take.
        """
    def xid(self, number: typing.SupportsInt | typing.SupportsIndex) -> None:
        """
        The commit of a transaction.
        """
    @property
    def position(self) -> int:
        """
        Of the next event.
        """
    @property
    def timestamp(self) -> int:
        """
        Seconds since 1970, of the next events.
        """
    @timestamp.setter
    def timestamp(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...

class Reader:
    """
    The events of a file that is fed piece by piece.

    inflate: gives the pieces of a zstd frame, and raises ValueError where it cannot. feed() returns a tuple per event: position, type, flags, timestamp, server id, bytes in
    the file, whether it was inside a compressed transaction, body. Raises Damaged.
    """
    def __init__(
        self,
        *,
        file_bytes: typing.SupportsInt | typing.SupportsIndex,
        inflate: collections.abc.Callable[..., typing.Any],
    ) -> None: ...
    def end(self) -> None:
        """
        The file ends; raises Damaged if it ends inside an event.
        """
    def feed(self, data: bytes) -> list[typing.Any]:
        """
        The events that are whole with these bytes.
        """
    @property
    def checksums(self) -> bool:
        """
        Whether its events have them.
        """
    @property
    def server_version(self) -> str:
        """
        Of the server that wrote the file.
        """

class RowLines:
    """
    All rows of a file as lines of JSON; fed piece by piece. Raises Damaged.
    """
    def __init__(
        self,
        *,
        file_bytes: typing.SupportsInt | typing.SupportsIndex,
        inflate: collections.abc.Callable[..., typing.Any],
    ) -> None: ...
    def end(self) -> None:
        """
        The file ends; raises Damaged if it ends inside an event.
        """
    def feed(self, data: bytes) -> bytes:
        """
        The lines of the events that are whole with these bytes.
        """

class Sizes:
    """
    Where the bytes of a file go; fed piece by piece.

    inflate: gives the pieces of a zstd frame, and raises ValueError where it cannot. keys: columns of primary keys by "database.table", from 0. take: called with the
    transactions that the server would compress, some at a time: full, their bytes behind each other; full_sizes, of each; minimal and
    minimal_sizes, the same with minimal row images; events, of each; gtids, the bytes of its GTID event without the transaction's packed
    length (0 where it has none). Raises Damaged.
    """
    def __init__(
        self,
        *,
        file_bytes: typing.SupportsInt | typing.SupportsIndex,
        inflate: collections.abc.Callable[..., typing.Any],
        keys: collections.abc.Mapping[
            str, collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]
        ] = {},
        take: collections.abc.Callable[..., typing.Any] | None = None,
    ) -> None: ...
    def end(self) -> None:
        """
        The file ends; hands over what is left. Raises Damaged if it ends inside an event.
        """
    def feed(self, data: bytes) -> None:
        """
        The next bytes of the file.
        """
    def tables(self) -> list[typing.Any]:
        """
        A dict per table: rows, events and bytes by change, bytes by column.
        """
    @property
    def checksums(self) -> bool:
        """
        Whether its events have them.
        """
    @property
    def in_file(self) -> dict[int, tuple[int, int]]:
        """
        Events and bytes by type, as the file has them.
        """
    @property
    def packed_length_bytes(self) -> int:
        """
        Bytes of the packed lengths in the GTID events of those transactions.
        """
    @property
    def position(self) -> int:
        """
        Behind the last whole event.
        """
    @property
    def saved_outside(self) -> int:
        """
        What minimal images save in all others.
        """
    @property
    def server_version(self) -> str:
        """
        Of the server that wrote the file.
        """
    @property
    def transactions(self) -> int:
        """
        How many, from BEGIN to commit.
        """
    @property
    def uncompressed(self) -> dict[int, tuple[int, int]]:
        """
        The same, as if nothing were compressed.
        """
    @property
    def unit_bytes(self) -> int:
        """
        Uncompressed bytes of the transactions that the server would compress, without GTID events.
        """

def crc32(data: bytes) -> int:
    """
    The checksum of events.
    """

def encode(
    transactions: collections.abc.Sequence[collections.abc.Sequence[Statement]],
    *,
    times: typing.SupportsInt | typing.SupportsIndex = 1,
) -> int:
    """
    Writes transactions so many times, each into the same buffer, as a server's session does into its cache, and gives the bytes of one time. For measuring: nothing is handed over.
    """

def example(
    kind: str,
    *,
    image: str = "full",
    nth: typing.SupportsInt | typing.SupportsIndex = 0,
    checksums: bool = False,
) -> bytes:
    """
    The events of the nth transaction of a kind, behind its GTID event: as they stand in a file, or as zstd is given them.
    """

def json_binary(document: typing.Any) -> bytes:
    """
    A document as a JSON column stores it.
    """

def json_text(document: bytes) -> str:
    """
    The text of a stored document. Raises Damaged.
    """

def payloads(
    transactions: collections.abc.Sequence[collections.abc.Sequence[Statement]],
) -> tuple[bytes, numpy.typing.NDArray[numpy.uint64]]:
    """
    The events of transactions, each a list of statements, as a server compresses them: all bytes, and how many each has.
    """
