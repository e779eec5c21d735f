"""What is counted of a built page."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from engineroom.making import measured

PAGE = """<!doctype html><article><p>Three shown words.</p><details><p>Folded words do not count.</p><figure><svg width="50" height="50"/></figure></details>
<pre>nor does code</pre><div style="height: {down}px"></div><figure><svg width="50" height="50"/></figure><figure class="er-table"><table><tr><td>cell</td></tr></table></figure></article>"""


@pytest.mark.browser
def test_words_pictures_folds_and_the_way_down_are_a_reader_s(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(PAGE.format(down=3 * 900))
    seen = measured.measured(browser, page)
    assert (seen["words"], seen["pictures"], seen["folds"]) == (4, 1, 1)
    assert 3 < seen["desktop"] < 3.3
    assert seen["kilobytes"] == page.stat().st_size / 1000
