"""A question about a drawn case, answered in the browser: by keyboard, in both modes, on a phone, and with nothing told before."""

from __future__ import annotations

from pathlib import Path

import pytest

from engineroom.show import bundle

pytestmark = pytest.mark.browser


@pytest.fixture(params=["light", "dark"])
def theme(request):
    return request.param


def alone(folder, word, theme):
    """The address of a page with the explorable and the book's own style of it."""
    tag = bundle.tag(word)
    (folder / f"{word}.js").write_text(bundle.classic_script(word), encoding="utf-8")
    colours = (
        "background:#121212;color:#eee;color-scheme:dark" if theme == "dark" else "background:#fff;color:#222"
    )
    (folder / "page.html").write_text(
        f'<!doctype html><html lang="en" data-theme="{theme}"><meta name="viewport" content="width=device-width"><title>{word}</title>'
        f'<style>body{{margin:8px;{colours}}}{bundle.style()}</style><main><h1>{word}</h1><{tag} class="explorable"><figure style="margin:0">'
        f'<img alt=""></figure></{tag}><script src="{word}.js"></script></main></html>',
        encoding="utf-8",
    )
    return (folder / "page.html").as_uri()


@pytest.fixture
def page(browser):
    context = browser.new_context(offline=True, viewport={"width": 390, "height": 844})
    yield context.new_page()
    context.close()


def test_a_case_is_drawn_answered_and_seen_by_keyboard_alone(page, tmp_path, theme):
    page.goto(alone(tmp_path, "low_concurrency", theme))
    question = page.get_by_role("region", name="Predict")
    verdict = question.get_by_role("status")
    question.get_by_role("button", name="Draw a case").focus()
    page.keyboard.press("Enter")
    first = question.locator("legend").inner_text()
    assert page.evaluate("document.activeElement.tagName") == "LEGEND"
    assert verdict.inner_text() == ""
    assert question.get_by_role("button", name="See it computed").count() == 0
    question.get_by_role("button", name="Check the answer").press("Enter")
    assert verdict.inner_text() == "Choose an answer first."

    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    chosen = page.evaluate("document.activeElement.value")
    question.get_by_role("button", name="Check the answer").press("Enter")
    said = verdict.inner_text()
    assert said.startswith((f"Right: {chosen}.", "Not so: "))
    assert f"Not so: {chosen}." not in said
    assert page.evaluate("document.activeElement.textContent") == "Draw another case"
    assert question.get_by_role("radio", name=chosen).is_disabled()

    question.get_by_role("button", name="See it computed").press("Enter")
    shown = said.split(". ", 1)[1]
    page.wait_for_function(
        "shown => document.querySelector('.er-sentence').textContent.trim() === shown.trim()", arg=shown
    )

    question.get_by_role("button", name="Draw another case").press("Enter")
    assert question.locator("legend").inner_text() != first
    assert verdict.inner_text() == ""


@pytest.mark.parametrize("word", ["cats", "engine", "grant_order", "read_views", "trx_sys"])
def test_a_question_fits_a_phone_and_offends_no_rule_of_accessibility(
    page, tmp_path, theme, word, *, axe, left_open
):
    page.goto(alone(tmp_path, word, theme))
    page.get_by_role("button", name="Draw a case").click()
    page.get_by_role("radio").first.check()
    page.get_by_role("button", name="Check the answer").click()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    found = axe.run(page).response
    assert [each["id"] for each in found["violations"]] == []
    assert left_open(found) == {}


def test_two_explorables_of_a_page_share_no_id_and_every_slider_has_its_own_name(page, tmp_path):
    alone(tmp_path, "join_order", "light")
    (tmp_path / "both.html").write_text(
        (tmp_path / "page.html").read_text()
        + (Path(alone(tmp_path, "query_graph", "light").removeprefix("file://"))).read_text()
    )
    page.goto((tmp_path / "both.html").as_uri())
    page.get_by_role("button", name="Draw a case").click()
    ids = page.evaluate("[...document.querySelectorAll('.er-live [id]')].map((each) => each.id)")
    assert {each.split("-")[1] for each in ids} == {"1", "2"}
    assert len(set(ids)) == len(ids)
    for of in ("explorable-join-order", "explorable-query-graph"):
        assert page.locator(of).get_by_role("slider", name="Pair", exact=True).count() == 1
        assert page.locator(of).get_by_role("slider", name="Large table", exact=True).count() == 1


