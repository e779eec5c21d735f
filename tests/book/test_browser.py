"""The book opened from disk in a headless Chromium, desktop and phone, with the network off."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from engineroom import paths
from engineroom.show import bundle

pytestmark = pytest.mark.browser

WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}
PAGES = re.findall(r"(?:root|file): (\S+)", (paths.root() / "_toc.yml").read_text())
OPENED = [
    page
    for page in PAGES
    if page.startswith("notebooks/")
    or page in ("book/index", "book/ledger", "book/machine", "book/reference")
]
OPENED += [page.replace("notebooks/", "book/") for page in OPENED if page.startswith("notebooks/")]
SERIOUS = {"serious", "critical"}
# All elements of a violation, and of each rule that axe cannot decide one: all of those take a fifth more time.
JUDGED = {"preload": False, "resultTypes": ["violations"]}


# Of each knob: the lines that its name takes, the room for its value or for the buttons of a choice, and its height.
KNOBS = """() => [...document.querySelectorAll(".er-knob")].map((knob) => {
  const label = knob.querySelector("label, legend"), value = knob.querySelector("output, .er-tools");
  return {
    name: label.textContent,
    lines: Math.round(label.getBoundingClientRect().height / parseFloat(getComputedStyle(label).lineHeight)),
    value: value.scrollWidth, room: value.clientWidth, height: knob.getBoundingClientRect().height,
  };
})"""

# Captions, and cells of the tables that end with a verdict, which reach out of the page, of a box that scrolls or of themselves.
OUT_OF_SIGHT = """() => [...document.querySelectorAll("figcaption, caption, table:is(.claims, .compact, .history) :is(th, td)")].filter((part) => {
  const box = part.getBoundingClientRect();
  let right = document.documentElement.clientWidth;
  for (let at = part.parentElement; at; at = at.parentElement) {
    if (/auto|scroll|hidden/.test(getComputedStyle(at).overflowX)) right = Math.min(right, at.getBoundingClientRect().right);
  }
  return box.width && (box.right > right + 1 || part.scrollWidth > part.clientWidth + 1);
}).map((part) => part.textContent)"""

# Texts of visible drawings that reach over the edge of their drawing.
CUT_TEXTS = """(selector) => [...document.querySelectorAll(selector)].flatMap((drawing) => {
  const edge = drawing.getBoundingClientRect();
  return [...drawing.querySelectorAll("text")].filter((text) => {
    const box = text.getBoundingClientRect();
    return box.width && (box.left < edge.left - 1 || box.right > edge.right + 1 || box.bottom > edge.bottom + 2);
  }).map((text) => text.textContent);
})"""

# Runbooks that are wider than their place: a reader does not see what happens if they are wrong.
WIDE_RUNBOOKS = """() => [...document.querySelectorAll("#what-to-check-and-set-on-your-server table")]
  .filter((table) => table.scrollWidth > table.parentElement.clientWidth)
  .map((table) => table.textContent)"""


# Drawings are hidden from readers' programs and take no focus, nor can a rule tell a colour on a drawing; yet most of a page's elements are
# their thousands of marks, each of which axe would look up for each text. Their places and sizes stay. Says how many could be reached after all.
EMPTY_DRAWINGS = """() => {
  const drawings = [...document.querySelectorAll("figure.er-figure svg[aria-hidden=true]")];
  const reached = drawings.flatMap((drawing) => [...drawing.querySelectorAll("a, [tabindex], [role], [aria-label], foreignObject")]);
  const before = document.documentElement.scrollHeight;
  drawings.forEach((drawing) => drawing.replaceChildren());
  return reached.length + Math.abs(document.documentElement.scrollHeight - before);
}"""


# By a pattern, so that Python is not asked about each file.
NO_FILE = re.compile("^(?!file:|data:|blob:)")


@dataclass
class Opened:
    page: Page
    complaints: list[str] = field(default_factory=list)


def opened(
    browser: Browser, address: str, width: str, scheme: str = "light", *, scripts: bool = True
) -> Iterator[Opened]:
    across, down = WIDTHS[width]
    context = browser.new_context(
        viewport={"width": across, "height": down},
        color_scheme=scheme,
        reduced_motion="reduce",
        java_script_enabled=scripts,
        offline=True,
    )
    context.route(NO_FILE, lambda route: route.abort())  # which is a complaint
    result = Opened(context.new_page())
    result.page.on("console", lambda message: _note(result, message.type, message.text))
    result.page.on("pageerror", lambda error: result.complaints.append(str(error)))
    result.page.on("requestfailed", lambda request: result.complaints.append(f"could not load {request.url}"))
    # Light and dark are as the reader's system asks for them: the page's default is "auto".
    result.page.goto(address, wait_until="load")
    yield result
    context.close()


def _note(result: Opened, kind: str, text: str) -> None:
    if kind in ("error", "warning"):
        result.complaints.append(f"{kind}: {text}")


@pytest.fixture
def reader(browser, html, request) -> Iterator[Opened]:
    name, width, *scheme = request.param
    yield from opened(browser, (html / f"{name}.html").as_uri(), width, *scheme)


@contextmanager
def pictured(page: Page, name: str) -> Iterator[None]:
    """A page that fails is kept as a picture; one of each page would cost as much as what is looked for in it."""
    try:
        yield
    except AssertionError:
        shots = paths.build() / "screenshots"
        shots.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=shots / f"{name.replace('/', '_')}.png", full_page=True)
        raise


CASES = [(name, "phone") for name in PAGES] + [(name, "desktop") for name in OPENED]
# In the dark only the colours are others.
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}


@pytest.mark.parametrize("reader", CASES, indirect=True, ids="-".join)
def test_page_is_quiet_narrow_readable_and_accessible(reader, request, axe, left_open):
    page = reader.page
    page.wait_for_timeout(300)
    page.evaluate("document.fonts.ready.then(() => null)")
    name, width = request.node.callspec.params["reader"]
    with pictured(page, request.node.callspec.id):
        assert reader.complaints == []
        assert (
            page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        )
        assert page.evaluate(OUT_OF_SIGHT) == []
        assert page.evaluate(CUT_TEXTS, "figure.er-figure svg") == []
        assert page.evaluate(EMPTY_DRAWINGS) == 0
        for theme in ("light", "dark") if width == "phone" and name in OPENED else ("light",):
            page.emulate_media(
                color_scheme=theme
            )  # as the reader's system asks for it while the page is open
            page.wait_for_function("theme => document.documentElement.dataset.theme === theme", arg=theme)
            found = axe.run(page, options={**JUDGED, **(COLOURS if theme == "dark" else {})})
            bad = [
                (rule["id"], [node["target"] for node in rule["nodes"]][:5])
                for rule in found.response["violations"]
                if rule["impact"] in SERIOUS
            ]
            assert bad == [], theme
            assert left_open(found.response) == {}, theme


def test_what_axe_leaves_open_is_a_fault_unless_it_is_settled(browser, axe, left_open):
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.set_content(
        "<!doctype html><html lang=en><title>Hand-made</title><main><h1>Hand-made</h1>"
        "<svg width=200 height=50><rect width=200 height=50 fill=#eee /><text x=5 y=20>On its drawing</text></svg>"
        '<p style="background:linear-gradient(#fff,#777);color:#999">Who knows on what</p>'
        '<p id="said">One</p><p id="said">Another</p><button aria-describedby="said">Described by which?</button></main></html>'
    )
    response = axe.run(page, options={"resultTypes": ["violations", "incomplete"]}).response
    named = axe.run(page, options=JUDGED).response
    context.close()
    assert ("duplicate-id-aria", "duplicate-id-aria") in left_open(named), (
        "also where one of each rule is named"
    )
    assert [rule["id"] for rule in response["violations"]] == []
    assert set(left_open(response)) == {
        ("color-contrast", "bgGradient"),
        ("duplicate-id-aria", "duplicate-id-aria"),
    }


@pytest.mark.parametrize("reader", [("search", "desktop")], indirect=True, ids="-".join)
def test_search_finds_words_from_disk_and_shows_them_in_excerpts(reader, html):
    reader.page.goto((html / "search.html").as_uri() + "?q=fsync+latency")
    reader.page.wait_for_selector("#search-results li a", timeout=10_000)
    found = reader.page.locator("#search-results li")
    excerpts = found.locator("p.context")
    assert excerpts.count() == found.count()
    assert [text for text in excerpts.all_inner_texts() if not re.search("fsync|latenc", text.lower())] == []
    assert reader.complaints == []


@pytest.mark.parametrize("reader", [("book/index", "phone")], indirect=True, ids="-".join)
def test_front_page_says_where_to_begin_on_the_first_screen(reader):
    link = reader.page.locator("a.begin").first
    box = link.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= WIDTHS["phone"][1]


RUNBOOKS = [
    page
    for page in PAGES
    if "\n## What to check and set on your server" in (paths.root() / f"{page}.md").read_text("utf-8")
]


@pytest.mark.parametrize("reader", [(RUNBOOKS[0], "desktop")], indirect=True, ids="-".join)
def test_every_column_of_a_runbook_is_in_sight_on_a_desktop(reader, html):
    assert len(RUNBOOKS) == 12
    reader.page.set_viewport_size({"width": 1200, "height": 900})  # the narrowest that has both sidebars
    for name in RUNBOOKS:
        reader.page.goto((html / f"{name}.html").as_uri(), wait_until="load")
        assert reader.page.evaluate(WIDE_RUNBOOKS) == [], name


EXPLORED = [
    page for page in PAGES if "```{explorable}" in (paths.root() / f"{page}.md").read_text(encoding="utf-8")
]


@pytest.mark.parametrize(
    "reader", [(page, width) for page in EXPLORED for width in WIDTHS], indirect=True, ids="-".join
)
def test_whatever_the_knobs_say_their_names_and_values_and_the_pictures_are_whole(reader):
    page, heights = reader.page, set()
    page.wait_for_selector(".er-picture svg")
    for key in ("", "End", "Home"):
        for knob in page.locator(".er-live input[type=range]").all() if key else ():
            knob.focus()
            page.keyboard.press(key)
        page.wait_for_timeout(200)
        knobs = page.evaluate(KNOBS)
        assert knobs
        for knob in knobs:
            assert knob["lines"] == 1, (key, knob)
            assert knob["value"] <= knob["room"], (key, knob)
        heights.add(tuple(knob["height"] for knob in knobs))
        assert page.evaluate(CUT_TEXTS, ".er-picture svg") == [], key
    assert len(heights) == 1


def result_texts(page: Page) -> dict[str, str]:
    rows = page.locator(".er-results div")
    return {
        rows.nth(i).locator("dt").inner_text(): rows.nth(i).locator("dd").inner_text()
        for i in range(rows.count())
    }


@pytest.mark.parametrize(
    "reader", [("book/hash_join", "desktop"), ("book/hash_join", "phone")], indirect=True, ids="-".join
)
class TestExplorable:
    def test_computes_when_the_page_opens(self, reader):
        reader.page.wait_for_selector(".er-picture svg")
        assert result_texts(reader.page)["Chunk files"] not in ("", "0")

    def test_a_larger_join_buffer_by_keyboard_ends_the_spilling(self, reader):
        page = reader.page
        knob = page.get_by_role("slider", name="Join buffer")
        knob.focus()
        page.keyboard.press("End")
        page.wait_for_function("document.querySelector('.er-results dd').textContent === '0'")
        assert knob.get_attribute("aria-valuetext") == "16 MiB"
        page.wait_for_function("/no chunk file/i.test(document.querySelector('.er-sentence').textContent)")
        page.keyboard.press("Home")
        page.wait_for_function("document.querySelector('.er-results dd').textContent !== '0'")
        assert knob.get_attribute("aria-valuetext") == "16 KiB"
        assert reader.complaints == []

    def test_buttons_step_as_the_slider_does(self, reader):
        page = reader.page
        knob = page.get_by_role("slider", name="Skew")
        page.wait_for_selector(".er-picture svg")
        before = knob.get_attribute("aria-valuetext")
        page.get_by_role("button", name="Raise skew").click()
        assert knob.get_attribute("aria-valuetext") != before
        page.get_by_role("button", name="Lower skew").click()
        assert knob.get_attribute("aria-valuetext") == before

    def test_nothing_moves_when_it_starts_or_a_knob_turns(self, reader):
        page = reader.page
        page.reload(wait_until="load")
        page.wait_for_selector(".er-picture svg")
        page.wait_for_timeout(600)
        below = page.locator("figure:has(.er-live) figcaption").first
        top = below.bounding_box()["y"]
        heights = set()
        for key in ("End", "Home", "ArrowRight"):
            for name in ("Build rows", "Join buffer", "Skew"):
                page.get_by_role("slider", name=name).focus()
                page.keyboard.press(key)
                page.wait_for_timeout(500)
                page.evaluate("window.scrollTo(0, 0)")
                heights.add(below.bounding_box()["y"] - top)
        assert heights == {0}

    def test_stands_before_the_page_is_first_painted(self, reader):
        page = reader.page
        # Formulas are typeset later and may move a line; this is about the explorable.
        page.context.route("**/tex-chtml.js*", lambda route: route.abort())
        page.reload(wait_until="load")
        page.wait_for_selector(".er-picture svg")
        moved = page.evaluate(
            """() => new Promise((done) => {
                 let sum = 0;
                 new PerformanceObserver((list) => list.getEntries().forEach((shift) => { sum += shift.value; }))
                   .observe({ type: "layout-shift", buffered: true });
                 setTimeout(() => done(sum), 300);
               })"""
        )
        assert moved < 0.1


@pytest.mark.parametrize(
    "reader",
    [("book/join_order", "desktop"), ("book/join_order", "phone", "dark")],
    indirect=True,
    ids="-".join,
)
class TestDrawnGraph:
    """The same graph by mouse, by finger, by keyboard and by the list of boxes."""

    @staticmethod
    def part(page: Page):
        found = page.locator("explorable-query-graph .er-live")
        found.locator(".er-picture svg").wait_for()
        return found

    @staticmethod
    def pairs(part, expected: str) -> None:
        part.locator(".er-results div", has_text="Pairs").locator("dd", has_text=expected).wait_for(
            timeout=5000
        )

    def test_ready_made_shapes_and_tables_change_the_numbers(self, reader):
        part = self.part(reader.page)
        part.get_by_role("button", name="Chain", exact=True).click()
        self.pairs(part, "20")
        part.get_by_role("button", name="Add a table", exact=True).click()
        self.pairs(part, "35")
        part.get_by_role("button", name="Clique", exact=True).click()
        self.pairs(part, "301")
        part.get_by_role("button", name="Remove a table", exact=True).click()
        self.pairs(part, "90")
        assert reader.complaints == []

    def test_a_drag_joins_and_separates(self, reader):
        page, part = reader.page, self.part(reader.page)
        part.get_by_role("button", name="Chain", exact=True).click()
        self.pairs(part, "20")
        for expected in ("40", "20"):
            a, e = (part.locator(".er-node").nth(i).bounding_box() for i in (0, 4))
            page.mouse.move(a["x"] + 22, a["y"] + 22)
            page.mouse.down()
            page.mouse.move(e["x"] + 10, e["y"] + 30, steps=3)
            page.mouse.up()
            self.pairs(part, expected)

    def test_the_keyboard_alone_draws(self, reader):
        page, part = reader.page, self.part(reader.page)
        part.get_by_role("button", name="Chain", exact=True).focus()
        page.keyboard.press("Enter")
        part.locator(".er-node").nth(0).focus()
        page.keyboard.press("Enter")
        assert part.locator(".er-node").nth(0).get_attribute("aria-pressed") == "true"
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        assert part.locator(".er-node").nth(0).get_attribute("aria-label").startswith("A, joined with B, C")
        assert part.locator(".er-node").nth(2).evaluate("node => node === document.activeElement")

    def test_the_list_of_joins_says_and_changes_the_drawing(self, reader):
        part = self.part(reader.page)
        part.get_by_role("button", name="Star", exact=True).click()
        part.locator("summary").click()
        assert part.get_by_label("A and E").is_checked()
        assert not part.get_by_label("B and C").is_checked()
        part.get_by_label("A and E").uncheck()
        part.locator(".er-sentence", has_text="Not all tables are joined").wait_for()
        assert part.locator(".er-node").nth(4).get_attribute("aria-label") == "E, not joined"

    def test_nothing_below_moves_while_the_graph_changes(self, reader):
        page, part = reader.page, self.part(reader.page)
        below = page.locator("explorable-query-graph figcaption")
        tops = set()
        for name in ("Clique", "Chain", "Remove a table", "Add a table", "Star"):
            part.get_by_role("button", name=name, exact=True).click()
            page.wait_for_timeout(500)
            page.evaluate("window.scrollTo(0, 0)")
            tops.add(below.bounding_box()["y"])
        assert len(tops) == 1


@pytest.mark.parametrize(
    "reader", [("book/lock_sys", "desktop"), ("book/lock_sys", "phone", "dark")], indirect=True, ids="-".join
)
class TestTypedStatements:
    """Two sessions by the keyboard alone: statements, what is not understood, and a session that waits."""

    @staticmethod
    def run(page: Page, session: str, sql: str) -> None:
        page.get_by_label(session, exact=True).fill(sql)
        page.keyboard.press("Enter")

    @staticmethod
    def state(page: Page, session: str, expected: str) -> None:
        shown = page.locator(".er-results div", has_text=f"Session {session}").locator(
            "dd", has_text=expected
        )
        shown.wait_for(timeout=5000)

    def test_statements_of_two_sessions_wait_and_go_on(self, reader):
        page = reader.page
        page.locator(".er-picture svg").wait_for()
        page.get_by_role("button", name="Start again").focus()
        page.keyboard.press("Enter")
        self.state(page, "B", "ok")
        self.run(page, "A", "UPDATE t SET v = v + 1 WHERE id = 20")
        self.run(page, "B", "delete from t where id = 20;")
        self.state(page, "B", "waits for A")
        self.run(page, "B", "COMMIT")
        assert "B waits for A" in page.locator(".er-hint").inner_text()
        self.run(page, "A", "DROP TABLE t")
        assert "not understood" in page.locator(".er-hint").inner_text()
        assert page.get_by_label("A", exact=True).input_value() == "DROP TABLE t", "it can be mended"
        self.run(page, "A", "COMMIT")
        self.state(page, "B", "ok")
        assert page.locator(".er-history li").count() == 3
        assert "B goes on: ok" in page.locator(".er-history").inner_text()
        page.get_by_role("button", name="Take the last one back").click()
        self.state(page, "B", "waits for A")
        assert reader.complaints == []

    def test_an_example_and_the_version_change_who_waits_and_move_nothing_below(self, reader):
        page = reader.page
        page.locator(".er-picture svg").wait_for()
        height = page.locator(".er-live").bounding_box()["height"]
        page.get_by_role("button", name="The end of a range").click()
        self.state(page, "B", "ok")
        old = page.get_by_role("group", name="Version").get_by_role("button", name="MySQL 5.7")
        old.focus()
        page.keyboard.press("Enter")
        assert old.get_attribute("aria-pressed") == "true"
        self.state(page, "B", "waits for A")
        assert page.locator(".er-live").bounding_box()["height"] == height


def test_without_scripts_the_plain_figure_and_its_caption_stay(browser, html):
    for page in opened(browser, (html / "book/hash_join.html").as_uri(), "phone", scripts=False):
        figure = page.page.locator("explorable-hash-join figure")
        assert figure.locator("img").is_visible()
        assert figure.locator("figcaption").is_visible()


def test_print_shows_the_plain_figure_and_not_the_knobs(browser, html):
    for page in opened(browser, (html / "book/hash_join.html").as_uri(), "desktop"):
        page.page.wait_for_selector(".er-picture svg")
        page.page.emulate_media(media="print")
        assert page.page.locator("explorable-hash-join figure img").is_visible()
        assert not page.page.locator(".er-live").is_visible()


def test_print_shows_predictions_and_exercises_with_their_answers_and_folds_them_again(browser, html):
    for page in opened(browser, (html / "book/filesort.html").as_uri(), "desktop"):
        answers = page.page.locator("#predict details p")
        exercises = page.page.locator("#exercises details p").first
        origin = page.page.locator("details.er-origin > div").first
        others = page.page.locator("article details:not(#predict *, #exercises *, .er-origin)")
        folded = others.evaluate_all("all => all.map((each) => each.open)")
        assert not answers.first.is_visible()
        page.page.emulate_media(media="print")
        answers.first.wait_for(state="visible")
        answers.last.wait_for(state="visible")
        exercises.wait_for(state="visible")
        for long in (".admonition.exercise", "table"):
            kept = page.page.locator(f"article {long}").evaluate_all(
                "all => all.map((each) => getComputedStyle(each).breakInside)"
            )
            assert set(kept) == {"auto"}, long
        origin.wait_for(state="visible")
        assert others.evaluate_all("all => all.map((each) => each.open)") == folded
        page.page.emulate_media(media="screen")
        answers.first.wait_for(state="hidden")
        origin.wait_for(state="hidden")


def test_where_a_figure_comes_from_opens_by_keyboard_without_scripts_and_is_on_paper(browser, html):
    for scripts in (True, False):
        for page in opened(browser, (html / "book/filesort.html").as_uri(), "phone", scripts=scripts):
            fold = page.page.locator("details.er-origin").first
            text, sign = fold.locator("> div"), fold.get_by_label("Where this comes from")
            box = sign.bounding_box()
            assert min(box["width"], box["height"]) >= 24, "a finger's target"
            assert not text.is_visible()
            sign.focus()
            page.page.keyboard.press("Enter")
            text.wait_for(state="visible")
            assert "2 cores" in text.inner_text()
            page.page.keyboard.press("Enter")
            text.wait_for(state="hidden")
            page.page.emulate_media(media="print")
            text.wait_for(state="visible")
            assert not sign.is_visible()


def test_a_kernel_that_cannot_start_leaves_the_plain_figure(browser, html):
    """A browser without WebAssembly stands in for every way in which the kernel can fail."""
    context = browser.new_context(offline=True)
    context.add_init_script("delete globalThis.WebAssembly")
    page = context.new_page()
    page.goto((Path(html) / "book/hash_join.html").as_uri())
    page.wait_for_selector(".er-failed")
    assert page.locator("explorable-hash-join figure img").is_visible()
    assert not page.locator(".er-live").count()
    context.close()


def test_widget_module_renders_in_a_notebook(browser):
    """What anywidget does: import the module, call `render` with a model that holds the kernel's bytes."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.evaluate(
        """async ([source, base64]) => {
             const module = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
             const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
             module.default.render({ model: { get: () => new DataView(bytes.buffer) }, el: document.body });
           }""",
        [
            bundle.notebook_module("hash_join"),
            base64.b64encode(bundle.wasm_file("hash_join").read_bytes()).decode(),
        ],
    )
    before = result_texts(page)["Chunk files"]
    page.get_by_role("button", name="Lower join buffer").click()
    page.wait_for_function(
        "before => document.querySelector('.er-results dd').textContent !== before", arg=before
    )
    page.get_by_role("button", name="Start values").click()
    page.wait_for_function(
        "before => document.querySelector('.er-results dd').textContent === before", arg=before
    )
    assert not page.get_by_role("link", name="Link to these values").count()  # a notebook has no address
    context.close()


