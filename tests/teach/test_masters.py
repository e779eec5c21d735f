"""A master is read as it is written, and one that cannot be read is refused with the reason."""

from __future__ import annotations

import pytest

from engineroom.errors import EngineRoomError
from engineroom.teach import handouts, masters

MASTER = '''---
on_page: A sentence.
---

# Exercises

```{code-cell} ipython3
seed = 0  # class seed
```

## Question 1. Twice

*Rule, ★★, 15 minutes, 2 points: doubling.*

Write `twice(n)`.

*Solution.* Add it to itself.

```{code-cell} ipython3
def twice(n):
    """Twice n."""
    return n + n
```

```toml
same = "There is no number in it to draw, whatever one does."
```

```python
# Visible
def test_one(twice):
    assert twice(1) == 2

# Hidden
def test_two(twice):
    assert twice(2) == 4

# Drawn
agree(twice, lambda draw: (draw.randint(0, 9),), cases=5)
```

```python
# Wrong: Two is added
def twice(n):
    return n + 2

# Right
def twice(n):
    return 2 * n
```
'''


@pytest.fixture
def master(tmp_path):
    """A function from a master's text to its file."""

    def written(text):
        (tmp_path / "made.md").write_text(text)
        return tmp_path / "made.md"

    return written


def test_a_question_is_read_with_all_that_stands_below_it(master):
    read = masters.read(master(MASTER), seed=7)
    (asked,) = read.questions
    assert (read.on_page, read.introduction) == ("A sentence.", "# Exercises")
    assert read.given == ("seed = 7  # class seed",)
    assert (asked.name, asked.kind, asked.stars, asked.minutes, asked.points) == ("q1", "rule", 2, 15, 2)
    assert asked.text == "*Rule, ★★, 15 minutes: doubling.*\n\nWrite `twice(n)`."
    assert asked.told == "Add it to itself."
    assert asked.cell.splitlines()[1:] == [
        '    """Twice n."""',
        "    # BEGIN SOLUTION",
        "    return n + n",
        "    # END SOLUTION",
    ]
    assert asked.wrong == (("Two is added", "def twice(n):\n    return n + 2"),)
    assert asked.right == ("def twice(n):\n    return 2 * n",)


def test_the_drawn_test_is_made_from_the_solution(master):
    (question,) = handouts.questions(master(MASTER))
    visible, hidden, drawn = question.tests
    assert visible.startswith("def test_one")
    assert hidden.startswith("# HIDDEN\ndef test_two")
    assert drawn.startswith("# HIDDEN\ndef test_inputs_drawn_when_it_is_graded(twice):\n")
    assert "    oracle = fresh.Oracle('twice', [], 'def twice(n):" in drawn
    assert "    fresh.agree(twice, oracle, lambda draw:" in drawn


def test_a_starter_has_the_values_that_are_asked(master):
    before, _, after = MASTER.partition("# Drawn\n")
    text = f"{before}# Starter\nanswer = ...\n```{after.partition('```')[2]}"
    (asked,) = masters.read(master(text)).questions
    assert asked.drawn == "agree_value(answer)"
    assert asked.cell.endswith('# END SOLUTION\n""" # BEGIN PROMPT\nanswer = ...\n""" # END PROMPT')


@pytest.mark.parametrize(
    ("written", "instead", "said"),
    [
        ("15 minutes, ", "", "the heading of a question"),
        ("# Visible\n", "", "a snippet without a comment"),
        ("# Drawn\nagree(twice, lambda draw: (draw.randint(0, 9),), cases=5)\n", "", "neither a starter nor"),
    ],
)
def test_what_cannot_be_read_is_refused(master, written, instead, said):
    with pytest.raises(EngineRoomError, match=said):
        handouts.questions(master(MASTER.replace(written, instead)))
