from __future__ import annotations

from engineroom.show.crowd import Crowd


def test_a_crowd_is_seen_as_dots_and_heard_as_a_number():
    shown = Crowd({"5.7": 12, "9.7": 0})._repr_html_()
    assert 'aria-label="12 clients wait here on MySQL 5.7">••••••••••••</span>' in shown
    assert 'aria-label="0 clients wait here on MySQL 9.7">none</span>' in shown
