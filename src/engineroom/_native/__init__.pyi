"""
The kernels of the book, compiled. One submodule a chapter.
"""

from . import filesort, hash_join, join_order, low_concurrency, machine, redo_log

__all__: list[str] = ["filesort", "hash_join", "join_order", "low_concurrency", "machine", "redo_log"]