LABS = [word for word in bundle.words() if (paths.root() / "notebooks" / f"{word}.md").exists()]


@pytest.mark.parametrize("word", LABS)
def test_in_a_lab_every_slider_has_a_name_and_says_its_value_with_the_unit_shown(
    browser, axe, left_open, word
):
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.set_content(
        "<!doctype html><html lang=en><title>Lab</title><main><h1>Lab</h1><div id=cell></div></main></html>"
    )
    page.evaluate(
        """async ([source, base64]) => {
             const module = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
             const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
             module.default.render({ model: { get: () => new DataView(bytes.buffer) }, el: document.getElementById("cell") });
           }""",
        [bundle.notebook_module(word), base64.b64encode(bundle.wasm_file(word).read_bytes()).decode()],
    )
    page.wait_for_selector(".er-picture svg")
    found = axe.run(page, options=JUDGED)
    bad = [(rule["id"], [node["target"] for node in rule["nodes"]][:5]) for rule in found.response["violations"]
           if rule["impact"] in SERIOUS]  # fmt: skip
    assert bad == []
    assert left_open(found.response) == {}
    sliders = page.locator("input[type=range]")
    for slider in sliders.all():
        shown = slider.evaluate("(one) => one.closest('.er-knob').querySelector('output').textContent")
        assert slider.get_attribute("aria-valuetext") == shown
        assert page.get_by_role("slider", name=slider.evaluate("(one) => one.labels[0].textContent")).count()
    context.close()


