"""The Engine Room: how a database engine scales, and where it does not.

Importing the package is cheap: it starts no server, loads no plot backend and compiles nothing.
"""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.2.0"
