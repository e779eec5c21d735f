from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engineroom.ledger.expressions import ExpressionError, MissingRowsError, check, evaluate, reads

Y = {"a": {50.0: 2.0, 100.0: 4.0, 200.0: 1.0}, "b": {50.0: 1.0, 100.0: 8.0, 200.0: 1.0}}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ('y["a"][50]/y["b"][50]', 2.0),
        ('y["a"][50] + 2*y["a"][100] - y["b"][50]', 9.0),
        ('-y["a"][50] // 3 % 2', 1.0),
        ('y["a"][100] < y["b"][100]', True),
        ('1 < y["a"][50] < 3', True),
        ('1 < y["a"][50] < 2', False),
        ('not y["a"][50] > 3 and (y["a"][50] > 3 or y["b"][50] == 1)', True),
        ('max(y["a"])', 200.0),
        ('min(y["a"][x] for x in y["a"])', 1.0),
        ('sorted(y["a"])[1:3]', [100.0, 200.0]),
        ('sorted(y["a"])[:1] + sorted(y["a"])[-1:]', [50.0, 200.0]),
        ('len([x for x in y["a"] if x >= 100])', 2),
        ('all(y[s][200] == 1 for s in ("a", "b"))', True),
        ('any(y["a"][x] > y["b"][z] for x in y["a"] for z in y["b"] if z < x)', True),
        ('200 in y["a"] and abs(y["a"][200] - 3) == 2', True),
        ('[i for i in range(len(y["a"]) - 1)]', [0, 1]),
        ('max(y["a"][200], y["b"][100])', 8.0),
    ],
)
def test_an_expression_means_what_python_means(expression: str, value: object) -> None:
    assert evaluate(expression, Y) == value
    assert eval(expression, {"y": Y}) == value


@pytest.mark.parametrize(
    "expression",
    [
        "y.keys()",
        '__import__("os").system("true") or y',
        'y["a"].__class__',
        "open(y)",
        "print(y)",
        "(lambda: y)()",
        "[y for y in y]",
        "[len for len in y]",
        "{s: 1 for s in y}",
        'sorted(y["a"], key=len)',
        "max(*y)",
        "(z := y)",
        'f"{y}"',
        "y if y else y",
        'y["a"][50] ** 9',
        "z",
        "[x for x in y if w]",
        "y = 1",
        "y[",
        "[a for a, b in y]",
        'b"" in y',
        "y is y",
        'y["a"] | y["b"]',
    ],
)
def test_what_a_claim_may_not_use_is_refused(expression: str) -> None:
    with pytest.raises(ExpressionError):
        check(expression)


@pytest.mark.parametrize("expression", ["1 < 2", "3.13/1.22 > 2", "all([])", "len([1]) == 1"])
def test_a_claim_that_never_mentions_y_is_refused(expression: str) -> None:
    with pytest.raises(ExpressionError, match="never reads y"):
        check(expression)


@pytest.mark.parametrize(
    "expression",
    [
        'all(y["a"][x] > 9 for x in y["a"] if x >= 500)',
        'len(y["a"]) >= 0',
        "1 < 2 or y",
        'max(y["a"]) >= 200',
        'not any(y["a"][x] > 0 for x in [])',
    ],
)
def test_a_claim_that_is_true_without_reading_a_row_is_missing(expression: str) -> None:
    with pytest.raises(MissingRowsError, match="for want of rows"):
        evaluate(expression, Y)


@pytest.mark.parametrize(
    "expression",
    [
        'y["c"][50] > 0',
        'y["a"][75] > 0',
        'max(y["a"][x] for x in y["a"] if x > 500) > 0',
        "min([x for x in y if x == 1]) > 0",
        'y["a"][50]/(y["a"][50] - 2) > 0',
        'y["a"][50] % 0',
        'sorted(y["a"])[7] > 0',
    ],
)
def test_what_the_rows_lack_is_missing_and_not_false(expression: str) -> None:
    with pytest.raises(MissingRowsError):
        evaluate(expression, Y)


@pytest.mark.parametrize(
    "expression",
    [
        "y" + " + y" * 4000,
        "(" * 300 + "y" + ")" * 300,
        "y[" + "9" * 9_000 + "]",
        'y["a"] + 1 > 0',
        'y["a"][50] < "x"',
        "y[0:2]",
        "range(1.5) == y",
        "y\0",
    ],
    ids=lambda expression: expression[:20],
)
def test_what_makes_no_sense_is_refused_by_an_error_that_the_ledger_knows(expression: str) -> None:
    with pytest.raises((ExpressionError, MissingRowsError)):
        evaluate(expression, Y)


numbers = st.floats(min_value=0.01, max_value=1e6, allow_nan=False)


@given(st.dictionaries(st.integers(1, 1000).map(float), numbers, min_size=1), st.data())
def test_evaluation_agrees_with_python_on_any_rows(a: dict[float, float], data: st.DataObject) -> None:
    y = {"a": a, "b": {x: data.draw(numbers) for x in a}}
    for expression in (
        'all(y["a"][x] > y["b"][x] for x in y["a"])',
        'max(y["a"][x]/y["b"][x] for x in y["a"])',
        'y["a"][max(y["a"])] < 0.75*max(y["a"][x] for x in y["a"])',
    ):
        assert evaluate(expression, y) == eval(expression, {"y": y})


@pytest.mark.parametrize(
    ("expression", "asked"),
    [
        ('y["a"][50]/y["b"][3]', {"a": {50}, "b": {3}}),
        ('y["a"][50] + y["a"][100] > 0', {"a": {50, 100}}),
        ('y["a"][50] > 0 and len(y["a"]) >= 3', {"a": None}),
        ('all(y["a"][x] > 1 for x in y["a"])', {"a": None}),
        ('all(y["a"][x] > y["b"][x] for x in (1, 2))', {"a": {1, 2}, "b": {1, 2}}),
        ('all(y[s][1] > 0 for s in ("a", "b"))', {"a": {1}, "b": {1}}),
        ('y["a"][1 + 1] > 0', {"a": None}),
        ("all(y[s][1] > 0 for s in y)", None),
        ('y[sorted(["a"])[0]][1] > 0', None),
        ("len(y) > 1", None),
        ('all(y[s][1] > 0 for s in ("a",)) and all(y[s][1] > 0 for s in y)', None),
    ],
)
def test_what_an_expression_can_read_is_known_from_its_text(expression, asked):
    assert reads(expression) == asked
