"""MySQL servers of every generation: find one, start it, ask it, and leave nothing behind.

from engineroom import servers

with servers.start("9.7", options={"join_buffer_size": 65536}) as server:
    server.query("SELECT VERSION()")
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from engineroom.servers.catalogue import catalogue

if TYPE_CHECKING:
    from engineroom.servers.lifecycle import failed_lately, runnable, start, why_not_now
    from engineroom.servers.server import Server, session_status

__all__ = ["Server", "catalogue", "failed_lately", "runnable", "session_status", "start", "why_not_now"]


def __getattr__(name: str) -> Any:
    """What starts and asks servers loads all that can provide one; who reads a release's name, as a figure does, does not need it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "server" if name in ("Server", "session_status") else "lifecycle"
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)
