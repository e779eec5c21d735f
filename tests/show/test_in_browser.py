"""How long explorables keep a browser is measured in one, on settings that a reader can choose."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from engineroom.errors import EngineRoomError
from engineroom.show import in_browser


@pytest.mark.browser
def test_each_drawn_setting_takes_its_time(browser: Browser) -> None:
    took_ms = in_browser.settings_ms(browser, "engine", 3)
    assert len(took_ms) == 3
    # A window of virtual time takes milliseconds to simulate, whatever the knobs; a minute would be a page that hangs.
    assert all(1 < each < 60_000 for each in took_ms)


@pytest.mark.browser
def test_a_knob_that_has_no_list_cannot_be_drawn(browser: Browser) -> None:
    with pytest.raises(EngineRoomError, match="of the explorable 'lock_sys' cannot be drawn"):
        in_browser.settings_ms(browser, "lock_sys", 1)


def test_without_a_chromium_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EngineRoomError, match="no Chromium on PATH"):
        in_browser.chromium()
