"""The types of events by their numbers."""

from __future__ import annotations

__all__ = ["TOLD_SHARE", "is_mariadb", "kinds"]

TOLD_SHARE = 0.01  # of the bytes, that may be of unknown kinds without a word

KINDS = {
    2: "Query",
    3: "Stop",
    4: "Rotate",
    5: "Intvar",
    9: "Append_block",
    11: "Delete_file",
    13: "Rand",
    14: "User_var",
    15: "Format_desc",
    16: "Xid",
    17: "Begin_load_query",
    18: "Execute_load_query",
    19: "Table_map",
    23: "Write_rows_v1",
    24: "Update_rows_v1",
    25: "Delete_rows_v1",
    26: "Incident",
    27: "Heartbeat",
    29: "Rows_query",
    30: "Write_rows",
    31: "Update_rows",
    32: "Delete_rows",
    33: "Gtid",
    34: "Anonymous_Gtid",
    35: "Previous_gtids",
    36: "Transaction_context",
    37: "View_change",
    38: "XA_prepare",
    39: "Update_rows_partial",
    40: "Transaction_payload",
    41: "Heartbeat_v2",
    42: "Gtid_tagged",
}
MARIADB_KINDS = {
    160: "Annotate_rows",
    161: "Binlog_checkpoint",
    162: "Gtid of MariaDB",
    163: "Gtid_list",
    165: "Query_compressed",
    166: "Write_rows_compressed_v1",
    167: "Update_rows_compressed_v1",
    168: "Delete_rows_compressed_v1",
    169: "Write_rows_compressed",
    170: "Update_rows_compressed",
    171: "Delete_rows_compressed",
}


def is_mariadb(server_version: str) -> bool:
    """Whether MariaDB wrote the log, whose numbers from 160 on mean nothing to MySQL."""
    return "MariaDB" in server_version


def kinds(server_version: str) -> dict[int, str]:
    """Names of the kinds that a log of this server may have. Of any other nobody knows what is in it."""
    return KINDS | (MARIADB_KINDS if is_mariadb(server_version) else {})
