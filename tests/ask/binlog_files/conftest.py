from __future__ import annotations

from collections.abc import Iterator

import pytest

from engineroom import servers
from engineroom.servers import Server
from engineroom.servers.catalogue import measured


@pytest.fixture(scope="package", params=measured())
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server of each generation that logs rows."""
    old = {"binlog_format": "ROW"} if request.param in ("5.6", "5.7") else {}
    if reason := servers.why_not_now(request.param):
        pytest.skip(reason)
    with servers.start(
        request.param, options={"log_bin": "binlog", "server_id": 7, "sync_binlog": 0, **old}
    ) as server:
        yield server
