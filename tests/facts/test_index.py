"""The front page and the ledger's: both count verdicts."""

from __future__ import annotations

import pytest

from engineroom.facts import index, ledger
from engineroom.ledger import Row

SUMMARY = {
    "figures": 48,
    "decided": 22,
    "reproduced": 16,
    "partly": 4,
    "undecided": 1,
    "contradicted": 8,
    "not_attributable": 2,
    "context": 3,
    "open": 23,
}


def test_verdicts_are_those_of_the_ledger():
    told = index.Verdicts.of(SUMMARY).texts()
    assert told == {name: str(SUMMARY[name]) for name in told}


def row(figure: str, verdict: str, *recordings: tuple[str, str | None], stability: float | None = 1.0) -> Row:
    """A row whose recordings, oldest first, have these verdicts and were set aside for these reasons."""
    held = [{"n": n, "verdict": v, "set_aside": why} for n, (v, why) in enumerate(recordings, 1)]
    return Row(
        figure, "hash_join", "live", verdict, 0, 1, None, None,
        stability=stability, protocols=[{"protocol": "abc", "recordings": held}],
    )  # fmt: skip


BUSY = "the machine was busy: load 4.9 before it, of at most 1.5"


def test_the_ledger_names_its_undecided_rows_also_where_a_busy_machine_left_them():
    rows = [
        row("fig-7-22", "undecided", ("undecided", None)),
        row("fig-7-23", "partly", ("undecided", "withdrawn: an index was missing"), ("partly", None)),
        row("fig-7-24", "not_attributable", ("undecided", BUSY), stability=None),
    ]
    assert ledger.LedgerFacts.of(SUMMARY, rows).undecided_rows == "2 rows: fig-7-22 by live, fig-7-24 by live"
    assert ledger.LedgerFacts.of(SUMMARY, rows[1:2]).undecided_rows == "no row"


def test_the_ledger_names_the_rows_whose_newest_recording_a_busy_machine_made():
    rows = [
        row("fig-7-22", "not_attributable", ("undecided", BUSY), stability=None),
        row("fig-7-23", "partly", ("partly", None), ("reproduced", BUSY), ("partly", "withdrawn: x")),
        row("fig-7-24", "partly", ("reproduced", BUSY), ("partly", None)),
    ]
    assert ledger.LedgerFacts.of(SUMMARY, rows).busy_rows == (
        "2 rows: fig-7-22 by live (recording 1, undecided: load 4.9 before it, of at most 1.5; none decides), "
        "fig-7-23 by live (recording 2, reproduced: load 4.9 before it, of at most 1.5; an earlier recording decides)"
    )


def test_the_ledger_names_its_fragile_rows():
    rows = [row("fig-7-22", "partly", ("partly", None), stability=s) for s in (0.79, 0.8)]
    told = ledger.LedgerFacts.of(SUMMARY, rows).texts()
    assert told["fragile_rows"] == "1 row: fig-7-22 by live (0.79)"
    assert (told["quiet_load"], told["quiet_steal_percent"], told["draws"]) == ("1.5", "1", "2,000")


def test_the_first_question_is_about_the_most_rows_and_the_least_times(made):
    run = made(
        "own-hash-join-no-index",
        "live",
        "rows_per_table series repeat server_cpu_s",
        *(
            (n, server, repeat, s * n * (1 + repeat))
            for n in (500, 1000)
            for server, s in (("5.7.22", 0.9), ("8.0.15", 0.6), ("9.7.4", 0.003))
            for repeat in (0, 1)
        ),
        summary="min",
    )
    assert index.slowest_over_fastest(run) == pytest.approx(300)
