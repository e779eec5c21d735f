"""MySQL servers of every generation: find one, start it, ask it, and leave nothing behind.

from engineroom import servers

with servers.start("9.7", options={"join_buffer_size": 65536}) as server:
    server.query("SELECT VERSION()")
"""

from __future__ import annotations

from engineroom.servers.catalogue import catalogue
from engineroom.servers.lifecycle import failed_lately, runnable, start, why_not_now
from engineroom.servers.server import Server, session_status

__all__ = ["Server", "catalogue", "failed_lately", "runnable", "session_status", "start", "why_not_now"]
