"""The server of the capstone that the instructor's guide solves: its predictions would be taken, and its numbers are those of the engine."""

from __future__ import annotations

import itertools
import math
import re

import pytest

from engineroom import paths
from engineroom.teach import capstone

PLANTED = capstone.causes(5)  # the bounds below know no other causes
FAST, SLOW = capstone.counters({}), capstone.counters(PLANTED)
PLAN = ("counter", "pool", "disk")  # in the order of mending
ROUND_TRIPS = 9  # of an order: eight statements and a commit
# A commit waits for the rest of the fsync that runs, half of it on average, and for its own.
FSYNCS_WAITED = 1.5
# Per order of the fast server: what a connection is away between the statements.
AWAY_MS = 1000 * (FAST["connections"] - FAST["connections_busy"]) / FAST["orders_per_s"]


def left(*mended):
    return {name: PLANTED[name] for name in PLAN if name not in mended}


def bounds(causes):
    """Orders per second that each bound allows while these causes are left, worked out from what a student sees."""
    healthy_ms = FSYNCS_WAITED * FAST["ms_per_fsync"]
    commit_ms = FSYNCS_WAITED * (SLOW if "disk" in causes else FAST)["ms_per_fsync"]
    response_ms = FAST["ms_per_order"] - healthy_ms + commit_ms
    connections = (SLOW if "pool" in causes else FAST)["connections"]
    return {
        "the connections": 1000 * connections / (AWAY_MS + response_ms),
        "the one row": 1000 / (AWAY_MS / ROUND_TRIPS + commit_ms) if "counter" in causes else math.inf,
        "as before": FAST["orders_per_s"],
    }


def predicted(causes):
    return min(bounds(causes).values())


def gain(causes):
    """How many times as many orders the simulated server does as the slow one, with only these causes left."""
    return capstone.orders_per_s(causes) / capstone.orders_per_s(PLANTED)


def test_the_server_has_the_three_causes_that_the_bounds_know():
    assert set(PLANTED) == set(PLAN)


def test_the_bounds_predict_each_change_as_well_as_question_8_asks():
    found = capstone.gains(PLANTED)
    for name in PLAN:
        assert 1 / 1.5 < predicted(left(name)) / SLOW["orders_per_s"] / found[name] < 1.5
    assert predicted([]) / SLOW["orders_per_s"] == pytest.approx(found["all"], rel=0.25)


@pytest.mark.parametrize("n", range(4))
def test_the_bounds_predict_several_changes_at_once(n):
    for mended in itertools.combinations(PLAN, n):
        rest = left(*mended)
        assert 1 / 1.5 < predicted(rest) / capstone.orders_per_s(rest) < 1.5


def test_what_the_guide_says_of_the_order_of_changes_holds():
    first = {name: gain(left(name)) for name in PLAN}
    assert max(first, key=lambda name: first[name]) == "disk"
    assert first["pool"] == pytest.approx(1, abs=0.03)
    assert gain(left("counter", "pool")) > 4 * max(gain(left("disk", "pool")), gain(left("disk", "counter")))
    assert capstone.counters(left("counter"))["row_lock_ms_per_order"] < 0.01


def test_the_guides_tables_have_the_computed_numbers():
    pages = ("instructors.md", "instructors_appendix.md")
    text = "\n".join((paths.root() / "book" / each).read_text(encoding="utf-8") for each in pages)
    assert text.count("```{admonition} A server of the capstone, solved") == 1
    solved = text.partition("```{admonition} A server of the capstone, solved")[2].partition("\n```\n")[0]
    tables = {
        head: [tuple(cell.strip(" `") for cell in row.split("|")[1:-1]) for row in rows.splitlines()]
        for head, rows in re.findall(r"^\| (.+) \|\n\|(?:---\|)+\n((?:\|.*\n)+)", solved, re.MULTILINE)
    }

    def rows(*made):
        return [tuple(each if isinstance(each, str) else _digits(each) for each in row) for row in made]

    assert tables["counter | fast | slow"] == rows(*((name, FAST[name], SLOW[name]) for name in FAST))
    assert tables["mended | predicted gain | simulated gain"] == rows(
        *((name, predicted(left(name)) / SLOW["orders_per_s"], gain(left(name))) for name in PLAN),
        ("all", predicted({}) / SLOW["orders_per_s"], gain({})),
    )
    steps = [(", ".join(PLAN[:n]) or "nothing", left(*PLAN[:n])) for n in range(len(PLAN) + 1)]
    assert tables["mended | least bound | orders per second, predicted | simulated | gain so far"] == rows(
        *(
            (
                name,
                min(bounds(rest), key=lambda bound: bounds(rest)[bound]),
                predicted(rest),
                capstone.orders_per_s(rest),
                gain(rest),
            )
            for name, rest in steps
        )
    )
    assert tables["order | after the first | after the second | after all"] == rows(
        *(
            (", ".join(order), gain(left(order[0])), gain(left(*order[:2])), gain({}))
            for order in itertools.permutations(PLAN)
        )
    )


def _digits(number):
    """Three digits."""
    short = float(f"{number:.3g}")
    return f"{short:,.0f}" if short >= 100 else f"{short:g}"
