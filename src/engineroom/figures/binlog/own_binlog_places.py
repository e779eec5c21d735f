"""Our own figure: throughput over the uncompressed one, by where the CPU time of compressing is spent; nowhere is the ablation."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, rows_by, rows_over

BASE = "uncompressed"
LABELS = {"nowhere": "free", "session": "by the session", "leader": "by the leader"}
SHORT = {"session": "session", "leader": "leader"}
WHAT = "throughput over the uncompressed"
plain = rows_by("concurrency", y="tpmC")
rows = rows_over("throughput_ratio", f"series == '{BASE}'", "concurrency", of=plain)
picture = Curves(labels=LABELS, narrow=SHORT, x_label="clients", y_label=WHAT, y_log=False)


def words(table: Rows) -> Words:
    """Each place at each x."""
    last = max(table["concurrency"])
    nowhere, session, leader = (picture.values(table)[place, last] for place in LABELS)
    return Words(
        alt=picture.alt(table, more="A line says where the time of compressing is spent."),
        caption=f"With {last:g} clients throughput is {session:.2f} times the uncompressed if each session compresses, {leader:.2f} times "
        f"if the leader does it under LOCK_log, and {nowhere:.2f} times if it costs nothing.",
    )
