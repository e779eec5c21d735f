"""
Sorting wide rows, by row ids or with their columns.
"""

import collections.abc
import typing

__all__: list[str] = ["Sorted", "Table", "article_table", "choose", "scan", "sort", "uses_priority_queue"]

class Table:
    """
    Pages of rows; values that do not fit half a page lie on pages of their own.
    """
    def __init__(
        self, columns: collections.abc.Sequence[tuple[str, typing.SupportsInt | typing.SupportsIndex, bool]]
    ) -> None:
        """
        columns: (type, declared bytes, is nullable) each; type is 'integer', 'char', 'varchar', 'text', 'mediumtext', 'longtext' or 'json'.
        """
    def append(self, values: collections.abc.Sequence[str]) -> None:
        """
        Append a row: the bytes of each column, an integer as four, little end first.
        """
    def is_off_page(
        self,
        row: typing.SupportsInt | typing.SupportsIndex,
        column: typing.SupportsInt | typing.SupportsIndex,
    ) -> bool:
        """
        Whether this value lies on pages of its own.
        """
    def value(
        self,
        row: typing.SupportsInt | typing.SupportsIndex,
        column: typing.SupportsInt | typing.SupportsIndex,
    ) -> bytes:
        """
        The stored bytes of a column of a row, read without any counter.
        """
    @property
    def columns(self) -> int:
        """
        How many columns.
        """
    @property
    def height(self) -> int:
        """
        Pages from the root to a row.
        """
    @property
    def leaf_pages(self) -> int:
        """
        Pages that a scan reads, without off-page ones.
        """
    @property
    def rows(self) -> int:
        """
        How many rows.
        """

class Sorted:
    """
    What a sort handed out and what it counted.
    """
    @property
    def counters(self) -> dict[str, int]: ...
    @property
    def is_read_set_restored(self) -> bool:
        """
        Whether the table's read set is again what it was before.
        """
    @property
    def rows(self) -> list[list[bytes]]:
        """
        The selected columns of each row, as bytes.
        """

def article_table(
    *,
    rows: typing.SupportsInt | typing.SupportsIndex,
    lob_bytes: typing.SupportsInt | typing.SupportsIndex = 8192,
    lob_type: str = "varchar",
    declared_bytes: typing.SupportsInt | typing.SupportsIndex = 8192,
    seed: typing.SupportsInt | typing.SupportsIndex = 1,
) -> Table:
    """
    The source's table: id, sort key (a permutation of the row numbers), a filter of 0 to 99, char(255), long value.
    """

def choose(
    table: Table,
    *,
    release: str,
    selected: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    order_by: typing.SupportsInt | typing.SupportsIndex = 1,
    where: tuple[typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex]
    | None = None,
    limit: typing.SupportsInt | typing.SupportsIndex | None = None,
    sort_buffer_bytes: typing.SupportsIndex = 262144,
    max_length_for_sort_data: typing.SupportsIndex = 1024,
    max_sort_length: typing.SupportsIndex = 1024,
    estimated_rows: typing.SupportsIndex | None = None,
) -> dict[typing.Any, typing.Any]:
    """
    What a release does with a statement: the two arguments of `sort` that it decides.

    release: '5.6', '5.7', '8.0.15' (8.0 before 8.0.20) or '9.7' (everything since).

    sort_buffer_bytes: as the variable of the server; 1 to 2147483648, default 262144
    max_length_for_sort_data: as the variable of the server; no effect in '9.7'; default 1024
    max_sort_length: as the variable of the server; at least 1, default 1024
    estimated_rows: what the optimizer believes; None for the true number of rows; default None
    """

def scan(
    table: Table, columns: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]
) -> dict[str, int]:
    """
    Read every row's columns and do nothing with them; returns the counters.
    """

def sort(
    table: Table,
    *,
    selected: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    order_by: typing.SupportsInt | typing.SupportsIndex = 1,
    where: tuple[typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex]
    | None = None,
    limit: typing.SupportsInt | typing.SupportsIndex | None = None,
    storage: str = "file",
    directory: str | None = None,
    output: str = "rows",
    attach: str = "rowid",
    is_read_set_narrow: bool = True,
    sort_buffer_bytes: typing.SupportsIndex = 262144,
    max_sort_length: typing.SupportsIndex = 1024,
    estimated_rows: typing.SupportsIndex | None = None,
    forget_condition: bool = False,
) -> Sorted:
    """
    Sort the rows of a table and hand out the first `limit`, or all.

    selected: columns handed out. order_by: the column sorted by, ascending. where: (column, bound), only rows whose integer is less.
    storage: "file" for a real temporary file in `directory` (the system's own by default), or "memory".
    output: "rows", or "count" for counters only.

    Raises ValueError for a value out of range, OSError when a file cannot be made, written or read; Ctrl-C stops it.

    attach: what goes with a key; 'rowid', 'additional_fields' or 'packed_additional_fields', default 'rowid'
    is_read_set_narrow: scan with the sort's own columns instead of the statement's; default True
    sort_buffer_bytes: as the variable of the server; 1 to 2147483648, default 262144
    max_sort_length: as the variable of the server; at least 1, default 1024
    estimated_rows: what the optimizer believes; None for the true number of rows; default None
    forget_condition: leave the condition's column out of a narrow read set, a mistake; default False
    """

def uses_priority_queue(
    *,
    rows: typing.SupportsInt | typing.SupportsIndex,
    limit: typing.SupportsInt | typing.SupportsIndex,
    record_bytes: typing.SupportsInt | typing.SupportsIndex,
    sort_buffer_bytes: typing.SupportsInt | typing.SupportsIndex = 262144,
) -> bool:
    """
    Whether LIMIT keeps the best rows in a heap instead of sorting all of them.
    """
