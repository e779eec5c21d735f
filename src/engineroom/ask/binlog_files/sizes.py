"""Where the bytes of a file go, and what minimal row images and compression would make of the same transactions.

Transactions are compressed here as the server does it: everything of one behind its GTID event is one zstd frame. At the same level
the frames are the server's own, byte for byte, with the same zstd, and for a log of 8.0 as long, to a byte or two.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from engineroom._native import binlog
from engineroom.ask.binlog_files.reading import inflate, pieces, size_of, told
from engineroom.errors import EngineRoomError

__all__ = ["KINDS", "LEVELS", "FileSizes", "Level", "ignores_levels", "parse_key", "sizes"]

LEVELS = (1, 3, 6, 10)
LEAST_LEVEL, DEFAULT_LEVEL, MOST_LEVEL = 1, 3, 22
MAGIC_BYTES = 4
HEADER_BYTES = 19
CHECKSUM_BYTES = 4
LAST_BLOCK_BYTES = 3  # empty, behind a flush

# The types of events by their numbers; others are shown by number.
KINDS = {
    2: "Query",
    3: "Stop",
    4: "Rotate",
    5: "Intvar",
    13: "Rand",
    14: "User_var",
    15: "Format_desc",
    16: "Xid",
    19: "Table_map",
    23: "Write_rows_v1",
    24: "Update_rows_v1",
    25: "Delete_rows_v1",
    26: "Incident",
    27: "Heartbeat",
    29: "Rows_query",
    30: "Write_rows",
    31: "Update_rows",
    32: "Delete_rows",
    33: "Gtid",
    34: "Anonymous_Gtid",
    35: "Previous_gtids",
    36: "Transaction_context",
    37: "View_change",
    38: "XA_prepare",
    39: "Update_rows_partial",
    40: "Transaction_payload",
    42: "Gtid_tagged",
}

Ints = NDArray[np.uint64]


@dataclass(frozen=True)
class Level:
    """The file with its transactions compressed at one level: its bytes, and the CPU seconds of compressing."""

    level: int
    image: str  # as logged, or "minimal"
    file_bytes: int
    cpu_s: float


@dataclass(frozen=True)
class FileSizes:
    """Where a file's bytes go. Bytes of `uncompressed`, `tables` and all totals are those of events that are not compressed."""

    file: str
    server_version: str
    file_bytes: int
    read_bytes: int  # less than `file_bytes` if the server was writing the file
    transactions: int
    in_file: Mapping[str, tuple[int, int]]  # events and bytes by kind
    uncompressed: Mapping[str, tuple[int, int]]
    tables: Sequence[Mapping[str, Any]]
    uncompressed_bytes: int
    minimal_bytes: int
    levels: Sequence[Level]

    @property
    def remarks(self) -> list[str]:
        """What the numbers leave out."""
        if not ignores_levels(self.server_version) or all(one.level == DEFAULT_LEVEL for one in self.levels):
            return []
        remark = (
            f"MySQL {self.server_version} compresses at level {DEFAULT_LEVEL}, whatever binlog_transaction_compression_level_zstd "
            "says (bug 34833913): other levels are what a later version writes"
        )
        return [remark]

    def json(self) -> dict[str, Any]:
        """As plain JSON types."""
        counts = {
            name: {kind: {"events": n, "bytes": b} for kind, (n, b) in of.items()}
            for name, of in (("in_file", self.in_file), ("uncompressed", self.uncompressed))
        }
        return {
            "file": self.file,
            "server_version": self.server_version,
            "file_bytes": self.file_bytes,
            "read_bytes": self.read_bytes,
            "transactions": self.transactions,
            "events": counts,
            "tables": list(self.tables),
            "uncompressed_bytes": self.uncompressed_bytes,
            "minimal_bytes": self.minimal_bytes,
            "levels": [vars(level) for level in self.levels],
            "remarks": self.remarks,
        }


class Sums:
    """Totals over the transactions as they come."""

    def __init__(self, levels: Sequence[int]) -> None:
        self.checksum_bytes = 0  # as the file has them
        self.full = self.minimal = 0
        self.levels = levels
        self.is_streamed = False
        self.bytes = {(level, image): 0 for level in levels for image in ("as logged", "minimal")}
        self.cpu_s = dict.fromkeys(self.bytes, 0.0)

    @cached_property
    def compressors(self) -> Mapping[int, zstandard.ZstdCompressor]:
        """By level. Servers of 8.0 do not tell zstd how long a transaction is: no length in the header, parameters for any length."""
        if not self.is_streamed:
            return {level: zstandard.ZstdCompressor(level=level) for level in self.levels}
        any_length = zstandard.ZstdCompressionParameters.from_level
        return {
            level: zstandard.ZstdCompressor(compression_params=any_length(level, write_content_size=False))
            for level in self.levels
        }

    def take(
        self, *, full: bytes, full_sizes: Ints, minimal: bytes, minimal_sizes: Ints, events: Ints, gtids: Ints
    ) -> None:
        """Some transactions: their events without checksums and positions, behind each other."""
        self.full += _with_gtid(full_sizes + self.checksum_bytes * events, gtids)
        self.minimal += _with_gtid(minimal_sizes + self.checksum_bytes * events, gtids)
        for image, data, sizes in (("as logged", full, full_sizes), ("minimal", minimal, minimal_sizes)):
            segments = np.column_stack([np.cumsum(sizes) - sizes, sizes]).astype(np.uint64)
            units = zstandard.BufferWithSegments(data, segments.tobytes())
            for level, compressor in self.compressors.items():
                start = time.thread_time()
                frames = compressor.multi_compress_to_buffer(units)
                self.cpu_s[level, image] += time.thread_time() - start
                compressed = np.array([len(frames[i]) for i in range(len(frames))], dtype=np.uint64)
                if self.is_streamed:
                    compressed += LAST_BLOCK_BYTES
                # Header, method, both lengths, end, checksum.
                frame_bytes = (
                    HEADER_BYTES + 3 + 2 + _packed(sizes) + 2 + _packed(compressed) + 1 + self.checksum_bytes
                )
                self.bytes[level, image] += _with_gtid(frame_bytes + compressed, gtids)


