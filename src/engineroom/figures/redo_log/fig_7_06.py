"""Figure 7-6: fsyncs per transaction against clients, with the CPU gate of the log threads on and off."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, all_rows, at, theirs

LABELS = {
    "flushes": "8.0",
    "old_redo": "5.7",
    "writer_threads_off": "8.0, writer threads off",
    "no_cpu_gate": "8.0, no CPU gate",
    "5.6": "5.6",
    "9.7_writer_threads_on": "9.7, writer threads on",
    "9.7_writer_threads_off": "9.7, writer threads off",
}
SHORT = {"writer_threads_off": "8.0 off", "no_cpu_gate": "8.0 no gate"} | {
    f"9.7_writer_threads_{how}": f"9.7 {how}" for how in ("on", "off")
}
# The published line counts flushes without saying which; ours are redo fsyncs over commits.
rows = all_rows
picture = Curves(labels=LABELS, narrow=SHORT, x_label="clients", y_label="flushes per transaction")


def words(table: Rows) -> Words:
    """Where the new log's curve peaks, with and without the gate."""
    of = picture.values(table)
    peak, where = of["flushes"].max(), of["flushes"].idxmax()
    more = ""
    if "no_cpu_gate" in of:
        more = f" Without the CPU gate: {of['no_cpu_gate'].max():.1f} at {of['no_cpu_gate'].idxmax():g}."
    if "9.7_writer_threads_on" in of:
        on, off = (of[f"9.7_writer_threads_{how}", 1] for how in ("on", "off"))
        more = f" 9.7 with one client: {on:.2f} with its log threads on, {off:.2f} with them off."
    return Words(
        alt=picture.alt(table, more=f"Published for 8.0: {at(theirs(table)['flushes'], '{:g}')}."),
        caption=f"The log of 8.0 flushes most with {where:g} {'client' if where == 1 else 'clients'}, {peak:.1f} times per transaction, the log "
        f"of 5.7 at most {of['old_redo'].max():.2f} times.{more}",
    )
