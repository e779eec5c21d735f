"""A fold is called by the finding in it."""

from __future__ import annotations

import importlib.util

import pytest

from engineroom import paths

SPEC = importlib.util.spec_from_file_location("folds", paths.root() / "book/_ext/folds.py")
folds = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(folds)


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        ("Of 21 goals 19 held, 2 missed. Shown are some.", "Of 21 goals 19 held, 2 missed"),
        ("At 1.5 times, MySQL 9.7.4 wins. <a download='x'>Rows as CSV</a>", "At 1.5 times, MySQL 9.7.4 wins"),
        ("A wait of 250 clients: half are short; see.", "A wait of 250 clients"),
        ("Chunk files<details><summary>i</summary>Recorded. Here.</details>", "Chunk files"),
    ],
)
def test_a_fold_is_called_by_the_beginning_of_its_caption(caption, said):
    assert folds.beginning(f"<figure><figcaption>{caption}</figcaption></figure>") == said


def test_without_a_caption_there_is_no_name():
    assert folds.beginning("<pre>-> Hash</pre>") == ""
