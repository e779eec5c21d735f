"""
Kernels of the chapter engine.
"""

__all__: list[str] = []
