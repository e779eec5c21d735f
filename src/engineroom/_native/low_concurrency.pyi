"""
What one client pays: lists, records and fields.
"""

import collections.abc
import typing

__all__: list[str] = [
    "container_bytes",
    "encode_record",
    "measure_offsets",
    "measure_store",
    "parse_insert",
    "record_offsets",
]

def container_bytes(
    container: str,
    *,
    rows: typing.SupportsInt | typing.SupportsIndex,
    columns: typing.SupportsInt | typing.SupportsIndex,
) -> int:
    """
    The formula of the containers' bytes, without the items.
    """

def encode_record(
    fields: collections.abc.Sequence[dict[str, typing.Any]],
    values: list[typing.Any],
    *,
    core_fields: typing.SupportsInt | typing.SupportsIndex = 0,
    version: typing.SupportsIndex = 0,
    n_fields: typing.SupportsIndex = 0,
) -> tuple[bytes, int, list[int]]:
    """
    A record in the COMPACT format: its bytes, the place of its origin, and the end offset of each field with flags. A value is its length in bytes, None for NULL, negative for one that is stored outside.

    fields: a dict each, of

    fixed_bytes: 0 for a variable field; default 0
    max_bytes: of a variable field: above 255 its length may take two bytes; default 0
    is_nullable: whether it may be NULL; default False
    is_big: a BLOB or the like: its length may take two bytes; default False
    default_is_null: what a record without the field stands for; default False
    added_version: the row version in which it was added; 0 for never; default 0
    dropped_version: the row version in which it was dropped; 0 for never; default 0

    version: the row version that it was inserted at; default 0
    n_fields: how many fields it was inserted with, in a schema with instant columns; 0 for those before any column was added; default 0
    """

def measure_offsets(
    decoder: str,
    *,
    columns: typing.SupportsIndex = 20,
    nullable_percent: typing.SupportsIndex = 50,
    variable_percent: typing.SupportsIndex = 30,
    row_versions: typing.SupportsIndex = 0,
    records: typing.SupportsIndex = 1000,
    passes: typing.SupportsIndex = 100,
    seed: typing.SupportsIndex = 1,
) -> dict[typing.Any, typing.Any]:
    """
    CPU ns of finding the offsets of records; an operation is a record.

    columns: of each record; at least 1, default 20
    nullable_percent: of the columns, by chance; 0 to 100, default 50
    variable_percent: of the columns have no fixed length, by chance; 0 to 100, default 30
    row_versions: columns added INSTANT, each in a version of its own; there are records of all versions; 0 to 64, default 0
    records: how many; at least 1, default 1000
    passes: how often it is done; at least 1, default 100
    seed: which data; default 1
    """

def measure_store(
    path: str,
    *,
    integers: typing.SupportsIndex = 6,
    varying: typing.SupportsIndex = 2,
    fixed_texts: typing.SupportsIndex = 2,
    rows: typing.SupportsIndex = 500,
    passes: typing.SupportsIndex = 100,
    seed: typing.SupportsIndex = 1,
) -> dict[typing.Any, typing.Any]:
    """
    CPU ns of converting rows, with the fatal path 'none', 'inline_stream', 'cold_call' or 'expect'; an operation is a field.

    integers: fields of this kind in a row; default 6
    varying: fields of varying length in a row; default 2
    fixed_texts: texts of fixed length in a row; default 2
    rows: how many; at least 1, default 500
    passes: how often it is done; at least 1, default 100
    seed: which data; default 1
    """

def parse_insert(
    container: str,
    *,
    rows: typing.SupportsInt | typing.SupportsIndex,
    columns: typing.SupportsInt | typing.SupportsIndex,
) -> dict[typing.Any, typing.Any]:
    """
    Parses an INSERT of `rows` rows of `columns` integers into items and lists and walks them. container: 'list_5_7', 'deque_8_0', 'deque_9_7' or 'reserved'. Returns bytes, blocks and CPU ns of both phases.
    """

def record_offsets(
    decoder: str,
    record: bytes,
    origin: typing.SupportsInt | typing.SupportsIndex,
    fields: collections.abc.Sequence[dict[str, typing.Any]],
    *,
    core_fields: typing.SupportsInt | typing.SupportsIndex = 0,
) -> list[int]:
    """
    The end offsets as a decoder finds them: 'v57', 'v80', 'hoisted' or 'by_state'.
    """
