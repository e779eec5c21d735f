"""Where the bytes of a file go, and what minimal row images and compression would make of the same transactions.

Transactions are compressed here as the server does it: everything of one behind its GTID event is one zstd frame. At the same level
the frames are the server's own, byte for byte, with the same zstd, and for a log of 8.0 as long, to a byte or two.
"""

from __future__ import annotations

import functools
import itertools
import operator
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from engineroom._native import binlog
from engineroom.ask.binlog_files.kinds import TOLD_SHARE, is_mariadb, kinds
from engineroom.ask.binlog_files.reading import inflate, opened
from engineroom.errors import EngineRoomError

__all__ = ["LEVELS", "FileSizes", "Level", "ignores_levels", "parse_key", "sizes", "together"]

LEVELS = (1, 3, 6, 10)
LEAST_LEVEL, DEFAULT_LEVEL, MOST_LEVEL = 1, 3, 22
MAGIC_BYTES = 4
HEADER_BYTES = 19
CHECKSUM_BYTES = 4
LAST_BLOCK_BYTES = 3  # empty, behind a flush
# Beyond so many bytes some transactions stand for all: level 10 alone would take a minute of a file of 1 GB.
WHOLE_BYTES = 64 << 20
SAMPLED = 1 / 16
SHOWN_TRANSACTIONS = 5

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
    sampled_share: float  # of the bytes, that were compressed for `levels`
    unestimated: Mapping[str, int]  # bytes by unknown kinds, which all totals have as they are
    minutes: Mapping[int, tuple[int, int]]  # bytes and transactions by the minute of their commit, since 1970
    largest: Sequence[Mapping[str, Any]]  # transactions by their bytes in the file
    longest: Sequence[Mapping[str, Any]]  # by seconds from the first statement to the commit
    remarks: Sequence[str]  # what the numbers leave out

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
            "sampled_share": self.sampled_share,
            "unestimated_bytes": dict(self.unestimated),
            "minutes": [
                {"minute": utc(60 * minute), "bytes": n, "transactions": transactions}
                for minute, (n, transactions) in sorted(self.minutes.items())
            ],
            "largest": list(self.largest),
            "longest": list(self.longest),
            "remarks": list(self.remarks),
        }


class Part:
    """A part of the transactions: all their bytes, those that were compressed, and what of these each level made, by image."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.tried: Counter[str] = Counter()
        self.bytes: Counter[tuple[int, str]] = Counter()
        self.cpu_s: defaultdict[tuple[int, str], float] = defaultdict(float)

    def choose(self, sizes: Ints, random: np.random.Generator) -> NDArray[np.bool_]:
        """Some of further transactions, so that a fixed share of the part's bytes is tried."""
        order = random.permutation(len(sizes))
        wanted = SAMPLED * (self.seen["as logged"] + int(sizes.sum())) - self.tried["as logged"]
        chosen = np.zeros(len(sizes), dtype=bool)
        chosen[order[: np.searchsorted(np.cumsum(sizes[order]), wanted) + 1]] = wanted > 0
        return chosen

    def of_all(self, level: int, image: str) -> tuple[float, float]:
        """Bytes and CPU seconds of the whole part."""
        scale = self.seen[image] / max(self.tried[image], 1)
        return scale * self.bytes[level, image], scale * self.cpu_s[level, image]