def sizes(
    file: Path, *, levels: Sequence[int] = LEVELS, keys: Mapping[str, Sequence[int]] | None = None
) -> FileSizes:
    """Read a file once and say where its bytes go.

    keys: columns of primary keys by "database.table", from 0, which minimal images keep; a log with binlog_row_metadata=FULL holds
    them itself, and a table without either is taken to have its first column as key. Raises EngineRoomError.
    """
    if wrong := [level for level in levels if not LEAST_LEVEL <= level <= MOST_LEVEL]:
        raise EngineRoomError(
            f"there is no level {wrong[0]}", remedy=f"name levels of zstd from {LEAST_LEVEL} to {MOST_LEVEL}"
        )
    file_bytes = size_of(file)
    sums = Sums(sorted(set(levels)))

    def take(**units: Any) -> None:
        sums.checksum_bytes = CHECKSUM_BYTES if reader.checksums else 0
        sums.is_streamed = reader.server_version.startswith("8.0.")
        sums.take(**units)

    reader = binlog.Sizes(
        file_bytes=file_bytes,
        inflate=inflate,
        keys={name: list(columns) for name, columns in (keys or {}).items()},
        take=take,
    )
    try:
        for piece in pieces(file, desc="sizes"):
            reader.feed(piece)
        reader.end()
    except binlog.Damaged as error:
        raise told(file, error) from error
    uncompressed = reader.uncompressed
    outside = (
        MAGIC_BYTES
        + sum(n for _, n in uncompressed.values())
        - reader.unit_bytes
        - reader.packed_length_bytes
    )
    tables = reader.tables()
    known = {table["table"] for table in tables}
    if keys and (unknown := sorted(set(keys) - known)):
        raise EngineRoomError(
            f"the file has no changes of {unknown[0]}",
            remedy="name tables as database.table; those of the file: " + ", ".join(sorted(known)),
        )
    return FileSizes(
        file=file.name,
        server_version=reader.server_version,
        file_bytes=file_bytes,
        read_bytes=reader.position,
        transactions=reader.transactions,
        in_file=_by_kind(reader.in_file),
        uncompressed=_by_kind(uncompressed),
        tables=tables,
        uncompressed_bytes=outside + sums.full,
        minimal_bytes=outside - reader.saved_outside + sums.minimal,
        levels=[
            Level(
                level,
                image,
                outside - (reader.saved_outside if image == "minimal" else 0) + n,
                sums.cpu_s[level, image],
            )
            for (level, image), n in sums.bytes.items()
        ],
    )


def ignores_levels(server_version: str) -> bool:
    """Whether a server compresses at one level always, as 8.0.31 and 8.0.33 do; mended in June 2023."""
    found = re.match(r"8\.0\.(\d+)", server_version)
    return found is not None and 20 <= int(found[1]) <= 33


def parse_key(text: str) -> tuple[str, list[int]]:
    """A table's key as people write it: "shop.item=1,2", columns from 1."""
    found = re.fullmatch(r"([^=]+\.[^=]+)=(\d{1,4}(?:,\d{1,4})*)", text)
    columns = [int(part) - 1 for part in found[2].split(",")] if found else []
    if found is None or min(columns) < 0:
        raise EngineRoomError(
            f"{text!r} is no key", remedy="write DATABASE.TABLE=COLUMN[,COLUMN...], columns by number from 1"
        )
    return found[1], columns


def _by_kind(counts: Mapping[int, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    largest_first = sorted(counts.items(), key=lambda item: -item[1][1])
    return {KINDS.get(kind, f"type {kind}"): count for kind, count in largest_first}


def _packed(values: Ints) -> Ints:
    """Bytes of packed numbers."""
    limits = np.array([251, 1 << 16, 1 << 24], dtype=np.uint64)
    return np.array([1, 3, 4, 9], dtype=np.uint64)[np.searchsorted(limits, values, side="right")]


def _with_gtid(sizes: Ints, gtids: Ints) -> int:
    """The sum of transactions' bytes, with the packed length of each in its GTID event, which counts itself."""
    whole = sizes + gtids
    packed = _packed(whole + _packed(whole))
    return int(sizes.sum()) + int(packed[gtids > 0].sum())
