"""Our own figure: CPU time of the whole server per transaction, by row image and level of compression."""

from __future__ import annotations

from engineroom.figures.parts import Dots, Rows, Words, as_found, ours, rows_by

BASE, LABEL = "full, uncompressed", "microseconds of server CPU per transaction"
rows = rows_by("setting", y="server_cpu_us", keep=["bytes_per_txn"])
short = as_found("setting", ("uncompressed", "no zstd"))
picture = Dots(by="setting", rows=as_found("setting"), narrow=short, label=LABEL, form="{:,.0f}")


def words(table: Rows) -> Words:
    """What each setting adds to the plain one."""
    of = ours(table).droplevel("series")
    added = "; ".join(f"{name} {of[name] / of[BASE] - 1:+.0%}" for name in of.index if name != BASE)
    return Words(
        alt=f"Dots of CPU time of the server per TPC-C transaction: {BASE} {of[BASE]:,.0f} microseconds; beside it {added}.",
        caption=f"One client, server CPU per transaction beside {of[BASE]:,.0f} microseconds uncompressed with full images: {added}.",
    )
