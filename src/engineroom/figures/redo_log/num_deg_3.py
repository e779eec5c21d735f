"""The degradation article's statement on committing a mini-transaction: nanoseconds in the instructions of 5.7 and 8.0."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, all_rows, ours
from engineroom.side_by_side import OURS
from engineroom.summary import how_of, paired_ratio

LABELS = {"mtr_5_7": "5.7", "mtr_8_0": "8.0", "mtr_8_0_writer_threads_off": "8.0, writer threads off"}
SHORT = {"mtr_8_0_writer_threads_off": "8.0 off"}
rows = all_rows
picture = Curves(labels=LABELS, narrow=SHORT, x_label="threads", y_label="ns per commit")


def alone(table: Rows, series: str, *, threads: int = 1) -> str:
    """What a commit of so many threads costs over the design of 5.7, turn by turn: "1.05 times (0.87 to 1.17: equal within noise)"."""
    one = table[(table["source"] == OURS) & (table["threads"] == threads)]
    repeats = one.pivot(index="repeat", columns="series", values="nanoseconds")
    return paired_ratio(repeats[series], repeats["mtr_5_7"]).times()


def words(table: Rows) -> Words:
    """One thread as a ratio, since its repeats scatter more than the designs differ, and the most; the source gives no number."""
    most = ours(table)["mtr_8_0"].index[-1]
    old, new, off = (f"{ours(table)[series, most]:.0f}" for series in LABELS)
    at_best = "at best " if how_of(table) == "min" else ""
    return Words(
        alt=picture.alt(table, "{:.0f}"),
        caption=f"Alone, a commit in the design of 8.0 costs {alone(table, 'mtr_8_0_writer_threads_off')} what it costs in the design of 5.7 "
        f"with the log's threads off, and {alone(table, 'mtr_8_0')} with them on. With {most:g} threads a commit takes {at_best}{old}, {off} "
        f"and {new} ns.",
    )