class Sums:
    """Totals over the transactions as they come; of some beyond `whole_bytes` unless it is None."""

    def __init__(self, levels: Sequence[int], whole_bytes: int | None) -> None:
        self.whole_bytes = whole_bytes
        self.parts = (Part(), Part())  # the one that is compressed whole, and the one of which a sample is
        self.random = np.random.default_rng(1)
        self.checksum_bytes = 0  # as the file has them
        self.full = self.minimal = 0
        self.levels = levels
        self.is_streamed = False

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
        self,
        *,
        full: bytes,
        full_sizes: Ints,
        minimal: bytes,
        minimal_sizes: Ints,
        events: Ints,
        minimal_events: Ints,
        gtids: Ints,
    ) -> None:
        """Some transactions: their events without checksums and positions, behind each other."""
        self.full += _with_gtid(full_sizes + self.checksum_bytes * events, gtids)
        self.minimal += _with_gtid(minimal_sizes + self.checksum_bytes * minimal_events, gtids)
        if not self.levels:
            return
        part, sample = self.parts
        chosen = np.ones(len(gtids), dtype=bool)
        if self.whole_bytes is not None and part.seen["as logged"] >= self.whole_bytes:
            part, chosen = sample, sample.choose(full_sizes, self.random)
        gtids = gtids[chosen]
        for image, data, sizes in (("as logged", full, full_sizes), ("minimal", minimal, minimal_sizes)):
            segments = np.column_stack([np.cumsum(sizes) - sizes, sizes]).astype(np.uint64)[chosen]
            part.seen[image] += int(sizes.sum())
            part.tried[image] += int(segments[:, 1].sum())
            if not len(segments):
                continue
            units = zstandard.BufferWithSegments(data, segments.tobytes())
            for level, compressor in self.compressors.items():
                start = time.thread_time()
                frames = compressor.multi_compress_to_buffer(units)
                part.cpu_s[level, image] += time.thread_time() - start
                compressed = np.array([len(frames[i]) for i in range(len(frames))], dtype=np.uint64)
                if self.is_streamed:
                    compressed += LAST_BLOCK_BYTES
                # Header, method, both lengths, end, checksum.
                frame_bytes = (
                    HEADER_BYTES
                    + 3
                    + 2
                    + _packed(segments[:, 1])
                    + 2
                    + _packed(compressed)
                    + 1
                    + self.checksum_bytes
                )
                part.bytes[level, image] += _with_gtid(frame_bytes + compressed, gtids)

    def level(self, level: int, image: str, outside: int) -> Level:
        """The file at one level, `outside` being what no level compresses."""
        (n, cpu_s), (more, more_cpu_s) = (part.of_all(level, image) for part in self.parts)
        return Level(level, image, outside + round(n + more), cpu_s + more_cpu_s)

    @property
    def sampled_share(self) -> float:
        """Of the bytes, that were compressed."""
        seen, tried = (
            sum(getattr(part, name)["as logged"] for part in self.parts) for name in ("seen", "tried")
        )
        return tried / seen if seen else 1.0


def sizes(
    file: Path,
    *,
    levels: Sequence[int] = LEVELS,
    keys: Mapping[str, Sequence[int]] | None = None,
    is_exact: bool = False,
) -> FileSizes:
    """Read a file once and say where its bytes go.

    keys: columns of primary keys by "database.table", from 0, which minimal images keep; a log with binlog_row_metadata=FULL holds
    them itself, and a table without either is taken to have its first column as key. is_exact: compress all transactions, also of a
    large file. Raises EngineRoomError.
    """
    if wrong := [level for level in levels if not LEAST_LEVEL <= level <= MOST_LEVEL]:
        raise EngineRoomError(
            f"there is no level {wrong[0]}", remedy=f"name levels of zstd from {LEAST_LEVEL} to {MOST_LEVEL}"
        )
    sums = Sums(sorted(set(levels)), None if is_exact else WHOLE_BYTES)

    def take(**units: Any) -> None:
        sums.checksum_bytes = CHECKSUM_BYTES if reader.checksums else 0
        sums.is_streamed = reader.server_version.startswith("8.0.")
        sums.take(**units)

    with opened(file, desc="sizes") as (known_bytes, pieces):
        reader = binlog.Sizes(
            file_bytes=known_bytes,
            inflate=inflate,
            keys={name: list(columns) for name, columns in (keys or {}).items()},
            take=take,
        )
        file_bytes = 0
        for piece in pieces:
            reader.feed(piece)
            file_bytes += len(piece)
        reader.end()
    uncompressed = reader.uncompressed
    outside = (
        MAGIC_BYTES
        + sum(n for _, n in uncompressed.values())
        - reader.unit_bytes
        - reader.packed_length_bytes
    )
    version = reader.server_version
    names = kinds(version)
    found = FileSizes(
        file=file.name,
        server_version=version,
        file_bytes=file_bytes,
        read_bytes=reader.position,
        transactions=reader.transactions,
        in_file=_by_kind(reader.in_file, names),
        uncompressed=_by_kind(uncompressed, names),
        tables=reader.tables(),
        uncompressed_bytes=outside + sums.full,
        minimal_bytes=outside - reader.saved_outside + sums.minimal,
        levels=[
            sums.level(level, image, outside - (reader.saved_outside if image == "minimal" else 0))
            for image in ("as logged", "minimal")
            for level in sums.levels
            if not is_mariadb(version)
        ],
        sampled_share=sums.sampled_share,
        unestimated={f"type {kind}": n for kind, (_, n) in uncompressed.items() if kind not in names},
        minutes=reader.minutes,
        largest=_told(file, reader.largest),
        longest=_told(file, reader.longest),
        remarks=[],
    )
    return replace(found, remarks=_remarks(found, levels))


