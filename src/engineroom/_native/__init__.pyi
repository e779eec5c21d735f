"""
The kernels of the book, compiled. One submodule a chapter.
"""

import typing

from . import (
    binlog,
    engine,
    filesort,
    group_commit,
    hash_join,
    join_order,
    lock_sys,
    low_concurrency,
    machine,
    read_views,
    redo_log,
    trx_sys,
)

__all__: list[str] = [
    "Option",
    "binlog",
    "engine",
    "filesort",
    "group_commit",
    "hash_join",
    "join_order",
    "lock_sys",
    "low_concurrency",
    "machine",
    "read_views",
    "redo_log",
    "trx_sys",
]

class Option:
    """
    One option of a kernel's configuration, as the kernel describes it.
    """
    @property
    def default(self) -> typing.Any:
        """
        What it is when it is left out.
        """
    @property
    def documentation(self) -> str: ...
    @property
    def kind(self) -> str:
        """
        'boolean', 'integer', 'integers' or 'name'.
        """
    @property
    def least(self) -> int | None:
        """
        The least integer that it takes.
        """
    @property
    def most(self) -> int | None:
        """
        The largest integer that it takes.
        """
    @property
    def name(self) -> str: ...
    @property
    def names(self) -> list[str]:
        """
        What it takes when its kind is 'name'.
        """
