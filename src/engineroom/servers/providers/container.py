"""A container of Docker or Podman."""

from __future__ import annotations

from engineroom.errors import EngineRoomError
from engineroom.servers.catalogue import Request
from engineroom.servers.server import Server

NAME = "container"


def refusal(request: Request) -> str | None:
    return f"no container engine for {request.name}"


def start(request: Request) -> Server:
    raise EngineRoomError(f"no container engine for {request.name}", remedy="choose another provider")