def test_print_shows_neither_question_nor_answer(page, tmp_path):
    page.goto(alone(tmp_path, "low_concurrency", "light"))
    page.get_by_role("button", name="Draw a case").click()
    page.emulate_media(media="print")
    assert not page.locator(".er-question").is_visible()


def test_runs_begin_when_the_reader_comes_to_them_and_a_new_value_begins_anew(page, tmp_path):
    address = alone(tmp_path, "grant_order", "light")
    html = tmp_path / "page.html"
    html.write_text(html.read_text().replace("<main>", '<main><div style="height:3000px"></div>'))
    page.goto(address)
    share = "document.querySelector('progress').value"
    page.wait_for_timeout(500)
    assert page.evaluate(share) == 0
    page.get_by_role("slider", name="Clients").scroll_into_view_if_needed()
    page.wait_for_function(f"0 < {share}")
    assert page.get_by_role("progressbar", name="Share of the runs that is computed").is_visible()
    page.get_by_role("slider", name="Clients").press("Home")
    page.get_by_role("slider", name="Pairs of runs").press("Home")
    page.wait_for_function("document.querySelector('.er-sentence').textContent.startsWith('25 clients')")
    assert page.evaluate(share) == 1
    assert "One pair cannot tell" in page.locator(".er-sentence").inner_text()


def test_a_picture_that_starts_plays_to_its_start_value_once_and_stops_when_touched(page, tmp_path):
    page.emulate_media(reduced_motion="no-preference")
    address = alone(tmp_path, "trx_sys", "light")
    file = tmp_path / address.rpartition("/")[2]
    tag = bundle.tag("trx_sys")
    file.write_text(
        file.read_text(encoding="utf-8").replace(f"<{tag}", f"<{tag} starts", 1), encoding="utf-8"
    )
    page.clock.install()
    page.goto(address)
    shown = page.locator(".er-knob output").first
    page.get_by_role("button", name="Pause").wait_for()
    assert shown.inner_text() == "before all"
    page.clock.run_for(30_000)
    assert shown.inner_text() == "number 9"
    assert page.get_by_role("button", name="Play the steps").is_visible()
    page.reload()
    page.get_by_role("button", name="Pause").wait_for()
    page.clock.run_for(2_000)
    page.get_by_role("slider", name="Step").press("ArrowRight")
    touched = shown.inner_text()
    page.clock.run_for(30_000)
    assert shown.inner_text() == touched != "number 9"
    page.emulate_media(reduced_motion="reduce")
    page.reload()
    page.clock.run_for(30_000)
    assert shown.inner_text() == "number 9"
    assert not page.get_by_role("button", name="Pause").is_visible()


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_steps_play_by_keyboard_and_glide_only_where_motion_is_wanted(page, tmp_path, motion):
    page.emulate_media(reduced_motion=motion)
    page.goto(alone(tmp_path, "trx_sys", "light"))
    page.evaluate(
        """() => { const own = Element.prototype.animate;
        Element.prototype.animate = function (...all) { document.glided = true; return own.apply(this, all); }; }"""
    )
    step = page.get_by_role("slider", name="Step")
    step.press("Home")
    page.get_by_role("button", name="Play the steps").press("Enter")
    page.wait_for_function("document.querySelector('.er-knob output').textContent === 'number 2'")
    page.get_by_role("button", name="Pause").press("Enter")
    shown = page.locator(".er-knob output").first.inner_text()
    page.wait_for_timeout(1200)
    assert page.locator(".er-knob output").first.inner_text() == shown
    step.press("ArrowRight")
    page.wait_for_function(
        "shown => document.querySelector('.er-knob output').textContent !== shown", arg=shown
    )
    assert page.evaluate("document.glided === true") == (motion == "no-preference")
    # To the last step, and no further.
    step.press("End")
    page.get_by_role("button", name="Play the steps").press("Enter")
    page.wait_for_function("document.querySelector('.er-knob output').textContent === 'before all'")
