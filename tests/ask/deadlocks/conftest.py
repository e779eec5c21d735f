"""Reports of deadlocks as each kind of server and collector writes them, from a few words about each transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

# Transaction, session, statement, locks: (table, index, mode as written, row, whether it waits).
Locks = Sequence[tuple[str, str, str, int, bool]]
X, S, GAP = "_mode X locks rec but not gap", " mode S locks rec but not gap", "_mode X locks gap before rec"
INSERT = "_mode X locks gap before rec insert intention"
_TWO_ROWS = [
    (
        "501",
        11,
        "UPDATE acc SET c = 'x' WHERE id = 2",
        [("acc", "PRIMARY", X, 1, False), ("acc", "PRIMARY", X, 2, True)],
    ),
    (
        "502",
        12,
        "UPDATE acc SET c = 'y'\nWHERE id = 1",
        [("acc", "PRIMARY", X, 2, False), ("acc", "PRIMARY", X, 1, True)],
    ),
]
_HEADS = {
    "status": "------------------------\nLATEST DETECTED DEADLOCK\n------------------------\n2024-05-06 07:08:09 0x7f1\n",
    "5.5": "InnoDB: transactions deadlock detected, dumping detailed information.\n130506  7:08:09\n",
    "5.6": "2024-05-06 07:08:09 7f2ca8b286c0InnoDB: transactions deadlock detected, dumping detailed information.\n",
    "5.7": "2024-05-06T07:08:09.1Z 12 [Note] InnoDB: Transactions deadlock detected, dumping detailed information.\n",
    "8.0": "2024-05-06T07:08:09.1Z 12 [Note] [MY-012468] [InnoDB] Transactions deadlock detected, dumping detailed information.\n",
    "8.0 without notes": "",
    "MariaDB": "2024-05-06 07:08:09 12 [Note] InnoDB: Transactions deadlock detected, dumping detailed information.\n",
}
_DATES = {
    "5.7": "2024-05-06T07:08:09.1Z 12 [Note] InnoDB: ",
    "8.0": "2024-05-06T07:08:09.1Z 12 [Note] [MY-012469] [InnoDB] ",
    "MariaDB": "2024-05-06 07:08:09 12 [Note] InnoDB: ",
}


def _lock(trx: str, table: str, index: str, mode: str, row: int, *, waits: bool, quote: str = "") -> str:
    name = f"`shop`.`{table}`"
    if not index:
        return f"TABLE LOCK table {name} trx id {trx} lock{mode}{' waiting' * waits}\n"
    return (
        f"RECORD LOCKS space id 6 page no 3 n bits 72 index {quote}{index}{quote} of table {name} trx id {trx}"
        f" lock{mode}{' waiting' * waits}\nRecord lock, heap no {row + 1} PHYSICAL RECORD: n_fields 4; compact format; info bits 0\n"
        f" 0: len 4; hex {0x80000000 + row:08x}; asc     ;;\n 1: len 6; hex 000000000517; asc       ;;\n"
        " 2: len 7; hex 15000001480110; asc     H  ;;\n 3: len 1; hex 79; asc y;;\n\n"
    )


def _report(kind: str = "status", transactions=_TWO_ROWS, victim: int = 2) -> str:
    """One report. Up to 5.7 it has two transactions, and of the first just what that waits for."""
    is_old = kind in ("5.5", "5.6", "5.7")
    date = _DATES.get(kind, "")
    client = "MariaDB" if kind == "MariaDB" else "MySQL"
    text = _HEADS[kind]
    for n, (trx, session, statement, locks) in enumerate(transactions[-2:] if is_old else transactions, 1):
        if kind != "8.0 without notes":
            text += (
                f"{date}\n*** ({n}) TRANSACTION:\n"
                if date and not is_old
                else f"{date}*** ({n}) TRANSACTION:\n"
            )
        text += (
            f"\nTRANSACTION {trx}, ACTIVE {n} sec starting index read\nmysql tables in use 1, locked 1\n"
            f"LOCK WAIT {2 + n} lock struct(s), heap size 1136, 2 row lock(s), undo log entries 1\n"
            f"{client} thread id {session}, OS thread handle 140455164438208, query id 62 web7 10.0.0.7 shop updating\n{statement}\n"
        )
        for table, index, mode, row, waits in sorted(locks, key=lambda each: each[-1]):
            if is_old and n == 1 and not waits:
                continue
            word = "WAITING FOR THIS LOCK TO BE GRANTED:" if waits else "HOLDS THE LOCK(S):"
            if kind == "MariaDB":
                if not waits:
                    continue
                other = transactions[n % len(transactions)][0]
                text += f"{date}*** {word}\n\n{_lock(trx, table, index, mode, row, waits=True)}"
                text += f"{date}*** CONFLICTING WITH:\n\n{_lock(other, table, index, mode, row, waits=False)}"
                continue
            text += "" if kind == "8.0 without notes" else f"{date}*** ({n}) {word}\n"
            text += _lock(
                trx, table, index, mode, row, waits=waits, quote="`" if kind in ("5.5", "5.6") else ""
            )
    return text if kind == "8.0 without notes" else f"{text}{date}*** WE ROLL BACK TRANSACTION ({victim})\n"


@pytest.fixture
def report() -> Callable[..., str]:
    """Writes a report: of two rows in opposite orders, unless told otherwise."""
    return _report
