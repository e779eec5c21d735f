"""
Kernels of the chapter trx_sys.
"""

__all__: list[str] = []
