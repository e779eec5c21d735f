"""What the ledger's page says of rows that need a word."""

from __future__ import annotations

from engineroom.ledger import numbers
from engineroom.ledger.rows import Row

BUSY = "the machine was busy: load 4.9 before it, of at most 1.5"


def row(figure: str, verdict: str, *recordings: tuple[str, str | None], stability: float | None = 1.0) -> Row:
    """A row whose recordings, oldest first, have these verdicts and were set aside for these reasons."""
    held = [{"n": n, "verdict": v, "set_aside": why} for n, (v, why) in enumerate(recordings, 1)]
    return Row(
        figure, "hash_join", "live", verdict, 0, 1, None, None,
        stability=stability, protocols=[{"protocol": "abc", "recordings": held}],
    )  # fmt: skip


def test_waiting_clients_are_counted_by_part_on_the_oldest_and_the_newest_server():
    log, locks = numbers.waiting("log_"), numbers.waiting("lock_")
    assert list(log.waiting) == list(locks.waiting) == ["5.7.22", "9.7.4"]
    assert log.waiting["5.7.22"] > locks.waiting["5.7.22"] > locks.waiting["9.7.4"] == 0


def test_undecided_rows_are_named_also_where_a_busy_machine_left_them():
    rows = [
        row("fig-7-22", "undecided", ("undecided", None)),
        row("fig-7-23", "partly", ("undecided", "withdrawn: an index was missing"), ("partly", None)),
        row("fig-7-24", "not_attributable", ("undecided", BUSY), stability=None),
    ]
    assert numbers.undecided_rows(rows) == "2 rows: fig-7-22 by live, fig-7-24 by live"
    assert numbers.undecided_rows(rows[1:2]) == "no row"


def test_rows_whose_newest_recording_a_busy_machine_made_are_named_with_what_decides():
    rows = [
        row("fig-7-22", "not_attributable", ("undecided", BUSY), stability=None),
        row("fig-7-23", "partly", ("partly", None), ("reproduced", BUSY), ("partly", "withdrawn: x")),
        row("fig-7-24", "partly", ("reproduced", BUSY), ("partly", None)),
    ]
    assert numbers.busy_rows(rows) == (
        "2 rows: fig-7-22 by live (recording 1, undecided: load 4.9 before it, of at most 1.5; none decides), "
        "fig-7-23 by live (recording 2, reproduced: load 4.9 before it, of at most 1.5; an earlier recording decides)"
    )
