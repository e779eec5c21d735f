"""SysBench's transaction as requests: the same statements as SysBench sends, on rows of the same distributions."""

from __future__ import annotations

import itertools
import random
import re

import pytest

from engineroom import servers
from engineroom.workloads import oltp_read_write
from engineroom.workloads.requests import in_text
from engineroom.workloads.sysbench import Sysbench


def _statements(n: int = 1, **asked: object) -> list[str]:
    made = itertools.islice(oltp_read_write.transactions(**{"table_rows": 1000, "seed": 1, **asked}), n)
    return [in_text(request) for _, program in made for request in program]


def _shape(statement: str) -> str:
    """Without its values, and without a type that a client says beside them."""
    return re.sub(r"'[^']*'|\b\d+\b", "?", statement).replace(" ", "").rstrip(";")


def test_the_same_seed_asks_for_the_same_rows_and_another_for_others():
    assert _statements(3) == _statements(3)
    assert _statements(3) != _statements(3, seed=2)


def test_a_transaction_inserts_the_row_that_it_deletes():
    statements = _statements()
    deleted = next(re.search(r"id=(\d+)", each)[1] for each in statements if each.startswith("DELETE"))
    assert f"VALUES ({deleted}, " in statements[-2]
    assert (statements[0], statements[-1]) == ("BEGIN", "COMMIT")


@pytest.mark.parametrize(("distribution", "share"), [("uniform", 0.2), ("pareto", 0.8)])
def test_a_fifth_of_the_rows_gets_its_share_of_the_draws(distribution, share):
    rng = random.Random(4)
    drawn = [oltp_read_write.rows_drawn(rng, 1000, distribution) for _ in range(20_000)]
    assert (min(drawn), max(drawn)) == (1, 1000)
    assert sum(row <= 200 for row in drawn) / len(drawn) == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("wrong", [{"table_rows": 99}, {"distribution": "zipf"}])
def test_a_table_too_small_and_an_unknown_distribution_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        _statements(**wrong)


@pytest.mark.live
def test_sysbench_sends_the_same_statements_in_the_same_order():
    with servers.start("5.7") as server:
        load = Sysbench(server, table_rows=1000, options=["--events=1"])
        load.prepare()
        server.execute("SET GLOBAL log_output = 'TABLE'", "SET GLOBAL general_log = ON")
        load.run(threads=1, seconds=10)
        server.execute("SET GLOBAL general_log = OFF")
        sent = [
            (str(command), bytes(text).decode())
            for command, text in server.query(
                "SELECT command_type, argument FROM mysql.general_log WHERE argument <> '' ORDER BY event_time"
            )
        ]
    texts = [text for command, text in sent if command in {"Query", "Execute"}]
    first = texts.index("BEGIN")
    transaction = texts[first : texts.index("COMMIT", first) + 1]
    assert list(map(_shape, transaction)) == list(map(_shape, _statements()))
    assert ("Query", "BEGIN") in sent
    assert all(("Execute", text) in sent for text in transaction[1:])
