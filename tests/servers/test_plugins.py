from __future__ import annotations

import pytest

from engineroom import servers
from engineroom.errors import EngineRoomError
from engineroom.servers.plugins import require_plugin


@pytest.mark.live
def test_a_server_starts_without_a_plugin_whose_file_is_missing_and_is_then_refused() -> None:
    options = {"plugin_load_add": "thread_pool.so", "loose_thread_pool_size": 2}
    with servers.start("5.7", options=options) as server:
        with pytest.raises(
            EngineRoomError, match=rf"{server.called} by .* has no plugin thread_pool"
        ) as refused:
            require_plugin(server, "thread_pool")
        require_plugin(server, "InnoDB")
    assert "ENGINEROOM_PROVIDER=unpack" in refused.value.remedy
