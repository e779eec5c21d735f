"""The two system libraries that servers before 9 are linked to: libaio and libnuma."""

from __future__ import annotations

from pathlib import Path

__all__ = ["environment"]


def environment(mysqld: Path) -> dict[str, str]:
    """Environment variables with which this `mysqld` finds its libraries."""
    return {"LD_LIBRARY_PATH": str(mysqld.parent)}
