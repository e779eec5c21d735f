"""Figure 7-4: where 250 clients spend their time on the CPU, over the log of 5.7 and of 8.0."""

from __future__ import annotations

from functools import partial

from engineroom.figures.parts import Ranked, Rows, Words, all_rows, each, ours, theirs

LOGS = {"old_redo": "log of 5.7", "new_redo": "log of 8.0"}
# Components below a thousandth stay out; statement is all SQL work together.
rows = partial(all_rows, where="share_percent >= 0.1 or component == 'log_reservation'")
picture = Ranked(series=LOGS, label="share of CPU time, %")


def words(table: Rows) -> Words:
    """The share of the reservation in both logs."""
    how = "sampled stacks of real threads" if "host" in set(table["method"]) else "simulated"
    lines = (ours(table)["old_redo"], ours(table)["new_redo"], theirs(table)["old_redo"])
    old, new, told = (each(line.sort_values(ascending=False), "{:.1f} %") for line in lines)
    old_share, new_share, told_share = (f"{line['log_reservation']:.0f} %" for line in lines)
    return Words(
        alt=f"Dot plot of shares of CPU time, {how}. Log of 5.7: {old}. Log of 8.0: {new}. Published for the log of 5.7: {told}.",
        caption=f"Of the CPU time of 250 clients ({how}) {old_share} goes to reserving log with the mutex of 5.7 and {new_share} with the log "
        f"of 8.0; published {told_share} for 5.7.",
    )
