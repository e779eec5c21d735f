"""Who waits for whom on a running server: read its lock tables, and draw the graph.

with servers.start("9.7") as server:
    ...
    print(lock_waits.read(server))
"""

from __future__ import annotations

from engineroom.ask.lock_waits.graph import LockWaits
from engineroom.ask.lock_waits.reading import Session, Wait, read

__all__ = ["LockWaits", "Session", "Wait", "read"]
