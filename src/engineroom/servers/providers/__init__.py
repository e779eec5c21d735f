"""Where a server can come from, in the order in which the book tries them."""

from __future__ import annotations

from typing import Protocol

from engineroom.servers.catalogue import Request
from engineroom.servers.providers import container, dsn, on_path, unpack
from engineroom.servers.server import Server

__all__ = ["PROVIDERS", "Provider"]


class Provider(Protocol):
    """What each module of this package offers."""

    @property
    def NAME(self) -> str:
        """The word by which a reader chooses it."""

    def refusal(self, request: Request) -> str | None:
        """Why it cannot serve the request here, `None` when it can. Cheap: nothing is downloaded or started."""

    def fetch(self, request: Request) -> None:
        """Do now what the first start would have to do, so that it needs no network."""

    def start(self, request: Request) -> Server:
        """A server that answers."""


PROVIDERS: dict[str, Provider] = {module.NAME: module for module in (dsn, container, on_path, unpack)}
