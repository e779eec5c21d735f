"""The sources' loads in numbers, as simulated clients run them: fixed before the first comparison with a published number.

What a simulated transaction does is computing, mini-transactions of redo, and waiting for its client; one in `flush_every` waits for
the disk when it commits.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["SYSBENCH", "TPCC", "UPDATE"]

# SysBench read-write: 18 statements of which four write, in four rounds of reads and one write, client beside the server.
SYSBENCH: Mapping[str, int] = {
    "statements": 4,
    "away_ns": 150_000,
    "statement_ns": 250_000,
    "mtrs_per_statement": 3,
    "mtr_bytes": 150,
    "commit_mtrs": 2,
    "flush_every": 1,
    "dirty_percent": 30,
}

# TPC-C: about 25 statements per transaction on the average of its five kinds, most of them short.
TPCC: Mapping[str, int] = {
    "statements": 25,
    "away_ns": 80_000,
    "statement_ns": 50_000,
    "mtrs_per_statement": 3,
    "mtr_bytes": 200,
    "commit_mtrs": 2,
    "flush_every": 1,
    "dirty_percent": 30,
}

# SysBench update_non_index: one UPDATE by primary key that commits by itself. A statement of the read-write load computes for 50 us
# in the mean of mostly reads; an update of a row does more. Away as there.
UPDATE: Mapping[str, int] = {
    "statements": 1,
    "away_ns": 150_000,
    "statement_ns": 80_000,
    "mtrs_per_statement": 3,
    "mtr_bytes": 150,
    "dirty_percent": 30,
}
