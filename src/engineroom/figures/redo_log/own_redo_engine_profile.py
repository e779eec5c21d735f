"""Our own figure: where 250 clients of a whole engine spend their time on the CPU, over the log of 5.7 and of 8.0."""

from __future__ import annotations

from functools import partial

from engineroom.figures.parts import Ranked, Rows, Words, all_rows, each, ours

LOGS = {"old_redo": "log of 5.7", "new_redo": "log of 8.0"}
# Components below a thousandth stay out; statement is all SQL work together.
rows = partial(
    all_rows,
    by=("component", "series"),
    y="share_percent",
    where="share_percent >= 0.1 or component == 'log_reservation'",
)
picture = Ranked(series=LOGS, label="share of CPU time, %")


def words(table: Rows) -> Words:
    """The share of the reservation over both logs."""
    lines = {name: ours(table)[series] for series, name in LOGS.items()}
    said = "; ".join(
        f"{name}: {each(line.sort_values(ascending=False), '{:.1f} %')}" for name, line in lines.items()
    )
    old, new = (line["log_reservation"] for line in lines.values())
    return Words(
        alt=f"Dot plot of shares of CPU time in a whole engine. {said[0].upper()}{said[1:]}.",
        caption=f"Of the CPU time of 250 clients of a whole engine (simulated) {old:.0f} % goes to reserving log with the mutex of 5.7 and "
        f"{new:.1f} % with the log of 8.0.",
    )
