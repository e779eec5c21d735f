"""What SHOW ENGINE INNODB STATUS alone tells: prepared transactions, the history list, and views."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

__all__ = ["Status", "parsed"]

_TRANSACTION = re.compile(r"^---TRANSACTION (\w+), ACTIVE( \(PREPARED\))?", re.MULTILINE)
_VIEW = re.compile(r"^Trx read view will not see trx with id >= (\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Status:
    """The section about transactions."""

    history_length: int
    purged_to: str  # the number of the first committed transaction whose undo log is still there
    prepared: frozenset[str]  # transactions
    has_view: dict[
        str, bool
    ]  # of each active transaction that is listed; since 5.7 those that only read are not

    def holder(self, transactions: Iterable[tuple[Any, ...]]) -> str | None:
        """The oldest transaction with a view, of rows (id, isolation level, statement) by age."""
        for trx, isolation, statement in transactions:
            keeps = str(isolation) in ("REPEATABLE READ", "SERIALIZABLE") or bool(statement)
            if self.has_view.get(str(trx), keeps):
                return str(trx)
        return None


def parsed(text: str) -> Status | None:
    """What the report tells; None when it has no history list."""
    length = re.search(r"^History list length (\d+)", text, re.MULTILINE)
    if length is None:
        return None
    purged = re.search(r"^Purge done for trx's n:o < (\w+)", text, re.MULTILINE)
    found = list(_TRANSACTION.finditer(text))
    return Status(
        int(length[1]),
        purged[1] if purged else "?",
        frozenset(each[1] for each in found if each[2]),
        {
            each[1]: _VIEW.search(text, each.end(), after.start() if after else len(text)) is not None
            for each, after in itertools.zip_longest(found, found[1:])
        },
    )
