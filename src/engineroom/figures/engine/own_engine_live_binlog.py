"""Our own figure: throughput of the simulated engine with a binary log over that of the live server that it models, on a steady disk and on the real one."""

from __future__ import annotations

from engineroom.figures.engine.own_engine_live import picture, rows
from engineroom.figures.parts import Curves, Rows, Words, as_found

__all__ = ["picture", "rows", "words"]

_said = Curves(
    labels=as_found("series"), x_label="clients", y_label="throughput, engine over server", y_log=False
)


def words(table: Rows) -> Words:
    """Each line, and how far the engine is off on either disk."""
    of = _said.values(table)
    is_real = of.index.get_level_values("series").str.endswith("real disk")
    steady, real = of[~is_real], of[is_real]
    return Words(
        alt=_said.alt(table, more="A panel per load and disk."),
        caption=f"On a disk whose fsync takes a given time the engine is {steady.min():.2f} to {steady.max():.2f} times as fast as the server, half of the "
        f"points within {100 * (steady - 1).abs().median():.0f} %. On the real disk it is {real.min():.2f} to {real.max():.2f} times as fast.",
    )
