"""A file in pieces through the kernel, with progress, and its damage as an error that says where."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import zstandard

from engineroom import progress
from engineroom._native import binlog
from engineroom.errors import EngineRoomError

__all__ = ["inflate", "pieces", "rows", "size_of", "told"]

PIECE_BYTES = 1 << 20


def inflate(frame: bytes) -> Iterator[bytes]:
    """The pieces of a compressed transaction, however long it is. Raises ValueError for bytes that are no frame."""
    try:
        yield from zstandard.ZstdDecompressor().read_to_iter(frame, write_size=PIECE_BYTES)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None


def size_of(file: Path) -> int:
    """How long the file is. Raises EngineRoomError for what is no file that can be read."""
    try:
        with file.open("rb"):
            found = file.stat()
    except OSError as error:
        raise EngineRoomError(
            f"{file} cannot be read: {error.strerror}",
            remedy="name a file of the binary log; the server says where they are: SELECT @@log_bin_basename",
        ) from error
    if not stat.S_ISREG(found.st_mode):
        raise EngineRoomError(f"{file} is no regular file", remedy="copy it to one first")
    return found.st_size


def pieces(file: Path, *, desc: str) -> Iterator[bytes]:
    """The file's bytes, with a bar. A file that the server still writes is read as far as it was at the start."""
    left = size_of(file)
    with file.open("rb") as source, progress.bar(desc=desc, total=left, unit="B", unit_scale=True) as bar:
        while left > 0 and (piece := source.read(min(PIECE_BYTES, left))):
            yield piece
            left -= len(piece)
            bar.update(len(piece))


def told(file: Path, error: Exception) -> EngineRoomError:
    """The kernel's error about a file, with what to do."""
    return EngineRoomError(
        f"{file}: {error}",
        remedy="copy the file again, and compare with `mysqlbinlog --verify-binlog-checksum`; a relay log, an encrypted file"
        " and one from before 5.0 cannot be read",
    )


def rows(file: Path) -> Iterator[bytes]:
    """Each row of the file's row events as a line of JSON, some at a time; the log has numbers for columns without names."""
    reader = binlog.RowLines(file_bytes=size_of(file), inflate=inflate)
    try:
        for piece in pieces(file, desc="rows"):
            yield reader.feed(piece)
        reader.end()
    except binlog.Damaged as error:
        raise told(file, error) from error
