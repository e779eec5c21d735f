"""A file in pieces through the kernel, with progress, and its damage as an error that says where.

A file may be compressed (.gz, .zst), a pipe, or "-" for standard input: it is read as a stream, and never whole.
"""

from __future__ import annotations

import gzip
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, cast

import click
import zstandard

from engineroom import progress
from engineroom._native import binlog
from engineroom.ask.binlog_files.kinds import TOLD_SHARE, kinds
from engineroom.errors import EngineRoomError

__all__ = ["UNKNOWN_BYTES", "inflate", "opened", "rows"]

PIECE_BYTES = 1 << 20
UNKNOWN_BYTES = 1 << 60  # no event is longer than what a stream may still have
ZSTD = b"\x28\xb5\x2f\xfd"


def inflate(frame: bytes) -> Iterator[bytes]:
    """The pieces of a compressed transaction, or of an event of MariaDB's, however long. Raises ValueError for bytes that are neither."""
    try:
        if frame[:4] != ZSTD and frame[:1] == b"\x78":
            unzip = zlib.decompressobj()
            while frame and not unzip.eof:
                yield unzip.decompress(frame, PIECE_BYTES)
                frame = unzip.unconsumed_tail
            return
        yield from zstandard.ZstdDecompressor().read_to_iter(frame, write_size=PIECE_BYTES)
    except (zstandard.ZstdError, zlib.error) as error:
        raise ValueError(str(error)) from None


@contextmanager
def opened(file: Path, *, desc: str) -> Iterator[tuple[int, Iterator[bytes]]]:
    """How long the file is, or UNKNOWN_BYTES, and its pieces, with a bar. What the kernel or a decompressor finds is told.

    A file that the server still writes is read as far as it was at the start.
    """
    try:
        stdin = nullcontext(cast(BufferedReader, sys.stdin.buffer))
        with stdin if str(file) == "-" else file.open("rb") as source:
            head = source.peek(4)[:4]
            is_packed = head[:2] == b"\x1f\x8b" or head == ZSTD
            found = None if str(file) == "-" else file.stat()
            total = found.st_size if found and stat.S_ISREG(found.st_mode) else None
            bytes_ = UNKNOWN_BYTES if total is None or is_packed else total
            with progress.bar(desc=desc, total=total, unit="B", unit_scale=True) as bar:
                yield bytes_, _pieces(source, head, bytes_, bar)
    except (EOFError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError) as error:
        raise EngineRoomError(
            f"{file} cannot be decompressed: {error}", remedy="copy or compress it again"
        ) from error
    except OSError as error:
        raise EngineRoomError(
            f"{file} cannot be read: {error.strerror}",
            remedy="name a file of the binary log; the server says where they are: SELECT @@log_bin_basename",
        ) from error
    except binlog.Damaged as error:
        raise EngineRoomError(
            f"{file}: {error}",
            remedy="copy the file again, and compare with `mysqlbinlog --verify-binlog-checksum`; an encrypted file and one from"
            " before 5.0 cannot be read",
        ) from error


def _pieces(source: BufferedReader, head: bytes, left: int, bar: Any) -> Iterator[bytes]:
    stream: IO[bytes] = source
    if head[:2] == b"\x1f\x8b":
        stream = gzip.GzipFile(fileobj=source)  # type: ignore[assignment]
    elif head == ZSTD:
        stream = zstandard.ZstdDecompressor().stream_reader(source, read_across_frames=True)
    while left > 0 and (piece := stream.read(min(PIECE_BYTES, left))):
        yield piece
        left -= len(piece)
        # Of a compressed file, what was read of it.
        bar.update(len(piece) if stream is source or not source.seekable() else source.tell() - bar.n)


def rows(file: Path, *, is_named: bool = False) -> Iterator[bytes]:
    """Each row of the file's row events as a line of JSON, some at a time; the log has numbers for columns without names."""
    with opened(file, desc="rows") as (file_bytes, pieces):
        reader = binlog.RowLines(
            file_bytes=file_bytes,
            inflate=inflate,
            file=file.name.encode(errors="replace").decode() if is_named else "",
        )
        for piece in pieces:
            yield reader.feed(piece)
        reader.end()
    unread = {kind: n for kind, (_, n) in reader.in_file.items() if kind not in kinds(reader.server_version)}
    if sum(unread.values()) > TOLD_SHARE * sum(n for _, n in reader.in_file.values()):
        click.echo(
            f"engineroom: {file}: {sum(unread.values()):,} bytes lie in events that cannot be read "
            f"({', '.join(f'type {kind}' for kind in unread)}); their rows, if they have some, are missing",
            err=True,
        )
