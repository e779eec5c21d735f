"""Our own figure: purge's processor time per batch on live servers against idle sessions, each with a closed view."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, by_release, rows_by

X, Y = "idle sessions", "purge, us per batch"
rows = rows_by("idle_sessions", y="purge_us_per_batch")
picture = Curves(labels=by_release, x_label=X, y_label=Y, x_log=False, y_log=False)


def words(table: Rows) -> Words:
    """What the most idle sessions add, by server."""
    of, most = picture.values(table), table["idle_sessions"].max()
    more = ", ".join(f"{of[name, most] / of[name, 0]:.1f} times in {name}" for name in by_release(table))
    return Words(
        alt=picture.alt(table, "{:.0f}"),
        caption=f"{most:,} idle sessions that have read once make a batch of purge take {more} as much processor time as none.",
    )
