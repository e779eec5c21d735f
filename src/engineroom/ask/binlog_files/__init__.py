"""Files of the binary log: their events, their rows, where their bytes go, and what other settings would make of them."""

from __future__ import annotations

from engineroom.ask.binlog_files.reading import inflate, rows
from engineroom.ask.binlog_files.sizes import FileSizes, Level, sizes

__all__ = ["FileSizes", "Level", "inflate", "rows", "sizes"]
