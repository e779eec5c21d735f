"""TPC-C's terminals as threads of SysBench: many clients that take little of the processors which they share with the server.

The script is `data/workloads/tpcc.lua` behind the statements and numbers of the Python terminal, so that both send the same texts.
SysBench begins a deadlock's victim anew with other rows, as the simulated clients do, and ends at any other error.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.workloads import tpcc, tpcc_terminal
from engineroom.workloads.sysbench import Sysbench
from engineroom.workloads.tpcc_rows import DISTRICTS, Size
from engineroom.workloads.tpcc_statements import STATEMENTS

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["filled", "script"]

# A deadlock, and a wait for a row that lasted too long.
_IGNORED = "1213,1205"
_CLEAN_PERCENT, _LONGEST_S = 1.0, 600
# The second is lowered with the first.
_WRITES_FROM = "innodb_max_dirty_pages_pct", "innodb_max_dirty_pages_pct_lwm"
_DIRTY = "Innodb_buffer_pool_pages_dirty", "Innodb_buffer_pool_pages_total"


def script(size: Size) -> str:
    """The script for a database of that size."""
    sizes = {
        "warehouses": size.warehouses,
        "districts": DISTRICTS,
        "customers": size.customers,
        "items": size.items,
        "last_orders": tpcc_terminal.LAST_ORDERS,
    }
    percent = {
        "by_name": tpcc_terminal.BY_NAME,
        "remote_payment": tpcc_terminal.REMOTE_PAYMENT,
        "remote_line": tpcc_terminal.REMOTE_LINE,
        "rolled_back": tpcc_terminal.ROLLED_BACK,
    }
    sql = {
        f"{kind}.{name}": text for kind, statements in STATEMENTS.items() for name, text in statements.items()
    }
    names = ", ".join(map(json.dumps, tpcc_terminal.customers_last_names(size)))
    mix = ", ".join(f"{{{json.dumps(kind)}, {share}}}" for kind, share in tpcc_terminal.MIX.items())
    head = (
        f"local sql = {_table(sql)}\nlocal mix = {{{mix}}}\nlocal size = {_table(sizes)}\n"
        f"local percent = {_table(percent)}\nlocal last_names = {{{names}}}\n"
    )
    return head + (paths.data() / "workloads" / "tpcc.lua").read_text(encoding="utf-8")


def filled(server: Server, size: Size, folder: Path) -> Sysbench:
    """Load the database, let the server write what that left in its pool, and put the script into `folder`.

    Loading leaves nothing in a binary log. EngineRoomError when a server does not come to rest.
    """
    database = f"tpcc_{size.warehouses}"
    file = folder / f"{database}.lua"
    file.write_text(script(size), encoding="utf-8")
    tpcc.load(
        _Unlogged(server),
        database=database,
        warehouses=size.warehouses,
        scale=size.scale,
        replace=True,
        progress=False,
    )
    _come_to_rest(server)
    return Sysbench(server, str(file), database=database, ignored_errors=_IGNORED)


class _Unlogged:
    """A server whose connections write no binary log."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def connect(self, database: str | None = None, **options: Any) -> Any:
        connection = self._server.connect(database, **options)
        with closing(connection.cursor()) as cursor:
            cursor.execute("SET sql_log_bin = 0")
        return connection


def _come_to_rest(server: Server) -> None:
    """Else its page cleaners would share the processors of the first runs."""
    settings = server.query(f"SELECT {', '.join(f'@@GLOBAL.{name}' for name in _WRITES_FROM)}")[0]
    server.execute(f"SET GLOBAL {_WRITES_FROM[0]} = 0")
    for _ in range(_LONGEST_S):
        status = server.status()
        dirty, pages = (status[name] for name in _DIRTY)
        if 100 * dirty <= _CLEAN_PERCENT * pages:
            break
        time.sleep(1)
    else:
        raise EngineRoomError(
            f"MySQL {server.version} still has pages to write {_LONGEST_S} s after TPC-C was loaded",
            remedy="its disk is too slow for this experiment: use another one",
        )
    for name, value in zip(_WRITES_FROM, settings, strict=True):
        server.execute(f"SET GLOBAL {name} = {value}")


def _table(of: Mapping[str, Any]) -> str:
    """As Lua writes it; a text of plain ASCII looks alike in JSON."""
    return "{" + ", ".join(f"[{json.dumps(name)}] = {json.dumps(value)}" for name, value in of.items()) + "}"
