"""Random columns as the TPC-C specification wants them, one NumPy array each, and the text of rows made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = [
    "Bytes",
    "Column",
    "Ints",
    "a_string",
    "address",
    "as_text",
    "constant",
    "digits",
    "last_names",
    "letters",
    "letters_of",
    "maybe_original",
    "number",
    "nurand",
    "same",
]

_LAST_NAME_PARTS = ("BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING")

Bytes = npt.NDArray[np.uint8]  # a column of text: one row per value, NUL where the value is shorter
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Column:
    """One generated column: its text, one row of bytes per value, and how INSERT must write it."""

    text: Bytes
    quoted: bool = True
    null: npt.NDArray[np.bool_] | None = None


def as_text(columns: Mapping[str, Column], *, insert: bool = False) -> bytes:
    """All rows as text. Columns stand side by side as bytes, NUL where a value is shorter; dropping the NULs joins them."""
    n = len(next(iter(columns.values())).text)
    quote, null = (b"'", b"NULL") if insert else (b"", b"\\N")
    begin, between, end = (b"(", b",", b")\n") if insert else (b"", b"\t", b"\n")
    blocks: list[Bytes] = [constant(begin, n)] if begin else []
    for index, column in enumerate(columns.values()):
        if index:
            blocks.append(constant(between, n))
        block = column.text
        if column.quoted and quote:
            block = np.hstack([constant(quote, n), block, constant(quote, n)])
        if column.null is not None:
            block = np.hstack([block, np.zeros((n, max(0, len(null) - block.shape[1])), np.uint8)])
            block[column.null] = 0
            block[column.null, : len(null)] = np.frombuffer(null, np.uint8)
        blocks.append(block)
    blocks.append(constant(end, n))
    flat = np.hstack(blocks).ravel()
    text: bytes = flat[flat != 0].tobytes()
    return text


def constant(value: bytes, n: int) -> Bytes:
    return np.broadcast_to(np.frombuffer(value, np.uint8), (n, len(value)))


def same(value: bytes, n: int, *, quoted: bool = True) -> Column:
    return Column(constant(value, n), quoted)


def number(values: npt.ArrayLike, *, decimals: int = 0) -> Column:
    """Non-negative integers, or fixed-point numbers given as integers of their last decimal."""
    left = np.asarray(values, np.int64)
    width = max(decimals + 1, len(str(left.max(initial=0))))
    written = np.zeros((len(left), width), np.uint8)
    for place in range(width - 1, -1, -1):
        # A leading zero stays NUL, unless it stands just before the point or is the number itself.
        shown = (left > 0) | (place >= width - 1 - decimals)
        left, digit = np.divmod(left, 10)
        written[:, place] = np.where(shown, digit + ord("0"), 0)
    if decimals:
        point = constant(b".", len(left))
        written = np.hstack([written[:, :-decimals], point, written[:, -decimals:]])
    return Column(written, quoted=False)


_ALPHANUMERIC = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", np.uint8)


def a_string(rng: np.random.Generator, n: int, shortest: int, longest: int) -> Column:
    """Random alphanumeric text of a random length (clause 4.3.2.2)."""
    drawn = _ALPHANUMERIC[rng.integers(0, len(_ALPHANUMERIC), (n, longest), np.uint8)]
    if shortest < longest:
        lengths = rng.integers(shortest, longest + 1, n)
        drawn[np.arange(longest) >= lengths[:, None]] = 0
    return Column(drawn)


def letters(rng: np.random.Generator, n: int, length: int) -> Column:
    return Column(_ALPHANUMERIC[rng.integers(0, 26, (n, length), np.uint8)])


def letters_of(value: bytes) -> Bytes:
    return np.frombuffer(value, np.uint8)


def digits(rng: np.random.Generator, n: int, length: int, *, tail: bytes = b"") -> Column:
    drawn = rng.integers(ord("0"), ord("9") + 1, (n, length), np.uint8)
    return Column(np.hstack([drawn, constant(tail, n)]) if tail else drawn)


def maybe_original(rng: np.random.Generator, n: int) -> Column:
    """Text of 26 to 50 characters; one in ten holds the word ORIGINAL somewhere (clause 4.3.3.1)."""
    column = a_string(rng, n, 26, 50)
    chosen = rng.permutation(n)[: n // 10]
    lengths = (column.text[chosen] != 0).sum(axis=1)
    places = rng.integers(0, lengths - 7)
    column.text[chosen[:, None], places[:, None] + np.arange(8)] = np.frombuffer(b"ORIGINAL", np.uint8)
    return column


def address(rng: np.random.Generator, n: int, prefix: str) -> dict[str, Column]:
    return {
        f"{prefix}_street_1": a_string(rng, n, 10, 20),
        f"{prefix}_street_2": a_string(rng, n, 10, 20),
        f"{prefix}_city": a_string(rng, n, 10, 20),
        f"{prefix}_state": letters(rng, n, 2),
        f"{prefix}_zip": digits(rng, n, 4, tail=b"11111"),
    }


def nurand(rng: np.random.Generator, n: int, *, a: int, low: int, high: int, c: int) -> Ints:
    """The specification's non-uniform random numbers (clause 2.1.6)."""
    uneven = rng.integers(0, a + 1, n) | rng.integers(low, high + 1, n)
    return (uneven + c) % (high - low + 1) + low


def last_names(numbers: Ints) -> Column:
    """The three syllables for the three digits of each number (clause 4.3.2.3)."""
    parts = np.zeros((10, max(map(len, _LAST_NAME_PARTS))), np.uint8)
    for index, part in enumerate(_LAST_NAME_PARTS):
        parts[index, : len(part)] = np.frombuffer(part.encode(), np.uint8)
    return Column(np.hstack([parts[numbers // 100], parts[numbers // 10 % 10], parts[numbers % 10]]))