def explorable_alone(folder: Path, word: str) -> str:
    """The address of a page as the book makes it: the element with its plain figure, and the script behind it."""
    tag = bundle.tag(word)
    (folder / f"{word}.js").write_text(bundle.classic_script(word), encoding="utf-8")
    (folder / "page.html").write_text(
        f'<!doctype html><{tag}><figure><img alt=""></figure></{tag}><script src="{word}.js"></script>',
        encoding="utf-8",
    )
    return (folder / "page.html").as_uri()


def test_a_switch_and_a_preset_compute_what_the_link_to_them_does(browser, tmp_path):
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(explorable_alone(tmp_path, "redo_log"))
    gate = page.get_by_role("switch", name="CPU gate")
    assert gate.is_checked()
    start = result_texts(page)
    gate.focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="One client, gate off").click()
    page.wait_for_function(
        "before => document.querySelector('.er-results dd').textContent !== before",
        arg=start["Fsyncs per transaction"],
    )
    assert not gate.is_checked()
    assert page.get_by_role("slider", name="Clients").get_attribute("aria-valuetext") == "1"
    turned = result_texts(page)
    page.get_by_role("link", name="Link to these values").click()
    page.wait_for_load_state()
    assert "gate=0" in page.url
    assert result_texts(page) == turned
    page.get_by_role("button", name="Start values").click()
    page.wait_for_function(
        "before => document.querySelector('.er-results dd').textContent === before",
        arg=start["Fsyncs per transaction"],
    )
    assert gate.is_checked()
    context.close()


