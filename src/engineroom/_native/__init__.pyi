"""
The kernels of the book, compiled. One submodule a chapter.
"""

from . import hash_join, join_order, machine, redo_log

__all__: list[str] = ["hash_join", "join_order", "machine", "redo_log"]
