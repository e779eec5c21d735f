"""
The kernels of the book, compiled. One submodule a chapter.
"""

from . import hash_join

__all__: list[str] = ["hash_join"]
