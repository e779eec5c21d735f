"""A sitting with live servers: they are started for it, and each run says which they were."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engineroom.progress import bar
from engineroom.runs import Run
from engineroom.runs.sitting import Rows, Sitting

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["LiveSitting"]


class LiveSitting(Sitting):
    """A sitting that starts servers of its own, and keeps what their numbers need beside them."""

    def __init__(self, method: str = "live", *, seed: int | None = None) -> None:
        super().__init__(method, seed=seed)
        self.servers: dict[str, Any] = {}

    @contextlib.contextmanager
    def server(
        self, version: str, *, options: Mapping[str, Any] | None = None, label: str | None = None
    ) -> Iterator[Server]:
        """A server for the time of the block; `label` as `note` has it."""
        from engineroom import servers

        with servers.start(version, options=options) as server:
            self.note(server, label=label)
            yield server

    def note(self, server: Server, *, label: str | None = None) -> None:
        """Keep which server this is; `label` tells it from others of its version in the same sitting."""
        self.servers[server.version + (f", {label}" if label else "")] = server.provenance()

    @contextlib.contextmanager
    def session(
        self,
        version: str,
        *,
        options: Mapping[str, Any] | None = None,
        label: str | None = None,
    ) -> Iterator[tuple[Server, Any]]:
        """A server and a connection to it for the time of the block."""
        with (
            self.server(version, options=options, label=label) as server,
            contextlib.closing(server.connect()) as connection,
        ):
            yield server, connection

    @contextlib.contextmanager
    def together(
        self, versions: Sequence[str], *, options: Mapping[str, Any] | None = None, label: str | None = None
    ) -> Iterator[list[tuple[Server, Any]]]:
        """A session of each version at the same time, to be measured in turns: a machine's speed drifts by the minute."""
        with contextlib.ExitStack() as stack:
            yield [
                stack.enter_context(self.session(version, options=options, label=label))
                for version in bar(versions, desc="servers", unit="server")
            ]

    def run(self, figure: str, rows: Rows, **about: Any) -> Run:
        return super().run(figure, rows, **{"servers": self.servers} | about)
