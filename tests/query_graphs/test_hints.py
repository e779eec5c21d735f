"""The hint of join order for our plan."""

from __future__ import annotations

from typing import Any

import pytest

from engineroom.query_graphs.hints import hint_of, hinted


def join(*inputs: Any) -> dict[str, Any]:
    return {"inputs": [{"table": each} if isinstance(each, str) else each for each in inputs]}


@pytest.mark.parametrize(
    ("tree", "hint"),
    [
        (join(join("a", "b"), "c"), "JOIN_ORDER(a, b, c)"),
        (join("c", join("b", join("a", "d"))), "JOIN_ORDER(a, d, b, c)"),
        (join(join("a", "b"), join("c", "d")), None),
        (join("a", "b`c"), "JOIN_ORDER(a, `b``c`)"),
    ],
)
def test_a_hint_names_one_table_at_a_time_from_the_innermost(tree, hint):
    assert hint_of(tree) == hint


def test_a_hint_stands_behind_the_first_select():
    assert hinted("select 1 FROM a", "H") == "select /*+ H */ 1 FROM a"
    assert hinted("WITH x AS (SELECT 1) SELECT 1", "H") is None
    assert hinted("SELECT /*+ NO_INDEX(a) */ 1", "H") is None