def test_a_choice_by_keyboard_computes_what_the_link_to_it_does(browser, tmp_path):
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(explorable_alone(tmp_path, "redo_log"))
    logs = page.get_by_role("group", name="Redo log", exact=True).get_by_role("button")
    pressed = "all => all.map((each) => each.getAttribute('aria-pressed'))"
    assert logs.evaluate_all(pressed) == ["false", "true", "false"]
    start = result_texts(page)
    logs.first.focus()
    page.keyboard.press("Enter")
    page.wait_for_function(
        "before => document.querySelector('.er-results dd').textContent !== before",
        arg=next(iter(start.values())),
    )
    assert logs.evaluate_all(pressed) == ["true", "false", "false"]
    turned = result_texts(page)
    page.get_by_role("link", name="Link to these values").click()
    page.wait_for_load_state()
    assert "design=5.7" in page.url
    assert result_texts(page) == turned
    assert logs.evaluate_all(pressed) == ["true", "false", "false"]
    context.close()


def test_presets_links_and_start_values_keep_a_drawn_graph_too(browser, tmp_path):
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(explorable_alone(tmp_path, "query_graph"))
    start = result_texts(page)
    page.get_by_role("button", name="A star of ten").click()
    pairs = page.locator(".er-results div", has_text="Pairs").locator("dd")
    pairs.filter(has_text="2,304").wait_for(timeout=5000)
    assert page.locator(".er-node").count() == 10
    turned = result_texts(page)
    page.get_by_role("link", name="Link to these values").click()
    page.wait_for_load_state()
    assert result_texts(page) == turned
    page.locator(".er-node").nth(9).wait_for(timeout=5000)
    address = page.url
    page.get_by_role("button", name="Start values").click()
    pairs.filter(has_text=start["Pairs"]).wait_for(timeout=5000)
    page.wait_for_function("document.querySelectorAll('.er-node').length === 5")
    for odd in ("tables=99", "tables=%5B5%5D", "tables=%7B"):
        page.goto(address.replace("tables=10", odd))
        assert page.locator(".er-node").count() == 5, odd
        assert not page.locator(".er-failed").count()
    context.close()


