"""Figure 7-2: the time to load in large transactions over the log of 5.7 and of 8.0."""

from __future__ import annotations

from engineroom.figures.parts import Ranked, Rows, Words, ours, rows_over, theirs, valued

picture = Ranked(label="load time over that with the log of 8.0")
# Our load is a small part of the published one: each build's time as a multiple of the quicker one's.
rows = rows_over("times_the_quicker", "build == 'after'")


def words(table: Rows) -> Words:
    """The ratio beside the published one."""
    ratio, published = (of["load_time", "before"] for of in (ours(table), theirs(table)))
    seconds = 60 * ours(valued(table, "minutes", table["load_time_minutes"]))["load_time"]
    return Words(
        alt=f"Dot plot of load time by build. Before over after: {ratio:.2f}, published {published:.2f}. "
        f"Ours in seconds of virtual time: {seconds['before']:.2f} and {seconds['after']:.2f}.",
        caption=f"The same load takes {ratio:.2f} times as long over the log of 5.7 as over the log of 8.0; published {published:.2f}.",
    )
