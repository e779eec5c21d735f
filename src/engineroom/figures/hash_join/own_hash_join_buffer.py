"""Our own figure: what `join_buffer_size` changes. A spilling hash join reads each row once whatever the buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from engineroom.figures.drawing import Words
from engineroom.figures.lines import is_narrow, label_ends, lines, plain_log_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from engineroom.runs import Run

__all__ = ["picture", "rows", "words"]


def rows(run: Run) -> pd.DataFrame:
    """The counted rows and bytes, one row a buffer size and series: those of the first repeat, for counts do not vary."""
    return run.table.drop_duplicates(["series", "join_buffer_bytes"])


def picture(table: pd.DataFrame, ax: Axes) -> None:
    """Rows read against the buffer, both logarithmic; the number of temporary files stands under the spilling points."""
    labels = {
        "block_nested_loop": "block nested loop",
        "refill": "hash join, refill",
        "spill": "hash join, spill",
    }
    ends = lines(table, ax, x="join_buffer_bytes", y="rows_read", labels=labels)
    sizes = sorted(set(table["join_buffer_bytes"]))
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    shown = sizes if not is_narrow(ax) else sizes[::2]
    ax.set_xticks(shown, [str(size // 1024) for size in shown])
    plain_log_ticks(ax.yaxis)
    ax.minorticks_off()
    ax.set_xlim(sizes[0] * (0.25 if is_narrow(ax) else 0.7), sizes[-1] * (80 if is_narrow(ax) else 12))
    ax.set_ylim(table["rows_read"].min() / 2.5, table["rows_read"].max() * 1.6)
    spilled = table[(table["series"] == "spill") & (table["temporary_files"] > 0)].set_index(
        "join_buffer_bytes"
    )
    for size in [size for size in shown if size in spilled.index]:
        said = f"{spilled.loc[size, 'temporary_files']}" + (" files" if size == shown[0] else "")
        ax.annotate(
            said,
            (size, spilled.loc[size, "rows_read"]),
            (0, -14),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    ax.set_xlabel("join_buffer_size in KiB, log scale")
    ax.set_ylabel("rows read (Handler_read_rnd_next)")
    label_ends(ax, ends)


def words(table: pd.DataFrame) -> Words:
    """Compare the smallest buffer with the largest in each series."""
    small, large = table["join_buffer_bytes"].min(), table["join_buffer_bytes"].max()
    read = table.set_index(["series", "join_buffer_bytes"])["rows_read"]
    said = "; ".join(
        f"{series.replace('_', ' ')}: {read[series, small]} rows read at {_bytes(small)}, {read[series, large]} at {_bytes(large)}"
        for series in dict.fromkeys(table["series"])
    )
    files = table[table["series"] == "spill"].set_index("join_buffer_bytes")["temporary_files"]
    return Words(
        alt=f"Line chart of rows read against join_buffer_size, both axes logarithmic. {said}.",
        caption=(
            f"The spilling hash join reads {read['spill', small]} rows at every buffer and pays in files: "
            f"{files[small]} at {_bytes(small)}, {files[large]} at {_bytes(large)}. Under LIMIT it may not spill and reads "
            f"{read['refill', small] / read['refill', large]:.1f} times as many rows with the smallest buffer."
        ),
    )


def _bytes(size: int) -> str:
    return f"{size // 1048576} MiB" if size >= 1048576 else f"{size // 1024} KiB"
