"""Files that a reader names: text and JSON of any origin, read whole or line by line, or refused with a reason."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from engineroom.errors import EngineRoomError

__all__ = [
    "LARGEST_BYTES",
    "Lines",
    "characters",
    "read_json",
    "read_text",
    "read_yaml",
    "visible",
    "write_whole",
]

# Far more than a statement, a graph or an exported run has; a device that never ends stops here.
LARGEST_BYTES = 64 * 2**20
# The loader in C has no limit of its own and crashes.
DEEPEST_YAML = 100


_Opened = tuple[Any, tuple[type[Exception], ...]]  # a file, and how it says that it is damaged


def _gzip(file: Any) -> _Opened:
    return gzip.open(file), (EOFError, OSError, zlib.error)


def _zstd(file: Any) -> _Opened:
    try:
        import zstandard  # not where a class is graded
    except ImportError:
        raise EngineRoomError(
            "the file is packed with zstd, and the Python package zstandard is not installed",
            remedy="pip install zstandard, or unpack the file with zstd -d",
        ) from None

    reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
    return reader, (OSError, zstandard.ZstdError)


# What a packed file begins with, and what unpacks it.
_UNPACKED = {b"\x1f\x8b": _gzip, b"\x28\xb5\x2f\xfd": _zstd}
_PIECE = 2**20


def read_text(
    path: Path | None,
    what: str,
    *,
    remedy: str = "check the path and its permissions",
    as_text: str = "save it as UTF-8",
    largest: int = LARGEST_BYTES,
    smaller: str = "name a smaller file",
    errors: str = "strict",
) -> str:
    """The text of a file, packed or not, or of standard input for None; `what` names it in the error.

    Raises EngineRoomError for a file that cannot be read, is neither UTF-8 nor has a mark of its encoding, or has more than `largest`
    bytes. `as_text` says how to mend what is no text unless `errors` takes it, `smaller` what is too large.
    """
    name = _name(path)
    try:
        with _opened(path) as file:
            encoding = _encoding(file)
            data = file.read(largest + 1)
            if file.raw.damage:
                raise _unreadable(what, name, file.raw.damage, remedy)
        if len(data) > largest:
            raise EngineRoomError(f"the {what} {name} has more than {largest // 2**20} MiB", remedy=smaller)
        return data.decode(encoding or "utf-8", errors)
    except UnicodeDecodeError as error:
        raise EngineRoomError(
            f"the {what} {name} is not UTF-8 text (byte {error.start})", remedy=as_text
        ) from error
    except (OSError, ValueError) as error:  # a path with a NUL is a ValueError
        raise _unreadable(what, name, error, remedy) from error


class Lines:
    """The lines of a file of any size and encoding, packed or not, or of standard input for None.

    Characters stand for bytes (Latin-1) unless the file begins with a mark of UTF-16: `characters` makes text of a part. A line longer than
    1 MiB comes in pieces. Where a packed file is damaged the lines end, and `damage` says why. A bar is drawn after two seconds.
    """

    def __init__(self, path: Path | None, what: str) -> None:
        self._head = ""
        try:
            if path is not None and path.is_char_device() and str(path) != "/dev/stdin":
                raise OSError("it is a device, which may never end")
            self._file = _opened(path)
        except (OSError, ValueError) as error:
            raise _unreadable(what, _name(path), error, "check the path and its permissions") from error
        encoding = _encoding(self._file) or "latin-1"
        self._text = io.TextIOWrapper(self._file, encoding, errors="replace", newline="\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._text.close()

    @property
    def damage(self) -> str:
        return str(self._file.raw.damage or "")

    def head(self) -> str:
        """The first MiB, which is read again by who asks for lines."""
        self._head = self._head or self._text.read(_PIECE)
        return self._head

    def __iter__(self) -> Iterator[str]:
        *first, last = self._head.split("\n")
        for line in first:
            yield line + "\n"
        line = last + self._text.readline(_PIECE)
        while line:
            yield line
            line = self._text.readline(_PIECE)


class _Bytes(io.RawIOBase):
    """A file that moves a bar while it is read, and that ends where it is damaged."""

    def __init__(self, opened: _Opened, *, bar: Any = None, packed: Any = None) -> None:
        self._file, self._damages = opened
        self._bar, self._packed = bar, packed
        self.damage: Exception | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            read: int = self._file.readinto(buffer) or 0
        except self._damages as error:
            self.damage = error
            return 0
        if self._bar is not None:
            self._bar.update(read)
        return read

    def close(self) -> None:
        if not self.closed:
            for each in (self._file, self._packed, self._bar):
                if each is not None and each is not sys.stdin.buffer:
                    each.close()
        super().close()


def _opened(path: Path | None) -> io.BufferedReader[_Bytes]:
    """The unpacked bytes of a file, or of standard input for None."""
    file: Any = sys.stdin.buffer if path is None else path.open("rb", buffering=0)
    try:
        size = os.fstat(file.fileno()).st_size or None
    except OSError:  # the input of a test is no file
        size = None
    from engineroom import progress  # `engineroom --help` draws none

    bar = progress.bar(total=size, desc="reading", unit="B", unit_scale=True, delay=2)
    plain = io.BufferedReader(_Bytes((file, (OSError,)), bar=bar), _PIECE)
    start = plain.peek(8)
    for mark, unpacked in _UNPACKED.items():
        if start.startswith(mark):
            try:
                return io.BufferedReader(_Bytes(unpacked(plain), packed=plain), _PIECE)
            except EngineRoomError:
                plain.close()
                raise
    return plain


def _encoding(file: io.BufferedReader[_Bytes]) -> str:
    """The encoding by the mark that a file begins with, or nothing."""
    start = file.peek(4)
    if start.startswith(codecs.BOM_UTF8):
        file.read(len(codecs.BOM_UTF8))
    return "utf-16" if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else ""


def characters(text: str) -> str:
    """The characters of a part of `Lines`: UTF-8, and Latin-1 for the bytes that are not."""
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode("utf-8", errors="latin-1 for the rest")
    except UnicodeEncodeError:  # it came from UTF-16
        return text


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("latin-1 for the rest", _as_latin_1)


def _unreadable(what: str, name: str, error: Exception, remedy: str) -> EngineRoomError:
    reason = getattr(error, "strerror", None) or error
    return EngineRoomError(f"the {what} {name} cannot be read: {reason}", remedy=remedy)


def read_json(path: Path | None, what: str, *, remedy: str) -> Any:
    """The value in a JSON file; EngineRoomError also for one that is nested too deep or has a number too long."""
    text = read_text(path, what, remedy=remedy)
    name = _name(path)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise EngineRoomError(
            f"the {what} {name} is not JSON (line {error.lineno}: {error.msg})", remedy=remedy
        ) from None
    except RecursionError:
        raise EngineRoomError(f"the {what} {name} is nested too deep", remedy=remedy) from None
    except ValueError as error:
        raise EngineRoomError(f"the {what} {name} holds {error}", remedy=remedy) from None


def read_yaml(path: Path, what: str, *, remedy: str) -> Any:
    """The value in a YAML file; EngineRoomError also for one that is nested too deep."""
    import yaml

    text, name, depth = read_text(path, what, remedy=remedy), _name(path), 0
    # libyaml's where it is installed: ten times as fast, and every process that asks for a claim reads the figures.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(text, Loader=loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST_YAML:
                raise EngineRoomError(f"the {what} {name} is nested too deep", remedy=remedy)
        return yaml.load(text, Loader=loader)
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that does not exist, a number too long
        raise EngineRoomError(f"the {what} {name} is not YAML: {error}", remedy=remedy) from error


def write_whole(path: Path, content: str | bytes) -> None:
    """Write `path` so that a reader sees the old content or the new, never a part."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    temporary.replace(path)


# All that moves a cursor, changes a colour or a title, or turns the direction of reading; lines and tabs stay.
_STEERING = (
    *(code for code in range(32) if chr(code) not in "\t\n"),
    *range(127, 160),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
)
_SHOWN = {code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" for code in _STEERING}


def visible(text: str) -> str:
    """`text` of foreign origin for a terminal: what would steer it is shown as an escape, not obeyed."""
    return text.translate(_SHOWN)


def _name(path: Path | None) -> str:
    """The file in words."""
    return "standard input" if path is None else visible(str(path)).replace("\n", "\\n")
