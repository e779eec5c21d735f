"""Our own figure: what a profile-guided build gains on the workload of its profile, and on another."""

from __future__ import annotations

from engineroom.figures.parts import Dots, Rows, Run, Words, over, rows_by

# The variants of 8.0 and 9.7: what a stock server has. The second name is a phone's.
STOCK = {
    ("insert_values", "deque_9_7"): ("value lists", "lists"),
    ("record_offsets", "v80"): ("record offsets", "offsets"),
    ("field_store", "inline_stream"): ("fatal path", "fatal path"),
    ("mtr_commit", "mtr_8_0"): ("mini-transaction", "mtr"),
}
CELLS = {
    f"{what}, {load}": f"{short}, {load}" for what, short in STOCK.values() for load in ("narrow", "wide")
}
SERIES = {"same": "trained on it", "other": "on the other"}
WHAT = "CPU time over that of the plain build"
picture = Dots(rows={cell: cell for cell in CELLS}, narrow=CELLS, series=SERIES, label=WHAT, line_at=1)
_rows = rows_by("cell", y="cpu_ns")


def rows(run: Run) -> Rows:
    """Time of the trained builds over the plain build's, for each repeat."""
    table = run.table.rename(columns={"series": "build"})
    stock = table[[key in STOCK for key in zip(table["kernel"], table["variant"], strict=True)]]
    made = [
        (
            f"{STOCK[kernel, variant][0]}, {load}",
            "plain" if build == "plain" else "same" if build.endswith(load) else "other",
        )
        for kernel, variant, load, build in stock[["kernel", "variant", "workload", "build"]].itertuples(
            index=False
        )
    ]
    cells, series = zip(*made, strict=True)
    return over(
        _rows(run.with_table(stock.assign(cell=cells, series=series))),
        "times_plain",
        "series == 'plain'",
        "cell",
    )


def words(table: Rows) -> Words:
    """The middle gain of both, and how often the foreign profile loses."""
    same, other = (picture.values(table)[series] for series in SERIES)
    return Words(
        alt=f"Dot plot of CPU time over the plain build's, trained on the same workload and on the other. {picture.said(table)}.",
        caption=f"Trained on the workload that is measured, the middle kernel takes {same.median():.2f} of the plain build's time; trained "
        f"on the other, {other.median():.2f}, and {(other > 1).sum()} of {len(other)} cells get slower than plain.",
    )
