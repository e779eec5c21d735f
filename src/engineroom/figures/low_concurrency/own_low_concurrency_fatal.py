"""Our own figure: CPU time to convert a field, with the fatal path in four places, in kernels."""

from __future__ import annotations

from engineroom.figures.parts import Dots, Rows, Run, Words, all_rows, ours

VARIANTS = {
    "none": "5.7: no check",
    "inline_stream": "8.0: message in place",
    "expect": "the same, marked unlikely",
    "cold_call": "moved to a cold function",
}
SHORT = {"none": "no check", "inline_stream": "in place", "expect": "unlikely", "cold_call": "cold"}
SERIES = {"integers": "rows of integers", "mixed": "integers and texts"}
picture = Dots(rows=VARIANTS, narrow=SHORT, series=SERIES, label="CPU ns per field")


def rows(run: Run) -> Rows:
    """Each repeat, with the machine code of its variant."""
    table = all_rows(run, by=("series", "fields"), y="field_ns")
    code = run.tables["code"].set_index("series")
    sizes = {name: table["series"].map(code[name]) for name in ("hot_bytes", "cold_bytes")}
    return table.assign(**sizes).rename(columns={"series": "variant", "fields": "series"})


def words(table: Rows) -> Words:
    """The step from no check to the message in place, and what the cold function gives back."""
    code = table.groupby("variant")["hot_bytes"].first()
    times = ours(table)["integers"] / ours(table)["integers", "none"]
    size = ", ".join(f"{label} {code[name]}" for name, label in VARIANTS.items())
    return Words(
        alt=f"Dot plot of CPU nanoseconds per converted field by place of the fatal path. {picture.said(table, '{:.1f} ns')}. Bytes of "
        f"code: {size}.",
        caption=f"With the message built in place the hot code has {code['inline_stream']} bytes instead of {code['none']}; with a cold "
        f"function, {code['cold_call']}. In this recording a field of a row of integers takes {times['inline_stream']:.2f} and "
        f"{times['cold_call']:.2f} times as long as without a check.",
    )