def _told(file: Path, transactions: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [{"file": file.name, "begun": utc(one["begin_s"]), **one} for one in transactions]


def _remarks(found: FileSizes, levels: Sequence[int]) -> list[str]:
    """What a DBA must know beside the totals."""
    remarks = []
    if (n := sum(found.unestimated.values())) > TOLD_SHARE * found.uncompressed_bytes:
        remarks.append(
            f"{n:,} bytes ({100 * n / found.uncompressed_bytes:.1f} %) lie in events that are not estimated "
            f"({', '.join(found.unestimated)}): every total has them as they are, and could be smaller"
        )
    if is_mariadb(found.server_version) and levels:
        remarks.append(
            "MariaDB does not compress transactions, so that no level of zstd is shown; its log_bin_compress compresses single events"
        )
    if ignores_levels(found.server_version) and any(one.level != DEFAULT_LEVEL for one in found.levels):
        remarks.append(
            f"MySQL {found.server_version} compresses at level {DEFAULT_LEVEL}, whatever binlog_transaction_compression_level_zstd "
            "says (bug 34833913): other levels are what a later version writes"
        )
    if found.sampled_share < 1:
        remarks.append(
            f"levels are estimated from {100 * found.sampled_share:.0f} % of the transactions' bytes, chosen at random; --exact tries all"
        )
    return remarks


def together(files: Sequence[FileSizes]) -> FileSizes:
    """Several files as if they were one."""

    def added(of: Callable[[FileSizes], Any]) -> Any:
        return functools.reduce(_added, map(of, files))

    def most(transactions: Callable[[FileSizes], Sequence[Mapping[str, Any]]], by: str) -> Any:
        every = itertools.chain.from_iterable(map(transactions, files))
        return sorted(every, key=lambda one: -one[by])[:SHOWN_TRANSACTIONS]

    def identity(table: Mapping[str, Any]) -> tuple[Any, ...]:
        return (table["table"], *((one["column"], one["type"]) for one in table["columns"]))

    def levels(each: FileSizes) -> dict[tuple[int, str], tuple[int, float]]:
        return {(one.level, one.image): (one.file_bytes, one.cpu_s) for one in each.levels}

    names = (
        "file_bytes", "read_bytes", "transactions", "in_file", "uncompressed", "uncompressed_bytes", "minimal_bytes",
        "unestimated", "minutes",
    )  # fmt: skip
    return FileSizes(
        **{name: added(operator.attrgetter(name)) for name in names},
        file=f"{len(files)} files",
        server_version=", ".join(dict.fromkeys(each.server_version for each in files)),
        tables=list(added(lambda each: {identity(table): table for table in each.tables}).values()),
        levels=[Level(*of, *sums) for of, sums in added(levels).items()]
        if all(each.levels for each in files)
        else [],
        sampled_share=min(each.sampled_share for each in files),
        largest=most(lambda each: each.largest, "bytes"),
        longest=most(lambda each: each.longest, "seconds"),
        remarks=[f"{each.file}: {remark}" for each in files for remark in each.remarks],
    )


def _added(one: Any, other: Any) -> Any:
    """Numbers added wherever they stand in both; of texts, and of lists without numbers by name, the first."""
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, dict):
        return {key: _added(one.get(key), other.get(key)) for key in {**one, **other}}
    if isinstance(one, tuple):
        return tuple(map(_added, one, other))
    if isinstance(one, list) and one and isinstance(one[0], dict):
        return list(map(_added, one, other))
    return one + other if isinstance(one, int | float) else one


def utc(seconds: float) -> str:
    """Seconds since 1970 as people write them."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))


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


def _by_kind(counts: Mapping[int, tuple[int, int]], names: Mapping[int, str]) -> dict[str, tuple[int, int]]:
    largest_first = sorted(counts.items(), key=lambda item: -item[1][1])
    return {names.get(kind, f"type {kind}"): count for kind, count in largest_first}


def _packed(values: Ints) -> Ints:
    """Bytes of packed numbers."""
    limits = np.array([251, 1 << 16, 1 << 24], dtype=np.uint64)
    return np.array([1, 3, 4, 9], dtype=np.uint64)[np.searchsorted(limits, values, side="right")]


def _with_gtid(sizes: Ints, gtids: Ints) -> int:
    """The sum of transactions' bytes, with the packed length of each in its GTID event, which counts itself."""
    whole = sizes + gtids
    packed = _packed(whole + _packed(whole))
    return int(sizes.sum()) + int(packed[gtids > 0].sum())
