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


def test_the_ledger_names_its_undecided_rows():
    rows = [
        Row("fig-7-22", "hash_join", "live", "undecided", 0, 1, None, None, None),
        Row("fig-7-23", "hash_join", "live", "partly", 2, 4, None, None, None),
        Row("num-fs-1", "filesort", "kernel", "undecided", 0, 1, None, None, None),
    ]
    told = ledger.LedgerFacts.of(SUMMARY, rows).texts()
    assert told == {
        "figures": "48",
        "decided": "22",
        "undecided_rows": "2 rows: fig-7-22 by live, num-fs-1 by kernel",
    }
    assert ledger.LedgerFacts.of(SUMMARY, rows[1:2]).undecided_rows == "no row"


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
