"""Our own figure: what `join_buffer_size` changes. A spilling hash join reads each row once whatever the buffer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.curves import Curves
from engineroom.figures.wording import Words
from engineroom.side_by_side import ours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["picture", "rows", "words"]

rows = partial(side_by_side.rows, by=("join_buffer_bytes", "series"), y="rows_read")
curves = Curves(
    labels={
        "block_nested_loop": "block nested loop",
        "refill": "hash join, refill",
        "spill": "hash join, spill",
    },
    x_label="join_buffer_size in KiB",
    y_label="rows read",
    tick=lambda size: f"{size / 1024:g}",
)


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Rows read against the buffer; the number of temporary files stands under the spilling points."""
    curves(table, ax)
    ax.set_ylim(bottom=ax.get_ylim()[0] / 1.6)
    files = table[(table["series"] == "spill") & (table["temporary_files"] > 0)].set_index(
        "join_buffer_bytes"
    )
    for i, size in enumerate(size for size in ax.get_xticks() if size in files.index):
        first = files.loc[[size]].iloc[0]
        ax.annotate(
            f"{first['temporary_files']}" + (" files" if i == 0 else ""),
            (size, first["rows_read"]),
            (0, -14),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )


def words(table: pd.DataFrame) -> Words:
    """Compare the smallest buffer with the largest in each series."""
    read = ours(table)
    small, large = table["join_buffer_bytes"].min(), table["join_buffer_bytes"].max()
    files = table[table["series"] == "spill"].groupby("join_buffer_bytes")["temporary_files"].first()
    said = "; ".join(
        f"{series.replace('_', ' ')}: {read[series, small]:g} rows read at {_bytes(small)}, {read[series, large]:g} at {_bytes(large)}"
        for series in dict.fromkeys(table["series"])
    )
    return Words(
        alt=f"Line chart of rows read against join_buffer_size, both axes logarithmic. {said}.",
        caption=f"The spilling hash join reads {read['spill', small]:g} rows at every buffer and pays in files: "
        f"{files[small]} at {_bytes(small)}, {files[large]} at {_bytes(large)}. Under LIMIT it may not spill and reads "
        f"{read['refill', small] / read['refill', large]:.1f} times as many rows with the smallest buffer.",
    )


def _bytes(size: int) -> str:
    return f"{size // 1048576} MiB" if size >= 1048576 else f"{size // 1024} KiB"
