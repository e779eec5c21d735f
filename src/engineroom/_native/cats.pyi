"""
Kernels of the chapter cats.
"""

__all__: list[str] = []