def test_a_link_keeps_the_statements_of_two_sessions(browser, tmp_path):
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(explorable_alone(tmp_path, "lock_sys"))
    page.get_by_role("button", name="The end of a range").click()
    page.wait_for_timeout(300)
    turned, history = result_texts(page), page.locator(".er-history").inner_text()
    page.get_by_role("link", name="Link to these values").click()
    page.wait_for_load_state()
    assert (result_texts(page), page.locator(".er-history").inner_text()) == (turned, history)
    odd = page.url.replace("script=%5B", "script=%5B1%2C")
    assert odd != page.url
    page.goto(odd)
    assert page.locator(".er-history").inner_text() != history
    context.close()


def test_a_link_keeps_the_knobs_and_what_it_cannot_mean_is_ignored(browser, tmp_path):
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(explorable_alone(tmp_path, "hash_join"))
    start = result_texts(page)
    page.get_by_role("button", name="Lower join buffer").click()
    page.wait_for_function(
        "before => document.querySelector('.er-results dd').textContent !== before", arg=start["Chunk files"]
    )
    turned = result_texts(page)
    page.get_by_role("link", name="Link to these values").click()
    page.wait_for_load_state()
    assert "?" in page.url
    assert result_texts(page) == turned
    page.goto(page.url.replace("join_buffer_bytes=", "join_buffer_bytes=-"))
    assert result_texts(page) == start
    context.close()
