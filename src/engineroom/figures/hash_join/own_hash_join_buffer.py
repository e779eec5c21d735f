"""Our own figure: what `join_buffer_size` changes. A spilling hash join reads each row once whatever the buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engineroom.figures.parts import Curves, Rows, Words, ends, rows_by
from engineroom.figures.style import note

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABELS = {
    "block_nested_loop": "block nested loop",
    "refill": "hash join, refill",
    "spill": "hash join, spill",
}
rows = rows_by("join_buffer_bytes", y="rows_read")
curves = Curves(
    labels=LABELS,
    x_label="join_buffer_size in KiB",
    y_label="rows read",
    tick=lambda size: f"{size / 1024:g}",
)


def picture(table: Rows, ax: Axes) -> None:
    """Rows read against the buffer; the number of temporary files stands under the spilling points."""
    curves(table, ax)
    ax.set_ylim(bottom=ax.get_ylim()[0] / 1.6)
    spilled = table[(table["series"] == "spill") & (table["temporary_files"] > 0)]
    files = spilled.groupby("join_buffer_bytes")[["temporary_files", "rows_read"]].first()
    shown = files[files.index.isin(ax.get_xticks())]
    for size, n, read in shown.itertuples():
        # The unit stands where there is room to the right.
        note(ax, str(n), (size, read), (0, -14))
        if size == shown.index.max():
            note(ax, "files", (size, read), (6, -14), ha="left")


def words(table: Rows) -> Words:
    """Compare the smallest buffer with the largest in each series."""
    read = curves.values(table)
    small, large = table["join_buffer_bytes"].min(), table["join_buffer_bytes"].max()
    files = table[table["series"] == "spill"].groupby("join_buffer_bytes")["temporary_files"].first()
    return Words(
        alt=curves.alt(table, "{:g}", told=lambda line, form: ends(line.rename(_bytes), form)),
        caption=f"The spilling hash join reads {read['spill', small]:g} rows at every buffer and pays in files: "
        f"{files[small]} at {_bytes(small)}, {files[large]} at {_bytes(large)}. Under LIMIT it may not spill and reads "
        f"{read['refill', small] / read['refill', large]:.1f} times as many rows with the smallest buffer.",
    )


def _bytes(size: int) -> str:
    return f"{size // 1048576} MiB" if size >= 1048576 else f"{size // 1024} KiB"
