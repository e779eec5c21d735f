"""What a caption folds away of where its rows come from, and what it does not."""

from __future__ import annotations

import pandas as pd
from bs4 import BeautifulSoup

from engineroom.show.origin import folded
from engineroom.show.table import Table

RECORDED = "Recorded run 3: MySQL 9.7.4; 2026-11-21; 2 cores, a <fast> CPU."
BUSY = f"{RECORDED} It decides no verdict: load 1.62 before it, of at most 1.5."


def unfolded(html: str) -> str:
    """What a reader sees before anything is opened."""
    soup = BeautifulSoup(html, "html.parser")
    for fold in soup.select("details > :not(summary)"):
        fold.decompose()
    return " ".join(soup.get_text(" ").split())


def test_an_origin_lies_whole_behind_a_sign_with_a_name():
    soup = BeautifulSoup(folded(RECORDED), "html.parser")
    assert soup.select_one("details:not([open]) > div").get_text() == RECORDED
    assert soup.summary["aria-label"]
    assert unfolded(folded(RECORDED)) == ""


def test_what_tells_against_a_recording_stays_in_sight():
    assert unfolded(folded(BUSY)) == "It decides no verdict: load 1.62 before it, of at most 1.5."
    assert BeautifulSoup(folded(BUSY), "html.parser").select_one("details > div").get_text() == RECORDED
    assert unfolded(folded(BUSY, "<a>Rows</a>")).endswith("of at most 1.5. Rows")
    both = folded(f"Simulated: {BUSY} Real threads: {BUSY}")
    assert unfolded(both).count("It decides no verdict: load 1.62 before it, of at most 1.5.") == 2
    assert "Real threads: Recorded run 3" in BeautifulSoup(both, "html.parser").details.get_text()


def test_without_an_origin_there_is_no_sign():
    assert folded("") == ""
    assert "<details" not in Table(pd.DataFrame({"a": [1]}), "All rows.")._repr_html_()


def test_the_caption_of_a_table_is_left_with_its_finding():
    html = Table(pd.DataFrame({"a": [1]}), "One row.", RECORDED)._repr_html_()
    caption = BeautifulSoup(html, "html.parser").figcaption
    assert unfolded(str(caption)) == "One row."
