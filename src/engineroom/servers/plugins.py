"""What a server loads only if its package has the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engineroom.errors import EngineRoomError

if TYPE_CHECKING:
    from engineroom.servers.server import Server

__all__ = ["require_plugin"]


def require_plugin(server: Server, name: str) -> None:
    """Refuse a server without a plugin that it was to load as it started: where the file is missing, a server starts all the same."""
    active = server.query(
        f"SELECT 1 FROM information_schema.PLUGINS WHERE PLUGIN_NAME = '{name}' AND PLUGIN_STATUS = 'ACTIVE'"
    )
    if not active:
        raise EngineRoomError(
            f"{server.called} by {server.provider} has no plugin {name}",
            remedy="take the package of 9.7 that the book unpacks, which has it: ENGINEROOM_PROVIDER=unpack",
        )
