"""
What one client pays: lists, records and fields.
"""

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
    fields: list[typing.Any],
    values: list[typing.Any],
    *,
    core_fields: typing.SupportsInt | typing.SupportsIndex = 0,
    version: typing.SupportsInt | typing.SupportsIndex = 0,
    n_fields: typing.SupportsInt | typing.SupportsIndex = 0,
) -> tuple[bytes, int, list[int]]:
    """
    A record in the COMPACT format: its bytes, the place of its origin, and the end offset of each field with flags. A value is its length in bytes, None for NULL, negative for one that is stored outside.
    """

def measure_offsets(
    decoder: str,
    *,
    columns: typing.SupportsInt | typing.SupportsIndex,
    nullable_percent: typing.SupportsInt | typing.SupportsIndex = 50,
    variable_percent: typing.SupportsInt | typing.SupportsIndex = 30,
    row_versions: typing.SupportsInt | typing.SupportsIndex = 0,
    records: typing.SupportsInt | typing.SupportsIndex = 1000,
    passes: typing.SupportsInt | typing.SupportsIndex = 100,
) -> dict[typing.Any, typing.Any]:
    """
    CPU ns of finding the offsets of records; an operation is a record.
    """

def measure_store(
    path: str,
    *,
    integers: typing.SupportsInt | typing.SupportsIndex = 6,
    varying: typing.SupportsInt | typing.SupportsIndex = 2,
    fixed_texts: typing.SupportsInt | typing.SupportsIndex = 2,
    rows: typing.SupportsInt | typing.SupportsIndex = 500,
    passes: typing.SupportsInt | typing.SupportsIndex = 100,
) -> dict[typing.Any, typing.Any]:
    """
    CPU ns of converting rows, with the fatal path 'none', 'inline_stream', 'cold_call' or 'expect'; an operation is a field.
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
    fields: list[typing.Any],
    *,
    core_fields: typing.SupportsInt | typing.SupportsIndex = 0,
) -> list[int]:
    """
    The end offsets as a decoder finds them: 'v57', 'v80', 'hoisted' or 'by_state'.
    """
