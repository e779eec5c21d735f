"""Our own figure: bytes per transaction in the binary log, by kind of transaction and setting."""

from __future__ import annotations

from engineroom.figures.parts import Dots, Rows, Words, each, ours, rows_by

KINDS = {"new_order": "New-Order", "payment": "Payment", "delivery": "Delivery", "mix": "the mix"}
SETTINGS = {
    "full, uncompressed": "full",
    "minimal, uncompressed": "minimal",
    "full, zstd 3": "full, zstd 3",
    "minimal, zstd 3": "minimal, zstd 3",
}
rows = rows_by("kind", y="bytes_per_txn")
picture = Dots(by="kind", rows=KINDS, series=SETTINGS, label="bytes per transaction", log=True)


def words(table: Rows) -> Words:
    """What each setting leaves of a New-Order and of a Payment."""
    of = ours(table).unstack("series")[list(SETTINGS)].rename(columns=SETTINGS).loc[list(KINDS)]
    left = (100 * of.div(of["full"], axis=0)).drop(columns="full")
    order, payment = (each(left.T[kind], "{:.0f} %") for kind in ("new_order", "payment"))
    full = of["full"].rename(index=KINDS)
    return Words(
        alt=f"Dots of bytes per transaction, by kind and setting. With full images {each(full, '{:,.0f}')}.",
        caption=f"Of a New-Order's {full['New-Order']:,.0f} bytes are left: {order}. Of a Payment's {full['Payment']:,.0f}: {payment}.",
    )
