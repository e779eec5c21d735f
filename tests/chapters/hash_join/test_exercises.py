"""What the exercises on hash joins share: joins to predict, plans, keys with NULL."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from engineroom import servers
from engineroom.chapters.hash_join import exercises as hash_join


@pytest.mark.parametrize("seed", range(8))
def test_no_join_to_predict_is_a_near_tie(seed):
    for name, case in hash_join.cases(seed).items():
        least, second = sorted(hash_join.work(case, algorithm) for algorithm in case.algorithms())[:2]
        assert second > 1.3 * least, (name, case)


def test_work_refuses_an_index_that_is_not_there():
    with pytest.raises(ValueError, match="index"):
        hash_join.work(hash_join.Case(1, 1, is_indexed=False), "index")


def test_null_is_none_in_a_list_of_keys():
    values, is_null = hash_join.columns([3, None])
    assert (values[0], is_null.tolist()) == (3, [False, True])


@pytest.mark.live
def test_the_recorded_plans_are_those_of_the_server():
    def shape(plan: str) -> list[str]:
        return [re.sub(r"  \(cost=.*", "", line) for line in plan.rstrip().splitlines()]

    recorded = tomllib.loads((Path(hash_join.__file__).parent / "plans.toml").read_text())
    with servers.start("9.7") as server:
        server.execute("CREATE DATABASE shelf")
        with server.connect("shelf") as connection, connection.cursor() as cursor:
            for statement in recorded["setup"]:
                cursor.execute(statement)
                cursor.fetchall()
            for plan in hash_join.plans(hidden=True).values():
                cursor.execute(f"EXPLAIN FORMAT=TREE {plan.sql}")
                assert shape(cursor.fetchall()[0][0]) == shape(plan.text)
