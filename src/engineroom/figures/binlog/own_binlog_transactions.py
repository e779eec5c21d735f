"""Our own figure: bytes per transaction in the binary log, by kind of transaction and setting."""

from __future__ import annotations

from functools import partial

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.dots import Dots
from engineroom.figures.wording import Words, each
from engineroom.side_by_side import ours

__all__ = ["KINDS", "SETTINGS", "picture", "rows", "words"]

KINDS = {"new_order": "New-Order", "payment": "Payment", "delivery": "Delivery", "mix": "the mix"}
SETTINGS = {
    "full, uncompressed": "full",
    "minimal, uncompressed": "minimal",
    "full, zstd 3": "full, zstd 3",
    "minimal, zstd 3": "minimal, zstd 3",
}
rows = partial(side_by_side.rows, by=("kind", "series"), y="bytes_per_txn")
picture = Dots(by="kind", rows=KINDS, series=SETTINGS, label="bytes per transaction", log=True)


def words(table: pd.DataFrame) -> Words:
    """What each setting leaves of a New-Order and of a Payment."""
    of = ours(table)
    full = of["full, uncompressed"]
    left = {
        kind: each({said: 100 * of[name, kind] / full[kind] for name, said in SETTINGS.items() if said != "full"}, "{:.0f} %")
        for kind in ("new_order", "payment")
    }  # fmt: skip
    return Words(
        alt="Dots of bytes per transaction, by kind and setting. With full images "
        + each({KINDS[kind]: full[kind] for kind in KINDS}, "{:,.0f}")
        + ".",
        caption=f"Of a New-Order's {full['new_order']:,.0f} bytes are left: {left['new_order']}. Of a Payment's {full['payment']:,.0f}: "
        f"{left['payment']}.",
    )
